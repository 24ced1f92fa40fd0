//! Attaches the source's programs to one interface, for the first time or anew.

use std::io;

use anyhow::{Context, Result};

use super::dests::watch;
use super::leases::name_leases;
use crate::config::{SourceConfig, SourceHook, Superpackets};
use crate::datapath::host::settings_status;
use crate::datapath::kernel::links::AttachedBy;
use crate::datapath::kernel::pins::Pins;
use crate::datapath::source::kernel_half::Source;
use crate::datapath::source::peer::{self, PeerProgram, PeerSettings};
use crate::datapath::source::source_links::{self, SourceAttachment};
use crate::datapath::source::source_settings;
use crate::datapath::watch::Watchlist;
use crate::host::advice::advise;
use crate::host::events;
use crate::model::{Encapsulation, HostNode, NodeId, REPORT_PORT, RuleHost};
use crate::os::{log, netdev};

/// Attaches the source to `dev` by these settings, and watches these places; `fixed`: whether a sink answers there
/// or not.
pub fn attach_dev(
    pins: &Pins,
    dev: &str,
    config: &SourceConfig,
    node: HostNode,
    (places, fixed): (&[RuleHost], bool),
) -> Result<Source> {
    let source = Source::load(pins, dev, config)
        .map_err(advise)
        .context("cannot load the source's kernel programs")?;
    set_host(pins, &source, node)?;
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
    say_attached(dev, config, attached, node.id);
    Ok(source)
}

fn set_host(pins: &Pins, source: &Source, node: HostNode) -> Result<()> {
    let host = &source.host;
    host.refresh_clock().context("cannot set the clock")?;
    host.set_node(node).context("cannot set the node id")?;
    // A sink, and a daemon with collectors, set theirs.
    let known = settings_status::read_host(pins)?;
    if known.is_none_or(|known| known.report_ports.is_empty()) {
        host.set_report_ports(&[REPORT_PORT])?;
    }
    Ok(())
}

fn say_attached(dev: &str, config: &SourceConfig, attached: AttachedBy, node: NodeId) {
    let mode = match (config.hook, attached) {
        (SourceHook::Xdp, _) => "XDP",
        (_, AttachedBy::Link) => "tcx",
        (_, AttachedBy::Clsact) => "clsact",
    };
    events::attached(
        "source",
        dev,
        mode,
        node,
        format_args!(
            "source attached to {dev} ({}, {mode}), {}, node id {node}",
            config.hook.name(),
            config.encapsulation
        ),
    );
    if config.superpackets == Superpackets::NoGso {
        log::info(format_args!(
            "{dev} is sent no superpackets any more; connections that exist follow when their route changes"
        ));
    }
}

/// Loads the program that adapts answers to a stack that does not know of INT, if they come in by the same interface.
fn load_peer(pins: &Pins, dev: &str, config: &SourceConfig) -> io::Result<Option<PeerProgram>> {
    if config.hook != SourceHook::Tc || !config.mss_clamp {
        return Ok(None);
    }
    let (room_ipv4, room_ipv6) = source_settings::room(config);
    let settings = PeerSettings {
        room_ipv4,
        room_ipv6,
        max_hops: config.max_hops,
        path_items: config.path_items,
        fixed_mtu: config.mtu,
        tos_value: config.mark.tos_value(),
        tos_mask: config.mark.tos_mask(),
        int_dscp: config.int_dscp,
        is_mx: config.mx_sample.is_some(),
        tcp_in_options: config.encapsulation == Encapsulation::Options.into(),
        extension_port: config.extension_port,
    };
    PeerProgram::load(pins, dev, &settings).map(Some)
}

/// Makes an attachment anew by its settings, where its interface is now.
pub fn repair(pins: &Pins, dev: &str, seen: &SourceAttachment) -> Result<()> {
    reattach(pins, dev, &seen.config())?;
    if netdev::index_of(dev).is_ok_and(|index| index != seen.ifindex()) {
        source_links::forget(pins, seen)?;
    }
    Ok(())
}

/// Attaches the source to `dev` anew by these settings; the node id and the watchlist stay.
pub fn reattach(pins: &Pins, dev: &str, config: &SourceConfig) -> Result<()> {
    let node = settings_status::node(pins)?.unwrap_or_default();
    attach_dev(pins, dev, config, node, (&[], false)).map(drop)
}

/// Takes over the attachments of another version of hostint.
pub fn adopt(pins: &Pins) -> Result<()> {
    for attached in source_links::of_others(pins)? {
        reattach(pins, &attached.dev, &attached.config())?;
    }
    source_links::take_over(pins).context("cannot take over from another version")
}
