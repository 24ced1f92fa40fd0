//! Leases: questions, answers, renewal and expiry, in the kernel and in user space.

mod answer;
mod evidence;
mod full_answer;
mod keeper;
mod lengths;
mod messages;
mod names;
mod network;
mod orders;
mod probes;
mod proof;
mod renewal;
mod sink_clock;
mod source;
mod told_flows;
mod two_sinks;
