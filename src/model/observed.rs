//! A report's essence, whatever kind it is: what histories and engines are made of.

use std::net::SocketAddr;

use super::{Arrival, Body, FlowKey, NodeId, Report};

const NS_PER_S: u64 = 1_000_000_000;

/// What a report shows of its flow's sequence numbers.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Shown {
    /// A packet without a number.
    Packet,
    Number(u32),
    /// The last of so many that are missing, or one before it.
    Missing {
        last: u32,
        count: u32,
    },
    /// None: a summary, which tells how many packets came out of order since the flow began at the sink.
    Total {
        since_ns: u64,
        reordered: u64,
    },
}

/// A report by what reports of all kinds have.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Observed {
    pub time_ns: u64,
    pub exporter: Option<SocketAddr>,
    pub flow: Option<FlowKey>,
    /// Where the reported packet entered the INT domain, and where it was last seen.
    pub source: Option<NodeId>,
    pub sink: Option<NodeId>,
    /// As [`super::Observation::kind`] says it.
    pub kind: &'static str,
    pub latency_ns: Option<i64>,
    pub lost: u32,
    pub shown: Shown,
}

impl Observed {
    /// Its time is that of its arrival, else the report's own, else `now_ns`.
    pub fn new(report: &Report, arrival: Option<Arrival>, now_ns: impl FnOnce() -> u64) -> Self {
        let observation = &report.observation;
        let kind = observation.kind();
        let mut observed = Self {
            time_ns: time_of(&observation.body, arrival, now_ns).min(i64::MAX as u64),
            exporter: arrival.map(|arrival| arrival.exporter),
            flow: observation.flow(),
            source: None,
            sink: None,
            kind,
            latency_ns: observation.latency_ns(),
            lost: 0,
            shown: Shown::Packet,
        };
        match &observation.body {
            Body::Latency(report) => {
                observed.source = Some(report.hops.source().node);
                observed.sink = Some(report.hops.sink().node);
                observed.shown = Shown::Number(report.sequence);
            }
            Body::DropSummary(summary) => {
                observed.source = Some(summary.source_node);
                observed.sink = Some(summary.sink_node);
                observed.lost = summary.count;
                observed.shown = Shown::Missing {
                    last: summary.before_seq.wrapping_add(summary.count),
                    count: summary.count,
                };
            }
            Body::FlowSummary(summary) => {
                observed.source = Some(summary.source_node);
                observed.sink = Some(summary.sink_node);
                observed.shown = Shown::Total {
                    since_ns: summary.totals.first_ns,
                    reordered: summary.totals.reordered,
                };
            }
            Body::Packet(report) => {
                let path = report.path();
                observed.sink = path.last().copied();
                observed.source = path.first().copied().filter(|_| path.len() > 1);
                observed.lost = u32::from(kind == "drop");
                let header = report.packet.as_ref().and_then(|packet| packet.int.first());
                if let Some(seq) = header.and_then(|header| header.seq) {
                    observed.shown = Shown::Number(seq);
                }
            }
        }
        observed
    }

    /// The nodes, if both are known.
    pub fn pair(&self) -> Option<(NodeId, NodeId)> {
        Some((self.source?, self.sink?))
    }
}

fn time_of(body: &Body, arrival: Option<Arrival>, now_ns: impl FnOnce() -> u64) -> u64 {
    if let Some(arrival) = arrival.filter(|arrival| arrival.received_ns > 0) {
        return arrival.received_ns;
    }
    let own_s = match body {
        Body::Latency(report) => report.time_s,
        Body::DropSummary(summary) => summary.time_s,
        Body::FlowSummary(summary) => summary.time_s,
        Body::Packet(_) => return now_ns(),
    };
    u64::from(own_s) * NS_PER_S
}
