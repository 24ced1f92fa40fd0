//! The rules of the watchlist that come from the config file, and what changes under them.

use anyhow::{Context, Result};

use super::forms::require_form;
use super::leases::{leased_prefixes, name_leases, unname_leases};
use crate::datapath::kernel::pins::Pins;
use crate::datapath::source::source_links;
use crate::datapath::watch::Watchlist;
use crate::host::advice::advise;
use crate::model::{RuleHost, WatchRule};

/// Makes these the rules that come from the config file, all at once; without a source on this host nothing happens.
/// The destinations that `hostint source add-dest` added stay. The caller keeps others from changing the list, and
/// has resolved names, which may take a while.
pub fn set_file_rules(pins: &Pins, rules: &[WatchRule]) -> Result<()> {
    if !source_links::is_loaded(pins) {
        return Ok(());
    }
    replace_file_rules(pins, rules.to_vec()).context("cannot set the watchlist")
}

fn replace_file_rules(pins: &Pins, rules: Vec<WatchRule>) -> Result<()> {
    let Some(list) = Watchlist::open(pins)? else {
        return Ok(());
    };
    let mut all = rules;
    let old = list.rules().context("cannot read the watchlist")?;
    all.extend(old.iter().filter(|rule| !rule.from_file).cloned());
    if all == old {
        return Ok(());
    }
    if all.iter().any(|rule| rule.fixed) {
        require_form(pins)?;
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

/// Gives rules that name interfaces the numbers that these have now.
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

/// Gives rules of the watchlist that use these names the addresses that they stand for now.
pub fn rename_addresses(pins: &Pins, list: &Watchlist, names: &[RuleHost]) -> Result<()> {
    let mut rules = list.rules()?;
    rename(&mut rules, names);
    apply(pins, list, &rules)
}

/// Gives rules that use these names the addresses that they stand for now.
pub fn rename(rules: &mut [WatchRule], names: &[RuleHost]) {
    for rule in rules {
        for place in rule.from.iter_mut().chain(&mut rule.to) {
            if let Some(now) = names.iter().find(|now| now.text == place.text) {
                place.prefixes.clone_from(&now.prefixes);
            }
        }
    }
}
