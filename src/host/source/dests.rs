//! The watched destinations that commands add and delete.

use std::collections::HashSet;

use anyhow::{Context, Result};

use super::leases::unname_leases;
use super::places::prefixes_of;
use crate::datapath::kernel::pins::Pins;
use crate::datapath::watch::Watchlist;
use crate::host::advice::advise;
use crate::model::{Prefix, RuleHost, WatchRule};
use crate::os::log;

/// Watches these destinations at once; those that are watched already are watched this way from now on.
pub fn watch(list: &Watchlist, places: &[RuleHost], fixed: bool) -> Result<()> {
    let mut rules = list.rules().context("cannot read the watchlist")?;
    add_dests(&mut rules, places, fixed);
    list.replace(&rules)
        .map_err(advise)
        .context("cannot change the watchlist")
}

fn add_dests(rules: &mut Vec<WatchRule>, places: &[RuleHost], fixed: bool) {
    let texts: HashSet<&str> = places.iter().map(|place| &*place.text).collect();
    let prefixes: HashSet<&[Prefix]> = places.iter().map(|place| &*place.prefixes).collect();
    rules.retain(|rule| {
        let again =
            |place: &RuleHost| texts.contains(&*place.text) || prefixes.contains(&*place.prefixes);
        rule.from_file || !rule.to.iter().any(again)
    });
    let mut added = HashSet::new();
    let new = places.iter().filter(|place| added.insert(&place.prefixes));
    rules.extend(new.map(|place| WatchRule::of_dest(place.clone(), fixed)));
}

/// Takes destinations off the list at once and ends the leases that only they kept. Returns false, and says which,
/// if some were not on it.
pub fn unwatch(pins: &Pins, list: &Watchlist, names: &[String]) -> Result<bool> {
    let mut all = true;
    let mut rules = list.rules().context("cannot read the watchlist")?;
    for name in names {
        if del_dest(&mut rules, name)? {
            continue;
        }
        let in_file = rules
            .iter()
            .any(|rule| rule.to.iter().any(|to| to.text == *name));
        if in_file {
            log::warning(format_args!(
                "destination {name} is watched by the config file: change it there"
            ));
        } else {
            log::warning(format_args!(
                "destination {name} was not watched (see hostint source dests)"
            ));
        }
        all = false;
    }
    list.replace(&rules)
        .map_err(advise)
        .context("cannot change the watchlist")?;
    unname_leases(pins, list).context("cannot end leases")?;
    Ok(all)
}

/// Deletes a destination by the name it was added under, else by the prefixes that the name stands for now. Returns
/// false if it was not watched.
fn del_dest(rules: &mut Vec<WatchRule>, name: &str) -> Result<bool> {
    let before = rules.len();
    rules.retain(|rule| rule.from_file || !rule.to.iter().any(|to| to.text == name));
    if rules.len() < before {
        return Ok(true);
    }
    let prefixes = prefixes_of(name)?;
    let mut removed = false;
    for rule in rules.iter_mut().filter(|rule| !rule.from_file) {
        for place in &mut rule.to {
            let all = place.prefixes.len();
            place.prefixes.retain(|prefix| !prefixes.contains(prefix));
            removed |= place.prefixes.len() < all;
        }
        if removed {
            rule.to.retain(|place| !place.prefixes.is_empty());
        }
    }
    rules.retain(|rule| rule.from_file || !rule.to.is_empty());
    Ok(removed)
}
