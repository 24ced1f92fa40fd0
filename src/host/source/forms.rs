//! The form of packets to destinations that give no leases: only the user knows what such a sink reads.

use anyhow::Result;

use crate::config::{FORM_UNKNOWN, SourceConfig};
use crate::datapath::kernel::pins::Pins;
use crate::datapath::source::source_links;
use crate::datapath::watch::Watchlist;
use crate::host::advice::{Usage, advise};
use crate::model::WatchRule;

/// Checks that all attached sources may tag packets to destinations without leases.
///
/// # Errors
/// If one of them leaves the form of its packets to leases.
pub fn require_form(pins: &Pins) -> Result<()> {
    let attached = source_links::attachments(pins).map_err(advise)?;
    match attached.iter().find(|one| is_left_to_leases(&one.config())) {
        Some(one) => Err(refusal(&format!(
            "cannot tag packets on {} without leases",
            one.dev
        ))),
        None => Ok(()),
    }
}

/// Checks the same of a source that is about to be attached, if the watchlist has such destinations.
pub fn require_form_of(pins: &Pins, config: &SourceConfig) -> Result<()> {
    let list = Watchlist::open(pins).map_err(advise)?;
    let rules = list.map(|list| list.rules()).transpose().map_err(advise)?;
    check_rules(config, &rules.unwrap_or_default())
}

/// Checks a source by rules that it is about to follow.
pub fn check_rules(config: &SourceConfig, rules: &[WatchRule]) -> Result<()> {
    match rules.iter().any(|rule| rule.fixed) && is_left_to_leases(config) {
        true => Err(refusal("static: destinations are watched without leases")),
        false => Ok(()),
    }
}

fn is_left_to_leases(config: &SourceConfig) -> bool {
    config.encapsulation.is_left_to_leases()
}

fn refusal(what: &str) -> anyhow::Error {
    Usage(format!("{what}: {FORM_UNKNOWN}")).into()
}
