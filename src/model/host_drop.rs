//! Packets that a host dropped: by flow, and summed by reason and place.

use serde::Serialize;

use super::FlowKey;

/// The kernel's reason for a drop.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd, Serialize)]
pub struct KernelReason {
    /// The number that the running kernel has for it; other kernels have others.
    #[serde(rename = "kernel_reason")]
    pub number: u32,
    /// The kernel's own name, such as NETFILTER_DROP; `None` if it has none.
    #[serde(rename = "kernel_reason_name")]
    pub name: Option<String>,
}

/// The counts of dropped packets. A superpacket is one packet of several segments; bytes are those of IP packets.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq, Serialize)]
pub struct DropCount {
    pub packets: u64,
    pub segments: u64,
    pub bytes: u64,
}

impl DropCount {
    pub fn add(&mut self, other: Self) {
        self.packets += other.packets;
        self.segments += other.segments;
        self.bytes += other.bytes;
    }
}

/// The identity of a flow's drops: the same flow may be dropped for several reasons.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct DropId {
    pub flow: FlowKey,
    pub reason: u32,
    pub ifindex: u32,
    pub netns: u32,
}

/// The drops of a flow for one reason. All counts are those since the first one.
#[derive(Clone, Debug, Eq, PartialEq, Serialize)]
pub struct HostDrop {
    /// The flow as its packets were when they were dropped.
    pub flow: FlowKey,
    /// The flow as the end that began the connection knows it, if NAT changed it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub flow_before_nat: Option<FlowKey>,
    #[serde(flatten)]
    pub reason: KernelReason,
    /// The kernel's function that dropped the first packet, or the address in it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub place: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub in_interface: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub out_interface: Option<String>,
    pub in_ifindex: u32,
    pub out_ifindex: u32,
    #[serde(rename = "drop")]
    pub count: DropCount,
    /// Nanoseconds since the Unix epoch.
    pub first_ns: u64,
    pub last_ns: u64,
    /// The time from the packet's departure, as its sender stamped it, to the drop; of the newest packet with a stamp.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub age_ns: Option<u32>,
    /// The root queue of the interface at the first drop.
    pub queue_packets: u32,
    pub queue_bytes: u32,
    /// One of the packets had several segments.
    pub superpacket: bool,
    /// The inode of the network namespace.
    pub netns: u32,
    /// The id of the cgroup of the socket.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cgroup: Option<u64>,
    /// The interface of the drop, for the identity; 0 if there was none.
    #[serde(skip)]
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
        }
    }
}

/// The drops at one place in the kernel, on one interface.
#[derive(Clone, Debug, Eq, PartialEq, Serialize)]
pub struct PlaceDrops {
    #[serde(flatten)]
    pub reason: KernelReason,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub place: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interface: Option<String>,
    pub netns: u32,
    #[serde(flatten)]
    pub count: DropCount,
}

/// The drops for one reason.
#[derive(Clone, Debug, Eq, PartialEq, Serialize)]
pub struct ReasonDrops {
    #[serde(flatten)]
    pub reason: KernelReason,
    /// Its flows are not told.
    pub ignored: bool,
    #[serde(flatten)]
    pub count: DropCount,
}

/// A counter of the kernel that tells losses without a packet: the packet was never there, or was freed as if it had
/// arrived.
#[derive(Clone, Debug, Eq, PartialEq, Serialize)]
pub struct DropsWithoutPacket {
    /// The kernel's name of it, such as ListenOverflows.
    pub counter: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interface: Option<String>,
    pub count: u64,
}

/// All that was dropped since the counts began.
#[derive(Clone, Debug, Default, Eq, PartialEq, Serialize)]
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
