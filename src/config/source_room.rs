//! The bytes that the INT of a source may add to a packet.

use super::choice::Superpackets;
use super::path_items::PathItems;
use super::source_encapsulation::SourceEncapsulation;
use crate::model::Encapsulation;

pub(super) fn encapsulates(way: Superpackets) -> bool {
    matches!(way, Superpackets::Encap | Superpackets::EncapAll)
}

/// Bytes that entries of transit hops may add to a packet. The longest are those of vxlan-gpe, where asking for the queue,
/// too, adds 4 bytes more.
pub(super) fn hops_room(hops: u8, items: PathItems) -> u32 {
    match (hops, items.queue) {
        (0, _) => 0,
        (hops, true) => 4 + 24 * u32::from(hops),
        (hops, false) => 20 * u32::from(hops),
    }
}

/// Bytes that INT may add to an IPv4 packet. The kernel half's own numbers are in datapath::source, and a test
/// compares them.
pub fn room(encapsulation: SourceEncapsulation, superpackets: Superpackets) -> u32 {
    let SourceEncapsulation::Preferred(one) = encapsulation else {
        return 88;
    };
    match one {
        Encapsulation::Options => 27,
        _ if encapsulates(superpackets) => 88,
        Encapsulation::VxlanGpe | Encapsulation::Ioam => 88,
        Encapsulation::OverTcpUdp => 36,
        Encapsulation::ExtensionUdp => 44,
        Encapsulation::IntMd => 48,
    }
}
