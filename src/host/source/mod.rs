//! The source of this host: attached and detached, its rules and destinations, and the leases that they ask for.

pub mod attach;
pub mod dests;
pub mod leases;
pub mod places;
pub mod reconfigure;
pub mod rules;

use std::path::Path;

use anyhow::{Context, Result, bail};

use super::advice::{Usage, advise};
use super::{events, pins};
use crate::config::SourceConfig;
use crate::datapath::pins::Pins;
use crate::datapath::watch::Watchlist;
use crate::datapath::{peer, settings_status, sink_links, source_links};
use crate::model::NodeId;

/// The node id that is given, or that of the sink that runs on this host.
pub fn choose_node(pins: &Pins, config: &SourceConfig, force: bool) -> Result<NodeId> {
    let sink_runs = sink_links::is_attached(pins).context("cannot look for the sink")?;
    if !sink_runs && !force {
        bail!(
            "no sink runs on this host, so answers to tagged packets could not be stripped here \
             (start hostint sink first, or use --force)"
        );
    }
    let of_sink = match sink_runs {
        true => Some(settings_status::node_id(pins)?.context("the sink has no node id")?),
        false => None,
    };
    match (config.node_id, of_sink) {
        (Some(node), Some(sink)) if node != sink => Err(Usage(format!(
            "node id {node} differs from that of this host's sink, {sink}: a host has one node id (try without --node-id)"
        ))
        .into()),
        (Some(node), _) | (None, Some(node)) => Ok(node),
        (None, None) => Err(Usage(
            "no node id given, and no sink to take it from (try --node-id 1)".into(),
        )
        .into()),
    }
}

/// Opens the watchlist of this host's source.
pub fn open_list(bpffs: Option<&Path>) -> Result<(Pins, Watchlist)> {
    let found = match pins::find(bpffs)? {
        Some(pins) => Watchlist::open(&pins)
            .map_err(advise)
            .context("cannot open the watchlist")?
            .map(|list| (pins, list)),
        None => None,
    };
    found.context("no source on this host (start with hostint source attach --dev DEV)")
}

/// Removes the maps of a source that could not be attached anywhere.
pub fn leave_nothing(pins: &Pins) {
    if source_links::attachments(pins).is_ok_and(|attached| attached.is_empty()) {
        let _ = source_links::detach(pins, &[]);
    }
}

/// Detaches the source from these interfaces, from all if none is named, and returns which they were.
pub fn detach(bpffs: Option<&Path>, devs: &[String]) -> Result<Vec<String>> {
    let Some(pins) = pins::find(bpffs)? else {
        source_links::clean_up().context("cannot clean up")?;
        return Ok(Vec::new());
    };
    let _changing = pins
        .change()
        .map_err(advise)
        .context("cannot detach the source")?;
    detach_links(&pins, devs)
}

/// Detaches the source from these interfaces; from none if none is named.
pub fn leave(pins: &Pins, devs: &[String]) -> Result<()> {
    if devs.is_empty() {
        return Ok(());
    }
    detach_links(pins, devs).map(drop)
}

fn detach_links(pins: &Pins, devs: &[String]) -> Result<Vec<String>> {
    let detached = peer::detach(pins, devs)
        .and_then(|()| source_links::detach(pins, devs))
        .map_err(advise)
        .context("cannot detach the source")?;
    for dev in &detached {
        events::detached("source", dev);
    }
    Ok(detached)
}
