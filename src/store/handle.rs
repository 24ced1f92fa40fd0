//! A store as its users have it: its settings, its opened file, and its running thread.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread::JoinHandle;

use rusqlite::Connection;

use super::bases;
use super::clock::ReadClock;
use super::counts::StoreCounts;
use super::events;
use super::fifo::StoreFifo;
use super::file::{self, FileId, StoreLock};
use super::hosts;
use super::keeper::StoreKeeper;
use super::pods;
use super::repair::{self, RepairClock};
use super::settings::StoreSettings;
use super::store_error::StoreError;
use super::writer::{StoreFile, StoreWriter, Warn};
use crate::model::{HostSeen, NetworkEvent, PodBook, Span, SummaryBases};

/// A store whose files are open and whose thread does not run yet.
#[derive(Debug)]
pub struct OpenedStore {
    conn: Connection,
    id: Option<FileId>,
    lock: StoreLock,
    settings: StoreSettings,
    queue: Arc<StoreFifo>,
    counts: Arc<StoreCounts>,
}

/// A store whose thread runs. Dropping it writes the reports that wait.
pub struct Store {
    queue: Arc<StoreFifo>,
    counts: Arc<StoreCounts>,
    path: PathBuf,
    from_file: bool,
    clock: ReadClock,
    thread: Option<JoinHandle<()>>,
}

impl OpenedStore {
    /// Opens the file, or makes it. This comes before privileges are given up.
    pub fn open(settings: StoreSettings) -> Result<Self, StoreError> {
        let written_ns = file::written_ns(&settings.path);
        let (conn, lock) = file::open(&settings.path)?;
        let clock = RepairClock {
            now_ns: (settings.clock)().now_ns,
            written_ns,
        };
        repair::repair_alone(&conn, clock).map_err(|err| StoreError::of(&settings.path, &err))?;
        let queue = StoreFifo::new(settings.queue_bytes, settings.most_flows);
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

    /// Returns the pods that an earlier run left there.
    pub fn pods(&self) -> PodBook {
        pods::present(&self.conn).unwrap_or_default()
    }

    /// Returns the events of an earlier run since this time.
    pub fn events(&self, since_ns: u64) -> Vec<NetworkEvent> {
        let span = Span {
            since_ns,
            until_ns: u64::MAX,
        };
        events::read(&self.conn, span).unwrap_or_default()
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
            self.settings.clock,
        )
    }

    /// Starts the thread. This comes after privileges are given up, because each thread has its own.
    pub fn start(self, warn: Warn) -> Result<Store, StoreError> {
        let (queue, counts) = (self.queue, self.counts);
        let path = self.settings.path.clone();
        let (from_file, clock) = (self.settings.from_file, self.settings.clock);
        let file = StoreFile {
            conn: self.conn,
            id: self.id,
            lock: self.lock,
        };
        let writer = StoreWriter::new(file, self.settings, (queue.clone(), counts.clone()), warn);
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
            clock,
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
        StoreKeeper::new(
            self.queue.clone(),
            self.counts.clone(),
            self.from_file,
            self.clock,
        )
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
