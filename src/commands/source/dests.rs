//! The list of destinations, and the leases that it asks for.

use std::collections::{BTreeSet, HashSet};
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};

use crate::cli::exit;
use crate::commands::{Usage, advise, find_pins, print};
use crate::datapath::leases::Leases;
use crate::datapath::pins::Pins;
use crate::datapath::watch::Watchlist;
use crate::model::{AddressPair, Dest, LeaseState, Place, Prefix, WatchAction, WatchRule};
use crate::os::{icmp, log, resolve};
use crate::views;

/// How long adding a destination waits for its sink's answer.
const LEASE_WAIT: Duration = Duration::from_secs(2);

pub fn open_list(bpffs: Option<&Path>) -> Result<(Pins, Watchlist)> {
    let found = match find_pins(bpffs)? {
        Some(pins) => Watchlist::open(&pins)
            .map_err(advise)
            .context("cannot open the watchlist")?
            .map(|list| (pins, list)),
        None => None,
    };
    found.context("no source on this host (start with hostint source attach --dev DEV)")
}

pub fn read_dest_file(path: &Path) -> Result<Vec<String>> {
    let text = std::fs::read_to_string(path)
        .with_context(|| format!("cannot read destinations from {}", path.display()))?;
    Ok(text
        .lines()
        .filter_map(|line| line.split('#').next())
        .flat_map(str::split_whitespace)
        .map(str::to_owned)
        .collect())
}

/// What names mean now. All of them are found before anything is changed.
pub fn find_places(names: &[String]) -> Result<Vec<Place>> {
    let found = names.iter().map(|name| {
        Ok(Place {
            text: name.clone(),
            prefixes: prefixes_of(name)?,
        })
    });
    found.collect()
}

pub fn prefixes_of(name: &str) -> Result<Vec<Prefix>> {
    let looks_numeric =
        name.contains(['/', ':']) || name.bytes().all(|b| b.is_ascii_digit() || b == b'.');
    match name.parse::<Prefix>() {
        Ok(prefix) => return Ok(vec![prefix]),
        Err(err) if looks_numeric => {
            return Err(Usage(format!(
                "cannot use destination {name}: {err} (try 10.0.0.1, 10.0.0.0/24 or 2001:db8::/64)"
            ))
            .into());
        }
        Err(_) => {}
    }
    let addresses =
        resolve::addresses(name).with_context(|| format!("cannot find destination {name}"))?;
    Ok(addresses.into_iter().map(Prefix::host).collect())
}

/// Single hosts are asked for a lease before the first packet.
pub fn name_leases(pins: &Pins, found: &[Prefix]) -> Result<Vec<AddressPair>> {
    let mut named = Vec::new();
    let Some(leases) = Leases::open(pins)? else {
        return Ok(named);
    };
    for prefix in found {
        if let Some(source) = prefix
            .single()
            .and_then(|dest| Some((icmp::source_address(dest)?, dest)))
        {
            let pair = AddressPair {
                source: source.0,
                dest: source.1,
            };
            leases.name(&pair)?;
            named.push(pair);
        }
    }
    Ok(named)
}

/// Says which sinks strip, as soon as they all answered, or after a while.
pub fn await_leases(pins: &Pins, found: &[Prefix]) -> Result<()> {
    let mut waiting = name_leases(pins, found).context("cannot ask for leases")?;
    if waiting.is_empty() {
        return Ok(());
    }
    let Some(leases) = Leases::open(pins)? else {
        return Ok(());
    };
    let end = Instant::now() + LEASE_WAIT;
    loop {
        let mut left = Vec::new();
        for pair in waiting {
            let lease = leases
                .get(&pair)?
                .map(|entry| entry.lease)
                .unwrap_or_default();
            match lease.state {
                LeaseState::Granted => {
                    log::info(format_args!(
                        "{}: {}",
                        pair.dest,
                        views::peers::sentence(&lease)
                    ));
                }
                LeaseState::Asking | LeaseState::Silent => left.push(pair),
                _ if Instant::now() < end => left.push(pair),
                _ => log::warning(format_args!(
                    "{}: {}",
                    pair.dest,
                    views::peers::sentence(&lease)
                )),
            }
        }
        waiting = left;
        if waiting.is_empty() {
            return Ok(());
        }
        if Instant::now() >= end {
            break;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    for pair in waiting {
        log::warning(format_args!(
            "{}: no sink answers yet: packets go untagged until one does (see hostint status; \
             --static tags all the same)",
            pair.dest
        ));
    }
    Ok(())
}

/// Leases that only a name kept, and the name is gone, end when no packet wants them any more.
pub fn unname_leases(pins: &Pins, list: &Watchlist) -> Result<()> {
    let Some(leases) = Leases::open(pins)? else {
        return Ok(());
    };
    let watched = leased_prefixes(&list.rules()?);
    let mut orphans = Vec::new();
    leases.for_each(|pair, entry| {
        if entry.named && !watched.contains(&Prefix::host(pair.dest)) {
            orphans.push(pair);
        }
    })?;
    for pair in orphans {
        leases.remove(&pair)?;
    }
    Ok(())
}

/// Where packets go that are tagged while a sink is alive there.
pub fn leased_prefixes(rules: &[WatchRule]) -> BTreeSet<Prefix> {
    let leased = rules
        .iter()
        .filter(|rule| rule.action == WatchAction::Watch && !rule.fixed);
    let places = leased.flat_map(|rule| &rule.to);
    places.flat_map(|place| place.prefixes.clone()).collect()
}

/// Adds destinations; those that are watched already are watched as said now.
pub fn add_dests(rules: &mut Vec<WatchRule>, places: &[Place], fixed: bool) {
    let texts: HashSet<&str> = places.iter().map(|place| &*place.text).collect();
    let prefixes: HashSet<&[Prefix]> = places.iter().map(|place| &*place.prefixes).collect();
    rules.retain(|rule| {
        let again =
            |place: &Place| texts.contains(&*place.text) || prefixes.contains(&*place.prefixes);
        rule.from_file || !rule.to.iter().any(again)
    });
    let mut added = HashSet::new();
    let new = places.iter().filter(|place| added.insert(&place.prefixes));
    rules.extend(new.map(|place| WatchRule::of_dest(place.clone(), fixed)));
}

/// The same, live in the kernel.
pub fn watch(list: &Watchlist, places: &[Place], fixed: bool) -> Result<()> {
    let mut rules = list.rules().context("cannot read the watchlist")?;
    add_dests(&mut rules, places, fixed);
    list.replace(&rules)
        .map_err(advise)
        .context("cannot change the watchlist")
}

/// By the name they were added under, or else by what the text means now. False: it was not watched.
pub fn del_dest(rules: &mut Vec<WatchRule>, name: &str) -> Result<bool> {
    let before = rules.len();
    let named = |rule: &WatchRule| !rule.from_file && rule.to.iter().any(|to| to.text == name);
    rules.retain(|rule| !named(rule));
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

/// Takes destinations off the list and says which ones were not on it.
pub fn del_dests(list: &Watchlist, names: &[String]) -> Result<u8> {
    let mut code = exit::OK;
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
        code = exit::FAILURE;
    }
    list.replace(&rules)
        .map_err(advise)
        .context("cannot change the watchlist")?;
    Ok(code)
}

pub fn list_dests(bpffs: Option<&Path>, json: bool) -> Result<u8> {
    let (_, list) = open_list(bpffs)?;
    let rules = list.rules().context("cannot read the watchlist")?;
    let mut dests: Vec<Dest> = rules.iter().flat_map(WatchRule::dests).collect();
    dests.sort();
    print(&views::dests::render(&dests, json))?;
    Ok(exit::OK)
}

/// Hosts are asked from the address that packets to them leave from, which may have changed.
pub fn follow_addresses(pins: &Pins) -> Result<()> {
    let (Some(list), Some(leases)) = (Watchlist::open(pins)?, Leases::open(pins)?) else {
        return Ok(());
    };
    let watched: Vec<Prefix> = leased_prefixes(&list.rules()?).into_iter().collect();
    let named = name_leases(pins, &watched)?;
    let mut stale = Vec::new();
    leases.for_each(|pair, entry| {
        if entry.named && !named.contains(&pair) {
            stale.push(pair);
        }
    })?;
    for pair in stale {
        leases.remove(&pair)?;
    }
    Ok(())
}
