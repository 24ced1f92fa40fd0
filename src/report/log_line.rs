//! A report as one line of text in Host-INT's log format.

use std::fmt;

use crate::model::{
    Body, ConnectionReport, FlowPassageReport, Hop, HostDropReport, PacketReport, QueueReport,
    Report, Summary, SummarySubject, TcpReport,
};

/// Displays a report as Host-INT logs it, without the line feed.
///
/// Latency lines are identical to Host-INT's; the others follow its style.
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
        write!(f, "Seq: {sequence} ")?;
        match &observation.body {
            Body::Latency(report) => {
                write!(f, "Time: {} s Type: Latency", report.time_s)?;
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
                    "Time: {} s Type: Drop Source NodeID: {} Port: {} Sink NodeID: {} Port: {} \
                     SrcIP: {} DstIP: {} Protocol: {} SrcPort: {} DstPort: {} \
                     GapTime: {} s GapSeq: {} GapCount: {}",
                    summary.time_s,
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
            Body::Summary(summary) => totals_line(summary, f),
            Body::HostDrop(report) => drop_line(report, f),
            Body::FlowPassage(report) => hop_line(report, f),
            Body::Queue(report) => queue_line(report, f),
            Body::Connection(report) => connection_line(report, f),
            Body::HostDropSum(sum) => {
                let (time_s, node, reason) = (sum.time_s, sum.node, sum.subject.reason.label());
                write!(
                    f,
                    "Time: {time_s} s Type: HostDropSum NodeID: {node} Reason: {reason}"
                )
            }
            Body::PathPart(part) => {
                let path = part.path.hash_text();
                write!(f, "Time: {} s Type: PathPart Path: {path}", part.time_s)
            }
            Body::Packet(report) => packet_line(report, f),
        }
    }
}

/// A sink reports none; a log that is read back may have some.
fn drop_line(report: &HostDropReport, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let HostDropReport { time_s, node, drop } = report;
    let flow = &drop.flow;
    write!(
        f,
        "Time: {time_s} s Type: HostDrop NodeID: {node} SrcIP: {} DstIP: {} Protocol: {} SrcPort: {} DstPort: {} \
         Reason: {} Place: {} Position: {} First: {} ns Last: {} ns Packets: {} Segments: {} Bytes: {}",
        flow.src,
        flow.dst,
        flow.protocol,
        flow.sport,
        flow.dport,
        drop.reason.name.as_deref().unwrap_or_default(),
        drop.place.as_deref().unwrap_or_default(),
        drop.position.name(),
        drop.first_ns,
        drop.last_ns,
        drop.count.packets,
        drop.count.segments,
        drop.count.bytes
    )
}

/// As of drops.
fn hop_line(report: &FlowPassageReport, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let FlowPassageReport { time_s, node, hop } = report;
    let flow = &hop.flow;
    write!(
        f,
        "Time: {time_s} s Type: HostHop NodeID: {node} SrcIP: {} DstIP: {} Protocol: {} SrcPort: {} DstPort: {} \
         In: {} Out: {} First: {} ns Last: {} ns Packets: {} Bytes: {} Hop: {} ns Mean: {} ns Max: {} ns",
        flow.src,
        flow.dst,
        flow.protocol,
        flow.sport,
        flow.dport,
        hop.in_ifindex,
        hop.out_ifindex,
        hop.first_ns,
        hop.last_ns,
        hop.packets,
        hop.bytes,
        hop.hop_ns,
        hop.mean_hop_ns,
        hop.max_hop_ns
    )
}

/// As of drops.
fn queue_line(report: &QueueReport, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let QueueReport {
        time_s,
        node,
        episode,
    } = report;
    write!(
        f,
        "Time: {time_s} s Type: Queue NodeID: {node} Out: {} Queue: {} Episode: {} Begin: {} ns Last: {} ns End: {} ns \
         Packets: {} Bytes: {} Told: {} Suppressed: {} Drops: {} MaxBytes: {} MaxTime: {} ns",
        episode.ifindex,
        episode.queue,
        episode.episode,
        episode.begin_ns,
        episode.last_ns,
        episode.end_ns.unwrap_or_default(),
        episode.packets,
        episode.bytes,
        episode.told,
        episode.suppressed,
        episode.drops,
        episode.max_bytes,
        episode.max_time_ns.unwrap_or_default()
    )
}

/// As of drops.
fn connection_line(report: &ConnectionReport, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let TcpReport { id, sample, .. } = &report.connection;
    let (flow, tcp) = (&sample.flow, &sample.tcp);
    write!(
        f,
        "Time: {} s Type: Connection NodeID: {} SrcIP: {} DstIP: {} Protocol: {} SrcPort: {} DstPort: {} Number: {id} \
         Limited: {} RTT: {} us Segments: {} Retransmitted: {} BytesAcked: {} BytesReceived: {}",
        report.time_s,
        report.node,
        flow.src,
        flow.dst,
        flow.protocol,
        flow.sport,
        flow.dport,
        report.connection.limited,
        tcp.srtt_us.unwrap_or_default(),
        tcp.data_segments_out,
        tcp.total_retrans,
        tcp.bytes_acked,
        tcp.bytes_received
    )
}

fn totals_line(summary: &Summary, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let totals = &summary.totals;
    let kind = match summary.subject {
        SummarySubject::Flow { .. } => "Flow",
        SummarySubject::Group { .. } => "Group",
    };
    write!(f, "Time: {} s Type: {kind} ", summary.time_s)?;
    match &summary.subject {
        SummarySubject::Flow {
            flow,
            source_port,
            sink_port,
        } => write!(
            f,
            "Source NodeID: {} Port: {source_port} Sink NodeID: {} Port: {sink_port} \
             SrcIP: {} DstIP: {} Protocol: {} SrcPort: {} DstPort: {}",
            summary.source_node,
            summary.sink_node,
            flow.src,
            flow.dst,
            flow.protocol,
            flow.sport,
            flow.dport,
        )?,
        SummarySubject::Group { class } => write!(
            f,
            "Source NodeID: {} Sink NodeID: {} Class: {:?}",
            summary.source_node,
            summary.sink_node,
            class.as_deref().unwrap_or_default(),
        )?,
    }
    let (least, greatest) = totals.latency.ends().unwrap_or_default();
    write!(
        f,
        " First: {} ns Last: {} ns Packets: {} Bytes: {} Lost: {} Reordered: {} Duplicates: {} \
         Late: {} Restarts: {} LatencyMin: {least} ns LatencyMax: {greatest} ns LatencySum: {} ns",
        totals.epoch_ns,
        totals.last_ns,
        totals.packets,
        totals.bytes,
        totals.lost.saturating_sub(totals.recovered),
        totals.reordered,
        totals.duplicates,
        totals.late,
        totals.restarts,
        totals.latency.whole_sum_ns()
    )
}

/// Displays the standard kinds of v0.5; reports of later versions are shown as far as they fit.
fn packet_line(report: &PacketReport, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let metadata = &report.metadata;
    let time = metadata.ingress_ts.unwrap_or_default();
    let (ingress, egress) = (metadata.ingress_port, metadata.egress_port);
    let (ingress, egress) = (ingress.unwrap_or_default(), egress.unwrap_or_default());
    let queue = metadata.queue_id.unwrap_or_default();
    write!(f, "Time: {time} ns Type: ")?;
    match (report.node, metadata.drop_reason) {
        (None, _) => f.write_str("Ethernet"),
        (Some(node), Some(reason)) => write!(
            f,
            "PacketDrop NodeID: {node} IngressPort: {ingress} EgressPort: {egress} \
             QueueID: {queue} Reason: {reason}",
        ),
        (Some(node), None) => write!(
            f,
            "Local NodeID: {node} IngressPort: {ingress} EgressPort: {egress} \
             QueueID: {queue} QueueOccupancy: {} EgressTS: {} ns",
            metadata.queue_occupancy.unwrap_or_default(),
            metadata.egress_ts.unwrap_or_default()
        ),
    }
}
