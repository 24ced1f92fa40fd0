//! Whose packets the sink strips: prefixes that the user allowed, and hosts that hold leases.

use std::io;

use super::abi::{address_key, prefix_key, sink_grant};
use super::before;
use super::maps::Map;
use super::pins::Pins;
use super::watch::{key_of, prefix_of};
use crate::model::Prefix;
use crate::os::clock;

/// The names of the pinned maps.
pub const ALLOW_MAP: &str = "sink_allow";
pub const GRANTS_MAP: &str = "sink_grants";

/// As src/bpf/grants.h has it: a grant outlives the last question by this.
const GRANT_NS: u64 = 60_000_000_000;
/// A source's lease ends within this after the last answer.
pub const LEASE_ENDS_NS: u64 = 1_000_000_000;

/// Makes these the allowed prefixes, and no others.
pub fn allow(map: &Map<prefix_key, u32>, prefixes: &[Prefix]) -> io::Result<()> {
    for prefix in prefixes {
        map.set(&key_of(*prefix), &1)?;
    }
    let keys: Vec<prefix_key> = map.keys().collect();
    for key in keys {
        if !prefix_of(&key).is_some_and(|prefix| prefixes.contains(&prefix)) {
            map.remove(&key)?;
        }
    }
    Ok(())
}

/// The allowed prefixes.
pub fn allowed(pins: &Pins) -> io::Result<Vec<Prefix>> {
    let Some(map) = Map::<prefix_key, u32>::open(&pins.map(ALLOW_MAP))? else {
        return Ok(Vec::new());
    };
    let mut found: Vec<Prefix> = map.keys().filter_map(|key| prefix_of(&key)).collect();
    found.sort();
    Ok(found)
}

/// How many hosts hold a lease, and whether any may still tag by one.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Held {
    pub granted: usize,
    pub in_use: bool,
}

/// The leases that this host's sink granted.
pub fn held(pins: &Pins) -> io::Result<Held> {
    let mut held = Held::default();
    let now_ns = clock::monotonic_ns();
    let mut look = |grant: sink_grant| {
        if grant.until_ns > now_ns {
            held.granted += 1;
        }
        held.in_use |= grant.until_ns + LEASE_ENDS_NS > now_ns + GRANT_NS;
    };
    match Map::<address_key, sink_grant>::open(&pins.map(GRANTS_MAP))? {
        Some(map) => map.for_each(|_, grant| look(grant))?,
        None => before::entries::<address_key, sink_grant>(pins, GRANTS_MAP)?
            .into_iter()
            .for_each(|(_, grant)| look(grant)),
    }
    Ok(held)
}

/// Forgets grants that ended.
pub fn expire(map: &Map<address_key, sink_grant>) -> io::Result<()> {
    let now_ns = clock::monotonic_ns();
    let mut ended = Vec::new();
    map.for_each(|key, grant| {
        if grant.until_ns <= now_ns {
            ended.push(key);
        }
    })?;
    for key in ended {
        // It may have been renewed meanwhile.
        if map.get(&key)?.is_some_and(|grant| grant.until_ns <= now_ns) {
            map.remove(&key)?;
        }
    }
    Ok(())
}
