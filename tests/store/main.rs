//! The collector's history: roll-ups against a plain model, limits, crashes, full disks, strangers' files.

mod crashes;
mod disk;
mod files;
mod history;
mod limits;
mod numbers;
mod pressure;
mod rollups;
mod totals;
