//! The transit hop's settings in the kernel half's layout.

use crate::config::{Carriers, DscpMark, IntMdMarks, OptionHop, TransitConfig};
use crate::datapath::abi::{transit_carrier, transit_info};
use crate::datapath::source::source_settings::name_bytes;
use crate::os::{ethtool, netdev};

/// Returns the settings of an attachment that follow from its configuration; the others are 0.
pub(in crate::datapath) fn info_of(dev: &str, config: &TransitConfig) -> transit_info {
    transit_info {
        mtu: config.mtu.unwrap_or_default(),
        extension_port: config.extension_port.to_be(),
        tos_value: config.mark.tos_value(),
        tos_mask: config.mark.tos_mask(),
        only_allowed: config.allow.is_some().into(),
        cuts_tunnels: cuts_tunnels(dev).into(),
        notes_departures: config.waits.into(),
        carriers: carrier_bits(config.carriers),
        md_port: md_port(config.carriers),
        md_tos_value: md_mark(config.carriers).map_or(0, DscpMark::tos_value),
        md_tos_mask: md_mark(config.carriers).map_or(0, DscpMark::tos_mask),
        dev: name_bytes(dev),
        hold_ns: config.carriers.tcp_int.map_or(0, |hop| hop.hold_ns),
        link_mbit: link_of_user(config.carriers).unwrap_or_default(),
        ..transit_info::default()
    }
}

/// Returns the configuration that an attachment was made with, so that it can be made again. The list of allowed
/// sources, and the node id, are those of the host.
pub(in crate::datapath) fn config_of(info: &transit_info) -> TransitConfig {
    TransitConfig {
        node_id: None,
        mark: mark_of(info.tos_value, info.tos_mask).unwrap_or(DscpMark::DEFAULT),
        carriers: carriers_of(info),
        extension_port: u16::from_be(info.extension_port),
        mtu: Some(info.mtu).filter(|mtu| *mtu != 0),
        allow: (info.only_allowed != 0).then(Vec::new),
        max_arrivals: None,
        waits: info.notes_departures != 0,
        no_tcx: info.clsact != 0,
    }
}

/// The speed of links that the user gave.
fn link_of_user(carriers: Carriers) -> Option<u32> {
    carriers.tcp_int.and_then(|hop| hop.link_mbit)
}

fn mark_of(tos_value: u8, tos_mask: u8) -> Option<DscpMark> {
    DscpMark::new(tos_value >> 2, tos_mask >> 2).ok()
}

/// The bits of the kinds of INT.
pub(in crate::datapath) fn carrier_bits(carriers: Carriers) -> u32 {
    let bit = |chosen: bool, carrier: transit_carrier| if chosen { carrier.0 } else { 0 };
    bit(carriers.host_int, transit_carrier::CARRIER_HOST_INT)
        | bit(carriers.vxlan_gpe, transit_carrier::CARRIER_VXLAN_GPE)
        | bit(carriers.int_md.is_some(), transit_carrier::CARRIER_INT_MD)
        | bit(carriers.geneve, transit_carrier::CARRIER_GENEVE)
        | bit(carriers.tcp_int.is_some(), transit_carrier::CARRIER_TCP_INT)
}

/// The port that marks INT-MD, in network byte order; 0: none.
pub(in crate::datapath) fn md_port(carriers: Carriers) -> u16 {
    let port = carriers.int_md.and_then(|marks| marks.port);
    port.unwrap_or_default().to_be()
}

/// The DSCP that marks INT-MD.
pub(in crate::datapath) fn md_mark(carriers: Carriers) -> Option<DscpMark> {
    carriers.int_md.and_then(|marks| marks.dscp)
}

fn carriers_of(info: &transit_info) -> Carriers {
    let has = |carrier: transit_carrier| info.carriers & carrier.0 != 0;
    Carriers {
        host_int: has(transit_carrier::CARRIER_HOST_INT),
        vxlan_gpe: has(transit_carrier::CARRIER_VXLAN_GPE),
        int_md: has(transit_carrier::CARRIER_INT_MD).then(|| IntMdMarks {
            dscp: mark_of(info.md_tos_value, info.md_tos_mask),
            port: Some(u16::from_be(info.md_port)).filter(|port| *port != 0),
        }),
        geneve: has(transit_carrier::CARRIER_GENEVE),
        tcp_int: has(transit_carrier::CARRIER_TCP_INT).then(|| OptionHop {
            hold_ns: info.hold_ns,
            link_mbit: Some(info.link_mbit).filter(|mbit| *mbit != 0),
        }),
    }
}

/// True if the device may cut superpackets in tunnels itself. Drivers take the place of the tunnel's header from a field
/// that a program cannot correct after it made the header longer, so nothing is pushed onto such superpackets.
pub(in crate::datapath) fn cuts_tunnels(dev: &str) -> bool {
    let mut behind = netdev::hardware_behind(dev).into_iter();
    behind.any(|device| ethtool::feature(&device, ethtool::CUTS_TUNNELS).unwrap_or(true))
}
