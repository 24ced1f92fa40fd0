//! A row: a report with all that is known of it.

use std::net::{IpAddr, Ipv6Addr};

use super::flow_totals::FlowTotals;
use crate::engines::{FedReport, RunId};
use crate::model::{
    CorrectedLatency, EndRecord, FlowHash, FlowKey, HopRecord, LatencyHistogram, Measured, NodeId,
    NodePort, PathPartRecord, QueueDepth, Record, RecordPod, ReportFacts, SequenceEvidence, Vlans,
};

pub(super) const NO_ADDRESS: IpAddr = IpAddr::V6(Ipv6Addr::UNSPECIFIED);

/// The flow of a row whose report shows none.
pub(super) const NO_FLOW: FlowKey = FlowKey {
    src: NO_ADDRESS,
    dst: NO_ADDRESS,
    sport: 0,
    dport: 0,
    protocol: 0,
    vlans: Vlans::NONE,
};

pub struct TableRow<'a> {
    pub(super) run: u64,
    pub(super) entry: &'a FedReport,
    pub(super) record: Record,
    pub(super) observed: ReportFacts,
    pub(super) flow: FlowKey,
    pub(super) inner_flow: FlowKey,
    pub(super) flow_hash: u64,
    pub(super) totals: FlowTotals,
    /// The hops, oldest first; empty if there are only source and sink.
    pub(super) hops: Vec<RowHop>,
}

/// A hop. Values that it does not have are 0.
#[derive(Clone, Copy)]
pub(super) struct RowHop {
    pub(super) node: u32,
    pub(super) latency_ns: u32,
    pub(super) queue_occupancy: u32,
    pub(super) ingress_port: u16,
    pub(super) egress_port: u16,
}

impl<'a> TableRow<'a> {
    pub(super) fn new(run: RunId, entry: &'a FedReport, now_ns: u64) -> Self {
        let report = &entry.report;
        let record = Record::new(report, entry.arrival);
        let hops = hops(&record);
        Self {
            run: run.0,
            entry,
            observed: ReportFacts::new(report, entry.arrival, || now_ns),
            flow: record.flow.unwrap_or(NO_FLOW),
            inner_flow: record.inner_flow.unwrap_or(NO_FLOW),
            flow_hash: record.flow.map_or(0, |flow| FlowHash::of(&flow).0),
            totals: FlowTotals::of(&report.observation.body).unwrap_or_default(),
            hops,
            record,
        }
    }

    /// Returns 1 if the row's time is that of its arrival.
    pub(super) fn received(&self) -> u8 {
        (self.record.received_ns == Some(self.observed.time_ns)).into()
    }

    /// Returns the highest sequence number of the flow in the report.
    pub(super) fn seq(&self) -> Option<u32> {
        match self.observed.shown {
            SequenceEvidence::Number(seq) | SequenceEvidence::Missing { last: seq, .. } => {
                Some(seq)
            }
            SequenceEvidence::Packet
            | SequenceEvidence::Nothing
            | SequenceEvidence::Total { .. } => None,
        }
    }

    /// Returns the depth of the source's root queue.
    pub(super) fn source_queue(&self) -> Option<QueueDepth> {
        match self.record.source {
            Some(EndRecord::Hop { queue, .. }) => queue,
            _ => None,
        }
    }

    /// Returns a count of the packets that a summary adds; 0 for other reports.
    pub(super) fn added(&self, count: fn(&Measured) -> u64) -> u64 {
        self.entry.added.as_deref().map_or(0, count)
    }

    /// Returns the latency without the difference of the clocks, if they were known.
    pub(super) fn corrected(&self) -> Option<CorrectedLatency> {
        self.entry.clocks.corrected()
    }

    /// Returns the latencies of the packets that a summary adds.
    pub(super) fn latency(&self) -> Option<&LatencyHistogram> {
        self.entry.added.as_deref().map(|added| &added.latency)
    }

    /// Returns a value of each slot of those latencies: its upper bound, or its packets.
    pub(super) fn slots<T>(&self, value: fn((i64, u64)) -> T) -> Vec<T> {
        let slots = self.latency().into_iter().flat_map(|all| all.slots());
        slots.map(value).collect()
    }

    /// Returns the part of a path that the row is about.
    pub(super) fn path_part(&self) -> Option<&PathPartRecord> {
        self.record.path_part.as_deref()
    }

    /// Returns the name of a node, empty if it has none.
    pub(super) fn name(&self, node: Option<NodeId>) -> &str {
        let name = node.and_then(|node| self.entry.names.name(node));
        name.unwrap_or("")
    }

    pub(super) fn names(&self, nodes: impl Iterator<Item = u32>) -> Vec<&str> {
        nodes.map(|node| self.name(Some(NodeId(node)))).collect()
    }

    /// Returns a value of each pod that has a name.
    pub(super) fn pods<'b, T>(&'b self, value: fn(&'b RecordPod) -> T) -> Vec<T> {
        self.entry.pods.iter().map(value).collect()
    }

    /// Returns the name of an interface, empty if it has none.
    pub(super) fn interface(&self, at: NodePort) -> &str {
        self.entry.names.port(at).unwrap_or("")
    }

    pub(super) fn hop_interfaces(&self, port: fn(&RowHop) -> u16) -> Vec<&str> {
        let at = |hop: &RowHop| NodePort {
            node: NodeId(hop.node),
            port: port(hop),
        };
        self.hops
            .iter()
            .map(|hop| self.interface(at(hop)))
            .collect()
    }

    pub(super) fn hop_values(&self, value: fn(&RowHop) -> u32) -> Vec<u32> {
        self.hops.iter().map(value).collect()
    }
}

fn hops(record: &Record) -> Vec<RowHop> {
    if let Some(int) = record.int.first() {
        return int
            .hops
            .iter()
            .rev()
            .map(|hop| RowHop {
                node: hop.node.unwrap_or_default().0,
                latency_ns: hop.hop_latency_ns.unwrap_or(0),
                queue_occupancy: hop.queue_occupancy.unwrap_or(0),
                ingress_port: hop.ingress_port.unwrap_or(0),
                egress_port: hop.egress_port.unwrap_or(0),
            })
            .collect();
    }
    if record.transit.is_empty() {
        return Vec::new();
    }
    let end = |end: Option<EndRecord>| end.as_ref().and_then(EndRecord::hop).copied();
    end(record.source)
        .into_iter()
        .chain(record.transit.iter().rev().copied())
        .chain(end(record.sink))
        .map(|hop: HopRecord| RowHop {
            node: hop.node.0,
            latency_ns: stay_ns(&hop),
            queue_occupancy: hop.queue_occupancy.or(hop.queue_bytes).unwrap_or(0),
            ingress_port: hop.ingress_port,
            egress_port: hop.egress_port,
        })
        .collect()
}

/// The time from a hop's ingress to its egress; 0 if it does not know both, whose stamp is all ones then.
fn stay_ns(hop: &HopRecord) -> u32 {
    if [hop.ingress_ts_ns, hop.egress_ts_ns].contains(&u32::MAX) {
        return 0;
    }
    hop.egress_ts_ns.wrapping_sub(hop.ingress_ts_ns)
}
