//! The source of this host: attached and detached, its rules and destinations, and the leases that they ask for.

pub mod attach;
pub mod dests;
pub mod forms;
pub mod leases;
pub mod places;
pub mod reconfigure;
pub mod rules;

use std::path::Path;

use anyhow::{Context, Result, bail};

use super::advice::advise;
use super::detachment::PinnedRole;
use super::{node, pins};
use crate::config::SourceConfig;
use crate::datapath::kernel::pins::Pins;
use crate::datapath::sink::sink_links;
use crate::datapath::source::{peer, source_links};
use crate::datapath::transit::transit_links;
use crate::datapath::watch::Watchlist;
use crate::model::HostNode;

pub const ROLE: PinnedRole = PinnedRole {
    name: "source",
    task: "cannot detach the source",
    detach: |pins, devs| {
        peer::detach(pins, devs)?;
        source_links::detach(pins, devs)
    },
};

/// The node id that is given, or that of the roles that run on this host, or the derived one.
pub fn choose_node(pins: &Pins, config: &SourceConfig, force: bool) -> Result<HostNode> {
    let sink_runs = sink_links::is_attached(pins).context("cannot look for the sink")?;
    if !sink_runs && !force {
        bail!(
            "no sink runs on this host, so answers to tagged packets could not be stripped here \
             (start hostint sink first, or use --force)"
        );
    }
    let others = sink_runs || transit_links::is_loaded(pins);
    node::join(pins, config.node_id, others)
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
    match pins::find(bpffs)? {
        Some(pins) => ROLE.detach(&pins, devs),
        None => {
            source_links::clean_up().context("cannot clean up")?;
            Ok(Vec::new())
        }
    }
}
