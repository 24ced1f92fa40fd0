//! What a row is made of: a report by all that is known of it.

use std::net::{IpAddr, Ipv6Addr};

use crate::engines::{Entry, Run};
use crate::model::{
    EndRecord, FlowHash, FlowKey, FlowTotals, HopRecord, QueueDepth, Record, ReportFacts,
    SequenceEvidence, Vlans,
};

pub(super) const NO_ADDRESS: IpAddr = IpAddr::V6(Ipv6Addr::UNSPECIFIED);

/// Where a report shows no flow.
const NO_FLOW: FlowKey = FlowKey {
    src: NO_ADDRESS,
    dst: NO_ADDRESS,
    sport: 0,
    dport: 0,
    protocol: 0,
    vlans: Vlans::NONE,
};

pub struct Row<'a> {
    pub(super) run: u64,
    pub(super) entry: &'a Entry,
    pub(super) record: Record,
    pub(super) observed: ReportFacts,
    pub(super) flow: FlowKey,
    pub(super) inner_flow: FlowKey,
    pub(super) flow_hash: u64,
    pub(super) totals: FlowTotals,
    /// Oldest first; empty if there are none but source and sink.
    pub(super) hops: Vec<RowHop>,
}

/// A hop; what it does not tell is 0.
#[derive(Clone, Copy)]
pub(super) struct RowHop {
    pub(super) node: u32,
    pub(super) latency_ns: u32,
    pub(super) queue_occupancy: u32,
}

impl<'a> Row<'a> {
    pub(super) fn new(run: Run, entry: &'a Entry, now_ns: u64) -> Self {
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
            totals: record.totals.unwrap_or_default(),
            hops,
            record,
        }
    }

    /// Whether the row's time is that of its arrival.
    pub(super) fn received(&self) -> u8 {
        (self.record.received_ns == Some(self.observed.time_ns)).into()
    }

    /// The highest sequence number of the flow that the report shows.
    pub(super) fn seq(&self) -> Option<u32> {
        match self.observed.shown {
            SequenceEvidence::Number(seq) | SequenceEvidence::Missing { last: seq, .. } => {
                Some(seq)
            }
            SequenceEvidence::Packet | SequenceEvidence::Total { .. } => None,
        }
    }

    /// The root queue of the source.
    pub(super) fn source_queue(&self) -> Option<QueueDepth> {
        match self.record.source {
            Some(EndRecord::Hop { queue, .. }) => queue,
            _ => None,
        }
    }

    pub(super) fn hop_values(&self, value: fn(&RowHop) -> u32) -> Vec<u32> {
        self.hops.iter().map(value).collect()
    }
}

fn hops(record: &Record) -> Vec<RowHop> {
    if let Some(int) = record.int.first() {
        let oldest_first = int.hops.iter().rev();
        let told = oldest_first.map(|hop| RowHop {
            node: hop.node.unwrap_or_default().0,
            latency_ns: hop.hop_latency_ns.unwrap_or(0),
            queue_occupancy: hop.queue_occupancy.unwrap_or(0),
        });
        return told.collect();
    }
    if record.transit.is_empty() {
        return Vec::new();
    }
    let end = |end: Option<EndRecord>| match end {
        Some(EndRecord::Hop { hop, .. }) => Some(hop),
        _ => None,
    };
    let between = record.transit.iter().rev().copied();
    let all = end(record.source).into_iter().chain(between);
    let all = all.chain(end(record.sink));
    all.map(|hop: HopRecord| RowHop {
        node: hop.node.0,
        latency_ns: hop.egress_ts_ns.wrapping_sub(hop.ingress_ts_ns),
        queue_occupancy: 0,
    })
    .collect()
}
