//! `hostint source`: attaches and detaches the source, and changes its watchlist.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use super::output::{found_to_detach, print};
use crate::cli::{SourceArgs, SourceAttachArgs, SourceCommand, exit};
use crate::config::Origin;
use crate::daemon;
use crate::host::advice::Usage;
use crate::host::source::dests::{unwatch, watch};
use crate::host::source::forms::require_form;
use crate::host::source::leases::await_leases;
use crate::host::source::places::{find_places, read_dest_file};
use crate::host::source::{detach, open_list};
use crate::model::{Dest, WatchRule};
use crate::views;

pub fn run(bpffs: Option<&Path>, args: &SourceArgs) -> Result<u8> {
    let Some(command) = &args.command else {
        daemon::source::run(bpffs, &args.serve)?;
        return Ok(exit::OK);
    };
    match command {
        SourceCommand::Attach(args) => attach(bpffs, args),
        SourceCommand::Detach { dev } => Ok(found_to_detach("source", &detach(bpffs, dev)?)),
        SourceCommand::AddDest {
            host,
            dest_file,
            fixed,
        } => add_dests(bpffs, host, dest_file.as_ref(), *fixed),
        SourceCommand::DelDest { host } => {
            let (pins, list) = open_list(bpffs)?;
            let _changing = pins.change().context("cannot change the watchlist")?;
            let all = unwatch(&pins, &list, host)?;
            Ok(if all { exit::OK } else { exit::FAILURE })
        }
        SourceCommand::Rules { json } => {
            let rules = rules(bpffs)?;
            print(&views::rules::render(&rules, *json))?;
            Ok(exit::OK)
        }
        SourceCommand::Dests { json } => {
            let mut dests: Vec<Dest> = rules(bpffs)?.iter().flat_map(WatchRule::dests).collect();
            dests.sort();
            print(&views::dests::render(&dests, *json))?;
            Ok(exit::OK)
        }
    }
}

fn attach(bpffs: Option<&Path>, args: &SourceAttachArgs) -> Result<u8> {
    if args.foreground {
        daemon::source::run(bpffs, &args.serve)?;
        return Ok(exit::OK);
    }
    if matches!(
        args.serve.settings.origin("lease-key"),
        Some(Origin::Flag(_))
    ) {
        return Err(Usage(
            "--lease-key is of no use without --foreground: the sink's daemon keeps leases, with its own".into(),
        )
        .into());
    }
    if matches!(
        args.serve.settings.origin("collector"),
        Some(Origin::Flag(_))
    ) {
        return Err(Usage(
            "--collector is of no use without --foreground: the sink's daemon reports to its own collectors".into(),
        )
        .into());
    }
    daemon::source::attach(bpffs, &args.serve)?;
    Ok(exit::OK)
}

fn add_dests(
    bpffs: Option<&Path>,
    hosts: &[String],
    file: Option<&PathBuf>,
    fixed: bool,
) -> Result<u8> {
    let mut names = hosts.to_vec();
    if let Some(path) = file {
        names.extend(read_dest_file(path)?);
    }
    let places = find_places(&names)?;
    for place in &places {
        let mut why = place.prefixes.iter().filter_map(|one| one.why_untagged());
        if let Some(why) = why.next() {
            let said = format!("{} is {why} (try hosts that have a sink)", place.text);
            return Err(Usage(said).into());
        }
    }
    let (pins, list) = open_list(bpffs)?;
    let changing = pins.change().context("cannot change the watchlist")?;
    if fixed {
        require_form(&pins)?;
    }
    watch(&list, &places, fixed)?;
    drop(changing);
    if !fixed {
        let prefixes = places.into_iter().flat_map(|place| place.prefixes);
        await_leases(&pins, &prefixes.collect::<Vec<_>>())?;
    }
    Ok(exit::OK)
}

fn rules(bpffs: Option<&Path>) -> Result<Vec<WatchRule>> {
    let (_, list) = open_list(bpffs)?;
    list.rules().context("cannot read the watchlist")
}
