//! The time that packets of a flow take through a host, as the schema has it.

use prost::Message;

use super::flow::Flow;
use super::tunnel::TunnelMessage;
use crate::model;

#[derive(Clone, PartialEq, Message)]
pub struct FlowPassageMessage {
    #[prost(message, optional, tag = "1")]
    pub flow_before_nat: Option<Flow>,
    #[prost(string, repeated, tag = "2")]
    pub reasons: Vec<String>,
    #[prost(bool, tag = "3")]
    pub from_sender: bool,
    #[prost(string, optional, tag = "4")]
    pub in_interface: Option<String>,
    #[prost(string, optional, tag = "5")]
    pub out_interface: Option<String>,
    #[prost(uint32, tag = "6")]
    pub in_ifindex: u32,
    #[prost(uint32, tag = "7")]
    pub out_ifindex: u32,
    #[prost(uint64, tag = "8")]
    pub packets: u64,
    #[prost(uint64, tag = "9")]
    pub bytes: u64,
    #[prost(fixed64, tag = "10")]
    pub first_ns: u64,
    #[prost(fixed64, tag = "11")]
    pub last_ns: u64,
    #[prost(uint32, tag = "12")]
    pub hop_ns: u32,
    #[prost(uint32, tag = "13")]
    pub mean_hop_ns: u32,
    #[prost(uint32, tag = "14")]
    pub max_hop_ns: u32,
    #[prost(string, optional, tag = "15")]
    pub in_pod: Option<String>,
    #[prost(string, optional, tag = "16")]
    pub out_pod: Option<String>,
    #[prost(message, optional, tag = "17")]
    pub tunnel: Option<TunnelMessage>,
}

impl From<model::FlowPassage> for FlowPassageMessage {
    fn from(hop: model::FlowPassage) -> Self {
        let reasons = hop.reasons.iter();
        Self {
            flow_before_nat: hop.flow_before_nat.map(Into::into),
            reasons: reasons.map(|reason| reason.name().to_owned()).collect(),
            from_sender: hop.start == model::PassageStart::Sender,
            in_interface: hop.in_interface,
            out_interface: hop.out_interface,
            in_ifindex: hop.in_ifindex,
            out_ifindex: hop.out_ifindex,
            packets: hop.packets,
            bytes: hop.bytes,
            first_ns: hop.first_ns,
            last_ns: hop.last_ns,
            hop_ns: hop.hop_ns,
            mean_hop_ns: hop.mean_hop_ns,
            max_hop_ns: hop.max_hop_ns,
            in_pod: hop.pods.in_pod,
            out_pod: hop.pods.out_pod,
            tunnel: hop.tunnel.map(Into::into),
        }
    }
}
