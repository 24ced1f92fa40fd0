//! The user half of the kernel programs; the only room that knows libbpf.

pub mod abi;
pub mod demo_loss;
pub mod host;
pub mod kernel;
pub mod lease;
pub mod postcards;
pub mod sink;
pub mod source;
pub mod tcp;
pub mod transit;
pub mod watch;
