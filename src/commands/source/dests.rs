//! The list of destinations, and the leases that it asks for.

use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};

use crate::cli::exit;
use crate::commands::{Usage, advise, find_pins, print};
use crate::datapath::dests::Dests;
use crate::datapath::leases::Leases;
use crate::datapath::pins::Pins;
use crate::model::{AddressPair, LeaseState, Prefix};
use crate::os::{icmp, resolve};
use crate::views;

/// How long adding a destination waits for its sink's answer.
const LEASE_WAIT: Duration = Duration::from_secs(2);

pub fn open_dests(bpffs: Option<&Path>) -> Result<(Pins, Dests)> {
    let found = match find_pins(bpffs)? {
        Some(pins) => Dests::open(&pins)
            .map_err(advise)
            .context("cannot open the list of destinations")?
            .map(|dests| (pins, dests)),
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

/// What a name means now. All of them are found before anything is changed.
pub fn find_prefixes(names: &[String]) -> Result<Vec<(Prefix, String)>> {
    let mut found = Vec::new();
    for name in names {
        for prefix in prefixes_of(name)? {
            found.push((prefix, name.clone()));
        }
    }
    Ok(found)
}

fn prefixes_of(name: &str) -> Result<Vec<Prefix>> {
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
pub fn name_leases(pins: &Pins, found: &[(Prefix, String)]) -> Result<Vec<AddressPair>> {
    let mut named = Vec::new();
    let Some(leases) = Leases::open(pins)? else {
        return Ok(named);
    };
    for (prefix, _) in found {
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
pub fn await_leases(pins: &Pins, found: &[(Prefix, String)]) -> Result<()> {
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
                    eprintln!("hostint: {}: {}", pair.dest, views::peers::sentence(&lease));
                }
                LeaseState::Asking | LeaseState::Silent => left.push(pair),
                _ if Instant::now() < end => left.push(pair),
                _ => eprintln!("hostint: {}: {}", pair.dest, views::peers::sentence(&lease)),
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
        eprintln!(
            "hostint: {}: no sink answers yet: packets go untagged until one does (see hostint status; \
             --static tags all the same)",
            pair.dest
        );
    }
    Ok(())
}

/// Leases that only a name kept, and the name is gone, end when no packet wants them any more.
pub fn unname_leases(pins: &Pins, dests: &Dests) -> Result<()> {
    let Some(leases) = Leases::open(pins)? else {
        return Ok(());
    };
    let watched = dests.all()?;
    let mut orphans = Vec::new();
    leases.for_each(|pair, entry| {
        let host = Prefix::host(pair.dest);
        if entry.named && !watched.iter().any(|dest| dest.prefix == host) {
            orphans.push(pair);
        }
    })?;
    for pair in orphans {
        leases.remove(&pair)?;
    }
    Ok(())
}

pub fn add_dests(dests: &Dests, found: &[(Prefix, String)], fixed: bool) -> Result<()> {
    for (prefix, name) in found {
        dests
            .add(*prefix, name, fixed)
            .map_err(advise)
            .with_context(|| format!("cannot add destination {name} ({prefix})"))?;
    }
    Ok(())
}

/// By the name they were added under, or else by what the text means now.
pub fn del_dests(dests: &Dests, names: &[String]) -> Result<u8> {
    let mut code = exit::OK;
    for name in names {
        let mut prefixes: Vec<Prefix> = dests
            .all()?
            .into_iter()
            .filter(|dest| dest.name == *name)
            .map(|dest| dest.prefix)
            .collect();
        if prefixes.is_empty() {
            prefixes = prefixes_of(name)?;
        }
        let mut removed = false;
        for prefix in prefixes {
            removed |= dests
                .remove(prefix)
                .map_err(advise)
                .with_context(|| format!("cannot remove destination {name} ({prefix})"))?;
        }
        if !removed {
            eprintln!("hostint: destination {name} was not watched (see hostint source dests)");
            code = exit::FAILURE;
        }
    }
    Ok(code)
}

pub fn list_dests(bpffs: Option<&Path>, json: bool) -> Result<u8> {
    let (_, dests) = open_dests(bpffs)?;
    let dests = dests
        .all()
        .context("cannot read the list of destinations")?;
    print(&views::dests::render(&dests, json))?;
    Ok(exit::OK)
}

/// Hosts are asked from the address that packets to them leave from, which may have changed.
pub fn follow_addresses(pins: &Pins) -> Result<()> {
    let (Some(dests), Some(leases)) = (Dests::open(pins)?, Leases::open(pins)?) else {
        return Ok(());
    };
    let watched: Vec<(Prefix, String)> = dests
        .all()?
        .into_iter()
        .filter(|dest| !dest.fixed)
        .map(|dest| (dest.prefix, dest.name))
        .collect();
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
