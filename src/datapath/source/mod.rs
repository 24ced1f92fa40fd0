//! The source: its programs and links, what makes room for INT in its packets, and its peers.

mod gso_limit;
pub mod head_room;
mod ioam_devices;
pub mod kernel_half;
pub mod missed;
pub mod peer;
mod peer_clock;
mod peer_status;
pub mod source_links;
pub mod source_settings;
pub mod source_status;
pub mod stage;
