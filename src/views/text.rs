//! A received report as one readable line.

use std::fmt;

use super::digits::Nanoseconds;
use super::drops::DropDetails;
use super::known_digits::with_error;
use super::passages::PassageDetails;
use super::queues::QueueDetails;
use super::tcp::TcpDetails;
use crate::model::{
    Arrival, Body, DropReasons, Flags, LatencyClocks, LatencyReport, NodeId, NodeNames,
    Observation, PacketReport, Report, Summary,
};

/// Displays `12:03:04.123Z latency  udp 10.0.1.1:5001 > 10.0.2.2:9000  23.4 us  node 1 -> 2  ...`. The time is UTC; it
/// is left out together with the exporter if the arrival is unknown.
#[derive(Clone, Copy, Debug)]
pub struct TextLine<'a> {
    pub report: &'a Report,
    pub arrival: Option<Arrival>,
    pub reasons: &'a DropReasons,
    pub names: &'a NodeNames,
    /// What is known of the clocks that stamped its latency.
    pub clocks: LatencyClocks,
}

static UNNAMED: NodeNames = NodeNames::NONE;

impl<'a> TextLine<'a> {
    /// A line without names, of a report of which no more is known.
    pub fn of(report: &'a Report, arrival: Option<Arrival>, reasons: &'a DropReasons) -> Self {
        Self {
            report,
            arrival,
            reasons,
            names: &UNNAMED,
            clocks: LatencyClocks::Unreported,
        }
    }

    /// What was observed of the packets.
    fn body(&self, observation: &Observation, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &observation.body {
            Body::Latency(report) => self.latency(report, f)?,
            Body::DropSummary(summary) => write!(
                f,
                "{} packet{} after seq {}  node {} -> {}",
                summary.count,
                if summary.count == 1 { "" } else { "s" },
                summary.before_seq,
                self.names.text(summary.source_node),
                self.names.text(summary.sink_node)
            )?,
            Body::Summary(summary) => totals(summary, self.names, f)?,
            Body::HostDrop(report) => {
                let node = self.names.text(report.node);
                write!(f, "{}  node {node}", DropDetails(&report.drop))?;
            }
            Body::FlowPassage(report) => {
                let node = self.names.text(report.node);
                write!(f, "{}  node {node}", PassageDetails(&report.hop))?;
            }
            Body::Queue(report) => {
                let node = self.names.text(report.node);
                write!(f, "{}  node {node}", QueueDetails(&report.episode))?;
            }
            Body::Connection(report) => {
                let state = TcpDetails(&report.connection);
                write!(f, "{state}  node {}", self.names.text(report.node))?;
            }
            Body::PathPart(part) => write!(f, "path {}", part.path.hash_text())?,
            Body::HostDropSum(sum) => {
                let node = self.names.text(sum.node);
                write!(f, "{}  node {node}", sum.subject.reason.label())?;
            }
            Body::Packet(report) => packet(report, observation.flags, self, f)?,
        }
        Ok(())
    }

    /// The latency of a packet, and its way.
    fn latency(&self, report: &LatencyReport, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let LatencyClocks::Known(corrected) = self.clocks {
            let latency = with_error(corrected.latency_ns, corrected.error_ns);
            write!(f, "{latency}  ")?;
        } else if let Some(latency) = report.hops.latency_ns() {
            write!(f, "{}  ", Nanoseconds(latency))?;
        }
        let text = |node| self.names.text(node);
        write!(f, "node {}", text(report.hops.source().node))?;
        for hop in report.hops.transit().iter().rev() {
            write!(f, " -> {}", text(hop.node))?;
        }
        write!(
            f,
            " -> {}  seq {}",
            text(report.hops.sink().node),
            report.sequence
        )?;
        if let Some(queue) = report.queue()
            && (queue.packets != 0 || queue.bytes != 0)
        {
            write!(f, "  queue {} packets {} bytes", queue.packets, queue.bytes)?;
        }
        Ok(())
    }
}

/// The first word of a line, for a kind of observation.
fn word(kind: &str) -> &str {
    match kind {
        "drop-summary" => "LOSS",
        "flow-summary" | "group-summary" => "summary",
        "drop" => "DROP",
        "host-drop" => "DROP",
        "queue" => "QUEUE",
        "ethernet" => "packet",
        "intermediate" => "transit",
        kind => kind,
    }
}

impl fmt::Display for TextLine<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Report {
            sequence,
            observation,
        } = self.report;
        if let Some(arrival) = self.arrival {
            let ms = arrival.received_ns / 1_000_000;
            let (s, ms) = (ms / 1000 % 86_400, ms % 1000);
            let (h, m, s) = (s / 3600, s / 60 % 60, s % 60);
            write!(f, "{h:02}:{m:02}:{s:02}.{ms:03}Z ")?;
        }
        write!(f, "{:<7}  ", word(observation.kind()))?;
        match (observation.flow(), &observation.body) {
            (Some(flow), _) => write!(f, "{flow}  ")?,
            (None, Body::Summary(summary)) => match summary.class() {
                Some(class) => write!(f, "class {class}  ")?,
                None => f.write_str("no class  ")?,
            },
            (None, Body::Queue(_)) => {}
            (None, _) => f.write_str("unknown flow  ")?,
        }
        self.body(observation, f)?;
        write!(f, "  report {sequence}")?;
        if observation.hw_id.get() != 0 {
            write!(f, " of subsystem {}", observation.hw_id.get())?;
        }
        match self.arrival {
            Some(arrival) => write!(f, " from {}", arrival.exporter.ip()),
            None => Ok(()),
        }
    }
}

fn totals(summary: &Summary, names: &NodeNames, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let totals = &summary.totals;
    write!(f, "{} packets {} bytes", totals.packets, totals.bytes)?;
    for (count, what) in [
        (totals.lost, "lost"),
        (totals.recovered, "recovered"),
        (totals.reordered, "reordered"),
        (totals.duplicates, "duplicates"),
        (totals.late, "late"),
        (totals.restarts, "restarts"),
    ] {
        if count != 0 {
            write!(f, " {count} {what}")?;
        }
    }
    f.write_str("  ")?;
    if !summary.is_whole() {
        write!(f, "a part of its latencies  ")?;
    } else if let Some(figures) = totals.latency.figures() {
        write!(
            f,
            "latency {} to {}, mean {}",
            Nanoseconds(figures.min_ns),
            Nanoseconds(figures.max_ns),
            Nanoseconds(figures.mean_ns),
        )?;
        if let Some(p99_ns) = figures.p99_ns {
            write!(f, ", p99 {}", Nanoseconds(p99_ns))?;
        }
        f.write_str("  ")?;
    }
    let [source, sink] = [summary.source_node, summary.sink_node].map(|node| names.text(node));
    write!(f, "node {source} -> {sink}")
}

/// A node's metadata about one packet, without the two spaces that separate parts.
fn packet(
    report: &PacketReport,
    flags: Flags,
    line: &TextLine<'_>,
    f: &mut fmt::Formatter<'_>,
) -> fmt::Result {
    let metadata = &report.metadata;
    if let Some(inner) = report.inner_flow() {
        write!(f, "around {inner}  ")?;
    }
    if let Some(code) = metadata.drop_reason {
        write!(f, "reason {code}")?;
        if let Some(name) = line.reasons.name(code) {
            write!(f, " ({name})")?;
        }
        f.write_str("  ")?;
    }
    if let Some(latency) = report.latency_ns() {
        write!(f, "{}  ", Nanoseconds(latency))?;
    }
    if let (Some(ingress), Some(egress)) = (metadata.ingress_port, metadata.egress_port) {
        write!(f, "port {ingress} -> {egress}  ")?;
    }
    if let Some(latency) = metadata.hop_latency_ns {
        write!(f, "hop {}  ", Nanoseconds(latency.into()))?;
    }
    if let Some(queue) = metadata.queue_id {
        if flags.congested_queue {
            f.write_str("congested ")?;
        }
        write!(f, "queue {queue}")?;
        if let Some(occupancy) = metadata.queue_occupancy {
            write!(f, " occupancy {occupancy}")?;
        }
        f.write_str("  ")?;
    }
    for quirk in report.quirks() {
        write!(f, "{}  ", quirk.name())?;
    }
    let path = report.path();
    match path.split_first() {
        Some((first, others)) => {
            write!(f, "node {}", line.names.text(*first))?;
            let text = |node: &NodeId| line.names.text(*node);
            others
                .iter()
                .try_for_each(|node| write!(f, " -> {}", text(node)))
        }
        None => {
            let length = report.packet.as_ref().map_or(0, |packet| packet.length);
            write!(f, "{length} bytes")
        }
    }
}
