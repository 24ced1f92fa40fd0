//! Packets that a host dropped: by flow, and summed by reason and place.

use serde::{Deserialize, Serialize};

use crate::model::{FlowKey, NodeId, PacketPods, Tunnel, TunnelId};

/// The kernel's reason for a drop.
#[derive(Clone, Debug, Default, Eq, Hash, Ord, PartialEq, PartialOrd, Deserialize, Serialize)]
pub struct KernelReason {
    /// The number that the running kernel has for it; other kernels have others.
    #[serde(rename = "kernel_reason")]
    pub number: u32,
    /// The kernel's own name, such as NETFILTER_DROP; `None` if it has none.
    #[serde(rename = "kernel_reason_name")]
    pub name: Option<String>,
}

impl KernelReason {
    /// The name, or the number if there is none.
    pub fn label(&self) -> String {
        let number = || self.number.to_string();
        self.name.clone().unwrap_or_else(number)
    }
}

/// The counts of dropped packets. A superpacket is one packet of several segments; bytes are those of IP packets.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq, Deserialize, Serialize)]
pub struct DropCount {
    pub packets: u64,
    pub segments: u64,
    pub bytes: u64,
}

impl DropCount {
    /// Numbers of other hosts may be anything, so sums end at the greatest one.
    pub fn add(&mut self, other: Self) {
        self.packets = self.packets.saturating_add(other.packets);
        self.segments = self.segments.saturating_add(other.segments);
        self.bytes = self.bytes.saturating_add(other.bytes);
    }

    /// The counts since `before`, which is an earlier state of the same counts.
    #[must_use]
    pub fn since(self, before: Self) -> Self {
        Self {
            packets: self.packets.saturating_sub(before.packets),
            segments: self.segments.saturating_sub(before.segments),
            bytes: self.bytes.saturating_sub(before.bytes),
        }
    }

    pub fn is_zero(self) -> bool {
        self == Self::default()
    }
}

/// Where a packet was dropped, as INT sees it. INT misses packets that were dropped behind the tag and before the strip,
/// and no others.
#[derive(
    Clone, Copy, Debug, Default, Eq, Hash, Ord, PartialEq, PartialOrd, Deserialize, Serialize,
)]
#[serde(rename_all = "kebab-case")]
pub enum DropPosition {
    /// INT does not measure the packet's flow here, as far as is known.
    #[default]
    Apart,
    /// By the source host, before it tagged the packet.
    BeforeTag,
    /// By the source host, which had tagged the packet.
    BehindTag,
    /// By a host that neither tagged the packet nor would have stripped it.
    Between,
    /// By the sink host, before it stripped the packet.
    BeforeStrip,
    /// By the sink host, which had stripped and measured the packet.
    BehindStrip,
}

impl DropPosition {
    /// All positions, by their numbers on the wire.
    pub const EACH: [Self; 6] = [
        Self::Apart,
        Self::BeforeTag,
        Self::BehindTag,
        Self::Between,
        Self::BeforeStrip,
        Self::BehindStrip,
    ];

    /// The number on the wire.
    pub fn number(self) -> u8 {
        self as u8
    }

    pub fn from_number(number: u8) -> Option<Self> {
        Self::EACH.get(usize::from(number)).copied()
    }

    /// The name in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::Apart => "apart",
            Self::BeforeTag => "before-tag",
            Self::BehindTag => "behind-tag",
            Self::Between => "between",
            Self::BeforeStrip => "before-strip",
            Self::BehindStrip => "behind-strip",
        }
    }
}

/// The INT headers of a dropped packet.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd, Deserialize, Serialize)]
pub struct DroppedInt {
    /// The node that tagged it.
    pub source: NodeId,
    /// The sequence number of the first packet that was dropped.
    pub sequence: u32,
}

/// The identity of a flow's drops: the same flow may be dropped for several reasons.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct DropId {
    pub flow: FlowKey,
    pub reason: u32,
    pub ifindex: u32,
    pub netns: u32,
    /// The node that tagged the packets; `None`: they had no INT.
    pub tagged_by: Option<NodeId>,
    pub tunnel: Option<TunnelId>,
}

/// The drops of a flow for one reason. All counts are those since the first one.
#[derive(Clone, Debug, Eq, PartialEq, Deserialize, Serialize)]
pub struct HostDrop {
    /// The flow as its packets were when they were dropped; of packets with INT, the flow that is measured; of others in a
    /// tunnel, the one inside.
    pub flow: FlowKey,
    /// The flow as the end that began the connection knows it, if NAT changed it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flow_before_nat: Option<FlowKey>,
    /// The tunnel that the packets were in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tunnel: Option<Tunnel>,
    #[serde(flatten)]
    pub reason: KernelReason,
    /// The kernel's function that dropped the first packet, or the address in it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub in_interface: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub out_interface: Option<String>,
    pub in_ifindex: u32,
    pub out_ifindex: u32,
    #[serde(flatten)]
    pub pods: PacketPods,
    #[serde(rename = "drop")]
    pub count: DropCount,
    /// Nanoseconds since the Unix epoch.
    pub first_ns: u64,
    pub last_ns: u64,
    /// The time from the packet's departure, as its sender stamped it, to the drop; of the newest packet with a stamp.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub age_ns: Option<u32>,
    /// The root queue of the interface at the first drop.
    pub queue_packets: u32,
    pub queue_bytes: u32,
    /// One of the packets had several segments.
    pub superpacket: bool,
    /// The inode of the network namespace.
    pub netns: u32,
    /// The id of the cgroup of the socket.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cgroup: Option<u64>,
    #[serde(default)]
    pub position: DropPosition,
    /// The INT of the first packet, if it had some.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub int: Option<DroppedInt>,
    /// The interface of the drop, for the identity; 0 if there was none.
    #[serde(default)]
    pub ifindex: u32,
    /// The address of the code that dropped the first packet.
    #[serde(skip)]
    pub place_address: u64,
}

impl HostDrop {
    pub fn id(&self) -> DropId {
        DropId {
            flow: self.flow,
            reason: self.reason.number,
            ifindex: self.ifindex,
            netns: self.netns,
            tagged_by: self.int.map(|int| int.source),
            tunnel: self.tunnel.map(|tunnel| tunnel.which),
        }
    }

    /// The flow by which INT knows the packets, if it measures them on this host: a tunnel as a whole, and behind the strip the
    /// flow before NAT.
    pub fn measured_flow(&self) -> FlowKey {
        match (self.position, self.tunnel) {
            (DropPosition::Apart, _) => self.flow,
            (_, Some(tunnel)) => tunnel.outer,
            (DropPosition::BehindStrip, None) => self.flow_before_nat.unwrap_or(self.flow),
            (_, None) => self.flow,
        }
    }

    /// The tunnel that the measured flow is in.
    pub fn measured_in(&self) -> Option<TunnelId> {
        let apart = self.position == DropPosition::Apart;
        self.tunnel.filter(|_| apart).map(|tunnel| tunnel.which)
    }
}

/// The drops at one place in the kernel, on one interface.
#[derive(Clone, Debug, Eq, PartialEq, Deserialize, Serialize)]
pub struct PlaceDrops {
    #[serde(flatten)]
    pub reason: KernelReason,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub place: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interface: Option<String>,
    pub netns: u32,
    /// The node that tagged the packets; none if they had no INT.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tagged_by: Option<NodeId>,
    /// The packets are no loss, and their flows are not reported.
    #[serde(default)]
    pub ignored: bool,
    #[serde(flatten)]
    pub count: DropCount,
}

/// The drops for one reason: those that are a loss, or those that are none.
#[derive(Clone, Debug, Eq, PartialEq, Deserialize, Serialize)]
pub struct ReasonDrops {
    #[serde(flatten)]
    pub reason: KernelReason,
    /// Its flows are not reported.
    pub ignored: bool,
    #[serde(flatten)]
    pub count: DropCount,
}

/// A counter of the kernel that tells losses without a packet: the packet was never there, or was freed as if it had
/// arrived.
#[derive(Clone, Debug, Eq, PartialEq, Deserialize, Serialize)]
pub struct DropsWithoutPacket {
    /// The kernel's name of it, such as ListenOverflows.
    pub counter: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interface: Option<String>,
    pub count: u64,
}

/// A report of a host about the drops of a flow.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct HostDropReport {
    /// When the report was made, in whole seconds since the Unix epoch.
    pub time_s: u32,
    pub node: NodeId,
    pub drop: HostDrop,
}

/// All that was dropped since the counts began.
#[derive(Clone, Debug, Default, Eq, PartialEq, Deserialize, Serialize)]
pub struct DropTotals {
    pub reasons: Vec<ReasonDrops>,
    pub places: Vec<PlaceDrops>,
    pub without_packet: Vec<DropsWithoutPacket>,
    /// Packets by what became of them, under the names that hostint-postcards(8) explains.
    pub seen: u64,
    pub ignored: u64,
    pub no_flow: u64,
    pub flow_limited: u64,
    pub places_full: u64,
    pub events_lost: u64,
    /// Runs that the kernel left out, because one was going on on the CPU.
    pub missed: u64,
    /// Lines and reports about flows, and those that were left out because of their limit.
    pub told: u64,
    pub put_off: u64,
}
