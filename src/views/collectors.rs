//! A sink's collectors as text.

use std::fmt;
use std::time::{Duration, SystemTime};

use super::digits::Grouped;
use crate::model::{CollectorState, CollectorStatus, SinkStatus};

/// One line for each collector, with its share of the reports that were sent.
pub(super) fn write(f: &mut fmt::Formatter<'_>, sink: &SinkStatus) -> fmt::Result {
    if sink.collectors.is_empty() {
        return Ok(());
    }
    let how = match sink.spread {
        true => "each report to one of them",
        false => "each report to all of them",
    };
    writeln!(f, "  collectors: {}, {how}", sink.collectors.len())?;
    let all: u64 = sink.collectors.iter().map(|one| one.sent).sum();
    let names = sink.collectors.iter().map(|one| one.address.to_string());
    let width = names.map(|name| name.len()).max().unwrap_or_default();
    for one in &sink.collectors {
        write!(f, "    {:<width$}", one.address.to_string())?;
        if sink.spread {
            // Tenths of a percent, rounded half up.
            let share = (u128::from(one.sent) * 1000 + u128::from(all / 2))
                .checked_div(u128::from(all))
                .unwrap_or(0);
            write!(f, "  {}  {}.{} %", StateText(one), share / 10, share % 10)?;
        }
        write!(f, "  {} reports", Grouped(one.sent))?;
        for (count, what) in [(one.lost, "lost"), (one.doubtful, "perhaps lost")] {
            if count > 0 {
                write!(f, ", {} {what}", Grouped(count))?;
            }
        }
        writeln!(f)?;
    }
    Ok(())
}

struct StateText<'a>(&'a CollectorStatus);

impl fmt::Display for StateText<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let one = self.0;
        if one.state == CollectorState::Silent.name() {
            let since = SystemTime::UNIX_EPOCH + Duration::from_nanos(one.since_ns);
            let since = humantime::format_rfc3339_seconds(since);
            return write!(f, "SILENT since {since}");
        }
        f.write_str(one.state)?;
        match one.queue_percent {
            Some(percent) if percent > 0 => write!(f, " (queue {percent} % full)"),
            _ => Ok(()),
        }
    }
}
