//! A report as one line of text in the form of Host-INT's report log.

use std::fmt;

use super::{Body, Hop, Report};

/// Displays a report as Host-INT logs it, without the line's end.
///
/// Latency lines are Host-INT's to the letter; the others follow its style.
#[derive(Clone, Copy, Debug)]
pub struct LogLine<'a>(pub &'a Report);

struct HopText<'a>(&'static str, &'a Hop);

impl fmt::Display for HopText<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(role, hop) = self;
        write!(
            f,
            " {role} NodeID: {} IngressPort: {} EgressPort: {} IngressTS: {} ns EgressTS: {} ns",
            hop.node, hop.ingress_port, hop.egress_port, hop.ingress_ts, hop.egress_ts
        )
    }
}

impl fmt::Display for LogLine<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Report {
            sequence,
            observation,
        } = self.0;
        let time = observation.timestamp;
        write!(f, "Seq: {sequence} ")?;
        match &observation.body {
            Body::Latency(report) => {
                write!(f, "Time: {time} s Type: Latency")?;
                HopText("Source", report.hops.source()).fmt(f)?;
                for hop in report.hops.transit().iter().rev() {
                    HopText("Transit", hop).fmt(f)?;
                }
                HopText("Sink", report.hops.sink()).fmt(f)
            }
            Body::DropSummary(summary) => {
                let flow = &summary.flow;
                write!(
                    f,
                    "Time: {time} s Type: Drop Source NodeID: {} Port: {} Sink NodeID: {} Port: {} \
                     SrcIP: {} DstIP: {} Protocol: {} SrcPort: {} DstPort: {} \
                     GapTime: {} s GapSeq: {} GapCount: {}",
                    summary.source_node,
                    summary.source_port,
                    summary.sink_node,
                    summary.sink_port,
                    flow.src,
                    flow.dst,
                    flow.protocol,
                    flow.sport,
                    flow.dport,
                    summary.gap_time_s,
                    summary.before_seq,
                    summary.count
                )
            }
            Body::Drop(report) => write!(
                f,
                "Time: {time} ns Type: PacketDrop NodeID: {} IngressPort: {} EgressPort: {} \
                 QueueID: {} Reason: {}",
                report.node,
                report.ingress_port,
                report.egress_port,
                report.queue_id,
                report.reason
            ),
            Body::Local(report) => write!(
                f,
                "Time: {time} ns Type: Local NodeID: {} IngressPort: {} EgressPort: {} \
                 QueueID: {} QueueOccupancy: {} EgressTS: {} ns",
                report.node,
                report.ingress_port,
                report.egress_port,
                report.queue_id,
                report.queue_occupancy.get(),
                report.egress_ts
            ),
            Body::Ethernet(_) => write!(f, "Time: {time} ns Type: Ethernet"),
        }
    }
}
