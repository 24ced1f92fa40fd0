//! The way of a reported packet, and the times that it took.

use std::sync::Arc;

use crate::model::{
    CorrectedLatency, Hop, KnownPath, LatencyReport, MOST_TRANSIT_HOPS, NodeId, NodePort, Path,
    PathHop,
};

/// The time that one packet took.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct SegmentTime {
    /// As it was stamped.
    pub stamped_ns: i64,
    /// Without the difference of the clocks, if that is known.
    pub corrected: Option<CorrectedLatency>,
}

/// The way of one packet, and its times.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct PathSample {
    pub path: Arc<KnownPath>,
    /// From source to sink.
    pub whole: SegmentTime,
    /// One for each of the path's segments; `None` where a hop did not know the time.
    pub segments: Vec<Option<SegmentTime>>,
}

/// The way of one packet, and its times in words.
#[derive(Clone, Copy, Debug)]
pub struct PassedPath<'a> {
    pub path: &'a Arc<KnownPath>,
    pub times: &'a [i32],
}

/// A stamp of all ones says that the hop does not know the time.
const UNKNOWN_STAMP: u32 = u32::MAX;

impl Path {
    /// The way of a reported packet; `None` if no transit hop pushed an entry, or more than sinks read.
    pub fn of(report: &LatencyReport) -> Option<Self> {
        let (source, sink) = (report.hops.source(), report.hops.sink());
        let hops: Vec<PathHop> = (report.hops.transit().iter().rev())
            .map(|hop| PathHop {
                node: hop.node,
                ingress_port: hop.ingress_port,
                egress_port: hop.egress_port,
            })
            .collect();
        (1..=usize::from(MOST_TRANSIT_HOPS))
            .contains(&hops.len())
            .then_some(Self {
                source: NodePort {
                    node: source.node,
                    port: source.egress_port,
                },
                hops,
                sink: NodePort {
                    node: sink.node,
                    port: sink.ingress_port,
                },
            })
    }
}

impl PathSample {
    /// The times of a reported packet on its way; `None` if no transit hop pushed an entry. `corrected` tells the time
    /// between the stamps of two nodes without the difference of their clocks, from the stamped one.
    pub fn of(
        report: &LatencyReport,
        whole: Option<CorrectedLatency>,
        corrected: impl FnMut(NodeId, NodeId, i64) -> Option<CorrectedLatency>,
    ) -> Option<Self> {
        let path = KnownPath::new(Path::of(report)?);
        Self::on(path, report, whole, corrected)
    }

    /// The same of a packet whose path is known.
    pub fn on(
        path: Arc<KnownPath>,
        report: &LatencyReport,
        whole: Option<CorrectedLatency>,
        corrected: impl FnMut(NodeId, NodeId, i64) -> Option<CorrectedLatency>,
    ) -> Option<Self> {
        let mut segments = Vec::with_capacity(path.segment_count());
        segments_of(report, corrected, |time| segments.push(time));
        Some(Self {
            path,
            whole: whole_of(report, whole)?,
            segments,
        })
    }
}

/// The time of a packet from source to sink.
pub(in crate::model) fn whole_of(
    report: &LatencyReport,
    corrected: Option<CorrectedLatency>,
) -> Option<SegmentTime> {
    Some(SegmentTime {
        stamped_ns: report.hops.latency_ns()?,
        corrected,
    })
}

/// Hands the times of a packet in the segments of its path to `each`, in the order of the way.
pub(in crate::model) fn segments_of(
    report: &LatencyReport,
    mut corrected: impl FnMut(NodeId, NodeId, i64) -> Option<CorrectedLatency>,
    mut each: impl FnMut(Option<SegmentTime>),
) {
    let source = report.hops.source();
    let mut left = Some((source.node, source.egress_ts));
    for hop in report.hops.transit().iter().rev() {
        let ingress = Some(hop.ingress_ts).filter(|ts| *ts != UNKNOWN_STAMP);
        each(wire(left, (hop.node, ingress), &mut corrected));
        let stay = stay_ns(hop);
        each(stay.map(SegmentTime::by_one_clock));
        // Without the time in the hop its egress is unknown, too.
        left = stay.map(|_| (hop.node, hop.egress_ts));
    }
    let sink = report.hops.sink();
    let arrived = (sink.node, Some(sink.ingress_ts));
    each(wire(left, arrived, &mut corrected));
}

impl SegmentTime {
    /// A time between two stamps of the same clock.
    fn by_one_clock(ns: u32) -> Self {
        let stamped_ns = i64::from(ns);
        Self {
            stamped_ns,
            corrected: Some(CorrectedLatency {
                latency_ns: stamped_ns,
                error_ns: 0,
                bound_ns: [stamped_ns; 2],
            }),
        }
    }
}

/// The time in a hop. Equal stamps stand for an unknown one: no packet passes a hop in no time.
fn stay_ns(hop: &Hop) -> Option<u32> {
    if [hop.ingress_ts, hop.egress_ts].contains(&UNKNOWN_STAMP) {
        return None;
    }
    let stay_ns = hop.egress_ts.wrapping_sub(hop.ingress_ts);
    // A stamp before the ingress looks like more than 2.1 s.
    (1..=i32::MAX as u32).contains(&stay_ns).then_some(stay_ns)
}

fn wire(
    left: Option<(NodeId, u32)>,
    (to, arrived): (NodeId, Option<u32>),
    mut corrected: impl FnMut(NodeId, NodeId, i64) -> Option<CorrectedLatency>,
) -> Option<SegmentTime> {
    let ((from, left), arrived) = (left?, arrived?);
    let stamped_ns = i64::from(arrived.wrapping_sub(left) as i32);
    if let (true, Ok(ns)) = (from == to, u32::try_from(stamped_ns)) {
        return Some(SegmentTime::by_one_clock(ns));
    }
    Some(SegmentTime {
        stamped_ns,
        corrected: corrected(from, to, stamped_ns),
    })
}
