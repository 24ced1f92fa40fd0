//! The source of this host as `hostint status` shows it, from what is pinned.

use std::io;

use super::peer_status::read_peers;
use super::source_links::{self, RunningSource};
use crate::config::{DscpMark, SourceEncapsulation, SourceHook};
use crate::datapath::abi::{flow_key, source_flow};
use crate::datapath::host::counters;
use crate::datapath::kernel::map_names::{PEER_COUNTERS, SOURCE_COUNTERS, SOURCE_FLOWS};
use crate::datapath::kernel::maps::Map;
use crate::datapath::kernel::pins::Pins;
use crate::datapath::sink::sink_status::{read_counters, xdp_mode_name};
use crate::datapath::watch::Watchlist;
use crate::model::{Attachment, Dest, DestStatus, Encapsulation, SourceStatus, WatchRule};
use crate::os::netdev;

/// Reads the source's state, if there is a source.
pub fn read(pins: &Pins) -> io::Result<Option<SourceStatus>> {
    if !source_links::is_loaded(pins) {
        return Ok(None);
    }
    let flows = Map::<flow_key, source_flow>::open(&pins.map(SOURCE_FLOWS))?;
    let mut flows_total = 0;
    if let Some(flows) = &flows {
        flows.for_each(|_, _| flows_total += 1)?;
    }
    let rules = match Watchlist::open(pins)? {
        Some(list) => list.rules()?,
        None => Vec::new(),
    };
    let mut dests: Vec<Dest> = rules.iter().flat_map(WatchRule::dests).collect();
    dests.sort();
    let attached = source_links::attachments(pins)?;
    let without_queue = attached.iter().any(|attachment| {
        let config = attachment.config();
        config.max_hops > 0 && !config.path_items.queue
    });
    let peers = read_peers(pins, without_queue)?;
    let mut counters = read_counters(pins, SOURCE_COUNTERS, counters::SOURCE)?;
    counters.extend(read_counters(pins, PEER_COUNTERS, counters::PEER)?);
    Ok(Some(SourceStatus {
        attachments: attached.into_iter().map(attachment_status).collect(),
        rules_total: rules.len(),
        dests: dests
            .into_iter()
            .map(|dest| DestStatus {
                prefix: dest.prefix.to_string(),
                name: dest.name,
                fixed: dest.fixed,
            })
            .collect(),
        counters,
        flows_total,
        flows_max: flows.map_or(0, |flows| flows.capacity()),
        peers_total: peers.len(),
        peers,
    }))
}

fn attachment_status(attachment: RunningSource) -> Attachment {
    let config = attachment.config();
    let RunningSource { dev, hook, .. } = attachment;
    Attachment {
        hook: hook.name(),
        mode: match (hook, config.no_tcx) {
            (SourceHook::Xdp, _) => xdp_mode_name(netdev::index_of(&dev).unwrap_or_default()),
            (_, false) => "tcx",
            (_, true) => "clsact",
        },
        why: None,
        gro: None,
        nic_timestamps: None,
        superpackets: Some(config.superpackets.name()),
        max_hops: Some(config.max_hops).filter(|hops| *hops > 0),
        path_items: match config.max_hops {
            0 => Vec::new(),
            _ => config.path_items.names().to_vec(),
        },
        encapsulation: Some(match config.encapsulation {
            SourceEncapsulation::Preferred(Encapsulation::ExtensionUdp) => {
                format!("extension-udp port {}", config.extension_port)
            }
            SourceEncapsulation::Tunnel
            | SourceEncapsulation::Preferred(
                Encapsulation::VxlanGpe | Encapsulation::Ioam | Encapsulation::Options,
            ) => config.encapsulation.name().to_owned(),
            SourceEncapsulation::Preferred(Encapsulation::IntMd) => {
                let mark = config.int_dscp;
                let mode = match config.mx_sample {
                    Some(sample) => format!(", mode mx, 1 of {} packets reported", 1_u32 << sample),
                    None => String::new(),
                };
                format!(
                    "int-md dscp {:#04x}/{:#04x}{mode}",
                    mark.map_or(0, DscpMark::tos_value) >> 2,
                    mark.map_or(0, DscpMark::tos_mask) >> 2
                )
            }
            SourceEncapsulation::Preferred(Encapsulation::OverTcpUdp) => format!(
                "over-tcp-udp dscp {:#04x}/{:#04x}",
                config.mark.tos_value() >> 2,
                config.mark.tos_mask() >> 2
            ),
        }),
        dev,
    }
}

/// The room of the source's flow table, if there is one.
pub fn flow_capacity(pins: &Pins) -> io::Result<Option<u32>> {
    let flows = Map::<flow_key, source_flow>::open(&pins.map(SOURCE_FLOWS))?;
    Ok(flows.map(|flows| flows.capacity()))
}
