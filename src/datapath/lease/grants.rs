//! The hosts whose packets the sink strips: those in prefixes that the user allowed, and those that hold a lease.

use std::io;
use std::net::IpAddr;

use crate::datapath::abi::{address_key, prefix_key, sink_grant};
use crate::datapath::host::serial::Serial;
use crate::datapath::kernel::handover;
use crate::datapath::kernel::map_names::{SINK_ALLOW, SINK_GRANTS};
use crate::datapath::kernel::maps::Map;
use crate::datapath::kernel::pins::Pins;
use crate::datapath::sink::events::address_words;
use crate::model::Prefix;
use crate::os::{clock, log};

/// A grant outlives the last lease question by this time, as in the kernel half's `GRANT_NS`.
const GRANT_NS: u64 = 60_000_000_000;
/// A source's lease ends within this time after the last answer.
pub const LEASE_ENDS_NS: u64 = 1_000_000_000;

/// The bits of a key's family word, which its prefix length includes.
const FAMILY_BITS: u32 = 32;

/// Returns the key of a prefix in the kernel's table.
pub fn key_of(prefix: Prefix) -> prefix_key {
    let (family, octets) = match prefix.addr() {
        IpAddr::V4(v4) => (4_u32, v4.octets().to_vec()),
        IpAddr::V6(v6) => (6, v6.octets().to_vec()),
    };
    let mut addr = [0; 4];
    for (to, word) in addr.iter_mut().zip(octets.chunks_exact(4)) {
        *to = u32::from_ne_bytes([word[0], word[1], word[2], word[3]]);
    }
    prefix_key {
        prefix_len: FAMILY_BITS + u32::from(prefix.len()),
        family: family.to_be(),
        addr,
    }
}

fn prefix_of(key: &prefix_key) -> Option<Prefix> {
    let addr: IpAddr = match u32::from_be(key.family) {
        4 => key.addr[0].to_ne_bytes().into(),
        6 => {
            let mut bytes = [0; 16];
            for (to, word) in bytes.chunks_exact_mut(4).zip(key.addr) {
                to.copy_from_slice(&word.to_ne_bytes());
            }
            bytes.into()
        }
        _ => return None,
    };
    let len = u8::try_from(key.prefix_len.checked_sub(FAMILY_BITS)?).ok()?;
    Prefix::new(addr, len).ok()
}

/// Allows these prefixes and no others.
pub fn allow(map: &Map<prefix_key, u32>, prefixes: &[Prefix]) -> io::Result<()> {
    for prefix in prefixes {
        log::debug(|| format!("allowing {prefix} without a lease"));
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

/// The same at a running sink: the next packet of each flow follows it.
pub fn change(map: &Map<prefix_key, u32>, serial: &Serial, prefixes: &[Prefix]) -> io::Result<()> {
    allow(map, prefixes)?;
    serial.advance()
}

/// Returns the allowed prefixes.
pub fn allowed(pins: &Pins) -> io::Result<Vec<Prefix>> {
    let Some(map) = Map::<prefix_key, u32>::open(&pins.map(SINK_ALLOW))? else {
        return Ok(Vec::new());
    };
    let mut found: Vec<Prefix> = map.keys().filter_map(|key| prefix_of(&key)).collect();
    found.sort();
    Ok(found)
}

/// True if a host may still tag packets by a lease that this host's sink granted.
pub fn in_use(pins: &Pins) -> io::Result<bool> {
    let mut in_use = false;
    let now_ns = clock::monotonic_ns();
    let mut look = |grant: sink_grant| {
        in_use |= grant.until_ns + LEASE_ENDS_NS > now_ns + GRANT_NS;
    };
    match Map::<address_key, sink_grant>::open(&pins.map(SINK_GRANTS))? {
        Some(map) => map.for_each(|_, grant| look(grant))?,
        None => handover::entries::<address_key, sink_grant>(pins, SINK_GRANTS)?
            .into_iter()
            .for_each(|(_, grant)| look(grant)),
    }
    Ok(in_use)
}

/// The sink's grants, asked for the rounds of probes that they note.
pub struct RoundGrants(Map<address_key, sink_grant>);

impl RoundGrants {
    /// Opens the grants of this host's sink. Returns `None` if there is no sink.
    pub fn open(pins: &Pins) -> io::Result<Option<Self>> {
        Ok(Map::open(&pins.map(SINK_GRANTS))?.map(Self))
    }

    /// Returns the number of probes of this round that arrived from an address; 0 if its grant notes another round.
    pub fn arrived(&self, prober: IpAddr, round: u64) -> io::Result<u32> {
        let key = address_key {
            addr: address_words(prober),
        };
        let grant = self.0.get(&key)?.filter(|grant| grant.round == round);
        Ok(grant.map_or(0, |grant| {
            let words = grant.arrived.iter().flatten();
            words.map(|word| word.count_ones()).sum()
        }))
    }
}

/// Removes grants that have ended.
pub fn expire(map: &Map<address_key, sink_grant>, serial: &Serial) -> io::Result<()> {
    let now_ns = clock::monotonic_ns();
    let mut ended = Vec::new();
    map.for_each(|key, grant| {
        if grant.until_ns <= now_ns {
            ended.push(key);
        }
    })?;
    let any = !ended.is_empty();
    for key in ended {
        // It may have been renewed meanwhile.
        if map.get(&key)?.is_some_and(|grant| grant.until_ns <= now_ns) {
            map.remove(&key)?;
        }
    }
    if any { serial.advance() } else { Ok(()) }
}
