//! A telemetry report: one observation and the number it travels under.

use std::net::IpAddr;

use serde::Serialize;

use super::{ClockState, FlowKey, HopStack, NodeId, QuotedHeaders, TruncatedFrame};

/// The UDP port to which reports are sent unless configured otherwise.
pub const REPORT_PORT: u16 = 32766;

/// One telemetry report (Telemetry Report v0.5).
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Report {
    /// Counts the reports of one reporter to one destination, from 1.
    pub sequence: u32,
    pub observation: Observation,
}

/// What a report says, whatever destination it goes to.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Observation {
    pub hw_id: HwId,
    pub flags: Flags,
    /// The reporter's clock, if it tells.
    pub clock: Option<ClockState>,
    /// Whole seconds since the Unix epoch in latency and drop-summary reports; in the standard
    /// kinds the low 32 bits of the device's nanoseconds when the packet was received.
    pub timestamp: u32,
    pub body: Body,
}

/// The reporting subsystem of a node: 6 bits.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct HwId(u8);

impl HwId {
    /// `None` above 63.
    pub fn new(value: u8) -> Option<Self> {
        (value <= 0x3f).then_some(Self(value))
    }

    pub fn get(self) -> u8 {
        self.0
    }
}

/// The D, Q and F flags of the report header.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Flags {
    /// D: a packet was dropped.
    pub dropped: bool,
    /// Q: congestion on a monitored queue.
    pub congested_queue: bool,
    /// F: the packet belongs to a tracked flow.
    pub tracked_flow: bool,
}

/// The kinds of report, by the NProto field of the report header.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Body {
    /// NProto 0: a packet.
    Ethernet(TruncatedFrame),
    /// NProto 1: a packet that was dropped.
    Drop(PacketDropReport),
    /// NProto 2: a packet with the reporter's own metadata.
    Local(LocalReport),
    /// NProto 3, Host-INT's drop-summary, or 6 where that cannot name the flow: numbers missing.
    DropSummary(DropSummary),
    /// NProto 4, Host-INT's latency report, or 5, the extended one: a packet's hops.
    Latency(LatencyReport),
}

/// A dropped packet (Telemetry Report v0.5, drop header).
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct PacketDropReport {
    pub node: NodeId,
    pub ingress_port: u16,
    pub egress_port: u16,
    pub queue_id: u8,
    /// A code of the p4lang/switch list; 0 is unknown.
    pub reason: u8,
    pub frame: TruncatedFrame,
}

/// A packet seen by one node (Telemetry Report v0.5, switch-local header).
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct LocalReport {
    pub node: NodeId,
    pub ingress_port: u16,
    pub egress_port: u16,
    pub queue_id: u8,
    pub queue_occupancy: QueueOccupancy,
    /// Low 32 bits of nanoseconds, by the device's own clock.
    pub egress_ts: u32,
    pub frame: TruncatedFrame,
}

/// How full a queue was, in the device's unit: 24 bits.
#[derive(Clone, Copy, Debug, Default, Eq, Ord, PartialEq, PartialOrd)]
pub struct QueueOccupancy(u32);

impl QueueOccupancy {
    /// `None` if the value needs more than 24 bits.
    pub fn new(value: u32) -> Option<Self> {
        (value <= 0x00ff_ffff).then_some(Self(value))
    }

    pub fn get(self) -> u32 {
        self.0
    }
}

/// Packets missing in a flow between source and sink.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct DropSummary {
    pub source_node: NodeId,
    pub sink_node: NodeId,
    pub source_port: u16,
    pub sink_port: u16,
    /// Whole seconds since the Unix epoch: arrival of the last packet before the first hole.
    pub gap_time_s: u32,
    /// The last number before the first hole; the first missing number is the next one.
    pub before_seq: u32,
    /// How many numbers are missing.
    pub count: u32,
    pub flow: FlowKey,
}

/// A packet's way from INT source to INT sink.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct LatencyReport {
    pub packet: ReportedPacket,
    pub hops: HopStack,
    /// The flow's sequence number.
    pub sequence: u32,
}

/// What a latency report says about the packet, besides its way.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum ReportedPacket {
    /// NProto 4: its headers, which have to be IPv4 without options.
    Quoted {
        /// The node ID word behind the report header, if the sink writes one.
        reporter: Option<NodeId>,
        headers: QuotedHeaders,
    },
    /// NProto 5: the name of its flow.
    Named {
        flow: FlowKey,
        /// The source's root queue when the packet was stamped.
        queue: Option<QueueDepth>,
    },
}

/// How full a host's queue was.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq, Serialize)]
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

impl Observation {
    /// One word for the kind of report.
    pub fn kind(&self) -> &'static str {
        match self.body {
            Body::Ethernet(_) => "ethernet",
            Body::Drop(_) => "drop",
            Body::Local(_) => "local",
            Body::DropSummary(_) => "drop-summary",
            Body::Latency(_) => "latency",
        }
    }

    /// The flow it is about, if the report shows one.
    pub fn flow(&self) -> Option<FlowKey> {
        match &self.body {
            Body::Ethernet(frame) => frame.flow(),
            Body::Drop(report) => report.frame.flow(),
            Body::Local(report) => report.frame.flow(),
            Body::DropSummary(summary) => Some(summary.flow),
            Body::Latency(report) => Some(report.flow()),
        }
    }

    /// The node that observed it, if the report says so.
    pub fn reporter(&self) -> Option<NodeId> {
        match &self.body {
            Body::Ethernet(_) => None,
            Body::Drop(report) => Some(report.node),
            Body::Local(report) => Some(report.node),
            Body::DropSummary(summary) => Some(summary.sink_node),
            Body::Latency(report) => Some(report.reporter()),
        }
    }

    /// See [`HopStack::latency_ns`]; `None` unless this is a latency report of two hops or more.
    pub fn latency_ns(&self) -> Option<i64> {
        match &self.body {
            Body::Latency(report) => report.hops.latency_ns(),
            _ => None,
        }
    }

    /// The source address of the reported packets, in the kinds that an INT sink sends.
    pub fn packet_sender(&self) -> Option<IpAddr> {
        match &self.body {
            Body::Latency(report) => Some(report.flow().src),
            Body::DropSummary(summary) => Some(summary.flow.src),
            _ => None,
        }
    }
}
