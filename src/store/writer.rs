//! The one thread that writes: reports and their roll-ups in the same transactions.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use rusqlite::{Connection, ErrorCode};

use super::clock;
use super::file::{self, Lock, StoreError};
use super::ids::Ids;
use super::keeper::{Keeper, StoreCounts};
use super::place;
use super::queue::{Queue, Taken, Work};
use super::retention::Limits;
use super::rollups::{RollUps, fact, set_fact};

/// After a failure, reports are not tried to be written for so long.
const PAUSE: Duration = Duration::from_secs(1);

/// What is old goes as often, although nothing comes.
const IDLE: Duration = Duration::from_secs(60);

/// Facts: how many reports are in roll-ups only, and until when there were some.
pub const ROLLED_UP_ONLY: &str = "rolled_up_only";
pub const LAST_ROLLED_UP_ONLY: &str = "rolled_up_only_ns";

/// Of a store.
#[derive(Clone, Debug)]
pub struct Settings {
    pub path: PathBuf,
    pub limits: Limits,
    /// What may wait to be written.
    pub queue_bytes: usize,
    /// Flows that are followed at a time.
    pub most_flows: usize,
    /// Reports come from a file: they wait for the store, and their own times tell what is old.
    pub from_file: bool,
}

/// A store that can be written to, before it is: files are open, no thread runs.
#[derive(Debug)]
pub struct Opened {
    conn: Connection,
    lock: Lock,
    settings: Settings,
    queue: Arc<Queue>,
    counts: Arc<StoreCounts>,
}

/// A store that is written to. Dropping it writes what is there.
pub struct Store {
    queue: Arc<Queue>,
    counts: Arc<StoreCounts>,
    path: PathBuf,
    from_file: bool,
    thread: Option<JoinHandle<()>>,
}

/// Tells the user of troubles.
pub type Warn = Box<dyn FnMut(&str) + Send>;

impl Opened {
    /// Opens the file, or makes it; before privileges are given up.
    pub fn open(settings: Settings) -> Result<Self, StoreError> {
        let (conn, lock) = file::open(&settings.path)?;
        let queue = Queue::new(settings.queue_bytes, settings.most_flows);
        Ok(Self {
            conn,
            lock,
            settings,
            queue: Arc::new(queue),
            counts: Arc::default(),
        })
    }

    /// As [`Store::keeper`]; what is handed on before the store starts waits for it.
    pub fn keeper(&self) -> Keeper {
        Keeper::new(
            self.queue.clone(),
            self.counts.clone(),
            self.settings.from_file,
        )
    }

    /// Begins to write; after privileges are given up, since each thread has its own.
    pub fn start(self, warn: Warn) -> Result<Store, StoreError> {
        let (queue, counts) = (self.queue, self.counts);
        let path = self.settings.path.clone();
        let from_file = self.settings.from_file;
        let writer = Writer {
            ids: Ids::new(self.settings.most_flows),
            conn: self.conn,
            _lock: self.lock,
            settings: self.settings,
            queue: queue.clone(),
            counts: counts.clone(),
            rollups: None,
            next_id: 0,
            paused: None,
            cleaned: Instant::now(),
            warn,
        };
        let thread = std::thread::Builder::new()
            .name("store".to_owned())
            .spawn(move || writer.run())
            .map_err(|err| StoreError::Open {
                path: path.clone(),
                why: format!("no thread for it: {err}"),
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

    /// Whether reports come from a file, and wait for the store.
    pub fn from_file(&self) -> bool {
        self.from_file
    }

    /// What hands reports to it; those handed on after the store is gone are dropped, and counted.
    pub fn keeper(&self) -> Keeper {
        Keeper::new(self.queue.clone(), self.counts.clone(), self.from_file)
    }

    pub fn counts(&self) -> Arc<StoreCounts> {
        self.counts.clone()
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

struct Writer {
    conn: Connection,
    _lock: Lock,
    settings: Settings,
    queue: Arc<Queue>,
    counts: Arc<StoreCounts>,
    ids: Ids,
    /// `None`: to be read from the file.
    rollups: Option<RollUps>,
    next_id: i64,
    /// It failed, and when it is tried again.
    paused: Option<Instant>,
    cleaned: Instant,
    warn: Warn,
}

impl Writer {
    fn run(mut self) {
        loop {
            match self.queue.take(IDLE) {
                Taken::Work(work) => self.work(&work),
                Taken::Nothing => {}
                Taken::Closed => break,
            }
            if self.cleaned.elapsed() >= IDLE {
                self.work(&Work::default());
            }
        }
    }

    /// Writes all of it in one transaction, or counts it as dropped.
    fn work(&mut self, work: &Work) {
        self.cleaned = Instant::now();
        let reports = work.gathered.reports;
        if self.paused.is_some_and(|until| Instant::now() < until) {
            self.counts.dropped(reports);
            return;
        }
        let singles = work.singles();
        if let Err(err) = self.write(work, singles) {
            self.failed(&err, reports);
            return;
        }
        let beyond_flows = work.gathered.beyond_flows;
        self.counts
            .written(singles, reports - singles, beyond_flows);
        if self.paused.take().is_some() {
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
                // Ids of reports that went are not given again: roll-ups still name them.
                let named = fact(&self.conn, "last_id")? as i64;
                self.next_id = last.unwrap_or(0).max(named) + 1;
                none.insert(RollUps::open(&self.conn)?)
            }
        };
        let gathered = &work.gathered;
        place::add(&self.conn, &mut self.ids, rollups, gathered)?;
        self.queue.written(gathered.bytes());
        for batch in &work.batches {
            place::singles(&self.conn, &mut self.ids, rollups, batch, self.next_id)?;
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
        let now_ns = match self.settings.from_file {
            true => rollups.newest_ns(),
            false => clock::now_ns(),
        };
        let limits = &self.settings.limits;
        if limits.enforce(&self.conn, now_ns, gathered.reports)? {
            self.ids.clear();
        }
        self.conn.execute_batch("COMMIT")
    }

    /// Nothing of the transaction is in the file; what was in memory for it is read again.
    fn failed(&mut self, err: &rusqlite::Error, reports: u64) {
        let _ = self.conn.execute_batch("ROLLBACK");
        if err.sqlite_error_code() == Some(ErrorCode::DiskFull) {
            // The log may have room that the file can take.
            let _ = self
                .conn
                .query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()));
        }
        self.ids.clear();
        self.rollups = None;
        self.counts.dropped(reports);
        if self.paused.is_none() {
            (self.warn)(&format!(
                "cannot write to store {}: {err}; reports are counted as dropped until it can be written again",
                self.settings.path.display()
            ));
        }
        self.paused = Some(Instant::now() + PAUSE);
    }
}
