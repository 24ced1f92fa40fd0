//! The source's programs on one interface, made or made again.

use std::io;

use anyhow::{Context, Result};

use super::dests::{name_leases, watch};
use crate::commands::advise;
use crate::config::{SourceConfig, SourceHook, Superpackets};
use crate::datapath::abi::source_info;
use crate::datapath::links::AttachedBy;
use crate::datapath::peer::{self, PeerProgram, PeerSettings};
use crate::datapath::pins::Pins;
use crate::datapath::shared_settings::SharedSettings;
use crate::datapath::source::Source;
use crate::datapath::source_links::{self, SourceAttachment};
use crate::datapath::watch::Watchlist;
use crate::datapath::{sink_links, source_settings};
use crate::model::{NodeId, Place, REPORT_PORT};
use crate::os::log::{self, Event, Level};
use crate::os::netdev;

pub fn attach_dev(
    pins: &Pins,
    dev: &str,
    config: &SourceConfig,
    node: NodeId,
    (places, fixed): (&[Place], bool),
) -> Result<Source> {
    let source = Source::load(pins, dev, config)
        .map_err(advise)
        .context("cannot load the source's kernel programs")?;
    source
        .host
        .refresh_clock()
        .context("cannot set the clock")?;
    source
        .host
        .set_node_id(node)
        .context("cannot set the node id")?;
    if !sink_links::is_attached(pins)? {
        source.host.set_report_ports(&[REPORT_PORT])?;
    }
    if let Some(list) = Watchlist::open(pins)?.filter(|_| !places.is_empty()) {
        watch(&list, places, fixed)?;
        if !fixed {
            let prefixes = places.iter().flat_map(|place| place.prefixes.clone());
            name_leases(pins, &prefixes.collect::<Vec<_>>()).context("cannot ask for leases")?;
        }
    }
    let peer = load_peer(pins, dev, config)
        .map_err(advise)
        .context("cannot load the program for answers")?;
    let attached = source
        .attach(pins, dev, config)
        .map_err(advise)
        .with_context(|| format!("cannot attach the source to {dev}"))?;
    match peer {
        Some(peer) => peer.attach(pins, dev, config.no_tcx).map(drop),
        None if config.hook == SourceHook::Tc => peer::detach(pins, &[dev.to_owned()]),
        None => Ok(()),
    }
    .map_err(advise)
    .with_context(|| format!("cannot look at answers on {dev}"))?;
    let how = match (config.hook, attached) {
        (SourceHook::Xdp, _) => "XDP",
        (_, AttachedBy::Link) => "tcx",
        (_, AttachedBy::Clsact) => "clsact",
    };
    log::event(
        Level::Info,
        Event::Attached,
        &[
            ("DEV", &dev),
            ("ROLE", &"source"),
            ("MODE", &how),
            ("NODE_ID", &node),
        ],
        format_args!(
            "source attached to {dev} ({}, {how}), {}, node id {node}",
            config.hook.name(),
            config.encapsulation
        ),
    );
    if config.superpackets == Superpackets::NoGso {
        log::info(format_args!(
            "{dev} is sent no superpackets any more; connections that exist follow when their route changes"
        ));
    }
    Ok(source)
}

/// What makes answers suit a stack that does not know of INT, where they come in by the same interface.
fn load_peer(pins: &Pins, dev: &str, config: &SourceConfig) -> io::Result<Option<PeerProgram>> {
    if config.hook != SourceHook::Tc || !config.mss_clamp {
        return Ok(None);
    }
    let (room_ipv4, room_ipv6) = source_settings::room(config);
    let settings = PeerSettings {
        room_ipv4,
        room_ipv6,
        fixed_mtu: config.mtu,
        tos_value: config.mark.tos_value(),
        tos_mask: config.mark.tos_mask(),
        extension_port: config.extension_port,
    };
    PeerProgram::load(pins, dev, &settings).map(Some)
}

/// Makes an attachment again, as it was, where its interface is now.
pub fn reattach(pins: &Pins, dev: &str, seen: &SourceAttachment) -> Result<()> {
    again(pins, dev, seen.hook, &seen.info)?;
    if netdev::index_of(dev).is_ok_and(|index| index != seen.key.ifindex) {
        source_links::forget(pins, &seen.key)?;
    }
    Ok(())
}

/// Makes an attachment again with these settings.
pub fn again(pins: &Pins, dev: &str, hook: SourceHook, info: &source_info) -> Result<()> {
    let node = SharedSettings::read_pinned(pins)?.map_or(NodeId(0), |host| NodeId(host.node_id));
    let config = source_settings::config_of(hook, info);
    attach_dev(pins, dev, &config, node, (&[], false)).map(drop)
}

/// Takes over the attachments of another version of hostint.
pub fn adopt(pins: &Pins) -> Result<()> {
    for (dev, hook, info) in source_links::of_others(pins)? {
        again(pins, &dev, hook, &info)?;
    }
    source_links::take_over(pins).context("cannot take over from another version")
}
