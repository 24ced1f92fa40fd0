//! The budget of summaries in `hostint status`.

use std::fmt;

use super::digits::{Grouped, Nanoseconds};
use crate::model::SinkStatus;

/// Writes how often the daemon reports summaries, and how many at most: if there are too many of them, or all is asked for.
/// Nothing if no daemon says so.
pub fn write(f: &mut fmt::Formatter<'_>, sink: &SinkStatus, all: bool) -> fmt::Result {
    let Some(budget) = &sink.summaries else {
        return Ok(());
    };
    if budget.period_ns == 0 {
        return writeln!(f, "  no summaries");
    }
    let left_out = (sink.daemon.iter()).find(|counter| counter.name == "summaries_left_out");
    let left_out = left_out.map_or(0, |counter| counter.value);
    if !all && left_out == 0 && budget.last_period_ns <= budget.period_ns {
        return Ok(());
    }
    let ns = |ns: u64| Nanoseconds(ns.cast_signed());
    write!(
        f,
        "  summaries each {}, at most {} a second",
        ns(budget.period_ns),
        Grouped(budget.most_per_s.into())
    )?;
    if budget.last_period_ns > budget.period_ns {
        write!(
            f,
            "; the last after {}, because source nodes and classes are more than that",
            ns(budget.last_period_ns)
        )?;
    }
    if left_out > 0 {
        let left_out = Grouped(left_out);
        write!(f, "; {left_out} of flows were left out (--max-summaries)")?;
    }
    writeln!(f)
}
