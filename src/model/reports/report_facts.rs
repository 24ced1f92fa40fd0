//! The facts of a report of any kind that histories and engines need.

use std::net::SocketAddr;

use crate::model::{Arrival, Body, FlowKey, NodeId, Report};

const NS_PER_S: u64 = 1_000_000_000;

/// The sequence numbers that a report shows of its flow.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum SequenceEvidence {
    /// One packet without a number.
    Packet,
    Number(u32),
    /// `count` missing numbers, the last of which is `last` or less.
    Missing {
        last: u32,
        count: u32,
    },
    /// No packet that INT measured.
    Nothing,
    /// No number: a summary with the count of reordered packets since the flow began at the sink.
    Total {
        since_ns: u64,
        reordered: u64,
    },
}

/// The facts that reports of all kinds have.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct ReportFacts {
    pub time_ns: u64,
    pub exporter: Option<SocketAddr>,
    pub flow: Option<FlowKey>,
    /// The node where the reported packet entered the INT domain, and the one that saw it last.
    pub source: Option<NodeId>,
    pub sink: Option<NodeId>,
    /// The kind, as [`crate::model::Observation::kind`] names it.
    pub kind: &'static str,
    pub latency_ns: Option<i64>,
    pub lost: u32,
    pub shown: SequenceEvidence,
}

impl ReportFacts {
    /// The time is the report's arrival, or else its own time, or else `now_ns`.
    pub fn new(report: &Report, arrival: Option<Arrival>, now_ns: impl FnOnce() -> u64) -> Self {
        let observation = &report.observation;
        let mut observed = Self {
            time_ns: time_of(&observation.body, arrival, now_ns).min(i64::MAX as u64),
            exporter: arrival.map(|arrival| arrival.exporter),
            flow: observation.flow(),
            source: None,
            sink: None,
            kind: observation.kind(),
            latency_ns: observation.latency_ns(),
            lost: 0,
            shown: SequenceEvidence::Packet,
        };
        observed.add_body(&observation.body);
        observed
    }

    /// What only some kinds of reports tell.
    fn add_body(&mut self, body: &Body) {
        match body {
            Body::Latency(report) => {
                self.source = Some(report.hops.source().node);
                self.sink = Some(report.hops.sink().node);
                self.shown = SequenceEvidence::Number(report.sequence);
            }
            Body::DropSummary(summary) => {
                self.source = Some(summary.source_node);
                self.sink = Some(summary.sink_node);
                self.lost = summary.count;
                self.shown = SequenceEvidence::Missing {
                    last: summary.before_seq.wrapping_add(summary.count),
                    count: summary.count,
                };
            }
            Body::Summary(summary) => {
                self.source = Some(summary.source_node);
                self.sink = Some(summary.sink_node);
                self.shown = SequenceEvidence::Total {
                    since_ns: summary.totals.epoch_ns,
                    reordered: summary.totals.reordered,
                };
            }
            Body::HostDrop(_)
            | Body::FlowPassage(_)
            | Body::Queue(_)
            | Body::Connection(_)
            | Body::PathPart(_)
            | Body::HostDropSum(_) => {
                // Histories count packets of a flow as INT does. What hosts drop and delay, the state of their connections, and
                // paths have figures of their own.
                self.flow = None;
                self.shown = SequenceEvidence::Nothing;
            }
            Body::Packet(report) => {
                let path = report.path();
                self.sink = path.last().copied();
                self.source = path.first().copied().filter(|_| path.len() > 1);
                self.lost = u32::from(self.kind == "drop");
                let header = report.packet.as_ref().and_then(|packet| packet.int.first());
                if let Some(seq) = header.and_then(|header| header.seq) {
                    self.shown = SequenceEvidence::Number(seq);
                }
            }
        }
    }

    /// Source and sink, if both are known.
    pub fn pair(&self) -> Option<(NodeId, NodeId)> {
        Some((self.source?, self.sink?))
    }
}

fn time_of(body: &Body, arrival: Option<Arrival>, now_ns: impl FnOnce() -> u64) -> u64 {
    if let Some(arrival) = arrival.filter(|arrival| arrival.received_ns > 0) {
        return arrival.received_ns;
    }
    match body.time_s() {
        Some(own_s) => u64::from(own_s) * NS_PER_S,
        None => now_ns(),
    }
}
