//! The user half of the kernel programs; the only room that knows libbpf.

pub mod abi;
pub mod attachments;
pub mod before;
pub mod clsact;
pub mod counters;
pub mod events;
mod flow_counts;
pub mod grants;
mod gso_limit;
pub mod hooks;
pub mod host;
pub mod leases;
pub mod links;
pub mod load;
pub mod maps;
pub mod peer;
pub mod pins;
pub mod probe;
pub mod sink;
pub mod sink_links;
pub mod source;
pub mod source_settings;
mod stage;
mod summaries;
pub mod sweeper;
mod walker;
pub mod watch;
