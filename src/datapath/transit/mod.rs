//! The transit hop: its programs and links, what they measure, and the notices that they send.

pub mod kernel_half;
pub mod transit_gauges;
pub mod transit_links;
pub mod transit_notices;
mod transit_settings;
pub mod transit_status;
pub mod waits;
