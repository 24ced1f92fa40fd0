//! Takes what the API server says of pods, and hands it to the history.

use std::time::{Duration, Instant};

use anyhow::Result;

use super::cluster_pods::{ClusterPods, lock};
use super::collector::Collector;
use super::wall;
use crate::daemon::duty::Duty;

/// Pods that went are remembered for this time, for reports that come late.
const REMEMBERED_NS: u64 = 3_600_000_000_000;
/// The time between two looks for what is to be forgotten.
const FORGETS: Duration = Duration::from_secs(60);
/// The history is told that often that nothing has changed.
const CURRENT: Duration = Duration::from_secs(10);

/// The duty to do so.
#[derive(Default)]
pub struct FollowPods {
    forgot: Option<Instant>,
    stored: Option<Instant>,
}

impl FollowPods {
    fn store(&mut self, collector: &Collector, pods: &ClusterPods, now: Instant) {
        let book = pods.book();
        let mut book = lock(&book);
        let changed = book.take_changed();
        let Some(history) = &collector.hub.taker.history else {
            return;
        };
        let is_due = self.stored.is_none_or(|stored| now >= stored + CURRENT);
        if !changed.is_empty() || is_due {
            history.see_pods(changed, book.current_ns());
            self.stored = Some(now);
        }
    }
}

impl Duty<Collector> for FollowPods {
    fn task(&self) -> &'static str {
        "take the names of pods"
    }

    fn turn(&mut self, collector: &mut Collector, now: Instant) -> Result<()> {
        let Some(mut pods) = collector.pods.take() else {
            return Ok(());
        };
        if pods.take_told() {
            self.store(collector, &pods, now);
            collector.board.lock().pods = Some(pods.status());
        }
        if self.forgot.is_none_or(|forgot| now >= forgot + FORGETS) {
            let before_ns = wall::now_ns().saturating_sub(REMEMBERED_NS);
            lock(&pods.book()).forget(before_ns);
            self.forgot = Some(now);
        }
        collector.pods = Some(pods);
        Ok(())
    }

    fn finish(&mut self, collector: &mut Collector) -> Result<()> {
        self.turn(collector, Instant::now())
    }
}
