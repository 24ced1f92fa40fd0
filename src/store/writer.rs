//! The writer: one thread that stores reports and their roll-ups in the same transactions.

use std::sync::Arc;
use std::time::{Duration, Instant};

use rusqlite::{Connection, ErrorCode};

use super::bases;
use super::counts::StoreCounts;
use super::coverage;
use super::events;
use super::fifo::{NextWork, StoreFifo, Work};
use super::file::{self, FileId, StoreLock};
use super::host_records::HostRecordWriter;
use super::hosts;
use super::ids::Ids;
use super::insertion;
use super::pods;
use super::repair::{self, RepairClock};
use super::rollups::{RollUps, fact, set_fact};
use super::settings::StoreSettings;
use super::store_error::StoreError;
use super::verdicts;
use crate::model::WallTime;

/// The time after a failure during which nothing is written.
const PAUSE: Duration = Duration::from_secs(1);

/// The time after which old rows are removed even if no reports come.
const IDLE: Duration = Duration::from_secs(60);

/// The longest wait for reports before what is known of hosts is written.
const HOSTS: Duration = Duration::from_secs(5);

/// The names of facts: how many reports are only in roll-ups, and the time of the last one.
pub const ROLLED_UP_ONLY: &str = "rolled_up_only";
pub const LAST_ROLLED_UP_ONLY: &str = "rolled_up_only_ns";

/// Reports troubles to the user.
pub type Warn = Box<dyn FnMut(&str) + Send>;

/// The open file of a store.
pub struct StoreFile {
    pub conn: Connection,
    pub id: Option<FileId>,
    pub lock: StoreLock,
}

/// The state of the thread.
pub struct StoreWriter {
    conn: Connection,
    id: Option<FileId>,
    lock: StoreLock,
    settings: StoreSettings,
    queue: Arc<StoreFifo>,
    counts: Arc<StoreCounts>,
    ids: Ids,
    /// `None` until they are read from the file.
    rollups: Option<RollUps>,
    next_id: i64,
    /// The time of the next attempt after a failure.
    paused: Option<Instant>,
    cleaned: Instant,
    host_records: HostRecordWriter,
    /// How many times the clock had been set back when the marks were last looked at.
    set_back: u64,
    warn: Warn,
}

impl StoreWriter {
    pub fn new(
        StoreFile { conn, id, lock }: StoreFile,
        settings: StoreSettings,
        (queue, counts): (Arc<StoreFifo>, Arc<StoreCounts>),
        warn: Warn,
    ) -> Self {
        Self {
            ids: Ids::new(settings.most_flows),
            conn,
            id,
            lock,
            settings,
            queue,
            counts,
            rollups: None,
            next_id: 0,
            paused: None,
            cleaned: Instant::now(),
            host_records: HostRecordWriter::default(),
            set_back: 0,
            warn,
        }
    }

    pub fn run(mut self) {
        loop {
            match self.queue.take(HOSTS) {
                NextWork::Work(work) => self.work(&work),
                NextWork::Nothing => {}
                NextWork::Closed => {
                    self.write_hosts();
                    self.write_pods();
                    self.write_coverage();
                    self.write_verdicts();
                    self.write_bases();
                    self.write_host_records();
                    break;
                }
            }
            self.write_hosts();
            self.write_pods();
            self.write_coverage();
            self.write_verdicts();
            self.write_host_records();
            if self.cleaned.elapsed() >= IDLE {
                self.work(&Work::default());
            }
        }
    }

    /// Writes what is known of hosts. If it fails, the next reports fail too and tell why.
    fn write_hosts(&mut self) {
        let Some(hosts) = self.queue.take_hosts() else {
            return;
        };
        if self.paused.is_none() && FileId::of(&self.settings.path) == self.id {
            let now_ns = self.age_ns(self.time()).unwrap_or(0);
            let _ = hosts::write(&mut self.conn, &hosts, now_ns);
        }
    }

    /// Writes what is known of pods. If it fails, the next reports fail too and tell why.
    fn write_pods(&mut self) {
        let waiting = self.queue.take_pods();
        if waiting.is_empty() {
            return;
        }
        let writable = self.paused.is_none() && FileId::of(&self.settings.path) == self.id;
        let before_ns = self.age_ns(self.time()).unwrap_or(0);
        let before_ns = before_ns.saturating_sub(self.settings.limits.hours_ns);
        if !writable || pods::write(&mut self.conn, &waiting, before_ns).is_err() {
            self.queue.put_back_pods(waiting);
        }
    }

    /// Writes coverage. If it fails, the next reports fail too and tell why.
    fn write_coverage(&mut self) {
        let grown = self.queue.take_coverage();
        if grown.is_empty() {
            return;
        }
        let writable = self.paused.is_none() && FileId::of(&self.settings.path) == self.id;
        let now_ns = self.time().now_ns;
        let keep_ns = match self.age_ns(self.time()) {
            Some(_) => self.settings.limits.minutes_ns,
            None => u64::MAX,
        };
        if !writable || coverage::write(&mut self.conn, &grown, now_ns, keep_ns).is_err() {
            self.counts.dropped_reported(grown.len() as u64);
        }
    }

    /// Writes what was said of the network, and events. If it fails, the next reports fail too and tell why.
    fn write_verdicts(&mut self) {
        let (verdicts, events) = (self.queue.take_verdicts(), self.queue.take_events());
        let is_nothing = verdicts.is_empty() && events.is_empty();
        if is_nothing || self.paused.is_some() || FileId::of(&self.settings.path) != self.id {
            return;
        }
        let before_ns = self.age_ns(self.time()).unwrap_or(0);
        let before_ns = before_ns.saturating_sub(self.settings.limits.hours_ns);
        if !verdicts.is_empty() {
            let _ = verdicts::write(&mut self.conn, &verdicts, before_ns);
        }
        if !events.is_empty() {
            let _ = events::write(&mut self.conn, &events, before_ns);
        }
    }

    /// Leaves the last totals to the next run, unless what they have counted could not be written.
    fn write_bases(&mut self) {
        let Some(bases) = self.queue.take_bases() else {
            return;
        };
        if self.paused.is_none()
            && FileId::of(&self.settings.path) == self.id
            && let Err(err) = bases::write(&mut self.conn, &bases)
        {
            let path = self.settings.path.display();
            (self.warn)(&format!(
                "cannot keep the last summaries in store {path}: {err}; the next run counts from its first ones on"
            ));
        }
    }

    /// Writes what hosts told of drops, connections, hops and queues. What fails waits for the next time.
    fn write_host_records(&mut self) {
        if self.paused.is_some() || FileId::of(&self.settings.path) != self.id {
            return;
        }
        let before_ns = self.age_ns(self.time()).unwrap_or(0);
        let before_ns = before_ns.saturating_sub(self.settings.limits.minutes_ns);
        let host_records = self.queue.take_host_records();
        let left = self
            .host_records
            .write(&mut self.conn, host_records, before_ns);
        if !left.is_empty() {
            self.queue.put_host_records(|waiting| waiting.merge(left));
        }
    }

    fn time(&self) -> WallTime {
        (self.settings.clock)()
    }

    /// Returns the time by which rows are too old, or `None` if the clock was set and may be wrong.
    fn age_ns(&self, time: WallTime) -> Option<u64> {
        time.is_settled.then_some(time.now_ns)
    }

    /// Writes all reports in one transaction, or counts them as dropped.
    fn work(&mut self, work: &Work) {
        self.cleaned = Instant::now();
        let reports = work.gathered.reports;
        self.counts.dropped_reported(work.gathered.paths_dropped);
        if self.paused.is_some_and(|until| Instant::now() < until) {
            self.dropped(work);
            return;
        }
        if let Err(err) = self.make_anew_if_removed() {
            self.failed(err.to_string(), work);
            return;
        }
        let singles = work.singles();
        if let Err(err) = self.write(work, singles) {
            self.undo(&err);
            let path = self.settings.path.display();
            self.failed(format!("cannot write to store {path}: {err}"), work);
            return;
        }
        let beyond_flows = work.gathered.beyond_flows;
        self.counts
            .written(singles, reports - singles, beyond_flows);
        if self.paused.take().is_some() {
            self.counts.fails(None);
            (self.warn)(&format!(
                "reports are written to store {} again",
                self.settings.path.display()
            ));
        }
    }

    fn write(&mut self, work: &Work, singles: u64) -> rusqlite::Result<()> {
        self.conn.execute_batch("BEGIN IMMEDIATE")?;
        let time = self.time();
        if time.set_back != self.set_back {
            // What was stored meanwhile is ahead of the clock.
            repair::repair(&self.conn, RepairClock::now(time.now_ns))?;
            self.set_back = time.set_back;
            self.ids.clear();
            self.rollups = None;
        }
        let rollups = match &mut self.rollups {
            Some(rollups) => rollups,
            none => {
                let last: Option<i64> =
                    self.conn
                        .query_row("SELECT max(id) FROM report", [], |row| row.get(0))?;
                // The ids of removed reports are not used again: roll-ups still name them.
                let named = fact(&self.conn, "last_id")? as i64;
                self.next_id = last.unwrap_or(0).max(named) + 1;
                none.insert(RollUps::open(&self.conn)?)
            }
        };
        let gathered = &work.gathered;
        let until_ns = time.now_ns.saturating_add(repair::AHEAD_NS);
        rollups.reach(
            gathered.newest_ns,
            gathered.is_any_before(until_ns),
            until_ns,
        );
        let (mut found, unnamed) = insertion::add(&self.conn, &mut self.ids, rollups, gathered)?;
        self.queue.written(gathered.bytes());
        for batch in &work.batches {
            insertion::singles(&self.conn, &mut found, rollups, batch, self.next_id)?;
            self.next_id += batch.entries.len() as i64;
            self.queue.written(batch.bytes());
        }
        insertion::finish_singles(&self.conn, &found, rollups)?;
        rollups.write(&self.conn)?;
        set_fact(&self.conn, "last_id", (self.next_id - 1) as u64)?;
        let only = gathered.reports - singles;
        if only > 0 {
            let before = fact(&self.conn, ROLLED_UP_ONLY)?;
            set_fact(&self.conn, ROLLED_UP_ONLY, before + only)?;
            set_fact(&self.conn, LAST_ROLLED_UP_ONLY, gathered.newest_ns)?;
        }
        let newest_ns = rollups.newest_ns();
        let age_ns = self
            .age_ns(time)
            .map(|now_ns| match self.settings.from_file {
                true => now_ns.min(newest_ns),
                false => now_ns,
            });
        let limits = &self.settings.limits;
        if limits.enforce(&self.conn, age_ns, gathered.reports)? {
            self.ids.clear();
        }
        self.conn.execute_batch("COMMIT")?;
        self.counts.dropped_reported(unnamed);
        Ok(())
    }

    /// Notices that the file is not there any more: what is written to it would be lost unseen.
    fn make_anew_if_removed(&mut self) -> Result<(), StoreError> {
        let path = &self.settings.path;
        if FileId::of(path) == self.id {
            return Ok(());
        }
        self.conn = file::make_anew(path, &self.conn, &mut self.lock)?;
        self.id = FileId::of(path);
        self.ids.clear();
        self.rollups = None;
        (self.warn)(&format!(
            "store {} was removed; a new one is written",
            path.display()
        ));
        Ok(())
    }

    /// Undoes a transaction that failed. The rows in memory are read from the file again.
    fn undo(&mut self, err: &rusqlite::Error) {
        let _ = self.conn.execute_batch("ROLLBACK");
        if err.sqlite_error_code() == Some(ErrorCode::DiskFull) {
            // Writing the log back may make room.
            let _ = self
                .conn
                .query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()));
        }
        self.ids.clear();
        self.rollups = None;
    }

    /// Counts what is not written.
    fn dropped(&self, work: &Work) {
        self.counts.dropped(work.gathered.reports);
        let host_records = work
            .gathered
            .paths
            .iter()
            .map(|path| path.samples_reported)
            .sum();
        self.counts.dropped_reported(host_records);
    }

    /// Counts what could not be written, and says why, once.
    fn failed(&mut self, trouble: String, work: &Work) {
        self.dropped(work);
        if self.paused.is_none() {
            (self.warn)(&format!(
                "{trouble}; reports are counted as dropped until it can be written again"
            ));
        }
        self.counts.fails(Some(trouble));
        self.paused = Some(Instant::now() + PAUSE);
    }
}
