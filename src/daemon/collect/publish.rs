//! Publishes what the decoder knows on the board, and logs it at the end.

use std::time::{Duration, Instant};

use anyhow::Result;

use super::collector::Collector;
use crate::daemon::duty::Duty;
use crate::os::clock;

/// The number of exporters whose health is shown.
const MOST_EXPORTERS: usize = 1_000;

impl Collector {
    /// Shows what the decoder knows.
    pub fn publish(&mut self) {
        let now_ns = clock::realtime_ns();
        self.hub.exporters_mut().forget_old_identities(now_ns);
        let exporters = self.hub.exporters();
        let sums = exporters.counts();
        let (hosts, mut health) = (
            exporters.hosts(now_ns),
            exporters.health(MOST_EXPORTERS, now_ns),
        );
        for one in &mut health {
            let given = one.node.and_then(|node| self.plan.config.names.get(&node));
            if let Some(name) = given {
                one.name = Some(name.clone());
                one.name_contested = false;
            }
        }
        let takers = self.hub.taker();
        let lines = takers.lines.output().counts();
        let mut status = self.board.lock();
        status.undecodable = sums.not_decoded;
        status.decoded = sums.decoded;
        status.reports = sums.reports;
        status.reports_refused = sums.refused;
        status.reports_lost = sums.numbers.lost;
        status.reports_duplicate = sums.numbers.duplicates;
        let summaries = self.hub.increments().counts();
        status.summaries_incomplete = summaries.incomplete;
        status.summaries_untracked = summaries.no_room;
        status.lines = lines.lines;
        status.lines_lost = lines.lost;
        if let Some(keeper) = &takers.history {
            status.stored = keeper.counts().stored();
            status.rolled_up_only = keeper.counts().rolled_up_only();
            status.store_drops = keeper.counts().drops();
        }
        status.engines = self
            .engines
            .statuses()
            .chain(self.pushed.statuses())
            .collect();
        status.hosts_known = hosts.known;
        status.hosts_reporting = hosts.reporting;
        status.last_report_ns = hosts.last_report_ns;
        status.exporters_total = sums.exporters;
        status.exporters_forgotten = sums.forgotten;
        status.exporters_untracked = sums.untracked;
        status.exporters = health;
    }
}

/// The duty to publish once a second, and what is known at the end.
pub struct PublishBoard;

impl Duty<Collector> for PublishBoard {
    fn task(&self) -> &'static str {
        "show the state"
    }

    fn period(&self) -> Duration {
        Duration::from_secs(1)
    }

    fn turn(&mut self, collector: &mut Collector, _now: Instant) -> Result<()> {
        collector.publish();
        Ok(())
    }

    fn finish(&mut self, collector: &mut Collector) -> Result<()> {
        collector.publish();
        collector.summarize();
        Ok(())
    }
}
