//! The collector's history: reports and roll-ups in one SQLite file.
