//! What the tests of the kernel programs share: packets, a plain model of both roles, and a way to run the programs.
#![allow(dead_code)] // each test file uses its share

pub mod arrivals;
pub mod checksum;
pub mod frame;
pub mod generate;
pub mod icmp;
pub mod int_block;
pub mod model;
pub mod packets;
pub mod peer_cases;
pub mod programs;
pub mod random;
pub mod sink_cases;
pub mod source_cases;
pub mod stream;
