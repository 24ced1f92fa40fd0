//! Leases: questions, answers, renewal and expiry, in the kernel and in user space.

mod answer;
mod keeper;
mod messages;
mod renewal;
mod source;
