//! The transit hop of this host as `hostint status` shows it, from what is pinned.

use std::io;

use super::transit_gauges;
use super::transit_links::{self, TransitAttachment};
use crate::datapath::host::counters;
use crate::datapath::kernel::map_names::TRANSIT_COUNTERS;
use crate::datapath::kernel::pins::Pins;
use crate::datapath::sink::sink_status::read_counters;
use crate::model::{TransitInterface, TransitStatus};

/// Reads the transit hop's state, if there is one.
pub fn read(pins: &Pins) -> io::Result<Option<TransitStatus>> {
    if !transit_links::is_loaded(pins) {
        return Ok(None);
    }
    let attached = transit_links::inspect(pins)?;
    Ok(Some(TransitStatus {
        interfaces: attached
            .into_iter()
            .map(|seen| interface_status(pins, seen))
            .collect::<io::Result<_>>()?,
        counters: read_counters(pins, TRANSIT_COUNTERS, counters::TRANSIT)?,
    }))
}

fn interface_status(pins: &Pins, seen: TransitAttachment) -> io::Result<TransitInterface> {
    let config = seen.config();
    let mark = config.carriers.int_md.and_then(|marks| marks.dscp);
    Ok(TransitInterface {
        attached: seen.alive,
        mode: if config.no_tcx { "clsact" } else { "tcx" },
        dscp_value: config.mark.tos_value() >> 2,
        dscp_mask: config.mark.tos_mask() >> 2,
        extension_port: config.extension_port,
        carriers: config.carriers.names(),
        int_dscp_value: mark.map(|mark| mark.tos_value() >> 2),
        int_dscp_mask: mark.map(|mark| mark.tos_mask() >> 2),
        int_port: config.carriers.int_md.and_then(|marks| marks.port),
        mtu: config.mtu,
        only_allowed: config.allow.is_some(),
        arrivals_max: seen.info.arrivals,
        superpackets: seen.info.cuts_tunnels == 0,
        hold_ns: config.carriers.tcp_int.map(|hop| hop.hold_ns),
        link_mbit: transit_gauges::link_mbit(pins, seen.ifindex)?,
        dev: seen.name.unwrap_or(seen.dev),
    })
}
