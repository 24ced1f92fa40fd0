//! The one thread that writes: reports and their roll-ups in the same transactions.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use rusqlite::{Connection, ErrorCode};

use super::clock;
use super::coded::{exporter_bytes, number_of};
use super::file::{self, Lock, StoreError};
use super::ids::Ids;
use super::keeper::{Batch, Keeper, StoreCounts};
use super::place::place;
use super::queue::{Queue, Taken};
use super::retention::Limits;
use super::rollups::RollUps;

/// A transaction ends after this time, or after so many reports.
const SPAN: Duration = Duration::from_secs(1);
const REPORTS: u64 = 250_000;

/// After a failure, reports are not tried to be written for so long.
const PAUSE: Duration = Duration::from_secs(1);

/// What is old goes as often, although nothing comes.
const IDLE: Duration = Duration::from_secs(60);

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
        Ok(Self {
            conn,
            lock,
            settings,
        })
    }

    /// Begins to write; after privileges are given up, since each thread has its own.
    pub fn start(self, warn: Warn) -> Result<Store, StoreError> {
        let queue = Arc::new(Queue::new(self.settings.queue_bytes));
        let counts = Arc::new(StoreCounts::default());
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
            open: None,
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

    /// Whether reports that were handed on are not taken up yet.
    pub fn waits(&self) -> bool {
        !self.queue.is_empty()
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

/// What a transaction has so far.
struct Open {
    since: Instant,
    reports: u64,
    beyond_flows: u64,
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
    open: Option<Open>,
    /// It failed, and when it is tried again.
    paused: Option<Instant>,
    cleaned: Instant,
    warn: Warn,
}

impl Writer {
    fn run(mut self) {
        loop {
            let wait = self
                .open
                .as_ref()
                .map_or(SPAN, |open| SPAN.saturating_sub(open.since.elapsed()));
            match self.queue.take(wait) {
                Taken::Batch(batch) => self.batch(&batch),
                Taken::Nothing => {}
                Taken::Closed => break,
            }
            let due = |open: &Open| open.since.elapsed() >= SPAN || open.reports >= REPORTS;
            if self.open.as_ref().is_some_and(due) {
                self.end();
            } else if self.open.is_none() && self.cleaned.elapsed() >= IDLE {
                self.clean();
            }
        }
        if self.open.is_some() {
            self.end();
        }
    }

    fn batch(&mut self, batch: &Batch) {
        let count = batch.entries.len() as u64;
        if self.paused.is_some_and(|until| Instant::now() < until) {
            self.counts.add(0, count, 0);
            return;
        }
        if let Err(err) = self.try_batch(batch) {
            let before = self.open.take().map_or(0, |open| open.reports);
            self.failed(&err, before + count);
        }
    }

    fn try_batch(&mut self, batch: &Batch) -> rusqlite::Result<()> {
        self.begin()?;
        let (Some(open), Some(rollups)) = (&mut self.open, &mut self.rollups) else {
            return Ok(());
        };
        let mut insert = self.conn.prepare_cached(
            "INSERT INTO report (id, time_ns, flow, pair, class, before, kind, lost, latency_ns, part, exporter, evidence)
             VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        )?;
        let (mut beyond, mut shown) = (0, None);
        for entry in &batch.entries {
            let id = self.next_id;
            let placed = place(&self.conn, &mut self.ids, rollups, entry, id)?;
            beyond += u64::from(placed.flow.is_none() && entry.observed.flow.is_some());
            let observed = &entry.observed;
            let evidence = batch.evidence.get(entry.evidence.clone());
            // Once for each datagram.
            let again = entry.part > 0 && shown == Some(&entry.evidence);
            shown = Some(&entry.evidence);
            insert.execute((
                id,
                observed.time_ns as i64,
                placed.flow,
                placed.pair,
                placed.class,
                (placed.before > 0).then_some(placed.before),
                number_of(observed.kind),
                observed.lost,
                observed.latency_ns,
                entry.part,
                observed.exporter.map(exporter_bytes),
                evidence.filter(|_| !again),
            ))?;
            self.next_id += 1;
        }
        open.reports += batch.entries.len() as u64;
        open.beyond_flows += beyond;
        Ok(())
    }

    /// Begins a transaction, unless one is open.
    fn begin(&mut self) -> rusqlite::Result<()> {
        if self.open.is_some() {
            return Ok(());
        }
        self.conn.execute_batch("BEGIN IMMEDIATE")?;
        self.open = Some(Open {
            since: Instant::now(),
            reports: 0,
            beyond_flows: 0,
        });
        if self.rollups.is_none() {
            let last: Option<i64> =
                self.conn
                    .query_row("SELECT max(id) FROM report", [], |row| row.get(0))?;
            // Ids of reports that went are not given again: roll-ups still name them.
            let named = super::rollups::fact(&self.conn, "last_id")? as i64;
            self.next_id = last.unwrap_or(0).max(named) + 1;
            self.rollups = Some(RollUps::open(&self.conn)?);
        }
        Ok(())
    }

    /// Ends the transaction: with it reports and roll-ups are in the file, or neither.
    fn end(&mut self) {
        let Some(open) = self.open.take() else {
            return;
        };
        if let Err(err) = self.try_end(open.reports) {
            self.failed(&err, open.reports);
            return;
        }
        self.counts.add(open.reports, 0, open.beyond_flows);
        if self.paused.take().is_some() {
            (self.warn)(&format!(
                "reports are written to store {} again",
                self.settings.path.display()
            ));
        }
    }

    fn try_end(&mut self, written: u64) -> rusqlite::Result<()> {
        let Some(rollups) = &mut self.rollups else {
            return Ok(());
        };
        rollups.write(&self.conn)?;
        super::rollups::set_fact(&self.conn, "last_id", (self.next_id - 1) as u64)?;
        let now_ns = match self.settings.from_file {
            true => rollups.newest_ns(),
            false => clock::now_ns(),
        };
        if self.settings.limits.enforce(&self.conn, now_ns, written)? {
            self.ids.clear();
        }
        self.cleaned = Instant::now();
        self.conn.execute_batch("COMMIT")
    }

    /// A transaction without reports, for what is old.
    fn clean(&mut self) {
        self.cleaned = Instant::now();
        match self.begin() {
            Ok(()) => self.end(),
            Err(err) => {
                self.open = None;
                self.failed(&err, 0);
            }
        }
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
        self.counts.add(0, reports, 0);
        if self.paused.is_none() {
            (self.warn)(&format!(
                "cannot write to store {}: {err}; reports are counted as dropped until it can be written again",
                self.settings.path.display()
            ));
        }
        self.paused = Some(Instant::now() + PAUSE);
    }
}
