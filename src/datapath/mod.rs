//! The user half of the kernel programs; the only room that knows libbpf.

pub mod abi;
pub mod counters;
pub mod dests;
pub mod events;
pub mod host;
pub mod links;
pub mod load;
pub mod maps;
pub mod pins;
pub mod probe;
pub mod sink;
pub mod source;
pub mod sweeper;
