//! The protobuf message of a report, with the fields of packaging/proto/hostint/reports/v1.proto.

use prost::Message;

pub use super::connection::{ConnectionMessage, OptionMessage, WorstHopMessage};
pub use super::corrected::Corrected;
pub use super::drops::{DropCountMessage, HostDropMessage, HostDropSumMessage};
pub use super::flow::Flow;
pub use super::int_message::{
    Extension, IntDomain, IntHeader, Metadata, ReportDomain, ReservedWord,
};
pub use super::names::{InterfaceNameMessage, NodeNameMessage, PodNameMessage};
pub use super::passages::FlowPassageMessage;
pub use super::path_part::PathPartMessage;
pub use super::queues::{QueueEpisodeMessage, QueueFlowMessage};
pub use super::tunnel::TunnelMessage;

#[derive(Clone, PartialEq, Message)]
pub struct Report {
    #[prost(fixed64, tag = "1")]
    pub run: u64,
    #[prost(uint64, tag = "2")]
    pub number: u64,
    #[prost(string, tag = "3")]
    pub kind: String,
    #[prost(string, tag = "4")]
    pub version: String,
    #[prost(bytes = "vec", optional, tag = "5")]
    pub exporter: Option<Vec<u8>>,
    #[prost(uint32, optional, tag = "6")]
    pub exporter_port: Option<u32>,
    #[prost(fixed64, optional, tag = "7")]
    pub received_ns: Option<u64>,
    #[prost(uint32, tag = "8")]
    pub hw_id: u32,
    #[prost(uint32, tag = "9")]
    pub report_seq: u32,
    #[prost(bool, tag = "10")]
    pub dropped: bool,
    #[prost(bool, tag = "11")]
    pub congested_queue: bool,
    #[prost(bool, tag = "12")]
    pub tracked_flow: bool,
    #[prost(bool, tag = "13")]
    pub intermediate: bool,
    #[prost(uint32, optional, tag = "14")]
    pub report_time_s: Option<u32>,
    #[prost(fixed64, optional, tag = "15")]
    pub arrival_ns: Option<u64>,
    #[prost(uint32, optional, tag = "16")]
    pub reporter_node: Option<u32>,
    #[prost(string, optional, tag = "17")]
    pub sink_clock: Option<String>,
    #[prost(bool, optional, tag = "18")]
    pub sink_clock_synchronised: Option<bool>,
    #[prost(message, optional, tag = "19")]
    pub flow: Option<Flow>,
    #[prost(message, optional, tag = "20")]
    pub inner_flow: Option<Flow>,
    #[prost(string, optional, tag = "21")]
    pub class: Option<String>,
    #[prost(message, optional, tag = "22")]
    pub source: Option<End>,
    #[prost(message, repeated, tag = "23")]
    pub transit: Vec<Hop>,
    #[prost(message, optional, tag = "24")]
    pub sink: Option<End>,
    #[prost(sint64, optional, tag = "25")]
    pub latency_ns: Option<i64>,
    #[prost(uint32, optional, tag = "26")]
    pub seq: Option<u32>,
    #[prost(message, optional, tag = "27")]
    pub gap: Option<Gap>,
    #[prost(message, optional, tag = "29")]
    pub metadata: Option<Metadata>,
    #[prost(string, optional, tag = "30")]
    pub drop_reason_name: Option<String>,
    #[prost(message, optional, tag = "31")]
    pub domain: Option<ReportDomain>,
    #[prost(uint64, optional, tag = "32")]
    pub frame_bytes: Option<u64>,
    #[prost(message, repeated, tag = "33")]
    pub int_headers: Vec<IntHeader>,
    #[prost(message, repeated, tag = "34")]
    pub extensions: Vec<Extension>,
    #[prost(message, optional, tag = "35")]
    pub summary: Option<Summary>,
    #[prost(sint64, optional, tag = "36")]
    pub latency_corrected_ns: Option<i64>,
    #[prost(uint64, optional, tag = "37")]
    pub latency_error_ns: Option<u64>,
    #[prost(sint64, optional, tag = "38")]
    pub latency_least_ns: Option<i64>,
    #[prost(sint64, optional, tag = "39")]
    pub latency_most_ns: Option<i64>,
    #[prost(string, optional, tag = "40")]
    pub clock: Option<String>,
    #[prost(message, optional, tag = "41")]
    pub added: Option<Added>,
    #[prost(message, repeated, tag = "42")]
    pub names: Vec<NodeNameMessage>,
    #[prost(message, repeated, tag = "43")]
    pub interfaces: Vec<InterfaceNameMessage>,
    #[prost(message, repeated, tag = "44")]
    pub pods: Vec<PodNameMessage>,
    #[prost(message, optional, boxed, tag = "50")]
    pub host_drop: Option<Box<HostDropMessage>>,
    #[prost(message, optional, boxed, tag = "51")]
    pub connection: Option<Box<ConnectionMessage>>,
    #[prost(message, optional, boxed, tag = "52")]
    pub host_hop: Option<Box<FlowPassageMessage>>,
    #[prost(message, optional, boxed, tag = "53")]
    pub path_part: Option<Box<PathPartMessage>>,
    #[prost(message, optional, boxed, tag = "54")]
    pub queue_episode: Option<Box<QueueEpisodeMessage>>,
    #[prost(message, optional, boxed, tag = "55")]
    pub host_drop_sum: Option<Box<HostDropSumMessage>>,
    #[prost(message, optional, tag = "56")]
    pub added_drops: Option<DropCountMessage>,
}

#[derive(Clone, Copy, PartialEq, Message)]
pub struct End {
    #[prost(uint32, tag = "1")]
    pub node: u32,
    #[prost(uint32, optional, tag = "2")]
    pub port: Option<u32>,
    #[prost(uint32, optional, tag = "3")]
    pub ingress_port: Option<u32>,
    #[prost(uint32, optional, tag = "4")]
    pub egress_port: Option<u32>,
    #[prost(fixed32, optional, tag = "5")]
    pub ingress_ts_ns: Option<u32>,
    #[prost(fixed32, optional, tag = "6")]
    pub egress_ts_ns: Option<u32>,
    #[prost(message, optional, tag = "7")]
    pub queue: Option<QueueDepth>,
}

#[derive(Clone, Copy, PartialEq, Message)]
pub struct Hop {
    #[prost(uint32, tag = "1")]
    pub node: u32,
    #[prost(uint32, tag = "2")]
    pub ingress_port: u32,
    #[prost(uint32, tag = "3")]
    pub egress_port: u32,
    #[prost(fixed32, tag = "4")]
    pub ingress_ts_ns: u32,
    #[prost(fixed32, tag = "5")]
    pub egress_ts_ns: u32,
    #[prost(uint32, optional, tag = "6")]
    pub queue_occupancy: Option<u32>,
    #[prost(uint32, optional, tag = "7")]
    pub queue_bytes: Option<u32>,
}

#[derive(Clone, Copy, PartialEq, Message)]
pub struct QueueDepth {
    #[prost(uint32, tag = "1")]
    pub packets: u32,
    #[prost(uint32, tag = "2")]
    pub bytes: u32,
}

#[derive(Clone, Copy, PartialEq, Message)]
pub struct Gap {
    #[prost(uint32, tag = "1")]
    pub first_seq: u32,
    #[prost(uint32, tag = "2")]
    pub last_seq: u32,
    #[prost(uint32, tag = "3")]
    pub count: u32,
    #[prost(uint32, tag = "4")]
    pub time_s: u32,
}

#[derive(Clone, PartialEq, Message)]
pub struct Summary {
    #[prost(string, optional, tag = "1")]
    pub class: Option<String>,
    #[prost(uint64, tag = "2")]
    pub period_ns: u64,
    #[prost(fixed64, tag = "3")]
    pub epoch_ns: u64,
    #[prost(fixed64, tag = "4")]
    pub last_ns: u64,
    #[prost(uint64, tag = "5")]
    pub packets: u64,
    #[prost(uint64, tag = "6")]
    pub bytes: u64,
    #[prost(uint64, tag = "7")]
    pub lost: u64,
    #[prost(uint64, tag = "8")]
    pub recovered: u64,
    #[prost(uint64, tag = "9")]
    pub reordered: u64,
    #[prost(uint64, tag = "10")]
    pub duplicates: u64,
    #[prost(uint64, tag = "11")]
    pub late: u64,
    #[prost(uint64, tag = "12")]
    pub restarts: u64,
    #[prost(message, optional, tag = "13")]
    pub latency: Option<Distribution>,
    #[prost(message, optional, tag = "14")]
    pub squares: Option<FlowSquares>,
}

#[derive(Clone, PartialEq, Message)]
pub struct FlowSquares {
    #[prost(double, tag = "1")]
    pub lost: f64,
    #[prost(double, tag = "2")]
    pub lost_sent: f64,
    #[prost(double, tag = "3")]
    pub sent: f64,
}

#[derive(Clone, PartialEq, Message)]
pub struct Added {
    #[prost(uint64, tag = "1")]
    pub packets: u64,
    #[prost(uint64, tag = "2")]
    pub bytes: u64,
    #[prost(uint64, tag = "3")]
    pub lost: u64,
    #[prost(uint64, tag = "4")]
    pub recovered: u64,
    #[prost(uint64, tag = "5")]
    pub reordered: u64,
    #[prost(uint64, tag = "6")]
    pub duplicates: u64,
    #[prost(message, optional, tag = "7")]
    pub latency: Option<Distribution>,
    #[prost(message, optional, tag = "8")]
    pub corrected: Option<Corrected>,
}

#[derive(Clone, PartialEq, Message)]
pub struct Distribution {
    #[prost(uint32, tag = "1")]
    pub steps: u32,
    #[prost(uint64, tag = "2")]
    pub samples: u64,
    #[prost(sint64, tag = "3")]
    pub min_ns: i64,
    #[prost(sint64, tag = "4")]
    pub max_ns: i64,
    #[prost(sint64, tag = "5")]
    pub sum_ns: i64,
    #[prost(sint64, repeated, tag = "6")]
    pub slot_bounds_ns: Vec<i64>,
    #[prost(uint64, repeated, tag = "7")]
    pub slot_counts: Vec<u64>,
    #[prost(sint32, optional, tag = "8")]
    pub first_slot: Option<i32>,
    #[prost(sint32, optional, tag = "9")]
    pub end_of_slots: Option<i32>,
}
