//! The writer: one thread that stores reports and their roll-ups in the same transactions.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use rusqlite::{Connection, ErrorCode};

use super::bases;
use super::clock;
use super::counts::StoreCounts;
use super::coverage;
use super::file::{self, FileId, StoreError, StoreLock};
use super::hosts;
use super::ids::Ids;
use super::insertion;
use super::keeper::StoreKeeper;
use super::queue::{NextWork, StoreQueue, Work};
use super::retention::StoreLimits;
use super::rollups::{RollUps, fact, set_fact};
use super::told::ToldWriter;
use crate::model::{HostSeen, SummaryBases};

/// The time after a failure during which nothing is written.
const PAUSE: Duration = Duration::from_secs(1);

/// The time after which old rows are removed even if no reports come.
const IDLE: Duration = Duration::from_secs(60);

/// The longest wait for reports before what is known of hosts is written.
const HOSTS: Duration = Duration::from_secs(5);

/// The names of facts: how many reports are only in roll-ups, and the time of the last one.
pub const ROLLED_UP_ONLY: &str = "rolled_up_only";
pub const LAST_ROLLED_UP_ONLY: &str = "rolled_up_only_ns";

/// The settings of a store.
#[derive(Clone, Debug)]
pub struct StoreSettings {
    pub path: PathBuf,
    pub limits: StoreLimits,
    /// The most bytes of reports that wait to be written.
    pub queue_bytes: usize,
    /// The most flows that are tracked at a time.
    pub most_flows: usize,
    /// Reports come from a file: they wait for the store, and their own times decide which rows are old.
    pub from_file: bool,
}

/// A store whose files are open and whose thread does not run yet.
#[derive(Debug)]
pub struct OpenedStore {
    conn: Connection,
    id: Option<FileId>,
    lock: StoreLock,
    settings: StoreSettings,
    queue: Arc<StoreQueue>,
    counts: Arc<StoreCounts>,
}

/// A store whose thread runs. Dropping it writes the reports that wait.
pub struct Store {
    queue: Arc<StoreQueue>,
    counts: Arc<StoreCounts>,
    path: PathBuf,
    from_file: bool,
    thread: Option<JoinHandle<()>>,
}

/// Reports troubles to the user.
pub type Warn = Box<dyn FnMut(&str) + Send>;

impl OpenedStore {
    /// Opens the file, or makes it. This comes before privileges are given up.
    pub fn open(settings: StoreSettings) -> Result<Self, StoreError> {
        let (conn, lock) = file::open(&settings.path)?;
        let queue = StoreQueue::new(settings.queue_bytes, settings.most_flows);
        Ok(Self {
            conn,
            id: FileId::of(&settings.path),
            lock,
            settings,
            queue: Arc::new(queue),
            counts: Arc::default(),
        })
    }

    /// Returns the hosts that an earlier run saw.
    pub fn hosts(&self) -> Vec<HostSeen> {
        // A damaged table is written anew by this run.
        hosts::read(&self.conn).unwrap_or_default()
    }

    /// Takes what an earlier run that ended in order left for this one.
    pub fn take_bases(&mut self) -> SummaryBases {
        // Without them, this run counts from the first summaries on.
        bases::take(&mut self.conn).unwrap_or_default()
    }

    /// Returns a keeper, as [`Store::keeper`] does. Reports that are handed on before the store starts wait for it.
    pub fn keeper(&self) -> StoreKeeper {
        StoreKeeper::new(
            self.queue.clone(),
            self.counts.clone(),
            self.settings.from_file,
        )
    }

    /// Starts the thread. This comes after privileges are given up, because each thread has its own.
    pub fn start(self, warn: Warn) -> Result<Store, StoreError> {
        let (queue, counts) = (self.queue, self.counts);
        let path = self.settings.path.clone();
        let from_file = self.settings.from_file;
        let writer = StoreWriter {
            ids: Ids::new(self.settings.most_flows),
            conn: self.conn,
            id: self.id,
            lock: self.lock,
            settings: self.settings,
            queue: queue.clone(),
            counts: counts.clone(),
            rollups: None,
            next_id: 0,
            paused: None,
            cleaned: Instant::now(),
            told: ToldWriter::default(),
            warn,
        };
        let thread = std::thread::Builder::new()
            .name("store".to_owned())
            .spawn(move || writer.run())
            .map_err(|err| StoreError::Open {
                path: path.clone(),
                why: format!("cannot start its thread: {err}"),
            })?;
        Ok(Store {
            queue,
            counts,
            path,
            from_file,
            thread: Some(thread),
        })
    }
}

impl Store {
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// True if reports come from a file and wait for the store.
    pub fn from_file(&self) -> bool {
        self.from_file
    }

    /// Returns a keeper, which hands reports to the store. Reports that are handed on after the store has ended are
    /// dropped and counted.
    pub fn keeper(&self) -> StoreKeeper {
        StoreKeeper::new(self.queue.clone(), self.counts.clone(), self.from_file)
    }

    pub fn counts(&self) -> Arc<StoreCounts> {
        self.counts.clone()
    }

    /// Leaves last totals for the next run. They are written after all reports, when the store ends.
    pub fn leave_bases(&self, bases: SummaryBases) {
        self.queue.put_bases(bases);
    }
}

impl Drop for Store {
    fn drop(&mut self) {
        self.queue.close();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

struct StoreWriter {
    conn: Connection,
    id: Option<FileId>,
    lock: StoreLock,
    settings: StoreSettings,
    queue: Arc<StoreQueue>,
    counts: Arc<StoreCounts>,
    ids: Ids,
    /// `None` until they are read from the file.
    rollups: Option<RollUps>,
    next_id: i64,
    /// The time of the next attempt after a failure.
    paused: Option<Instant>,
    cleaned: Instant,
    told: ToldWriter,
    warn: Warn,
}

impl StoreWriter {
    fn run(mut self) {
        loop {
            match self.queue.take(HOSTS) {
                NextWork::Work(work) => self.work(&work),
                NextWork::Nothing => {}
                NextWork::Closed => {
                    self.write_hosts();
                    self.write_coverage();
                    self.write_bases();
                    self.write_told();
                    break;
                }
            }
            self.write_hosts();
            self.write_coverage();
            self.write_told();
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
            let _ = hosts::write(&mut self.conn, &hosts, clock::now_ns());
        }
    }

    /// Writes coverage. If it fails, the next reports fail too and tell why.
    fn write_coverage(&mut self) {
        let grown = self.queue.take_coverage();
        if grown.is_empty() {
            return;
        }
        let writable = self.paused.is_none() && FileId::of(&self.settings.path) == self.id;
        let keep_ns = self.settings.limits.minutes_ns;
        if !writable || coverage::write(&mut self.conn, &grown, clock::now_ns(), keep_ns).is_err() {
            self.counts.dropped_told(grown.len() as u64);
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
    fn write_told(&mut self) {
        if self.paused.is_some() || FileId::of(&self.settings.path) != self.id {
            return;
        }
        let before_ns = clock::now_ns().saturating_sub(self.settings.limits.minutes_ns);
        let told = self.queue.take_told();
        let left = self.told.write(&mut self.conn, told, before_ns);
        if !left.is_empty() {
            self.queue.put_told(|waiting| waiting.merge(left));
        }
    }

    /// Writes all reports in one transaction, or counts them as dropped.
    fn work(&mut self, work: &Work) {
        self.cleaned = Instant::now();
        let reports = work.gathered.reports;
        self.counts.dropped_told(work.gathered.paths_dropped);
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
        let unnamed = insertion::add(&self.conn, &mut self.ids, rollups, gathered)?;
        self.queue.written(gathered.bytes());
        for batch in &work.batches {
            insertion::singles(&self.conn, &mut self.ids, rollups, batch, self.next_id)?;
            self.next_id += batch.entries.len() as i64;
            self.queue.written(batch.bytes());
        }
        rollups.write(&self.conn)?;
        set_fact(&self.conn, "last_id", (self.next_id - 1) as u64)?;
        let only = gathered.reports - singles;
        if only > 0 {
            let before = fact(&self.conn, ROLLED_UP_ONLY)?;
            set_fact(&self.conn, ROLLED_UP_ONLY, before + only)?;
            set_fact(&self.conn, LAST_ROLLED_UP_ONLY, gathered.newest_ns)?;
        }
        let now_ns = if self.settings.from_file {
            rollups.newest_ns()
        } else {
            clock::now_ns()
        };
        let limits = &self.settings.limits;
        if limits.enforce(&self.conn, now_ns, gathered.reports)? {
            self.ids.clear();
        }
        self.conn.execute_batch("COMMIT")?;
        self.counts.dropped_told(unnamed);
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
        let told = work.gathered.paths.iter().map(|path| path.told).sum();
        self.counts.dropped_told(told);
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
