//! A telemetry report: one observation and its sequence number.

use std::net::IpAddr;

use serde::{Deserialize, Serialize};

use crate::model::{
    ClockState, ConnectionReport, Flags, FlowKey, FlowPassageReport, HopStack, HostDropReport,
    HostDropSum, HwId, NodeId, PacketReport, PathFact, PathPart, QueueReport, QuotedHeaders,
    ReportVersion, Summary, SummarySubject,
};

/// The UDP port to which reports are sent unless configured otherwise.
pub const REPORT_PORT: u16 = 32766;

/// One telemetry report; in Telemetry Report v2.0, an individual report.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Report {
    /// Number of the datagram from one reporter to one destination; the reports of a group share it.
    pub sequence: u32,
    pub observation: Observation,
}

/// The content of a report, the same for every destination.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Observation {
    pub hw_id: HwId,
    pub flags: Flags,
    /// The reporter's clock, if it is known.
    pub clock: Option<ClockState>,
    pub body: Body,
}

/// The subject of a report.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Body {
    /// Telemetry Report v0.5 (NProto 0 to 2), v1.0 and v2.0: a packet.
    Packet(Box<PacketReport>),
    /// NProto 3, Host-INT's drop-summary, or 6 if that cannot name the flow, or hostint's form in v2.0: missing
    /// numbers.
    DropSummary(DropSummary),
    /// NProto 4, Host-INT's latency report, or 5, the extended one, or hostint's form in v2.0: a packet's hops.
    Latency(LatencyReport),
    /// NProto 14 and 15, hostint's own: totals of a flow, or of a class from a source node.
    Summary(Box<Summary>),
    /// NProto 10, hostint's own: packets of a flow that a host dropped.
    HostDrop(Box<HostDropReport>),
    /// NProto 11, hostint's own: the time that packets of a flow take through a host.
    FlowPassage(Box<FlowPassageReport>),
    /// NProto 12, hostint's own: an episode of a host's queue.
    Queue(Box<QueueReport>),
    /// NProto 13, hostint's own: the state of a host's TCP connection.
    Connection(Box<ConnectionReport>),
    /// What a collector adds up of a part of a path, for engines. No host sends it.
    PathPart(Box<PathPart>),
    /// What a collector adds up of a host's drops for its engines; no host sends it alone.
    HostDropSum(Box<HostDropSum>),
}

/// Packets missing in a flow between source and sink.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct DropSummary {
    /// The version of the report that carries it.
    pub version: ReportVersion,
    /// When the report was made, in whole seconds since the Unix epoch.
    pub time_s: u32,
    pub source_node: NodeId,
    pub sink_node: NodeId,
    pub source_port: u16,
    pub sink_port: u16,
    /// Arrival of the last packet before the first hole, in whole seconds since the Unix epoch.
    pub gap_time_s: u32,
    /// The last number before the first hole; the first missing number is the next one.
    pub before_seq: u32,
    /// Number of missing sequence numbers.
    pub count: u32,
    pub flow: FlowKey,
}

/// A packet's path from INT source to INT sink.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct LatencyReport {
    /// The version of the report that carries it.
    pub version: ReportVersion,
    /// When the report was made, in whole seconds since the Unix epoch.
    pub time_s: u32,
    /// Arrival at the sink, nanoseconds since the Unix epoch, if more than the low 32 bits are known: the sink knows
    /// them all, and v2.0 carries them.
    pub arrival_ns: Option<u64>,
    pub packet: ReportedPacket,
    pub hops: HopStack,
    /// The flow's sequence number.
    pub sequence: u32,
}

/// The packet that a latency report is about.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum ReportedPacket {
    /// NProto 4: the packet's headers, which must be IPv4 without options.
    Quoted {
        /// The node ID word behind the report header, if the sink writes one.
        reporter: Option<NodeId>,
        headers: QuotedHeaders,
    },
    /// NProto 5 and v2.0: the packet's flow.
    Named {
        flow: FlowKey,
        /// The source's root queue when the packet was stamped.
        queue: Option<QueueDepth>,
    },
}

/// Fill level of a host's queue.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq, Deserialize, Serialize)]
pub struct QueueDepth {
    /// More than 24 bits are reported as 2^24 - 1.
    pub packets: u32,
    pub bytes: u32,
}

impl LatencyReport {
    pub fn flow(&self) -> FlowKey {
        match &self.packet {
            ReportedPacket::Quoted { headers, .. } => headers.flow(),
            ReportedPacket::Named { flow, .. } => *flow,
        }
    }

    pub fn queue(&self) -> Option<QueueDepth> {
        match self.packet {
            ReportedPacket::Quoted { .. } => None,
            ReportedPacket::Named { queue, .. } => queue,
        }
    }

    /// The node that observed it.
    pub fn reporter(&self) -> NodeId {
        match self.packet {
            ReportedPacket::Quoted {
                reporter: Some(node),
                ..
            } => node,
            _ => self.hops.sink().node,
        }
    }
}

impl Body {
    /// When the report was made, in whole seconds since the Unix epoch; reports of packets do not tell.
    pub fn time_s(&self) -> Option<u32> {
        Some(match self {
            Self::Packet(_) => return None,
            Self::Latency(report) => report.time_s,
            Self::DropSummary(summary) => summary.time_s,
            Self::Summary(summary) => summary.time_s,
            Self::HostDrop(report) => report.time_s,
            Self::FlowPassage(report) => report.time_s,
            Self::Queue(report) => report.time_s,
            Self::Connection(report) => report.time_s,
            Self::PathPart(part) => part.time_s,
            Self::HostDropSum(sum) => sum.time_s,
        })
    }
}

impl Observation {
    /// One word for the kind of report.
    pub fn kind(&self) -> &'static str {
        match &self.body {
            Body::Packet(report) => report.kind(self.flags),
            Body::DropSummary(_) => "drop-summary",
            Body::Latency(_) => "latency",
            Body::Summary(summary) => match summary.subject {
                SummarySubject::Flow { .. } => "flow-summary",
                SummarySubject::Group { .. } => "group-summary",
            },
            Body::HostDrop(_) => "host-drop",
            Body::HostDropSum(_) => "host-drop-sum",
            Body::FlowPassage(_) => "host-hop",
            Body::Queue(_) => "queue",
            Body::Connection(_) => "tcp",
            Body::PathPart(part) => match part.fact {
                PathFact::Times => "path-times",
                PathFact::Losses => "path-losses",
            },
        }
    }

    /// The flow it is about, if the report shows one.
    pub fn flow(&self) -> Option<FlowKey> {
        match &self.body {
            Body::Packet(report) => report.flow(),
            Body::DropSummary(summary) => Some(summary.flow),
            Body::Latency(report) => Some(report.flow()),
            Body::Summary(summary) => match &summary.subject {
                SummarySubject::Flow { flow, .. } => Some(*flow),
                SummarySubject::Group { .. } => None,
            },
            Body::HostDrop(report) => Some(report.drop.flow),
            Body::FlowPassage(report) => Some(report.hop.flow),
            Body::Queue(_) => None,
            Body::Connection(report) => Some(report.connection.sample.flow),
            Body::PathPart(_) | Body::HostDropSum(_) => None,
        }
    }

    /// The class that a group summary is about.
    pub fn group_class(&self) -> Option<&str> {
        match &self.body {
            Body::Summary(summary) => summary.class(),
            _ => None,
        }
    }

    /// The node that observed it, if the report names it.
    pub fn reporter(&self) -> Option<NodeId> {
        match &self.body {
            Body::Packet(report) => report.node,
            Body::DropSummary(summary) => Some(summary.sink_node),
            Body::Latency(report) => Some(report.reporter()),
            Body::Summary(summary) => Some(summary.sink_node),
            Body::HostDrop(report) => Some(report.node),
            Body::FlowPassage(report) => Some(report.node),
            Body::Queue(report) => Some(report.node),
            Body::Connection(report) => Some(report.node),
            Body::PathPart(part) => Some(part.path.sink.node),
            Body::HostDropSum(sum) => Some(sum.node),
        }
    }

    /// One-way latency, if the report has two timestamps of the packet: see [`HopStack::latency_ns`] and
    /// [`PacketReport::latency_ns`].
    pub fn latency_ns(&self) -> Option<i64> {
        match &self.body {
            Body::Latency(report) => report.hops.latency_ns(),
            Body::Packet(report) => report.latency_ns(),
            Body::DropSummary(_)
            | Body::Summary(_)
            | Body::HostDrop(_)
            | Body::FlowPassage(_)
            | Body::Queue(_)
            | Body::Connection(_)
            | Body::PathPart(_)
            | Body::HostDropSum(_) => None,
        }
    }

    /// The reason for a drop, in the reporting device's numbering.
    pub fn drop_reason(&self) -> Option<u8> {
        match &self.body {
            Body::Packet(report) => report.metadata.drop_reason,
            _ => None,
        }
    }

    /// The version of the report.
    pub fn version(&self) -> ReportVersion {
        match &self.body {
            Body::Packet(report) => report.version,
            Body::Latency(report) => report.version,
            Body::DropSummary(summary) => summary.version,
            Body::Summary(_)
            | Body::HostDrop(_)
            | Body::FlowPassage(_)
            | Body::Queue(_)
            | Body::Connection(_)
            | Body::PathPart(_)
            | Body::HostDropSum(_) => ReportVersion::V05,
        }
    }

    /// The source address of the reported packets, for the kinds of report that an INT sink sends to packet senders.
    pub fn packet_sender(&self) -> Option<IpAddr> {
        match &self.body {
            Body::Latency(report) => Some(report.flow().src),
            Body::DropSummary(summary) => Some(summary.flow.src),
            _ => None,
        }
    }
}
