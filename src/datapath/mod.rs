//! The user half of the kernel programs; the only room that knows libbpf.

pub mod abi;
