//! The source's settings in the kernel half's layout.

use std::time::Duration;

use crate::config::{
    Compat, DscpMark, PathItems, SourceConfig, SourceEncapsulation, SourceHook, Superpackets,
    TimeSpan,
};
use crate::datapath::abi::{
    DEV_NAME_SIZE, encapsulation, gpe_constant, int_constant, int_md_constant, int_mx_constant,
    int_option_constant, source_info, superpackets,
};
use crate::datapath::sink::events::encapsulation_of;
use crate::model::{Encapsulation, Encapsulations, Marks};

/// Returns the number of a source's encapsulation in kernel settings.
pub fn encapsulation_number(of: SourceEncapsulation) -> u32 {
    match of {
        SourceEncapsulation::Tunnel => encapsulation::ENCAP_TUNNEL.0,
        SourceEncapsulation::Preferred(one) => match one {
            Encapsulation::OverTcpUdp => encapsulation::ENCAP_OVER_TCP_UDP.0,
            Encapsulation::ExtensionUdp => encapsulation::ENCAP_EXTENSION_UDP.0,
            Encapsulation::VxlanGpe => encapsulation::ENCAP_VXLAN_GPE.0,
            Encapsulation::Ioam => encapsulation::ENCAP_IOAM.0,
            Encapsulation::IntMd => encapsulation::ENCAP_INT_MD.0,
            Encapsulation::Options => encapsulation::ENCAP_OPTIONS.0,
        },
    }
}

/// Returns the number of a treatment of superpackets in kernel settings.
pub fn superpackets_number(of: Superpackets) -> u32 {
    match of {
        Superpackets::Encap => superpackets::SUPER_ENCAP.0,
        Superpackets::EncapAll => superpackets::SUPER_ENCAP_ALL.0,
        Superpackets::Stage => superpackets::SUPER_STAGE.0,
        Superpackets::NoGso | Superpackets::Skip => superpackets::SUPER_SKIP.0,
    }
}

/// Returns an attachment's treatment of superpackets.
pub fn superpackets_of(info: &source_info) -> Superpackets {
    match superpackets(info.superpackets) {
        superpackets::SUPER_ENCAP => Superpackets::Encap,
        superpackets::SUPER_ENCAP_ALL => Superpackets::EncapAll,
        superpackets::SUPER_STAGE => Superpackets::Stage,
        _ if info.gso_max_segs != 0 => Superpackets::NoGso,
        _ => Superpackets::Skip,
    }
}

/// Returns the settings of an attachment that follow from its configuration; the others are 0.
pub(in crate::datapath) fn info_of(dev: &str, config: &SourceConfig) -> source_info {
    source_info {
        encapsulation: encapsulation_number(config.encapsulation),
        mtu: config.mtu.unwrap_or_default(),
        extension_port: config.extension_port.to_be(),
        tos_value: config.mark.tos_value(),
        tos_mask: config.mark.tos_mask(),
        idle_timeout_ns: config.idle_flow_timeout.as_ns(),
        superpackets: superpackets_number(config.superpackets),
        compat: config.compat.is_some().into(),
        mss_clamp: config.mss_clamp.into(),
        max_hops: config.max_hops,
        without_queue: (!config.path_items.queue).into(),
        md_tos_value: config.int_dscp.map_or(0, DscpMark::tos_value),
        md_tos_mask: config.int_dscp.map_or(0, DscpMark::tos_mask),
        is_mx: config.mx_sample.is_some().into(),
        mx_sample: config.mx_sample.unwrap_or_default(),
        dev: name_bytes(dev),
        ..source_info::default()
    }
}

/// Returns the configuration that an attachment was made with, so that it can be made again.
pub fn config_of(hook: SourceHook, info: &source_info) -> SourceConfig {
    let dscp = |tos: u8| tos >> 2;
    SourceConfig {
        node_id: None,
        hook,
        encapsulation: encapsulation_of(info.encapsulation)
            .map_or(SourceEncapsulation::Tunnel, SourceEncapsulation::Preferred),
        mark: DscpMark::new(dscp(info.tos_value), dscp(info.tos_mask)).unwrap_or(DscpMark::DEFAULT),
        extension_port: u16::from_be(info.extension_port),
        int_dscp: DscpMark::new(dscp(info.md_tos_value), dscp(info.md_tos_mask)).ok(),
        mx_sample: (info.is_mx != 0).then_some(info.mx_sample),
        mtu: Some(info.mtu).filter(|mtu| *mtu != 0),
        idle_flow_timeout: TimeSpan(Duration::from_nanos(info.idle_timeout_ns)),
        max_flows: None,
        mss_clamp: info.mss_clamp != 0,
        max_hops: info.max_hops,
        path_items: PathItems {
            queue: info.without_queue == 0,
        },
        superpackets: superpackets_of(info),
        compat: (info.compat != 0).then_some(Compat::HostInt),
        no_tcx: info.clsact != 0,
        lease_key: None,
    }
}

/// Returns an interface's name as settings store it.
pub(in crate::datapath) fn name_bytes(dev: &str) -> [u8; DEV_NAME_SIZE] {
    let mut bytes = [0; DEV_NAME_SIZE];
    let len = dev.len().min(DEV_NAME_SIZE - 1);
    bytes[..len].copy_from_slice(&dev.as_bytes()[..len]);
    bytes
}

/// Returns an interface's name that settings stored.
pub(in crate::datapath) fn name_of(bytes: &[u8; DEV_NAME_SIZE]) -> String {
    let end = bytes.iter().position(|byte| *byte == 0).unwrap_or(0);
    String::from_utf8_lossy(&bytes[..end]).into_owned()
}

/// Returns the encapsulations and marks that an attachment may use.
pub fn tagging_of(info: &source_info) -> (Encapsulations, Marks) {
    let mut all = Encapsulations::default();
    // Sinks of version 0.1.0 get over-tcp-udp from `tunnel`, and from ioam, which they do not know.
    let chooses = matches!(
        encapsulation(info.encapsulation),
        encapsulation::ENCAP_TUNNEL | encapsulation::ENCAP_IOAM
    );
    let chosen = encapsulation_of(info.encapsulation).filter(|_| !chooses);
    all = all.with(chosen.unwrap_or(Encapsulation::OverTcpUdp));
    let encapsulates = matches!(
        superpackets_of(info),
        Superpackets::Encap | Superpackets::EncapAll
    );
    if (encapsulates && chosen != Some(Encapsulation::Options)) || chooses {
        all = all.with(Encapsulation::VxlanGpe);
    }
    let marks = Marks {
        tos_value: info.tos_value,
        tos_mask: info.tos_mask,
        extension_port: u16::from_be(info.extension_port),
    };
    (all, marks)
}

/// Returns how many bytes INT may add to a packet over IPv4 and over IPv6. A flow that sends superpackets may change to
/// vxlan-gpe, which adds the most.
pub fn room(config: &SourceConfig) -> (u32, u32) {
    let gpe = (20 + gpe_constant::GPE_ROOM.0, 40 + gpe_constant::GPE_ROOM.0);
    let one = match (config.superpackets, config.encapsulation) {
        (_, SourceEncapsulation::Preferred(Encapsulation::Options)) => Encapsulation::Options,
        (Superpackets::Encap | Superpackets::EncapAll, _) | (_, SourceEncapsulation::Tunnel) => {
            return gpe;
        }
        (_, SourceEncapsulation::Preferred(one)) => one,
    };
    match one {
        // Flows over IPv4, and those that ioam does not pass, go in vxlan-gpe, which adds more.
        Encapsulation::VxlanGpe | Encapsulation::Ioam => gpe,
        Encapsulation::Options => {
            let most = int_option_constant::INT_DATAGRAM_LEN.0 + 1;
            (most, most)
        }
        Encapsulation::OverTcpUdp => (int_constant::INT_BLOCK_LEN.0, int_constant::INT_BLOCK_LEN.0),
        Encapsulation::IntMd => {
            let len = match config.mx_sample {
                Some(_) => int_mx_constant::INT_MX_BLOCK_LEN.0,
                None => int_md_constant::INT_MD_BLOCK_LEN.0,
            };
            (len, len)
        }
        Encapsulation::ExtensionUdp => {
            (int_constant::EXTENSION_LEN.0, int_constant::EXTENSION_LEN.0)
        }
    }
}
