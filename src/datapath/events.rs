//! The border between kernel and user: ring bytes become a `SinkEvent` here and nowhere else.

use std::net::{IpAddr, Ipv4Addr};

use super::abi::{self, encapsulation, event_kind, event_reason, flow_key, read_from};
use crate::model::{
    Encapsulation, FlowKey, Hop, LatencyEvent, LossEvent, NodeId, QuotedHeaders, Reasons, SinkEvent,
};

/// An address as the kernel half keeps it: the bytes of the wire in a word.
pub fn address(word: u32) -> Ipv4Addr {
    Ipv4Addr::from(word.to_ne_bytes())
}

/// The word in which the kernel half keeps an address.
pub fn address_word(addr: Ipv4Addr) -> u32 {
    u32::from_ne_bytes(addr.octets())
}

impl From<&flow_key> for FlowKey {
    fn from(key: &flow_key) -> Self {
        Self {
            src: IpAddr::V4(address(key.saddr)),
            dst: IpAddr::V4(address(key.daddr)),
            sport: u16::from_be(key.sport),
            dport: u16::from_be(key.dport),
            protocol: key.protocol,
        }
    }
}

fn low16(ifindex: u32) -> u16 {
    (ifindex & 0xffff) as u16
}

fn latency(event: &abi::latency_event) -> Option<SinkEvent> {
    let carried = match encapsulation(event.encapsulation.into()) {
        encapsulation::ENCAP_OVER_TCP_UDP => Encapsulation::OverTcpUdp,
        encapsulation::ENCAP_EXTENSION_UDP => Encapsulation::ExtensionUdp,
        _ => return None,
    };
    let l4 = event.l4.get(..event.l4_len.into())?;
    let headers = match carried {
        Encapsulation::OverTcpUdp => QuotedHeaders::new(event.ip, l4),
        Encapsulation::ExtensionUdp => QuotedHeaders::extension_udp(event.ip, l4),
    }
    .ok()?;
    let block: abi::int_block = read_from(&event.int_block)?;
    let has = |reason: event_reason| u32::from(event.reasons) & reason.0 != 0;
    Some(SinkEvent::Latency(LatencyEvent {
        reasons: Reasons {
            new_flow: has(event_reason::REASON_NEW_FLOW),
            bucket_change: has(event_reason::REASON_BUCKET),
            period: has(event_reason::REASON_PERIOD),
        },
        encapsulation: carried,
        flow: (&event.key).into(),
        headers,
        source: Hop {
            node: NodeId(u32::from_be(block.node_id)),
            ingress_port: u16::from_be(block.ingress_port),
            egress_port: u16::from_be(block.egress_port),
            ingress_ts: u32::from_be(block.ingress_ts),
            egress_ts: u32::from_be(block.egress_ts),
        },
        sink_port: low16(event.ifindex),
        sink_ns: event.now_ns,
        sequence: u32::from_be(block.sequence),
        latency_ns: event.latency_ns.into(),
    }))
}

/// The event in these ring bytes; `None` if there is none.
pub fn decode(bytes: &[u8]) -> Option<SinkEvent> {
    match event_kind(read_from::<u32>(bytes)?) {
        event_kind::EVENT_LATENCY => latency(&read_from(bytes)?),
        event_kind::EVENT_LOSS => {
            let event: abi::loss_event = read_from(bytes)?;
            Some(SinkEvent::Loss(LossEvent {
                flow: (&event.key).into(),
                source_node: NodeId(event.source_node),
                source_port: event.source_port,
                sink_port: low16(event.ifindex),
                before_ns: event.hole_ns,
                before_seq: event.first.wrapping_sub(1),
                count: event.count,
            }))
        }
        event_kind::EVENT_GAP => {
            let event: abi::gap_event = read_from(bytes)?;
            Some(SinkEvent::Gap((&event.key).into()))
        }
        _ => None,
    }
}
