//! The interfaces that words of flags and files stand for: names, patterns of names, and those of the default routes. So one file
//! fits hosts whose interfaces have other names.

use anyhow::{Context, Result, ensure};

use crate::datapath::source::stage;
use crate::model::name_pattern::{DEFAULT_ROUTE, covers, is_pattern};
use crate::os::{default_routes, netdev};

/// The names that these words stand for now, each once.
///
/// # Errors
/// If a pattern covers no interface with an Ethernet header, or there is no default route.
pub fn named_by(words: &[String]) -> Result<Vec<String>> {
    let mut found: Vec<String> = Vec::new();
    for word in words {
        for dev in named_by_word(word)? {
            if !found.contains(&dev) {
                found.push(dev);
            }
        }
    }
    Ok(found)
}

fn named_by_word(word: &str) -> Result<Vec<String>> {
    if word == DEFAULT_ROUTE {
        let devs = default_routes::interfaces().context("cannot look for default routes")?;
        ensure!(
            !devs.is_empty(),
            "dev {DEFAULT_ROUTE}: this host has no default route (see ip route)"
        );
        return Ok(devs);
    }
    if !is_pattern(word) {
        return Ok(vec![word.to_owned()]);
    }
    let names = netdev::names().context("cannot list interfaces")?;
    let fits = |name: &String| {
        covers(word, name)
            && name != "lo"
            && !stage::is_name(name)
            && netdev::is_ethernet(name).unwrap_or(false)
    };
    let devs: Vec<String> = names.into_values().filter(fits).collect();
    ensure!(
        !devs.is_empty(),
        "dev {word}: no interface has such a name now (see ip link)"
    );
    Ok(devs)
}
