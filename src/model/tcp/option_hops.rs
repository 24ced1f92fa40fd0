//! Between which hosts a transit hop fills in TCP option 114, and at which TTL: an echo names the hop by that.

use std::net::IpAddr;

use crate::model::NodeId;

/// The TTL with which senders begin, as echoes have it.
const FIRST_TTL: u8 = 64;
/// The bits of a hop's number in an echo.
const HOP_BITS: u8 = 15;

/// A pair of hosts, and where on the path of their segments the hop is.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct OptionHopPair {
    pub source: IpAddr,
    pub dest: IpAddr,
    /// The TTL or hop limit with which segments leave the hop.
    pub ttl: u8,
}

impl OptionHopPair {
    /// The number of the hop in echoes; 0: they cannot name it.
    pub fn hop(&self) -> u8 {
        FIRST_TTL.wrapping_sub(self.ttl) & HOP_BITS
    }
}

/// The pairs whose requests a hop filled in lately.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct OptionHopsReport {
    pub node: NodeId,
    /// When it was made, by the host's clock.
    pub told_ns: u64,
    pub pairs: Vec<OptionHopPair>,
}
