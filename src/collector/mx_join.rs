//! Packets in INT-MX: what transit hops tell of a packet, each for itself, joins the report of its sink.
//!
//! A packet is known by what its source wrote into it: node, number and time. Its sink says in the report that hops tell
//! of it, too; the report waits for them. A hop that told of another packet of the flow shortly before, and not of this one,
//! is missing, unless another hop has its place. Then the report stays as it was, with the mark that something is missing: a
//! path without a hop would be another path.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use super::mx_pairs::MxPairs;
use crate::model::{
    Arrival, Body, FlowKey, Hop, HopQueue, HopStack, IntType, LatencyReport, Metadata, MxPairRow,
    NodeId, PacketReport, Report,
};
use crate::wire::DOMAIN;

/// Reports wait for this time: hops tell of packets many times in a second, but a sink's report may have waited for three
/// seconds before, until its clocks were known.
const JOIN_NS: u64 = 5_000_000_000;
/// The most packets that wait. The first ones are handed on early when there are more.
const MOST_PACKETS: usize = 1 << 16;
/// The most hops that are taken of a packet.
const MOST_HOPS: usize = 16;
/// The most flows, and hops of a flow, that are known.
const MOST_FLOWS: usize = 1 << 16;
/// A hop that told nothing of a flow for this time is none of its hops.
const LEFT_NS: u64 = 10_000_000_000;

/// The words of INT-MX in hostint's domain: number, node, ports, time, tail.
const MX_WORDS: u16 = 0x8f00;

/// All ones say that a time is not known.
const UNKNOWN_TS: u32 = u32::MAX;

/// The source's node, number and time in a packet.
type PacketId = (NodeId, u32, u32);

/// A report that waits, and all that it is handed on with.
#[derive(Debug)]
pub(super) struct WaitingReport {
    pub report: Report,
    pub arrival: Arrival,
    pub until_ns: u64,
    pub part: usize,
    pub evidence: Arc<[u8]>,
}

/// What a hop reported.
#[derive(Debug)]
struct JoiningHop {
    hop: Hop,
    /// The packet's TTL or hop limit there: it falls along the way.
    ttl: u8,
    reported: WaitingReport,
}

#[derive(Debug, Default)]
struct WaitingPacket {
    sink: Option<WaitingReport>,
    hops: Vec<JoiningHop>,
}

/// A hop of a flow: the TTL that a packet had there, and when it reported last.
#[derive(Clone, Copy, Debug)]
struct FlowHop {
    node: NodeId,
    ttl: u8,
    told_ns: u64,
}

/// How packets in INT-MX fared since the collector started.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct MxCounts {
    /// Reports of sinks that all known hops of the flow joined.
    pub joined: u64,
    /// Those that lacked a hop.
    pub incomplete: u64,
    /// Packets of which hops reported, and no sink.
    pub without_sink: u64,
    /// Packets that were handed on before their time, because there were too many.
    pub early: u64,
}

/// The packets that wait.
#[derive(Debug, Default)]
pub struct MxJoin {
    packets: HashMap<PacketId, WaitingPacket>,
    order: VecDeque<(u64, PacketId)>,
    flows: HashMap<(NodeId, FlowKey), Vec<FlowHop>>,
    swept_ns: u64,
    counts: MxCounts,
    pairs: MxPairs,
}

/// The id of a packet of which a hop reported in INT-MX; `None` for other reports.
fn id_of_hop_report(report: &PacketReport) -> Option<PacketId> {
    let [header] = report.packet.as_ref()?.int.as_slice() else {
        return None;
    };
    let domain = header.domain?;
    let own = (header.kind, domain.id, domain.instructions) == (IntType::Mx, DOMAIN, MX_WORDS);
    match header.source_words.as_slice() {
        [sequence, node, _ports, time, _tail] if own && !header.truncated => {
            Some((NodeId(*node), *sequence, *time))
        }
        _ => None,
    }
}

fn hop_of(report: &PacketReport) -> Option<(Hop, u8)> {
    let Metadata {
        ingress_port,
        egress_port,
        ingress_ts,
        egress_ts,
        queue_occupancy,
        ..
    } = report.metadata;
    let hop = Hop {
        node: report.node?,
        ingress_port: ingress_port?,
        egress_port: egress_port?,
        ingress_ts: ingress_ts.map_or(UNKNOWN_TS, |ns| ns as u32),
        egress_ts: egress_ts? as u32,
        queue: queue_occupancy.map(HopQueue::Occupancy),
    };
    let bytes = &report.packet.as_ref()?.bytes;
    let ttl_at = if bytes.first()? >> 4 == 4 { 8 } else { 7 };
    Some((hop, *bytes.get(ttl_at)?))
}

fn id_of_awaiting(latency: &LatencyReport) -> PacketId {
    let source = latency.hops.source();
    (source.node, latency.sequence, source.ingress_ts)
}

impl MxJoin {
    /// Keeps what `waiting` makes of a report that belongs to a packet in INT-MX; returns false for other reports.
    pub(super) fn take(
        &mut self,
        report: &Report,
        now_ns: u64,
        waiting: impl FnOnce() -> WaitingReport,
    ) -> bool {
        let observation = &report.observation;
        match &observation.body {
            Body::Packet(reported) => {
                let Some((id, (hop, ttl))) = id_of_hop_report(reported).zip(hop_of(reported))
                else {
                    return false;
                };
                self.add_hop(id, hop, ttl, waiting, now_ns);
            }
            Body::Latency(latency)
                if observation.flags.intermediate && latency.hops.transit().is_empty() =>
            {
                let id = id_of_awaiting(latency);
                let packet = self.packet(id, now_ns);
                // Hops told of a packet that came twice, too, and nothing says of which one.
                if packet.sink.is_some() {
                    self.counts.incomplete += 1;
                    self.pairs.incomplete(latency, &[]);
                    return false;
                }
                packet.sink = Some(waiting());
                self.learn(id, now_ns);
            }
            _ => return false,
        }
        true
    }

    fn add_hop(
        &mut self,
        id: PacketId,
        hop: Hop,
        ttl: u8,
        reported: impl FnOnce() -> WaitingReport,
        now_ns: u64,
    ) {
        let packet = self.packet(id, now_ns);
        // A bridge and its port are one hop.
        let is_known = |one: &JoiningHop| (one.hop.node, one.ttl) == (hop.node, ttl);
        if packet.hops.len() < MOST_HOPS && !packet.hops.iter().any(is_known) {
            let reported = reported();
            packet.hops.push(JoiningHop { hop, ttl, reported });
        }
        self.learn(id, now_ns);
    }

    fn packet(&mut self, id: PacketId, now_ns: u64) -> &mut WaitingPacket {
        self.packets.entry(id).or_insert_with(|| {
            self.order.push_back((now_ns + JOIN_NS, id));
            WaitingPacket::default()
        })
    }

    /// Notes which hops the packet's flow has, once that is known.
    fn learn(&mut self, id: PacketId, now_ns: u64) {
        let Some(packet) = self.packets.get(&id) else {
            return;
        };
        let Some(key) = packet.sink.as_ref().and_then(|sink| flow_of(id.0, sink)) else {
            return;
        };
        if !self.flows.contains_key(&key) && self.flows.len() >= MOST_FLOWS {
            if now_ns.saturating_sub(self.swept_ns) < LEFT_NS {
                return;
            }
            self.swept_ns = now_ns;
            self.flows
                .retain(|_, hops| hops.iter().any(|hop| hop.told_ns + LEFT_NS > now_ns));
        }
        let hops = self.flows.entry(key).or_default();
        hops.retain(|hop| hop.told_ns + LEFT_NS > now_ns);
        for reported in &packet.hops {
            let node = reported.hop.node;
            if let Some(hop) = hops.iter_mut().find(|hop| hop.node == node) {
                hop.told_ns = now_ns;
                hop.ttl = reported.ttl;
            } else if hops.len() < MOST_HOPS {
                hops.push(FlowHop {
                    node,
                    ttl: reported.ttl,
                    told_ns: now_ns,
                });
            }
        }
    }

    /// True if no packet waits.
    pub(super) fn is_empty(&self) -> bool {
        self.packets.is_empty()
    }

    /// Hands out what waited long enough. Of a packet of which only hops reported, all that they told.
    pub(super) fn due(&mut self, now_ns: u64) -> Vec<WaitingReport> {
        let mut due = Vec::new();
        while let Some((due_ns, id)) = self.order.front().copied() {
            let is_early = due_ns > now_ns;
            if is_early && self.packets.len() <= MOST_PACKETS {
                break;
            }
            self.order.pop_front();
            self.counts.early += u64::from(is_early);
            if let Some(packet) = self.packets.remove(&id) {
                self.finish(id, packet, &mut due);
            }
        }
        due
    }

    /// Hands out everything.
    pub(super) fn finish_all(&mut self) -> Vec<WaitingReport> {
        self.due(u64::MAX)
    }

    fn finish(&mut self, id: PacketId, packet: WaitingPacket, due: &mut Vec<WaitingReport>) {
        let Some(mut sink) = packet.sink else {
            self.counts.without_sink += 1;
            due.extend(packet.hops.into_iter().map(|hop| hop.reported));
            return;
        };
        let key = flow_of(id.0, &sink);
        let known = key.and_then(|key| self.flows.get(&key));
        let has = |node| packet.hops.iter().any(|reported| reported.hop.node == node);
        // Where another hop reports in its place, the path is another one.
        let is_replaced = |ttl| packet.hops.iter().any(|reported| reported.ttl == ttl);
        let is_missing = |hop: &FlowHop| !has(hop.node) && !is_replaced(hop.ttl);
        let missing = known.map(|hops| {
            // Of hops in one place, the one that reported last.
            let is_last = |hop: &&FlowHop| {
                let mut others = hops.iter().filter(|other| other.ttl == hop.ttl);
                others.all(|other| other.told_ns <= hop.told_ns)
            };
            let missing = hops.iter().filter(|hop| is_missing(hop)).filter(is_last);
            missing.map(|hop| hop.node).collect::<Vec<_>>()
        });
        if let Some(missing) = missing.filter(|missing| !missing.is_empty()) {
            self.counts.incomplete += 1;
            if let Body::Latency(latency) = &sink.report.observation.body {
                self.pairs.incomplete(latency, &missing);
            }
            due.push(sink);
            return;
        }
        self.counts.joined += 1;
        let mut hops = packet.hops;
        // The newest hop is that with the least TTL.
        hops.sort_by_key(|reported| reported.ttl);
        let hops: Vec<Hop> = hops.into_iter().map(|reported| reported.hop).collect();
        if let Body::Latency(latency) = &mut sink.report.observation.body {
            self.pairs.joined(latency);
            let (source, end) = (*latency.hops.source(), *latency.hops.sink());
            latency.hops = HopStack::over(source, &hops, end);
        }
        sink.report.observation.flags.intermediate = false;
        due.push(sink);
    }

    pub fn counts(&self) -> MxCounts {
        self.counts
    }

    /// The same by pair: at most `most` pairs, those with most reports that lack a hop first.
    pub fn pairs(&self, most: usize) -> Vec<MxPairRow> {
        self.pairs.rows(most)
    }
}

fn flow_of(source: NodeId, sink: &WaitingReport) -> Option<(NodeId, FlowKey)> {
    let flow = sink.report.observation.flow()?;
    Some((source, flow))
}
