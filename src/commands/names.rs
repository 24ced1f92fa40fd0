//! Names on the watchlist mean what they mean now.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::time::Instant;

use anyhow::{Context, Result};

use super::lookups::Lookups;
use super::source::rename_addresses;
use crate::datapath::pins::Pins;
use crate::datapath::watch::Watchlist;
use crate::model::{Place, Prefix, WatchRule};

/// The names of the watchlist.
pub struct Names {
    lookups: Lookups,
    serial: Option<u32>,
}

/// What the rules name, and what that means as far as is known.
fn names_of(rules: &[WatchRule]) -> BTreeMap<String, Vec<IpAddr>> {
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

    /// To be called a few times a second, while nobody else changes the list.
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
        let changed = changed.into_iter().map(|(text, addresses)| Place {
            text,
            prefixes: addresses.into_iter().map(Prefix::host).collect(),
        });
        rename_addresses(pins, &watchlist, &Vec::from_iter(changed))
            .context("cannot follow changed names")
    }
}
