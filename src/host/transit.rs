//! The transit hop of this host: attached, looked after and detached.

use std::path::Path;

use anyhow::{Context, Result, bail};

use super::advice::advise;
use super::detachment::PinnedRole;
use super::{events, node, pins};
use crate::config::{TransitConfig, TransitSetup};
use crate::datapath::host::settings_status;
use crate::datapath::kernel::links::AttachedBy;
use crate::datapath::kernel::pins::Pins;
use crate::datapath::sink::sink_links;
use crate::datapath::source::source_links;
use crate::datapath::transit::kernel_half::Transit;
use crate::datapath::transit::transit_links::{self, TransitAttachment};
use crate::model::HostNode;
use crate::os::{log, netdev};

pub const ROLE: PinnedRole = PinnedRole {
    name: "transit",
    task: "cannot detach the transit hop",
    detach: transit_links::detach,
};

/// The node id that is given, or that of the roles that run on this host, or the derived one.
///
/// # Errors
/// If there is none, or if it is another than that of the sink or source: a host has one node id.
pub fn choose_node(pins: &Pins, config: &TransitConfig) -> Result<HostNode> {
    let others = sink_links::is_attached(pins).context("cannot look for the sink")?
        || source_links::is_loaded(pins);
    node::join(pins, config.node_id, others)
}

/// Checks that INT can be found in the packets of these interfaces.
///
/// # Errors
/// If there is no such interface, or its packets have no Ethernet header.
pub fn check_devs(devs: &[String]) -> Result<()> {
    for dev in devs {
        let ethernet = netdev::is_ethernet(dev)
            .map_err(advise)
            .with_context(|| format!("cannot use interface {dev}"))?;
        if !ethernet {
            bail!("cannot use interface {dev}: its packets have no Ethernet header");
        }
    }
    Ok(())
}

/// Attaches the hop to all interfaces of the setup, or replaces the programs there: all of them, or none. Returns the
/// programs of the last one.
///
/// # Errors
/// If one of them cannot be attached; those before it have their old settings again then, or none.
pub fn attach(pins: &Pins, setup: &TransitSetup) -> Result<Transit> {
    let config = &setup.transit;
    let node = choose_node(pins, config)?;
    let before = transit_links::inspect(pins).context("cannot look for the transit hop")?;
    let mut last = None;
    for (i, dev) in setup.devs.iter().enumerate() {
        match attach_dev(pins, dev, config, node) {
            Ok(transit) => last = Some(transit),
            Err(err) => {
                go_back(pins, &before, &setup.devs[..i]);
                return Err(err);
            }
        }
    }
    last.context("cannot attach the transit hop: no interface is given (try --dev eth0,eth1)")
}

fn attach_dev(pins: &Pins, dev: &str, config: &TransitConfig, node: HostNode) -> Result<Transit> {
    let transit = Transit::load(pins, dev, config)
        .map_err(advise)
        .context("cannot load the transit hop's kernel programs")?;
    let host = &transit.host;
    host.refresh_clock().context("cannot set the clock")?;
    host.set_node(node).context("cannot set the node id")?;
    if let Some(prefixes) = config.allow.as_ref().filter(|allow| !allow.is_empty()) {
        transit
            .allow(prefixes)
            .context("cannot set the list of allowed sources")?;
    }
    let mode = match transit
        .attach(pins, dev, config)
        .map_err(advise)
        .with_context(|| format!("cannot attach the transit hop to {dev}"))?
    {
        AttachedBy::Link => "tcx",
        AttachedBy::Clsact => "clsact",
    };
    let node = node.id;
    let line = format!("transit hop attached to {dev} ({mode}), node id {node}");
    events::attached("transit", dev, mode, node, line);
    Ok(transit)
}

/// Gives these interfaces the attachments that they had before, and the others none.
fn go_back(pins: &Pins, before: &[TransitAttachment], devs: &[String]) {
    for dev in devs {
        let known = before.iter().find(|seen| seen.name.as_ref() == Some(dev));
        let back = match known {
            Some(seen) => reattach(pins, dev, &seen.config()),
            None => ROLE.leave(pins, std::slice::from_ref(dev)),
        };
        if let Err(err) = back {
            log::error(format_args!("cannot go back: {err:#}"));
        }
    }
    if before.is_empty() {
        let _ = transit_links::detach(pins, &[]);
    }
}

fn reattach(pins: &Pins, dev: &str, config: &TransitConfig) -> Result<()> {
    let node = settings_status::node(pins)?.unwrap_or_default();
    attach_dev(pins, dev, config, node).map(drop)
}

/// Makes an attachment anew by its settings, where its interface is now.
pub fn repair(pins: &Pins, dev: &str, seen: &TransitAttachment) -> Result<()> {
    reattach(pins, dev, &seen.config())?;
    if netdev::index_of(dev).is_ok_and(|index| index != seen.ifindex) {
        transit_links::forget(pins, seen)?;
    }
    Ok(())
}

/// Takes over the attachments of another version of hostint: those that are not attached anew are replaced in place.
pub fn adopt(pins: &Pins, devs: &[String]) -> Result<()> {
    if !pins.other_versions()?.is_empty() {
        for seen in transit_links::inspect(pins)? {
            let Some(dev) = seen.name.as_ref().filter(|dev| !devs.contains(dev)) else {
                continue;
            };
            reattach(pins, dev, &seen.config())?;
        }
    }
    transit_links::take_over(pins).context("cannot take over from another version")
}

/// Detaches the hop from these interfaces, from all if none is named, and returns which they were.
pub fn detach(bpffs: Option<&Path>, devs: &[String]) -> Result<Vec<String>> {
    match pins::find(bpffs)? {
        Some(pins) => ROLE.detach(&pins, devs),
        None => Ok(Vec::new()),
    }
}
