//! Sums of latencies without the difference of the clocks, as a part of a message.

use prost::Message;

use crate::model::ClockSums;

#[derive(Clone, Copy, PartialEq, Message)]
pub struct Corrected {
    #[prost(uint64, tag = "1")]
    pub packets: u64,
    #[prost(sint64, tag = "2")]
    pub sum_ns: i64,
    #[prost(uint64, tag = "3")]
    pub error_ns: u64,
    #[prost(uint64, tag = "4")]
    pub less_ns: u64,
    #[prost(uint64, tag = "5")]
    pub more_ns: u64,
}

impl From<&ClockSums> for Corrected {
    fn from(sums: &ClockSums) -> Self {
        Self {
            packets: sums.packets,
            sum_ns: sums.latency_ns,
            error_ns: sums.error_ns,
            less_ns: sums.less_ns,
            more_ns: sums.more_ns,
        }
    }
}
