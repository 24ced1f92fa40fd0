//! Metadata and headers of INT, as parts of a message.

use prost::Message;

#[derive(Clone, PartialEq, Message)]
pub struct Metadata {
    #[prost(uint32, optional, tag = "1")]
    pub node: Option<u32>,
    #[prost(uint32, optional, tag = "2")]
    pub ingress_port: Option<u32>,
    #[prost(uint32, optional, tag = "3")]
    pub egress_port: Option<u32>,
    #[prost(uint32, optional, tag = "4")]
    pub hop_latency_ns: Option<u32>,
    #[prost(uint32, optional, tag = "5")]
    pub queue_id: Option<u32>,
    #[prost(uint32, optional, tag = "6")]
    pub queue_occupancy: Option<u32>,
    #[prost(fixed64, optional, tag = "7")]
    pub ingress_ts_ns: Option<u64>,
    #[prost(fixed64, optional, tag = "8")]
    pub egress_ts_ns: Option<u64>,
    #[prost(uint32, optional, tag = "9")]
    pub level2_ingress_port: Option<u32>,
    #[prost(uint32, optional, tag = "10")]
    pub level2_egress_port: Option<u32>,
    #[prost(uint32, optional, tag = "11")]
    pub congestion_queue_id: Option<u32>,
    #[prost(uint32, optional, tag = "12")]
    pub queue_congestion: Option<u32>,
    #[prost(uint32, optional, tag = "13")]
    pub tx_utilization: Option<u32>,
    #[prost(uint32, optional, tag = "14")]
    pub buffer_id: Option<u32>,
    #[prost(uint32, optional, tag = "15")]
    pub buffer_occupancy: Option<u32>,
    #[prost(uint32, optional, tag = "16")]
    pub checksum_complement: Option<u32>,
    #[prost(uint32, optional, tag = "17")]
    pub drop_reason: Option<u32>,
    #[prost(uint32, optional, tag = "18")]
    pub drop_queue_id: Option<u32>,
    #[prost(uint32, repeated, tag = "19")]
    pub domain_words: Vec<u32>,
    #[prost(message, repeated, tag = "20")]
    pub reserved: Vec<ReservedWord>,
}

#[derive(Clone, Copy, PartialEq, Message)]
pub struct ReservedWord {
    #[prost(uint32, tag = "1")]
    pub bit: u32,
    #[prost(uint32, tag = "2")]
    pub word: u32,
}

#[derive(Clone, Copy, PartialEq, Message)]
pub struct ReportDomain {
    #[prost(uint32, tag = "1")]
    pub id: u32,
    #[prost(uint32, tag = "2")]
    pub bits: u32,
    #[prost(uint32, tag = "3")]
    pub status: u32,
}

#[derive(Clone, PartialEq, Message)]
pub struct IntHeader {
    #[prost(string, tag = "1")]
    pub version: String,
    #[prost(string, tag = "2")]
    pub kind: String,
    #[prost(uint32, tag = "3")]
    pub instructions: u32,
    #[prost(uint32, tag = "4")]
    pub replication: u32,
    #[prost(bool, tag = "5")]
    pub copy: bool,
    #[prost(bool, tag = "6")]
    pub discard: bool,
    #[prost(bool, tag = "7")]
    pub hops_exceeded: bool,
    #[prost(bool, tag = "8")]
    pub mtu_exceeded: bool,
    #[prost(uint32, optional, tag = "9")]
    pub max_hops: Option<u32>,
    #[prost(uint32, optional, tag = "10")]
    pub remaining_hops: Option<u32>,
    #[prost(message, optional, tag = "11")]
    pub domain: Option<IntDomain>,
    #[prost(message, repeated, tag = "12")]
    pub hops: Vec<Metadata>,
    #[prost(uint32, repeated, tag = "13")]
    pub source_words: Vec<u32>,
    #[prost(uint32, optional, tag = "14")]
    pub original_dscp: Option<u32>,
    #[prost(uint32, optional, tag = "15")]
    pub original_dport: Option<u32>,
    #[prost(uint32, optional, tag = "16")]
    pub original_protocol: Option<u32>,
    #[prost(uint32, optional, tag = "17")]
    pub seq: Option<u32>,
    #[prost(bool, tag = "18")]
    pub truncated: bool,
}

#[derive(Clone, Copy, PartialEq, Message)]
pub struct IntDomain {
    #[prost(uint32, tag = "1")]
    pub id: u32,
    #[prost(uint32, tag = "2")]
    pub instructions: u32,
    #[prost(uint32, tag = "3")]
    pub flags: u32,
}

#[derive(Clone, PartialEq, Message)]
pub struct Extension {
    #[prost(uint32, optional, tag = "1")]
    pub kind: Option<u32>,
    #[prost(uint32, optional, tag = "2")]
    pub template: Option<u32>,
    #[prost(bytes = "vec", tag = "3")]
    pub data: Vec<u8>,
}
