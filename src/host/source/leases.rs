//! The leases that the watchlist asks for: single hosts are asked before the first packet goes to them.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};

use crate::datapath::kernel::pins::Pins;
use crate::datapath::lease::leases::Leases;
use crate::datapath::watch::Watchlist;
use crate::model::{AddressPair, LeaseState, Prefix, WatchAction, WatchRule};
use crate::os::{icmp, log};
use crate::views;

/// The time that a sink has to answer, and its path to be proved, while a destination is added.
const LEASE_WAIT: Duration = Duration::from_secs(3);

/// The destinations that are tagged only while a sink answers there.
pub fn leased_prefixes(rules: &[WatchRule]) -> BTreeSet<Prefix> {
    rules
        .iter()
        .filter(|rule| rule.action == WatchAction::Watch && !rule.fixed)
        .flat_map(|rule| &rule.to)
        .flat_map(|place| place.prefixes.clone())
        .collect()
}

/// Asks for a lease of every single host among these prefixes, and returns the pairs of addresses.
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

/// Waits until the sinks of these prefixes have answered, for a while, and says which of them strip.
pub fn await_leases(pins: &Pins, found: &[Prefix]) -> Result<()> {
    let mut waiting = name_leases(pins, found).context("cannot ask for leases")?;
    for dest in found.iter().filter_map(|prefix| prefix.single()) {
        if icmp::source_address(dest).is_none() {
            log::warning(format_args!(
                "{dest}: this host has no route to it, or it is a broadcast address: packets go untagged (try ip route \
                 get {dest})"
            ));
        }
    }
    if waiting.is_empty() {
        return Ok(());
    }
    let Some(leases) = Leases::open(pins)? else {
        return Ok(());
    };
    let end = Instant::now() + LEASE_WAIT;
    loop {
        let is_late = Instant::now() >= end;
        let mut left = Vec::new();
        for pair in waiting {
            if !is_answered(&leases, pair, is_late)? {
                left.push(pair);
            }
        }
        waiting = left;
        if waiting.is_empty() {
            return Ok(());
        }
        if is_late {
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

/// Returns whether the sink of a pair has answered, and says what. A refusal counts once there is no time left:
/// another sink may still grant the lease.
fn is_answered(leases: &Leases, pair: AddressPair, is_late: bool) -> Result<bool> {
    let lease = leases
        .get(&pair)?
        .map(|entry| entry.lease)
        .unwrap_or_default();
    match lease.state {
        LeaseState::Granted if lease.proof.is_open() && !is_late => return Ok(false),
        LeaseState::Granted => log::info(format_args!(
            "{}: {}",
            pair.dest,
            views::peers::sentence(&lease)
        )),
        LeaseState::Asking | LeaseState::Silent => return Ok(false),
        _ if !is_late => return Ok(false),
        _ => log::warning(format_args!(
            "{}: {}",
            pair.dest,
            views::peers::sentence(&lease)
        )),
    }
    Ok(true)
}

/// Ends leases that only a rule kept which is gone; packets that still ask for one renew it.
pub fn unname_leases(pins: &Pins, list: &Watchlist) -> Result<()> {
    let Some(leases) = Leases::open(pins)? else {
        return Ok(());
    };
    let watched = leased_prefixes(&list.rules()?);
    remove_named(&leases, |pair| !watched.contains(&Prefix::host(pair.dest)))
}

/// Asks hosts from the address that packets to them leave from, which may have changed.
pub fn follow_addresses(pins: &Pins) -> Result<()> {
    let (Some(list), Some(leases)) = (Watchlist::open(pins)?, Leases::open(pins)?) else {
        return Ok(());
    };
    let watched: Vec<Prefix> = leased_prefixes(&list.rules()?).into_iter().collect();
    let named = name_leases(pins, &watched)?;
    remove_named(&leases, |pair| !named.contains(pair))
}

/// Removes the leases of named hosts that `is_stale` is true of.
fn remove_named(leases: &Leases, is_stale: impl Fn(&AddressPair) -> bool) -> Result<()> {
    let mut stale = Vec::new();
    leases.for_each(|pair, entry| {
        if entry.named && is_stale(&pair) {
            stale.push(pair);
        }
    })?;
    for pair in stale {
        leases.remove(&pair)?;
    }
    Ok(())
}
