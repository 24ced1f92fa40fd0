//! The duty to end a slot each ten seconds.

use std::time::{Duration, Instant};

use anyhow::Result;

use super::collector::Collector;
use super::publish::hosts_of;
use super::wall;
use crate::daemon::duty::Duty;
use crate::verdict::in_force;

/// The duty to end a slot each ten seconds: it is judged, and what is known of hosts and coverage goes to the history.
pub struct EndSlots;

impl EndSlots {
    fn end(collector: &mut Collector, now_ns: u64) {
        let exporters = collector.exporters(usize::MAX);
        let names = collector.names_of(&exporters);
        let (mut slot, grown) = (collector.hub.ledgers).take_slot(now_ns, &exporters);
        slot.limits = in_force(&collector.plan.limits, &slot.hosts, &names);
        collector.judge.judge(slot, names);
        if let Some(history) = &collector.hub.taker.history {
            history.see_hosts(hosts_of(exporters));
            history.add_coverage(grown);
        }
    }
}

impl Duty<Collector> for EndSlots {
    fn task(&self) -> &'static str {
        "judge what came in, and keep what is known of hosts and coverage"
    }

    fn period(&self, _collector: &Collector) -> Duration {
        Duration::from_secs(1)
    }

    fn turn(&mut self, collector: &mut Collector, _now: Instant) -> Result<()> {
        let now_ns = wall::now_ns();
        if collector.hub.ledgers.slot.is_due(now_ns) {
            Self::end(collector, now_ns);
        }
        Ok(())
    }

    fn finish(&mut self, collector: &mut Collector) -> Result<()> {
        Self::end(collector, wall::now_ns());
        Ok(())
    }
}
