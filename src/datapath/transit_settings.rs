//! The transit hop's settings in the kernel half's layout.

use super::abi::transit_info;
use super::source_settings::name_bytes;
use crate::config::{DscpMark, TransitConfig};
use crate::os::{ethtool, netdev};

/// Returns the settings of an attachment that follow from its configuration; the others are 0.
pub(super) fn info_of(dev: &str, config: &TransitConfig) -> transit_info {
    transit_info {
        mtu: config.mtu.unwrap_or_default(),
        extension_port: config.extension_port.to_be(),
        tos_value: config.mark.tos_value(),
        tos_mask: config.mark.tos_mask(),
        only_allowed: config.allow.is_some().into(),
        cuts_tunnels: cuts_tunnels(dev).into(),
        notes_departures: config.waits.into(),
        dev: name_bytes(dev),
        ..transit_info::default()
    }
}

/// Returns the configuration that an attachment was made with, so that it can be made again. The list of allowed
/// sources, and the node id, are those of the host.
pub(super) fn config_of(info: &transit_info) -> TransitConfig {
    let dscp = |tos: u8| tos >> 2;
    TransitConfig {
        node_id: None,
        mark: DscpMark::new(dscp(info.tos_value), dscp(info.tos_mask)).unwrap_or(DscpMark::DEFAULT),
        extension_port: u16::from_be(info.extension_port),
        mtu: Some(info.mtu).filter(|mtu| *mtu != 0),
        allow: (info.only_allowed != 0).then(Vec::new),
        max_arrivals: None,
        waits: info.notes_departures != 0,
        no_tcx: info.clsact != 0,
    }
}

/// True if the device may cut superpackets in tunnels itself. Drivers take the place of the tunnel's header from a field
/// that a program cannot correct after it made the header longer, so nothing is pushed onto such superpackets.
pub(super) fn cuts_tunnels(dev: &str) -> bool {
    let mut behind = netdev::hardware_behind(dev).into_iter();
    behind.any(|device| ethtool::feature(&device, ethtool::CUTS_TUNNELS).unwrap_or(true))
}
