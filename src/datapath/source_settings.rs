//! The source's settings as the kernel half has them.

use super::abi::{encapsulation, gpe_constant, int_constant, source_info, superpackets};
use crate::config::{SourceConfig, Superpackets};
use crate::model::Encapsulation;

/// The number of an encapsulation in kernel settings.
pub fn encapsulation_number(of: Encapsulation) -> u32 {
    match of {
        Encapsulation::OverTcpUdp => encapsulation::ENCAP_OVER_TCP_UDP.0,
        Encapsulation::ExtensionUdp => encapsulation::ENCAP_EXTENSION_UDP.0,
        Encapsulation::VxlanGpe => encapsulation::ENCAP_VXLAN_GPE.0,
    }
}

/// The number of a way with superpackets in kernel settings.
pub fn superpackets_number(of: Superpackets) -> u32 {
    match of {
        Superpackets::Encap => superpackets::SUPER_ENCAP.0,
        Superpackets::EncapAll => superpackets::SUPER_ENCAP_ALL.0,
        Superpackets::Stage => superpackets::SUPER_STAGE.0,
        Superpackets::NoGso | Superpackets::Skip => superpackets::SUPER_SKIP.0,
    }
}

/// What becomes of superpackets at an attachment.
pub fn superpackets_of(info: &source_info) -> Superpackets {
    match superpackets(info.superpackets) {
        superpackets::SUPER_ENCAP => Superpackets::Encap,
        superpackets::SUPER_ENCAP_ALL => Superpackets::EncapAll,
        superpackets::SUPER_STAGE => Superpackets::Stage,
        _ if info.gso_max_segs != 0 => Superpackets::NoGso,
        _ => Superpackets::Skip,
    }
}

/// Bytes that INT may add to a packet of a flow, over IPv4 and over IPv6: a flow that sends superpackets
/// changes to vxlan-gpe.
pub fn room(config: &SourceConfig) -> (u32, u32) {
    let gpe = (20 + gpe_constant::GPE_ROOM.0, 40 + gpe_constant::GPE_ROOM.0);
    match (config.superpackets, config.encapsulation) {
        (Superpackets::Encap | Superpackets::EncapAll, _) | (_, Encapsulation::VxlanGpe) => gpe,
        (_, Encapsulation::OverTcpUdp) => {
            (int_constant::INT_BLOCK_LEN.0, int_constant::INT_BLOCK_LEN.0)
        }
        (_, Encapsulation::ExtensionUdp) => {
            (int_constant::EXTENSION_LEN.0, int_constant::EXTENSION_LEN.0)
        }
    }
}
