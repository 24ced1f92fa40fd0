//! Whether a collector does its work: reports that were lost a moment ago, and outputs that cannot be written to.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use crate::model::{CollectStatus, EngineStatus, EngineUnit};

/// A loss is shown for this time: one look may come between two of several losses.
const SHOWN: Duration = Duration::from_secs(5);

/// Counts of what was lost, each with the words behind it.
type Losses = Vec<(String, u64)>;

/// The counts of the last looks.
#[derive(Default)]
pub struct Readiness(VecDeque<(Instant, Losses)>);

impl Readiness {
    /// Returns a sentence for each kind of loss since a moment ago.
    pub fn look(&mut self, status: &CollectStatus, now: Instant) -> Vec<String> {
        let losses = losses(status);
        // The oldest look that is kept is as old as losses are shown.
        while self.0.get(1).is_some_and(|(at, _)| *at + SHOWN <= now) {
            self.0.pop_front();
        }
        let before = self.0.front().map_or(&[][..], |(_, losses)| losses);
        let sentences = losses
            .iter()
            .enumerate()
            .filter_map(|(at, (what, count))| {
                let before = before.get(at).map_or(0, |(_, count)| *count);
                let lost = count.saturating_sub(before);
                (lost > 0).then(|| format!("{lost} {what} in the last {} s", SHOWN.as_secs()))
            })
            .collect();
        self.0.push_back((now, losses));
        sentences
    }
}

fn losses(status: &CollectStatus) -> Losses {
    let mut losses: Losses = [
        (
            "datagrams were dropped because the socket's buffer was full",
            status.socket_drops,
        ),
        (
            "datagrams were dropped because the queue to the decoder was full",
            status.queue_drops,
        ),
        ("lines were not written", status.lines_lost),
        ("reports were not stored", status.store_drops),
        ("reports were stored in figures only", status.rolled_up_only),
    ]
    .map(|(what, count)| (what.to_owned(), count))
    .into();
    for engine in &status.engines {
        // Metrics that were not pushed keep no collector from its work.
        if engine.unit == EngineUnit::Reports {
            let what = format!("reports were not delivered to {}", engine.engine);
            losses.push((what, EngineStatus::lost(engine)));
        }
    }
    losses
}
