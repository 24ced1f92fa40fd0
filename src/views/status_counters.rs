//! Counters in `hostint status`: those of the main work and of what a person can act on, or all.

use std::fmt;

use super::diagnosis;
use super::digits::Grouped;
use crate::model::{CounterStatus, SinkStatus};

/// Counters of the main work, and of packets that the watchlist leaves out.
const MAIN: [&str; 9] = [
    "tagged",
    "pushed",
    "received",
    "stripped",
    "unwatched",
    "excluded",
    "not_sampled",
    "budget",
    "reports_sent",
];

/// True for a counter of the main work, or of something that a person can act on.
fn matters(name: &str) -> bool {
    MAIN.contains(&name) || diagnosis::explains(name)
}

/// Daemon counters that show problems or the main work.
const SHOWN: [&str; 11] = [
    "events_read",
    "events_malformed",
    "reports_sent",
    "reports_lost",
    "log_written",
    "log_lost",
    "flows_expired",
    "source_flows_expired",
    "leases_refused",
    "repaired",
    "control_refused",
];

pub fn counters(f: &mut fmt::Formatter<'_>, list: &[CounterStatus], all: bool) -> fmt::Result {
    let is_shown = |counter: &&CounterStatus| all || counter.packets != 0 && matters(counter.name);
    for counter in list.iter().filter(is_shown) {
        writeln!(
            f,
            "  {:>14}  {:<18} {}",
            Grouped(counter.packets),
            counter.name,
            counter.text
        )?;
    }
    Ok(())
}

pub fn daemon_counters(f: &mut fmt::Formatter<'_>, sink: &SinkStatus, all: bool) -> fmt::Result {
    for counter in sink
        .daemon
        .iter()
        .filter(|counter| SHOWN.contains(&counter.name))
        .filter(|counter| all || counter.value != 0 && matters(counter.name))
    {
        writeln!(
            f,
            "  {:>14}  {:<18} {}",
            Grouped(counter.value),
            counter.name,
            counter.text
        )?;
    }
    Ok(())
}
