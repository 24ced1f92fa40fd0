//! The interfaces that words of flags and files stand for: names, patterns of names, and those of the default routes. So one file
//! fits hosts whose interfaces have other names.

use anyhow::{Context, Result, ensure};

use crate::datapath::source::stage;
use crate::model::name_pattern::{DEFAULT_ROUTE, covers, is_pattern};
use crate::os::{default_routes, netdev};

/// The names that these words stand for now, each once. A pattern may cover none yet, if another word covers one.
///
/// # Errors
/// If patterns cover no interface with an Ethernet header, or there is no default route.
pub fn named_by(words: &[String]) -> Result<Vec<String>> {
    let mut found: Vec<String> = Vec::new();
    for word in words {
        let devs = standing_for(word)?;
        ensure!(
            word != DEFAULT_ROUTE || !devs.is_empty(),
            "dev {DEFAULT_ROUTE}: this host has no default route (see ip route)"
        );
        for dev in devs {
            if !found.contains(&dev) {
                found.push(dev);
            }
        }
    }
    ensure!(
        !found.is_empty() || words.is_empty(),
        "dev {}: no interface has such a name now (see ip link)",
        words.join(", ")
    );
    Ok(found)
}

/// Says whether other interfaces may stand for the word later.
pub fn is_open(word: &str) -> bool {
    word == DEFAULT_ROUTE || is_pattern(word)
}

/// The interfaces with an Ethernet header that fit those of these words that are open, none perhaps.
///
/// # Errors
/// If interfaces or routes cannot be listed.
pub fn fitting(words: &[String]) -> Result<Vec<String>> {
    let mut devs = Vec::new();
    for word in words.iter().filter(|word| is_open(word)) {
        devs.extend(standing_for(word)?);
    }
    devs.retain(|dev| netdev::is_ethernet(dev).unwrap_or(false));
    Ok(devs)
}

fn standing_for(word: &str) -> Result<Vec<String>> {
    if word == DEFAULT_ROUTE {
        return default_routes::interfaces().context("cannot look for default routes");
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
    Ok(names.into_values().filter(fits).collect())
}
