//! What hosts report again and again of one thing while it lives: the newest report of each, until it is written.

use std::collections::HashMap;
use std::hash::Hash;
use std::marker::PhantomData;

use rusqlite::{Connection, Transaction};

use super::bounds::{BoundedTable, MOST_WAITING, RowsWritten};
use crate::model::NodeId;

/// A flow, an episode of a queue, a connection: its host reports the whole of it each time.
pub trait Living: Clone {
    /// Its name among all of its host. A thing that begins again has another one.
    type Name: Copy + Eq + Hash;

    fn name(&self) -> Self::Name;

    /// Grows with all that can be news of it.
    fn progress(&self) -> u64;
}

/// The newest report of each, and the time of its arrival.
#[derive(Debug)]
pub struct NewestReports<T: Living> {
    newest: HashMap<(NodeId, T::Name), (T, u64)>,
}

impl<T: Living> Default for NewestReports<T> {
    fn default() -> Self {
        Self {
            newest: HashMap::new(),
        }
    }
}

impl<T: Living> NewestReports<T> {
    pub fn is_empty(&self) -> bool {
        self.newest.is_empty()
    }

    pub fn len(&self) -> usize {
        self.newest.len()
    }

    /// Adds what a host reported, which arrived at `time_ns`. A report that is late has less, and one that is reported
    /// again has nothing new.
    pub fn add(&mut self, node: NodeId, told: &T, time_ns: u64) {
        let name = (node, told.name());
        let is_news = match self.newest.get(&name) {
            Some((known, _)) => known.progress() < told.progress(),
            None => self.newest.len() < MOST_WAITING,
        };
        if is_news {
            self.newest.insert(name, (told.clone(), time_ns));
        }
    }

    /// Adds all that another one has.
    pub fn merge(&mut self, other: Self) {
        for ((node, _), (told, time_ns)) in other.newest {
            self.add(node, &told, time_ns);
        }
    }

    /// Each with its host and the time of its arrival.
    pub fn iter(&self) -> impl Iterator<Item = (NodeId, &T, u64)> {
        let newest = self.newest.iter();
        newest.map(|((node, _), (told, time_ns))| (*node, told, *time_ns))
    }
}

/// A table with a row for each.
pub trait LifeTable: Living {
    const TABLE: BoundedTable;

    /// Creates the table if it is not there.
    fn create(conn: &Connection) -> rusqlite::Result<()>;

    /// Writes a row, unless there is one with more progress.
    fn put(&self, to: &Transaction<'_>, node: NodeId, time_ns: u64) -> rusqlite::Result<()>;
}

/// Writes rows, and removes the oldest.
#[derive(Debug)]
pub struct LivesWriter<T> {
    since_counted: RowsWritten,
    rows: PhantomData<T>,
}

impl<T> Default for LivesWriter<T> {
    fn default() -> Self {
        Self {
            since_counted: RowsWritten::default(),
            rows: PhantomData,
        }
    }
}

impl<T: LifeTable> LivesWriter<T> {
    /// Writes in one transaction, and removes rows that are older than `before_ns`.
    pub fn write(
        &mut self,
        conn: &mut Connection,
        newest: &NewestReports<T>,
        before_ns: u64,
    ) -> rusqlite::Result<()> {
        let transaction = conn.transaction()?;
        T::create(&transaction)?;
        for (node, told, time_ns) in newest.iter() {
            told.put(&transaction, node, time_ns)?;
        }
        T::TABLE.forget(&transaction, before_ns)?;
        if self.since_counted.add(newest.len()) {
            T::TABLE.shorten(&transaction)?;
        }
        transaction.commit()
    }
}
