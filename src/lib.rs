//! hostint: in-band one-way latency and loss of production flows between Linux hosts.

pub mod collector;
pub mod datapath;
pub mod model;
pub mod report;
pub mod views;
pub mod wire;
