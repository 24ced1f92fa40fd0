//! `hostint source`: what is tagged, and where.

mod attach;
mod dests;
mod foreground;
mod plan;
mod reconfigure;
pub mod rules;

use std::path::Path;

use anyhow::{Context, Result, bail};

use super::{Usage, advise, find_pins, give_up, make_pins, tell_detached};
use crate::cli::{AttachArgs, SourceCommand, exit};
use crate::config::{Origin, SourceConfig};
use crate::datapath::pins::Pins;
use crate::datapath::shared_settings::SharedSettings;
use crate::datapath::source_links;
use crate::datapath::{peer, sink_links};
use crate::model::{NodeId, WatchRule};
use crate::os::{log, privileges};
use attach::attach_dev;
pub use attach::{adopt, reattach};
pub use dests::follow_addresses;
use dests::{
    await_leases, del_dests, find_places, list_dests, open_list, read_dest_file, unname_leases,
    watch,
};
use foreground::look_after;
use plan::Plan;
pub use reconfigure::{reconfigure, refuse};
pub use rules::{find_names, follow_interfaces, rename_addresses};

pub fn run(bpffs: Option<&Path>, command: &SourceCommand) -> Result<u8> {
    match command {
        SourceCommand::Attach(args) => attach(bpffs, args),
        SourceCommand::Detach { dev } => detach(bpffs, dev),
        SourceCommand::AddDest {
            host,
            dest_file,
            fixed,
        } => {
            let mut names = host.clone();
            if let Some(path) = dest_file {
                names.extend(read_dest_file(path)?);
            }
            let found = find_places(&names)?;
            let (pins, list) = open_list(bpffs)?;
            let changing = pins.change().context("cannot change the watchlist")?;
            watch(&list, &found, *fixed)?;
            drop(changing);
            if !fixed {
                let prefixes = found.into_iter().flat_map(|place| place.prefixes);
                await_leases(&pins, &prefixes.collect::<Vec<_>>())?;
            }
            Ok(exit::OK)
        }
        SourceCommand::DelDest { host } => {
            let (pins, list) = open_list(bpffs)?;
            let _changing = pins.change().context("cannot change the watchlist")?;
            let code = del_dests(&list, host)?;
            unname_leases(&pins, &list).context("cannot end leases")?;
            Ok(code)
        }
        SourceCommand::Rules { json } => rules::list_rules(bpffs, *json),
        SourceCommand::Dests { json } => list_dests(bpffs, *json),
    }
}

fn attach(bpffs: Option<&Path>, args: &AttachArgs) -> Result<u8> {
    if !args.foreground && matches!(args.settings.origin("lease-key"), Some(Origin::Flag(_))) {
        return Err(Usage(
            "--lease-key is of no use without --foreground: the sink's daemon keeps leases, with its own".into(),
        )
        .into());
    }
    if args.foreground {
        give_up(&privileges::BEGIN)?;
    }
    let plan = Plan::make(args)?;
    let config = &plan.setup.source;
    let pins = make_pins(bpffs)?;
    let node = choose_node(&pins, config, plan.setup.force)?;
    let changing = pins.change()?;
    let mut loaded = None;
    for dev in &plan.setup.devs {
        let attached = attach_dev(&pins, dev, config, node, plan.dests());
        loaded = Some(attached.inspect_err(|_| leave_nothing(&pins))?);
    }
    if plan.file.is_some() {
        set_file_rules(&pins, &plan.rules).inspect_err(|_| leave_nothing(&pins))?;
    }
    drop(changing);
    source_links::take_over(&pins).context("cannot take over from another version")?;
    match loaded {
        Some(source) if args.foreground => look_after(&pins, &source, args, plan)?,
        _ => {}
    }
    Ok(exit::OK)
}

/// Makes these the rules that come from a file, as soon as there is a source.
pub fn set_file_rules(pins: &Pins, rules: &[WatchRule]) -> Result<()> {
    if !source_links::is_loaded(pins) {
        return Ok(());
    }
    rules::replace_file_rules(pins, rules.to_vec()).context("cannot set the watchlist")
}

/// A source that could not be attached anywhere leaves no maps behind.
fn leave_nothing(pins: &Pins) {
    if source_links::attachments(pins).is_ok_and(|attached| attached.is_empty()) {
        let _ = source_links::detach(pins, &[]);
    }
}

/// The node id given, or that of the sink that runs on this host.
fn choose_node(pins: &Pins, config: &SourceConfig, force: bool) -> Result<NodeId> {
    let sink_runs = sink_links::is_attached(pins).context("cannot look for the sink")?;
    if !sink_runs && !force {
        bail!(
            "no sink runs on this host, so answers to tagged packets could not be stripped here \
             (start hostint sink first, or use --force)"
        );
    }
    match config.node_id {
        Some(node) => Ok(node),
        None if sink_runs => SharedSettings::read_pinned(pins)?
            .map(|settings| NodeId(settings.node_id))
            .context("the sink has no node id"),
        None => Err(Usage(
            "no node id given, and no sink to take it from (try --node-id 1)".into(),
        )
        .into()),
    }
}

fn detach(bpffs: Option<&Path>, devs: &[String]) -> Result<u8> {
    let detached = match find_pins(bpffs)? {
        Some(pins) => pins
            .change()
            .and_then(|_changing| {
                peer::detach(&pins, devs)?;
                source_links::detach(&pins, devs)
            })
            .map_err(advise)
            .context("cannot detach the source")?,
        None => {
            source_links::clean_up().context("cannot clean up")?;
            Vec::new()
        }
    };
    for dev in &detached {
        tell_detached("source", dev);
    }
    if detached.is_empty() {
        log::info("no source to detach");
        return Ok(exit::NOTHING);
    }
    Ok(exit::OK)
}
