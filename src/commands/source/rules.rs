//! The watchlist's rules: those of the config file, and all of them to look at.

use std::path::Path;

use anyhow::{Context, Result};

use super::dests::{leased_prefixes, name_leases, open_list, prefixes_of, unname_leases};
use crate::cli::exit;
use crate::commands::{advise, print};
use crate::datapath::pins::Pins;
use crate::datapath::watch::Watchlist;
use crate::model::{Place, WatchRule};
use crate::os::log;
use crate::views;

/// From now on these rules are those of the config file, all at once; without a source on this host nothing
/// happens. What `hostint source add-dest` added stays. The caller keeps others from changing the list, and has
/// resolved names, which may take long.
pub fn replace_file_rules(pins: &Pins, rules: Vec<WatchRule>) -> Result<()> {
    let Some(list) = Watchlist::open(pins)? else {
        return Ok(());
    };
    let mut all = rules;
    let old = list.rules().context("cannot read the watchlist")?;
    all.extend(old.iter().filter(|rule| !rule.from_file).cloned());
    if all == old {
        return Ok(());
    }
    apply(pins, &list, &all)
}

/// Judges packets by these rules, and asks for the leases that they need.
fn apply(pins: &Pins, list: &Watchlist, rules: &[WatchRule]) -> Result<()> {
    list.replace(rules)
        .map_err(advise)
        .context("cannot change the watchlist")?;
    let watched: Vec<_> = leased_prefixes(rules).into_iter().collect();
    name_leases(pins, &watched).context("cannot ask for leases")?;
    unname_leases(pins, list).context("cannot end leases")
}

/// Resolves what is not resolved yet. A name that cannot be found now is looked for again later.
pub fn find_names(mut rules: Vec<WatchRule>) -> Result<Vec<WatchRule>> {
    let places = rules
        .iter_mut()
        .flat_map(|rule| rule.from.iter_mut().chain(&mut rule.to));
    for place in places.filter(|place| place.prefixes.is_empty()) {
        match prefixes_of(&place.text) {
            Ok(prefixes) => place.prefixes = prefixes,
            Err(err) if crate::commands::is_usage(&err) => return Err(err),
            Err(err) => log::warning(format_args!("{err:#}: looked for again in a minute")),
        }
    }
    Ok(rules)
}

/// Rules name interfaces, and the kernel half numbers them.
pub fn follow_interfaces(pins: &Pins) -> Result<()> {
    let Some(list) = Watchlist::open(pins)? else {
        return Ok(());
    };
    let rules = list.rules()?;
    if rules.iter().any(|rule| !rule.devs.is_empty()) {
        list.replace(&rules)
            .context("cannot change the watchlist")?;
    }
    Ok(())
}

/// These names mean other addresses now.
pub fn rename_addresses(pins: &Pins, list: &Watchlist, names: &[Place]) -> Result<()> {
    let mut rules = list.rules()?;
    for rule in &mut rules {
        for place in rule.from.iter_mut().chain(&mut rule.to) {
            if let Some(now) = names.iter().find(|now| now.text == place.text) {
                place.prefixes.clone_from(&now.prefixes);
            }
        }
    }
    apply(pins, list, &rules)
}

pub fn list_rules(bpffs: Option<&Path>, json: bool) -> Result<u8> {
    let (_, list) = open_list(bpffs)?;
    let rules = list.rules().context("cannot read the watchlist")?;
    print(&views::rules::render(&rules, json))?;
    Ok(exit::OK)
}
