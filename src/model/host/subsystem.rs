//! The subsystems of a host that report, in one list. A collector follows the numbers of each as one sequence, so each belongs to
//! one daemon.

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

/// A subsystem of a host with hostint.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[repr(u8)]
pub enum Subsystem {
    /// A sink: latencies, losses and summaries of flows with INT.
    Int = 0,
    /// Postcards: the time of packets through the host.
    Hops = 1,
    /// Postcards: what the host dropped.
    Drops = 2,
    /// Postcards: episodes of queues.
    Queues = 3,
    /// A transit hop: packets in INT-MX that passed.
    MxPackets = 4,
    /// The state of TCP connections.
    Connections = 5,
}

impl From<Subsystem> for HwId {
    fn from(subsystem: Subsystem) -> Self {
        Self(subsystem as u8)
    }
}
