//! Follows the names on the watchlist: their addresses are those that the names have now.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::time::Instant;

use anyhow::{Context, Result};

use super::lookups::Lookups;
use crate::datapath::kernel::pins::Pins;
use crate::datapath::watch::Watchlist;
use crate::host::source::rules::rename_addresses;
use crate::model::{Prefix, RuleHost, WatchRule};

/// The names of the watchlist.
pub struct Names {
    lookups: Lookups,
    serial: Option<u32>,
}

/// The names in the rules, each with its addresses as far as they are known.
pub fn names_of(rules: &[WatchRule]) -> BTreeMap<String, Vec<IpAddr>> {
    let places = rules
        .iter()
        .flat_map(|rule| rule.from.iter().chain(&rule.to));
    places
        .filter(|place| place.text.parse::<Prefix>().is_err())
        .map(|place| {
            let prefixes = place.prefixes.iter();
            let addresses = prefixes.filter_map(|prefix| prefix.single()).collect();
            (place.text.clone(), addresses)
        })
        .collect()
}

impl Names {
    pub fn start() -> Self {
        Self {
            lookups: Lookups::start(),
            serial: None,
        }
    }

    /// To be called a few times a second, by the holder of the right to change the list.
    pub fn follow(&mut self, pins: &Pins) -> Result<()> {
        let Some(watchlist) = Watchlist::open(pins)? else {
            return Ok(());
        };
        let serial = watchlist.serial()?;
        let now = Instant::now();
        if self.serial != Some(serial) {
            self.lookups.set(names_of(&watchlist.rules()?), now);
            self.serial = Some(serial);
        }
        let changed = self.lookups.step(now);
        if changed.is_empty() {
            return Ok(());
        }
        let changed = changed.into_iter().map(|(text, addresses)| RuleHost {
            text,
            prefixes: addresses.into_iter().map(Prefix::host).collect(),
        });
        rename_addresses(pins, &watchlist, &Vec::from_iter(changed))
            .context("cannot follow changed names")
    }
}
