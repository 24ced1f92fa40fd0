//! Tells what flows dropped since they were told last.

use std::collections::HashSet;
use std::time::{Duration, Instant};

use anyhow::Result;

use super::state::PostcardsDaemon;
use crate::daemon::duty::Duty;
use crate::model::DropId;

/// The time after which a flow without drops is forgotten, in periods of reports and at least.
const IDLE_PERIODS: u32 = 4;
const SHORTEST_IDLE: Duration = Duration::from_secs(60);

/// The duty to do so once in each period.
#[derive(Default)]
pub struct TellFlows {
    last: Option<Instant>,
}

impl Duty<PostcardsDaemon> for TellFlows {
    fn task(&self) -> &'static str {
        "read the flows of dropped packets"
    }

    fn turn(&mut self, daemon: &mut PostcardsDaemon, now: Instant) -> Result<()> {
        let period = daemon.plan.config.report_period.0;
        if self.last.is_some_and(|last| now < last + period) {
            return Ok(());
        }
        self.last = Some(now);
        tell_all(daemon)
    }

    fn finish(&mut self, daemon: &mut PostcardsDaemon) -> Result<()> {
        tell_all(daemon)
    }
}

fn tell_all(daemon: &mut PostcardsDaemon) -> Result<()> {
    let period = daemon.plan.config.report_period.0;
    let idle = SHORTEST_IDLE.max(period.saturating_mul(IDLE_PERIODS));
    let idle_ns = u64::try_from(idle.as_nanos()).unwrap_or(u64::MAX);
    let mut present: HashSet<DropId> = HashSet::new();
    let (mut news, mut again) = (Vec::new(), Vec::new());
    daemon.program.sweep(idle_ns, |drop| {
        present.insert(drop.id());
        if daemon.told.news(&drop) > 0 {
            news.push(drop);
        } else if daemon.told.repeat(&drop) {
            again.push(drop);
        }
    })?;
    daemon.told.keep(|id| present.contains(id));
    // If there are too many, those with most packets come first.
    news.sort_by_key(|drop| std::cmp::Reverse(daemon.told.news(drop)));
    daemon.tell(news)?;
    daemon.repeat(again)
}
