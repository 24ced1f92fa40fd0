//! Leases: questions, answers, renewal and expiry, in the kernel and in user space.

mod answer;
mod answer_v2;
mod keeper;
mod lengths;
mod messages;
mod messages_v2;
mod names;
mod network;
mod probes;
mod proof;
mod renewal;
mod sink_clock;
mod source;
mod told_flows;
mod two_sinks;
