//! Leases: questions, answers, when they are kept and when they run out, in both halves.

mod answer;
mod keeper;
mod messages;
mod renewal;
mod source;
