//! The border between kernel and user: ring bytes become a `SinkEvent` in this file and nowhere else.

use std::net::IpAddr;

use crate::datapath::abi::{
    self, encapsulation, event_kind, event_reason, flow_key, int_md_instruction, read_from,
};
use crate::model::{
    Encapsulation, FlowKey, Hop, HopQueue, LatencyEvent, LossEvent, NodeId, QueueDepth,
    QuotedHeaders, Reasons, SinkEvent, Vlans,
};

/// An address as the kernel half keeps it in flow keys: the bytes of the wire, IPv4 mapped into IPv6.
pub(in crate::datapath) fn address(words: [u32; 4]) -> IpAddr {
    let mut bytes = [0; 16];
    for (to, word) in bytes.chunks_exact_mut(4).zip(words) {
        to.copy_from_slice(&word.to_ne_bytes());
    }
    IpAddr::V6(bytes.into()).to_canonical()
}

pub(in crate::datapath) fn address_words(addr: IpAddr) -> [u32; 4] {
    let bytes = match addr {
        IpAddr::V4(v4) => v4.to_ipv6_mapped().octets(),
        IpAddr::V6(v6) => v6.octets(),
    };
    let mut words = [0; 4];
    for (to, word) in words.iter_mut().zip(bytes.chunks_exact(4)) {
        *to = u32::from_ne_bytes([word[0], word[1], word[2], word[3]]);
    }
    words
}

impl From<&flow_key> for FlowKey {
    fn from(key: &flow_key) -> Self {
        Self {
            src: address(key.saddr),
            dst: address(key.daddr),
            sport: u16::from_be(key.sport),
            dport: u16::from_be(key.dport),
            protocol: (key.layers & 0xff) as u8,
            vlans: Vlans {
                outer: (key.layers >> 20 & 0xfff) as u16,
                inner: (key.layers >> 8 & 0xfff) as u16,
            },
        }
    }
}

impl From<&FlowKey> for flow_key {
    fn from(flow: &FlowKey) -> Self {
        Self {
            saddr: address_words(flow.src),
            daddr: address_words(flow.dst),
            sport: flow.sport.to_be(),
            dport: flow.dport.to_be(),
            layers: u32::from(flow.vlans.outer) << 20
                | u32::from(flow.vlans.inner) << 8
                | u32::from(flow.protocol),
        }
    }
}

/// The low 16 bits of an interface's index, by which reports name a port.
pub(in crate::datapath) fn low16(ifindex: u32) -> u16 {
    (ifindex & 0xffff) as u16
}

/// Returns the encapsulation that has this number in kernel settings.
pub fn encapsulation_of(number: u32) -> Option<Encapsulation> {
    match encapsulation(number) {
        encapsulation::ENCAP_OVER_TCP_UDP => Some(Encapsulation::OverTcpUdp),
        encapsulation::ENCAP_EXTENSION_UDP => Some(Encapsulation::ExtensionUdp),
        encapsulation::ENCAP_VXLAN_GPE => Some(Encapsulation::VxlanGpe),
        encapsulation::ENCAP_INT_MD => Some(Encapsulation::IntMd),
        encapsulation::ENCAP_IOAM => Some(Encapsulation::Ioam),
        encapsulation::ENCAP_OPTIONS => Some(Encapsulation::Options),
        _ => None,
    }
}

fn latency(event: &abi::latency_event, transit: Vec<Hop>) -> Option<SinkEvent> {
    let carried = encapsulation_of(event.encapsulation.into())?;
    if !matches!(event.l4_len, 0 | 8 | 20) {
        return None;
    }
    // The kernel half does not quote TCP options and IPv6 headers: reports name such flows by their key instead.
    let headers = event.l4.get(..event.l4_len.into()).and_then(|l4| {
        match carried {
            Encapsulation::OverTcpUdp
            | Encapsulation::VxlanGpe
            | Encapsulation::IntMd
            | Encapsulation::Ioam
            | Encapsulation::Options => QuotedHeaders::new(event.ip, l4),
            Encapsulation::ExtensionUdp => QuotedHeaders::extension_udp(event.ip, l4),
        }
        .ok()
    });
    let has = |reason: event_reason| u32::from(event.reasons) & reason.0 != 0;
    Some(SinkEvent::Latency(LatencyEvent {
        reasons: Reasons {
            new_flow: has(event_reason::REASON_NEW_FLOW),
            bucket_change: has(event_reason::REASON_BUCKET),
            period: has(event_reason::REASON_PERIOD),
            path_change: has(event_reason::REASON_PATH),
            sample: has(event_reason::REASON_SAMPLE),
        },
        encapsulation: carried,
        flow: (&event.key).into(),
        headers,
        source: Hop {
            node: NodeId(event.source_node),
            ingress_port: event.ingress_port,
            egress_port: event.egress_port,
            ingress_ts: event.ingress_ts,
            egress_ts: event.egress_ts,
            queue: None,
        },
        transit,
        sink_port: low16(event.ifindex),
        sink_ns: event.now_ns,
        by_nic: event.by_nic != 0,
        sequence: event.sequence,
        latency_ns: event.latency_ns.into(),
        queue: (event.has_queue != 0).then_some(QueueDepth {
            packets: event.queue_packets,
            bytes: event.queue_bytes,
        }),
    }))
}

/// The entry of a transit hop, which has the times in INT v0.5, and the items of this bitmap in v2.1; all begin with node and
/// ports, and end with the ingress timestamp.
fn transit_hop(entry: &[u32], bitmap: u16, by_ioam: bool) -> Option<Hop> {
    let word = |at: usize| entry.get(at).copied().map(u32::from_be);
    let has = |item: int_md_instruction| u32::from(bitmap) & item.0 != 0;
    let (latency, queue) = match entry.len() {
        4 => (None, None),
        5 if has(int_md_instruction::INT_MD_LATENCY) => (word(2), None),
        5 => (None, word(2)),
        6 => (word(2), word(3)),
        _ => return None,
    };
    let (ingress_ts, egress_ts) = match (entry.len(), latency) {
        (4, _) => (word(2)?, word(3)?),
        // All ones say that the hop does not know its latency.
        (words, None | Some(u32::MAX)) => (word(words - 1)?, word(words - 1)?),
        (words, Some(latency)) => {
            let ts = word(words - 1)?;
            (ts, ts.wrapping_add(latency))
        }
    };
    let ports = word(1)?;
    Some(Hop {
        node: NodeId(word(0)?),
        ingress_port: (ports >> 16) as u16,
        egress_port: ports as u16,
        ingress_ts,
        egress_ts,
        queue: queue.and_then(if by_ioam {
            HopQueue::of_ioam
        } else {
            HopQueue::of_int
        }),
    })
}

fn path(event: &abi::path_event) -> Option<SinkEvent> {
    let entries = event.entries.get(..event.hops.into())?;
    let carried = encapsulation_of(event.latency.encapsulation.into())?;
    let by_ioam = carried == Encapsulation::Ioam;
    let hops = entries
        .iter()
        .map(|entry| transit_hop(entry.get(..event.hop_words.into())?, event.bitmap, by_ioam));
    latency(&event.latency, hops.collect::<Option<_>>()?)
}

/// Returns the event in these ring bytes, or `None` if they hold none.
pub fn decode(bytes: &[u8]) -> Option<SinkEvent> {
    match event_kind(read_from::<u32>(bytes)?) {
        event_kind::EVENT_LATENCY => latency(&read_from(bytes)?, Vec::new()),
        event_kind::EVENT_PATH => path(&read_from(bytes)?),
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
