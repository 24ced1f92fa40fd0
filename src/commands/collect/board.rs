//! What a collector has received, lost and kept, where other threads can see it.

use std::sync::{Mutex, PoisonError};

use super::output::Output;
use super::report_lines::ReportLines;
use crate::collector::ReceptionCounts;
use crate::model::{COLLECT_SCHEMA, CollectStatus, EngineStatus};
use crate::os::clock;

/// Exporters whose health is shown.
const MOST_EXPORTERS: usize = 1_000;

/// The status as of the last [`Board::publish`], but for what the receiving threads count, which is as of now: the
/// decoder may be held up.
pub struct Board {
    reception: ReceptionCounts,
    published: Mutex<CollectStatus>,
}

impl Board {
    pub fn new(reception: ReceptionCounts) -> Self {
        Self {
            reception,
            published: Mutex::new(CollectStatus {
                schema: COLLECT_SCHEMA,
                started_ns: clock::realtime_ns(),
                ..CollectStatus::default()
            }),
        }
    }

    /// Shows what the decoder knows; to be called about once a second.
    pub fn publish(
        &self,
        reports: &ReportLines<Output>,
        engines: impl Iterator<Item = EngineStatus>,
    ) {
        let sums = reports.exporters.counts();
        let health = reports.exporters.health(MOST_EXPORTERS);
        let lines = reports.output().counts();
        let mut status = self.lock();
        status.undecodable = sums.not_decoded;
        status.decoded = sums.decoded;
        status.reports = sums.reports;
        status.reports_refused = sums.refused;
        status.reports_lost = sums.numbers.lost;
        status.reports_duplicate = sums.numbers.duplicates;
        status.lines = lines.lines;
        status.lines_lost = lines.lost;
        if let Some(keeper) = &reports.keeper {
            status.stored = keeper.counts().stored();
            status.rolled_up_only = keeper.counts().rolled_up_only();
            status.store_drops = keeper.counts().drops();
        }
        status.engines = engines.collect();
        status.exporters_total = sums.exporters;
        status.exporters_forgotten = sums.forgotten;
        status.exporters_untracked = sums.untracked;
        status.exporters = health;
    }

    pub fn status(&self) -> CollectStatus {
        let mut status = self.lock().clone();
        let counts = self.reception.get();
        status.datagrams = counts.datagrams;
        status.bytes = counts.bytes;
        status.socket_drops = counts.socket_drops;
        status.receive_errors = counts.errors;
        status.probes = counts.probes;
        status.probes_unanswered = counts.probes_unanswered;
        status.queue_drops = counts.queue_drops;
        status
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, CollectStatus> {
        self.published
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}
