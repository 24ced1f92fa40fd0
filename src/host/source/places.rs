//! Names, addresses and prefixes of the watchlist, resolved.

use std::path::Path;

use anyhow::{Context, Result};

use crate::host::advice::{Usage, is_usage};
use crate::model::{Prefix, RuleHost, WatchRule};
use crate::os::{log, resolve};

/// Reads a file of destinations: one a line, # begins a comment.
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

/// Resolves all of these names, before anything is changed.
pub fn find_places(names: &[String]) -> Result<Vec<RuleHost>> {
    names
        .iter()
        .map(|name| {
            Ok(RuleHost {
                text: name.clone(),
                prefixes: prefixes_of(name)?,
            })
        })
        .collect()
}

/// The prefixes that a name stands for now.
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
    let addresses = resolve::addresses(name)
        .with_context(|| format!("cannot find destination {name} (try its address)"))?;
    Ok(addresses.into_iter().map(Prefix::host).collect())
}

/// Resolves the names of rules that are not resolved yet. A name that cannot be found now is looked up again later.
pub fn find_names(mut rules: Vec<WatchRule>) -> Result<Vec<WatchRule>> {
    let places = rules
        .iter_mut()
        .flat_map(|rule| rule.from.iter_mut().chain(&mut rule.to));
    for place in places.filter(|place| place.prefixes.is_empty()) {
        match prefixes_of(&place.text) {
            Ok(prefixes) => place.prefixes = prefixes,
            Err(err) if is_usage(&err) => return Err(err),
            Err(err) => log::warning(format_args!("{err:#}: looked for again in a minute")),
        }
    }
    Ok(rules)
}
