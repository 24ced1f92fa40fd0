//! The episodes of hosts' queues: what each report adds to those that earlier ones told of, and their sums by queue.

use std::collections::BTreeMap;

use super::last_counts::{EpochCounts, LastCounts};
use super::run_start::begins_in_run;
use crate::model::{
    Arrival, Body, EpisodeCounts, EpisodeId, HostQueueRow, NodeId, QueueReport, Report,
};

/// The most queues whose sums are kept.
const MOST_QUEUES: usize = 4096;

impl EpochCounts for EpisodeCounts {
    fn progress(self) -> u64 {
        self.packets.saturating_add(self.over_ns)
    }

    fn since(self, before: Self) -> Self {
        Self::since(self, before)
    }

    fn is_zero(self) -> bool {
        self == Self::default()
    }
}

/// The episodes that hosts reported since the collector started.
#[derive(Debug, Default)]
pub struct HostQueues {
    started_ns: u64,
    episodes: LastCounts<EpisodeId, EpisodeCounts>,
    /// By host, interface and queue.
    rows: BTreeMap<(NodeId, String, u32), EpisodeCounts>,
    /// Reports for which there was no row.
    without_row: u64,
}

impl HostQueues {
    /// Leaves out what was before this time. Of an episode that goes on, what comes after its first report counts.
    pub fn start_at(&mut self, started_ns: u64) {
        self.started_ns = started_ns;
    }

    /// Adds what a report of an episode tells that was not reported before.
    pub fn see(&mut self, report: &Report, arrival: Option<Arrival>) {
        if let (Body::Queue(reported), Some(arrival)) = (&report.observation.body, arrival) {
            self.add(reported, arrival);
        }
    }

    fn add(&mut self, report: &QueueReport, arrival: Arrival) {
        let episode = &report.episode;
        let key = ((arrival.exporter.ip(), report.node), episode.id());
        let is_new = begins_in_run(episode.begin_ns, self.started_ns);
        let (epoch, counts) = ((episode.begin_ns, is_new), EpisodeCounts::of(episode));
        let Some(more) = self.episodes.more(key, epoch, counts, arrival.received_ns) else {
            return;
        };
        let dev = episode.interface.clone();
        let dev = dev.unwrap_or_else(|| episode.ifindex.to_string());
        let row = (report.node, dev, episode.queue);
        if self.rows.len() < MOST_QUEUES || self.rows.contains_key(&row) {
            self.rows.entry(row).or_default().add(more);
        } else {
            self.without_row += 1;
        }
    }

    /// Reports of episodes that are in no sum, because there was no room.
    pub fn untracked(&self) -> u64 {
        self.episodes.refused + self.without_row
    }

    /// The sums of each queue.
    pub fn rows(&self) -> Vec<HostQueueRow> {
        let row =
            |((node, dev, queue), counts): (&(NodeId, String, u32), &EpisodeCounts)| HostQueueRow {
                node: *node,
                dev: dev.clone(),
                queue: *queue,
                counts: *counts,
            };
        self.rows.iter().map(row).collect()
    }
}
