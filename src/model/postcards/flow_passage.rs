//! The time of packets through a host: by flow, and of all packets between two interfaces.

use serde::{Deserialize, Serialize};

use crate::model::{
    FlowKey, LatencyFigures, LatencyHistogram, LatencyResolution, NodeId, PacketPods, Tunnel,
    TunnelId,
};

/// Where the time of a packet begins.
#[derive(
    Clone, Copy, Debug, Default, Eq, Hash, Ord, PartialEq, PartialOrd, Deserialize, Serialize,
)]
#[serde(rename_all = "kebab-case")]
pub enum PassageStart {
    /// At the interface by which it came.
    #[default]
    Interface,
    /// At its sender, a TCP socket on this machine, in a container for instance.
    Sender,
}

/// Why a flow is reported.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum PassageReason {
    /// Its first packet was timed.
    New,
    /// It came or left by another interface than it reported last.
    Ports,
    /// Its time is another than it reported last.
    Latency,
    /// It had packets in the period.
    Period,
}

impl PassageReason {
    /// All reasons, in the order of their bits on the wire.
    pub const EACH: [Self; 4] = [Self::New, Self::Ports, Self::Latency, Self::Period];

    pub fn name(self) -> &'static str {
        match self {
            Self::New => "new",
            Self::Ports => "ports",
            Self::Latency => "latency",
            Self::Period => "period",
        }
    }
}

/// The identity of a forwarded flow.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct FlowPassageId {
    pub flow: FlowKey,
    pub tunnel: Option<TunnelId>,
}

/// The packets of a flow that the host forwarded. All counts are those since the first one that was timed.
#[derive(Clone, Debug, Eq, PartialEq, Deserialize, Serialize)]
pub struct FlowPassage {
    /// The flow as its packets leave; in a tunnel, the one inside.
    pub flow: FlowKey,
    /// The flow as the end that began the connection knows it, if NAT changed it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flow_before_nat: Option<FlowKey>,
    /// The tunnel in which the packets leave.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tunnel: Option<Tunnel>,
    pub reasons: Vec<PassageReason>,
    pub start: PassageStart,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub in_interface: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub out_interface: Option<String>,
    pub in_ifindex: u32,
    pub out_ifindex: u32,
    #[serde(flatten)]
    pub pods: PacketPods,
    /// A superpacket counts as its segments.
    pub packets: u64,
    /// From the IP header on.
    pub bytes: u64,
    /// Nanoseconds since the Unix epoch.
    pub first_ns: u64,
    pub last_ns: u64,
    /// The time of the last packet, with that in the queue.
    pub hop_ns: u32,
    pub mean_hop_ns: u32,
    pub max_hop_ns: u32,
}

impl FlowPassage {
    pub fn id(&self) -> FlowPassageId {
        FlowPassageId {
            flow: self.flow,
            tunnel: self.tunnel.map(|tunnel| tunnel.which),
        }
    }
}

/// What a host told of a flow that it forwards.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct FlowPassageReport {
    /// When the report was made, in whole seconds since the Unix epoch.
    pub time_s: u32,
    pub node: NodeId,
    pub hop: FlowPassage,
}

/// The distribution of times of all packets.
#[derive(Clone, Debug, Default, Eq, PartialEq, Deserialize, Serialize)]
#[serde(from = "HopTimesRecord", into = "HopTimesRecord")]
pub struct PassageTimes(pub LatencyHistogram);

/// The JSON of such a distribution.
#[derive(Deserialize, Serialize)]
struct HopTimesRecord {
    packets: u64,
    sum_ns: i64,
    #[serde(flatten)]
    figures: Option<HopFigures>,
    /// The greatest time of a slot, and how many packets it has; slots without packets are left out.
    slots: Vec<(i64, u64)>,
}

#[derive(Deserialize, Serialize)]
struct HopFigures {
    min_ns: i64,
    mean_ns: i64,
    p50_ns: Option<i64>,
    p90_ns: Option<i64>,
    p99_ns: Option<i64>,
    max_ns: i64,
}

impl From<PassageTimes> for HopTimesRecord {
    fn from(times: PassageTimes) -> Self {
        Self {
            packets: times.0.samples(),
            sum_ns: times.0.sum_ns(),
            figures: times.0.figures().map(|it| HopFigures {
                min_ns: it.min_ns,
                mean_ns: it.mean_ns,
                p50_ns: it.p50_ns,
                p90_ns: it.p90_ns,
                p99_ns: it.p99_ns,
                max_ns: it.max_ns,
            }),
            slots: times.0.counts().collect(),
        }
    }
}

impl From<HopTimesRecord> for PassageTimes {
    fn from(record: HopTimesRecord) -> Self {
        let ends = record.figures.map(|it| (it.min_ns, it.max_ns));
        Self(LatencyHistogram::of_counts(
            LatencyResolution::Fine,
            ends.unwrap_or_default(),
            record.sum_ns.into(),
            record.slots,
        ))
    }
}

/// Stands for the sockets of the host, in place of an interface by which packets leave, and is no interface's index.
pub const SOCKETS_IFINDEX: u32 = u32::MAX;

/// Its low 16 bits, as ports are reported.
pub const SOCKETS_PORT: u16 = SOCKETS_IFINDEX as u16;

/// What stands in place of that interface's name.
pub const SOCKETS_NAME: &str = "socket";

/// All packets that came by one interface and left by another, or to the sockets of the host.
#[derive(Clone, Debug, Eq, PartialEq, Deserialize, Serialize)]
pub struct InterfacePassage {
    pub in_ifindex: u32,
    pub out_ifindex: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub in_interface: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub out_interface: Option<String>,
    pub start: PassageStart,
    /// The time until the driver got the packet.
    pub sent: PassageTimes,
    /// The time until it reached the queue. Packets that the queue dropped are in this one alone.
    pub queued: PassageTimes,
}

impl InterfacePassage {
    /// The mean time in the queue: the difference of the mean times; `None` without packets that left.
    pub fn mean_queue_ns(&self) -> Option<i64> {
        let mean = |of: &PassageTimes| of.0.figures().map(|figures| figures.mean_ns);
        let difference = mean(&self.sent)? - mean(&self.queued)?;
        Some(difference.max(0))
    }

    pub fn figures(&self) -> (Option<LatencyFigures>, Option<LatencyFigures>) {
        (self.sent.0.figures(), self.queued.0.figures())
    }
}

/// All counts since the programs were attached.
#[derive(Clone, Debug, Default, Eq, PartialEq, Deserialize, Serialize)]
pub struct PassageTotals {
    /// Most packets first.
    pub passages: Vec<InterfacePassage>,
    /// Packets that got a stamp when they came.
    pub stamped: u64,
    /// Packets that carry the departure time of a sender on this machine, and are timed from there.
    pub has_departure: u64,
    /// Packets that carry a time of another clock.
    pub other_clock: u64,
    /// Packets for this host, for groups, or without a route.
    pub not_forwarded: u64,
    /// Those of them that are timed where a socket takes them.
    #[serde(default)]
    pub local: u64,
    pub unwatched: u64,
    /// Packets of NTP and PTP.
    pub clock: u64,
    /// Packets that are not IP, fragments, and others whose headers cannot be read.
    pub unread: u64,
    /// Packets that the kernel did not let have a stamp.
    pub refused: u64,
    /// Packets of new flows beyond the limit.
    pub flow_limited: u64,
    /// Packets for whose interfaces there was no room.
    pub times_full: u64,
    /// News that waited for the period, because the ring was full.
    pub events_lost: u64,
    /// Packets that the kernel hid from the program.
    pub missed: u64,
    /// Lines about flows.
    pub told: u64,
    /// The number of times that the limit put off a flow.
    pub put_off: u64,
    /// Interfaces whose packets are timed now, and those that were asked for and cannot be timed.
    #[serde(default)]
    pub interfaces: u64,
    #[serde(default)]
    pub left_out: u64,
    /// The number of times that something else took programs off an interface, and they were put back.
    #[serde(default)]
    pub put_back: u64,
}

impl PassageTotals {
    /// The packets that were timed.
    pub fn timed(&self) -> u64 {
        self.passages.iter().map(|one| one.sent.0.samples()).sum()
    }
}
