//! The FIFO to the writer: reports are added up at once, and kept one by one as long as there is room.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::batch::ReportBatch;
use super::gatherer::{Gathered, Gatherer};
use super::host_records::WaitingHostRecords;
use super::pods::WaitingPods;
use crate::model::coverage::CoverageGrowth;
use crate::model::crossings::PathCrossed;
use crate::model::{HostSeen, NetworkEvent, NetworkVerdict, PathGrowth, PodPeriod, SummaryBases};

/// Reports are written after this time.
const SPAN: Duration = Duration::from_secs(1);
/// Reports are written at once when single reports fill this fraction of the queue: a quarter.
const PART: usize = 4;

/// The most verdicts that wait for the writer: those of an hour.
const MOST_VERDICTS: usize = 360;

/// The most sums of coverage that wait for the writer.
const MOST_COVERAGE: usize = 10_000;

/// A queue from any number of threads to the writer.
#[derive(Debug)]
pub struct StoreFifo {
    state: Mutex<QueueContent>,
    most_bytes: usize,
    filled: Condvar,
    drained: Condvar,
}

#[derive(Debug)]
struct QueueContent {
    gatherer: Gatherer,
    /// Single reports, whose sums were all gathered.
    batches: Vec<ReportBatch>,
    batch_bytes: usize,
    /// The bytes that were taken and are not written yet.
    taken_bytes: usize,
    /// There was no room for single reports.
    crowded: bool,
    /// The time when the first report came.
    since: Option<Instant>,
    closed: bool,
    /// What the collector saw of hosts, if it has not been taken.
    hosts: Option<Vec<HostSeen>>,
    /// What the collector's next run needs, if this one ends.
    bases: Option<SummaryBases>,
    /// What was said of the network, and is not in the store yet.
    verdicts: Vec<NetworkVerdict>,
    /// Events that are not in the store yet.
    events: Vec<NetworkEvent>,
    /// Coverage that is not in the store yet.
    coverage: Vec<CoverageGrowth>,
    /// What hosts told of drops, connections, hops and queues.
    host_records: WaitingHostRecords,
    pods: WaitingPods,
}

/// The reports of one transaction.
#[derive(Debug, Default)]
pub struct Work {
    pub gathered: Gathered,
    pub batches: Vec<ReportBatch>,
}

/// The outcome of waiting for work.
pub enum NextWork {
    Work(Box<Work>),
    /// No report came in time.
    Nothing,
    /// No more reports will come.
    Closed,
}

impl Work {
    /// Returns the number of single reports.
    pub fn singles(&self) -> u64 {
        self.batches
            .iter()
            .map(|batch| batch.entries.len() as u64)
            .sum()
    }
}

impl QueueContent {
    fn bytes(&self) -> usize {
        self.gatherer.bytes() + self.batch_bytes + self.taken_bytes
    }

    fn is_empty(&self) -> bool {
        self.since.is_none() && self.taken_bytes == 0
    }
}

impl StoreFifo {
    pub fn new(most_bytes: usize, most_flows: usize) -> Self {
        let state = QueueContent {
            gatherer: Gatherer::new(most_flows, most_bytes),
            batches: Vec::new(),
            batch_bytes: 0,
            taken_bytes: 0,
            crowded: false,
            since: None,
            closed: false,
            hosts: None,
            bases: None,
            verdicts: Vec::new(),
            events: Vec::new(),
            coverage: Vec::new(),
            host_records: WaitingHostRecords::default(),
            pods: WaitingPods::default(),
        };
        Self {
            state: Mutex::new(state),
            most_bytes,
            filled: Condvar::new(),
            drained: Condvar::new(),
        }
    }

    fn state(&self) -> MutexGuard<'_, QueueContent> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a batch. Returns false if it was dropped. Single reports may fill half of the queue, and gathered sums all
    /// of it; an empty queue has room for any batch. With `wait` the call waits until all reports can be stored one by
    /// one.
    pub fn put(&self, mut batch: ReportBatch, wait: bool) -> bool {
        let bytes = batch.bytes();
        let has_room =
            |state: &QueueContent| state.is_empty() || state.bytes() + bytes <= self.most_bytes / 2;
        let mut state = self.state();
        while wait && !state.closed && !has_room(&state) {
            state.crowded = true;
            self.filled.notify_one();
            state = self
                .drained
                .wait(state)
                .unwrap_or_else(PoisonError::into_inner);
        }
        if state.closed {
            return false;
        }
        let single = has_room(&state);
        let mut given_up = Vec::new();
        if !single && state.bytes() > self.most_bytes {
            given_up = std::mem::take(&mut state.batches);
            state.batch_bytes = 0;
            if state.bytes() > self.most_bytes {
                return false;
            }
        }
        let paths = std::mem::take(&mut batch.paths);
        for entry in &mut batch.entries {
            let path = entry.path.and_then(|place| paths.get(place));
            state.gatherer.add(entry, path);
        }
        if single {
            // Without the paths of its reports, which are gathered.
            state.batch_bytes += batch.bytes();
            state.batches.push(batch);
        }
        let first = state.since.is_none();
        state.since.get_or_insert_with(Instant::now);
        state.crowded |= !single;
        let is_due = first || self.is_worth_it(&state);
        drop(state);
        drop((given_up, paths));
        if is_due {
            self.filled.notify_one();
        }
        true
    }

    /// True if the present reports should be written without waiting for more.
    fn is_worth_it(&self, state: &QueueContent) -> bool {
        state.closed || state.crowded || state.batch_bytes >= self.most_bytes / PART
    }

    /// Takes all reports once they are worth a transaction.
    pub fn take(&self, timeout: Duration) -> NextWork {
        let begin = Instant::now();
        let mut state = self.state();
        // The reports that were taken before have been written.
        state.taken_bytes = 0;
        self.drained.notify_all();
        loop {
            // No reports may come after those whose paths wait.
            let paths_due = state.gatherer.paths_due();
            let left = match state.since {
                Some(_) if self.is_worth_it(&state) => break,
                Some(since) => SPAN.saturating_sub(since.elapsed()),
                None if state.closed && paths_due.is_none() => return NextWork::Closed,
                None if state.closed || paths_due == Some(Duration::ZERO) => break,
                None => (timeout.saturating_sub(begin.elapsed()))
                    .min(paths_due.unwrap_or(Duration::MAX)),
            };
            if left.is_zero() && state.since.is_none() {
                return NextWork::Nothing;
            }
            if left.is_zero() {
                break;
            }
            state = self
                .filled
                .wait_timeout(state, left)
                .unwrap_or_else(PoisonError::into_inner)
                .0;
        }
        state.since = None;
        state.crowded = false;
        let before = state.bytes();
        let all = state.closed;
        let mut work = Work {
            gathered: state.gatherer.take(all),
            batches: std::mem::take(&mut state.batches),
        };
        state.batch_bytes = 0;
        state.taken_bytes = before - state.bytes();
        drop(state);
        work.gathered.count_paths();
        NextWork::Work(Box::new(work))
    }

    /// Records that `bytes` of the taken reports are written.
    pub fn written(&self, bytes: usize) {
        let mut state = self.state();
        state.taken_bytes = state.taken_bytes.saturating_sub(bytes);
        drop(state);
        self.drained.notify_all();
    }

    /// Replaces what is known of hosts.
    pub fn put_hosts(&self, hosts: Vec<HostSeen>) {
        self.state().hosts = Some(hosts);
    }

    pub fn take_hosts(&self) -> Option<Vec<HostSeen>> {
        self.state().hosts.take()
    }

    /// Adds what is known of pods.
    pub fn put_pods(&self, changed: Vec<PodPeriod>, current_ns: u64) {
        self.state().pods.add(changed, current_ns);
    }

    /// Puts back what could not be written, behind which newer things may have come.
    pub fn put_back_pods(&self, older: WaitingPods) {
        self.state().pods.put_back(older);
    }

    pub fn take_pods(&self) -> WaitingPods {
        std::mem::take(&mut self.state().pods)
    }

    /// Hands on a verdict; the oldest makes room if the writer does not keep up.
    pub fn put_verdict(&self, verdict: NetworkVerdict) {
        let mut state = self.state();
        if state.verdicts.len() >= MOST_VERDICTS {
            state.verdicts.remove(0);
        }
        state.verdicts.push(verdict);
    }

    pub fn take_verdicts(&self) -> Vec<NetworkVerdict> {
        std::mem::take(&mut self.state().verdicts)
    }

    /// Hands on an event. Returns false if there is no room.
    pub fn put_event(&self, event: NetworkEvent) -> bool {
        let mut state = self.state();
        let has_room = state.events.len() < MOST_VERDICTS;
        if has_room {
            state.events.push(event);
        }
        has_room
    }

    pub fn take_events(&self) -> Vec<NetworkEvent> {
        std::mem::take(&mut self.state().events)
    }

    /// Adds coverage, as long as the writer keeps up. Returns how much of it found no room.
    pub fn put_coverage(&self, mut grown: Vec<CoverageGrowth>) -> u64 {
        let mut state = self.state();
        let room = MOST_COVERAGE.saturating_sub(state.coverage.len());
        let beyond = grown.len().saturating_sub(room);
        grown.truncate(room);
        state.coverage.append(&mut grown);
        beyond as u64
    }

    pub fn take_coverage(&self) -> Vec<CoverageGrowth> {
        std::mem::take(&mut self.state().coverage)
    }

    /// Leaves last totals for the next run. The writer takes them after all reports.
    pub fn put_bases(&self, bases: SummaryBases) {
        self.state().bases = Some(bases);
    }

    pub fn take_bases(&self) -> Option<SummaryBases> {
        self.state().bases.take()
    }

    /// Adds the times of all packets of a path. Returns false if there is no room.
    pub fn put_path(&self, growth: &PathGrowth, time_ns: u64) -> bool {
        growth.times.is_empty() || self.gather(|gatherer| gatherer.add_path(growth, time_ns))
    }

    /// Adds the packets of a path that came by, in the same way.
    pub fn put_crossed(&self, crossed: &PathCrossed, time_ns: u64) -> bool {
        self.gather(|gatherer| gatherer.cross_path(crossed, time_ns))
    }

    fn gather(&self, add: impl FnOnce(&mut Gatherer)) -> bool {
        let mut state = self.state();
        if state.closed || state.bytes() > self.most_bytes {
            return false;
        }
        add(&mut state.gatherer);
        let first = state.since.is_none();
        state.since.get_or_insert_with(Instant::now);
        drop(state);
        if first {
            self.filled.notify_one();
        }
        true
    }

    /// Adds what hosts told of drops, connections, hops or queues.
    pub fn put_host_records(&self, add: impl FnOnce(&mut WaitingHostRecords)) {
        add(&mut self.state().host_records);
    }

    pub fn take_host_records(&self) -> WaitingHostRecords {
        std::mem::take(&mut self.state().host_records)
    }

    /// Closes the queue. The present reports can still be taken.
    pub fn close(&self) {
        self.state().closed = true;
        self.filled.notify_all();
        self.drained.notify_all();
    }
}
