//! Packets that a host dropped, as the schema has them.

use prost::Message;

use super::flow::Flow;
use super::tunnel::TunnelMessage;
use crate::model;

#[derive(Clone, PartialEq, Message)]
pub struct HostDropMessage {
    #[prost(message, optional, tag = "1")]
    pub flow_before_nat: Option<Flow>,
    #[prost(uint32, tag = "2")]
    pub kernel_reason: u32,
    #[prost(string, optional, tag = "3")]
    pub kernel_reason_name: Option<String>,
    #[prost(string, optional, tag = "4")]
    pub place: Option<String>,
    #[prost(string, optional, tag = "5")]
    pub in_interface: Option<String>,
    #[prost(string, optional, tag = "6")]
    pub out_interface: Option<String>,
    #[prost(uint64, tag = "7")]
    pub packets: u64,
    #[prost(uint64, tag = "8")]
    pub segments: u64,
    #[prost(uint64, tag = "9")]
    pub bytes: u64,
    #[prost(fixed64, tag = "10")]
    pub first_ns: u64,
    #[prost(fixed64, tag = "11")]
    pub last_ns: u64,
    #[prost(uint32, optional, tag = "12")]
    pub age_ns: Option<u32>,
    #[prost(uint32, tag = "13")]
    pub queue_packets: u32,
    #[prost(uint32, tag = "14")]
    pub queue_bytes: u32,
    #[prost(uint32, tag = "15")]
    pub netns: u32,
    #[prost(uint64, optional, tag = "16")]
    pub cgroup: Option<u64>,
    #[prost(string, tag = "17")]
    pub position: String,
    #[prost(uint32, optional, tag = "18")]
    pub tagged_by: Option<u32>,
    #[prost(uint32, optional, tag = "19")]
    pub sequence: Option<u32>,
    #[prost(uint32, tag = "20")]
    pub in_ifindex: u32,
    #[prost(uint32, tag = "21")]
    pub out_ifindex: u32,
    #[prost(uint32, tag = "22")]
    pub ifindex: u32,
    #[prost(bool, tag = "23")]
    pub superpacket: bool,
    #[prost(string, optional, tag = "24")]
    pub in_pod: Option<String>,
    #[prost(string, optional, tag = "25")]
    pub out_pod: Option<String>,
    #[prost(string, optional, tag = "26")]
    pub pod: Option<String>,
    #[prost(message, optional, tag = "27")]
    pub tunnel: Option<TunnelMessage>,
}

/// One of a host's sums of drops.
#[derive(Clone, PartialEq, Message)]
pub struct HostDropSumMessage {
    #[prost(uint32, tag = "1")]
    pub kernel_reason: u32,
    #[prost(string, optional, tag = "2")]
    pub kernel_reason_name: Option<String>,
    #[prost(string, optional, tag = "3")]
    pub place: Option<String>,
    #[prost(string, optional, tag = "4")]
    pub interface: Option<String>,
    #[prost(uint32, tag = "5")]
    pub netns: u32,
    #[prost(string, tag = "6")]
    pub position: String,
    #[prost(uint32, optional, tag = "7")]
    pub tagged_by: Option<u32>,
    #[prost(bool, tag = "8")]
    pub ignored: bool,
    #[prost(bool, tag = "9")]
    pub without_packet: bool,
}

#[derive(Clone, Copy, PartialEq, Message)]
pub struct DropCountMessage {
    #[prost(uint64, tag = "1")]
    pub packets: u64,
    #[prost(uint64, tag = "2")]
    pub segments: u64,
    #[prost(uint64, tag = "3")]
    pub bytes: u64,
}

impl From<model::DropSubject> for HostDropSumMessage {
    fn from(sum: model::DropSubject) -> Self {
        Self {
            kernel_reason: sum.reason.number,
            kernel_reason_name: sum.reason.name,
            place: sum.place,
            interface: sum.interface,
            netns: sum.netns,
            position: sum.position.name().to_owned(),
            tagged_by: sum.tagged_by.map(|node| node.0),
            ignored: sum.ignored,
            without_packet: sum.without_packet,
        }
    }
}

impl From<model::DropCount> for DropCountMessage {
    fn from(count: model::DropCount) -> Self {
        Self {
            packets: count.packets,
            segments: count.segments,
            bytes: count.bytes,
        }
    }
}

impl From<model::HostDrop> for HostDropMessage {
    fn from(drop: model::HostDrop) -> Self {
        Self {
            flow_before_nat: drop.flow_before_nat.map(Into::into),
            kernel_reason: drop.reason.number,
            kernel_reason_name: drop.reason.name,
            place: drop.place,
            in_interface: drop.in_interface,
            out_interface: drop.out_interface,
            packets: drop.count.packets,
            segments: drop.count.segments,
            bytes: drop.count.bytes,
            first_ns: drop.first_ns,
            last_ns: drop.last_ns,
            age_ns: drop.age_ns,
            queue_packets: drop.queue_packets,
            queue_bytes: drop.queue_bytes,
            netns: drop.netns,
            cgroup: drop.cgroup,
            position: drop.position.name().to_owned(),
            tagged_by: drop.int.map(|int| int.source.0),
            sequence: drop.int.map(|int| int.sequence),
            in_ifindex: drop.in_ifindex,
            out_ifindex: drop.out_ifindex,
            ifindex: drop.ifindex,
            superpacket: drop.superpacket,
            in_pod: drop.pods.in_pod,
            out_pod: drop.pods.out_pod,
            pod: drop.pods.pod,
            tunnel: drop.tunnel.map(Into::into),
        }
    }
}
