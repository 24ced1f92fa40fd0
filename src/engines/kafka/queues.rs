//! An episode of a host's queue, as the schema has it.

use prost::Message;

use super::flow::Flow;
use crate::model;

#[derive(Clone, PartialEq, Message)]
pub struct QueueEpisodeMessage {
    #[prost(string, optional, tag = "1")]
    pub interface: Option<String>,
    #[prost(uint32, tag = "2")]
    pub ifindex: u32,
    #[prost(uint32, tag = "3")]
    pub queue: u32,
    #[prost(uint32, tag = "4")]
    pub handle: u32,
    #[prost(string, tag = "5")]
    pub measure: String,
    #[prost(uint64, tag = "6")]
    pub trigger: u64,
    #[prost(uint64, tag = "7")]
    pub reset: u64,
    #[prost(uint32, tag = "8")]
    pub quota: u32,
    #[prost(uint64, tag = "9")]
    pub episode: u64,
    #[prost(fixed64, tag = "10")]
    pub begin_ns: u64,
    #[prost(fixed64, tag = "11")]
    pub last_ns: u64,
    #[prost(fixed64, optional, tag = "12")]
    pub end_ns: Option<u64>,
    #[prost(uint64, tag = "13")]
    pub packets: u64,
    #[prost(uint64, tag = "14")]
    pub bytes: u64,
    #[prost(uint64, tag = "15")]
    pub told: u64,
    #[prost(uint64, tag = "16")]
    pub suppressed: u64,
    #[prost(uint64, tag = "17")]
    pub drops: u64,
    #[prost(uint32, tag = "18")]
    pub max_bytes: u32,
    #[prost(uint32, tag = "19")]
    pub max_packets: u32,
    #[prost(uint32, optional, tag = "20")]
    pub max_time_ns: Option<u32>,
    #[prost(message, repeated, tag = "21")]
    pub flows: Vec<QueueFlowMessage>,
}

#[derive(Clone, PartialEq, Message)]
pub struct QueueFlowMessage {
    #[prost(message, optional, tag = "1")]
    pub flow: Option<Flow>,
    #[prost(uint64, tag = "2")]
    pub packets: u64,
    #[prost(uint64, tag = "3")]
    pub bytes: u64,
}

impl From<model::QueueEpisode> for QueueEpisodeMessage {
    fn from(one: model::QueueEpisode) -> Self {
        let flows = one.flows.into_iter();
        Self {
            interface: one.interface,
            ifindex: one.ifindex,
            queue: one.queue,
            handle: one.handle,
            measure: one.limits.measure.name().to_owned(),
            trigger: one.limits.trigger,
            reset: one.limits.reset,
            quota: one.limits.quota,
            episode: one.episode,
            begin_ns: one.begin_ns,
            last_ns: one.last_ns,
            end_ns: one.end_ns,
            packets: one.packets,
            bytes: one.bytes,
            told: one.told,
            suppressed: one.suppressed,
            drops: one.drops,
            max_bytes: one.max_bytes,
            max_packets: one.max_packets,
            max_time_ns: one.max_time_ns,
            flows: flows.map(Into::into).collect(),
        }
    }
}

impl From<model::QueueFlow> for QueueFlowMessage {
    fn from(one: model::QueueFlow) -> Self {
        Self {
            flow: Some(one.flow.into()),
            packets: one.packets,
            bytes: one.bytes,
        }
    }
}
