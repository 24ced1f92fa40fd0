//! Capabilities: what a host may send, or what its sink can read, as lease messages of version 2 name it.

use crate::model::{Encapsulation, Encapsulations};

/// The sink takes packets in INT-MX.
const INT_MX: u32 = 32;
/// The sink reads stacks onto which transit hops pushed entries.
const STACKS: u32 = 64;
/// A daemon on the sink's host reads and echoes TCP option 114.
const OPTION_114: u32 = 256;
/// Superpackets of UDP in vxlan-gpe reach the sink segment by segment.
const UDP_SUPERPACKETS: u32 = 512;
/// A daemon runs on the sink's host, and sends strays back.
const STRAYS: u32 = 1024;
/// The sink reads entries of transit hops without a queue.
const PATH_ITEMS: u32 = 2048;
/// The most transit hops whose entries a sink reads.
pub const MOST_TRANSIT_HOPS: u8 = 8;

/// A set of capabilities. Bits that this version does not know are kept and mean nothing.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Capabilities(u32);

impl Capabilities {
    fn bit(of: Encapsulation) -> u32 {
        match of {
            Encapsulation::OverTcpUdp => 1,
            Encapsulation::ExtensionUdp => 2,
            Encapsulation::VxlanGpe => 4,
            Encapsulation::Ioam => 128,
            Encapsulation::IntMd => 8,
            Encapsulation::Options => 4096,
        }
    }

    pub fn from_bits(bits: u32) -> Self {
        Self(bits)
    }

    pub fn bits(self) -> u32 {
        self.0
    }

    /// Entries that the sink reads in a metadata stack, the source's included. A sink that names no stacks had some on this
    /// path that it could not read, so no hop is to push.
    pub fn stack(self) -> u8 {
        match self.0 & STACKS {
            0 => 1,
            _ => 1 + MOST_TRANSIT_HOPS,
        }
    }

    /// True if the sink reads entries of transit hops without a queue, too.
    pub fn path_items(self) -> bool {
        self.0 & PATH_ITEMS != 0
    }

    /// True if the sink takes packets in INT-MX, with the mark of INT-MD.
    pub fn int_mx(self) -> bool {
        self.0 & INT_MX != 0
    }

    /// True if superpackets of UDP in vxlan-gpe reach the sink segment by segment.
    pub fn udp_superpackets(self) -> bool {
        self.0 & UDP_SUPERPACKETS != 0
    }

    /// True if a daemon on the sink's host reads and echoes TCP option 114.
    pub fn option_114(self) -> bool {
        self.0 & OPTION_114 != 0
    }

    /// True if a daemon on the sink's host sends strays back.
    pub fn strays(self) -> bool {
        self.0 & STRAYS != 0
    }

    /// The encapsulations of this set.
    pub fn encapsulations(self) -> Encapsulations {
        Encapsulation::ALL
            .into_iter()
            .filter(|one| self.0 & Self::bit(*one) != 0)
            .fold(Encapsulations::default(), Encapsulations::with)
    }
}

impl From<Encapsulations> for Capabilities {
    fn from(encapsulations: Encapsulations) -> Self {
        let named = Encapsulation::ALL
            .into_iter()
            .filter(|one| encapsulations.contains(*one));
        Self(named.fold(0, |bits, one| bits | Self::bit(one)))
    }
}
