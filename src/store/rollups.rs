//! The roll-ups in the writer's memory: rows that changed are kept there until a transaction ends.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use rusqlite::{Connection, OptionalExtension};

use super::path_sums::PathSums;
use super::period::{RollUpLevel, RollUpTable, subject_of};
use super::rollup_row::RollUpRow;
use super::sums::Sums;
use crate::model::NumberHash;

/// Periods are kept in memory for this time after their end.
const KEPT_NS: u64 = 20_000_000_000;

/// Finds the next ten seconds with reports, or with packets of paths, of which there may be no report.
const NEXT_KEY: &str = "SELECT min(key) FROM (SELECT min(key) AS key FROM class_10s WHERE key >= ?1
     UNION ALL SELECT min(key) FROM segment_10s WHERE key >= ?1)";

/// The rows of one table.
#[derive(Debug)]
struct Rows<R> {
    table: RollUpTable,
    level: RollUpLevel,
    /// By their key; true: the row changed, and its key is among those that changed.
    rows: HashMap<i64, (R, bool), NumberHash>,
    changed: Vec<i64>,
    /// The key of the last row.
    last: Option<i64>,
    /// Rows that ended at this time or before were forgotten.
    forgotten_ns: u64,
    /// From this time on all rows are in memory.
    new_from_ns: u64,
}

/// The rows of all tables.
#[derive(Debug)]
pub struct RollUps {
    tables: Vec<Rows<Sums>>,
    paths: Vec<Rows<PathSums>>,
    /// Minutes and hours include all periods that ended before this time.
    rolled_ns: u64,
    newest_ns: u64,
}

impl<R: RollUpRow> Rows<R> {
    fn open(conn: &Connection, table: RollUpTable, level: RollUpLevel) -> rusqlite::Result<Self> {
        let name = table.name(level);
        let last = conn.query_row(&format!("SELECT max(key) FROM {name}"), [], |row| {
            row.get::<_, Option<i64>>(0)
        })?;
        Ok(Self {
            table,
            level,
            rows: HashMap::default(),
            changed: Vec::new(),
            last: None,
            forgotten_ns: 0,
            new_from_ns: last.map_or(0, |key| level.begin_of(key) + level.ns()),
        })
    }

    /// Returns the row of a subject at a time, and marks it as changed.
    fn at(&mut self, conn: &Connection, time_ns: u64, subject: i64) -> rusqlite::Result<&mut R> {
        let key = self.level.key(time_ns, subject);
        let (sums, is_changed) = match self.rows.entry(key) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(vacant) => {
                let stored = if time_ns < self.new_from_ns {
                    R::stored(conn, self.table.name(self.level), key)?
                } else {
                    None
                };
                self.last = self.last.max(Some(key));
                vacant.insert((stored.unwrap_or_default(), false))
            }
        };
        if !*is_changed {
            *is_changed = true;
            self.changed.push(key);
        }
        Ok(sums)
    }

    /// Writes the rows that changed, and forgets periods that ended by a time.
    fn write(&mut self, conn: &Connection, keep_ns: u64) -> rusqlite::Result<()> {
        // Rows are written in their order in the file.
        self.changed.sort_unstable();
        let mut put = conn.prepare_cached(&R::put(self.table.name(self.level)))?;
        let mut bytes = R::Bytes::default();
        for key in self.changed.drain(..) {
            if let Some((sums, is_changed)) = self.rows.get_mut(&key) {
                sums.write(key, &mut put, &mut bytes)?;
                *is_changed = false;
            }
        }
        let level = self.level;
        let end_of = |key: i64| level.begin_of(key) + level.ns();
        if let Some(last) = self.last.map(end_of) {
            // Periods that are forgotten may have rows in the file now.
            let forgotten_ns = last.min(level.ceil(keep_ns));
            self.new_from_ns = self.new_from_ns.max(forgotten_ns);
            if forgotten_ns == last {
                self.rows.clear();
                self.last = None;
            } else if forgotten_ns > self.forgotten_ns {
                self.rows.retain(|key, _| end_of(*key) > forgotten_ns);
            }
            self.forgotten_ns = forgotten_ns;
        }
        Ok(())
    }
}

impl RollUps {
    /// Reads the state of the store's roll-ups.
    pub fn open(conn: &Connection) -> rusqlite::Result<Self> {
        let (mut tables, mut paths) = (Vec::new(), Vec::new());
        for level in RollUpLevel::EACH {
            for table in RollUpTable::OF_REPORTS {
                tables.push(Rows::open(conn, table, level)?);
            }
            for table in RollUpTable::OF_PATHS {
                paths.push(Rows::open(conn, table, level)?);
            }
        }
        Ok(Self {
            tables,
            paths,
            rolled_ns: fact(conn, "rolled_ns")?,
            newest_ns: fact(conn, "newest_ns")?,
        })
    }

    pub fn newest_ns(&self) -> u64 {
        self.newest_ns
    }

    /// The levels in which reports of a time count, the coarsest first: minutes and hours, too, if the reports are late.
    fn levels(&self, time_ns: u64) -> impl Iterator<Item = RollUpLevel> + use<> {
        let late = RollUpLevel::Minute.floor(time_ns) < self.rolled_ns;
        let count = if late { RollUpLevel::EACH.len() } else { 1 };
        RollUpLevel::EACH.into_iter().take(count).rev()
    }

    /// Changes the rows that reports of a time count in.
    pub fn change(
        &mut self,
        conn: &Connection,
        time_ns: u64,
        (table, subject): (RollUpTable, i64),
        mut change: impl FnMut(&mut Sums),
    ) -> rusqlite::Result<()> {
        for level in self.levels(time_ns) {
            if let Some(rows) = rows_of(&mut self.tables, table, level) {
                change(rows.at(conn, time_ns, subject)?);
            }
        }
        Ok(())
    }

    /// Changes the rows that the packets of a path count in, in the same way.
    pub fn change_path(
        &mut self,
        conn: &Connection,
        time_ns: u64,
        (table, subject): (RollUpTable, i64),
        mut change: impl FnMut(&mut PathSums),
    ) -> rusqlite::Result<()> {
        for level in self.levels(time_ns) {
            if let Some(rows) = rows_of(&mut self.paths, table, level) {
                change(rows.at(conn, time_ns, subject)?);
            }
        }
        Ok(())
    }

    /// Records the time of the newest report. What is ahead of `until_ns` moves no mark if there are reports before that,
    /// in this transaction or earlier: most clocks are right.
    pub fn reach(&mut self, newest_ns: u64, is_any_before: bool, until_ns: u64) {
        let is_known = self.newest_ns > 0 && self.newest_ns <= until_ns;
        let most_ns = if is_known || is_any_before {
            until_ns
        } else {
            u64::MAX
        };
        self.newest_ns = self.newest_ns.max(newest_ns.min(most_ns));
    }

    /// Adds the sums of reports in the same ten seconds.
    pub fn add(
        &mut self,
        conn: &Connection,
        time_ns: u64,
        place: (RollUpTable, i64),
        more: &Sums,
    ) -> rusqlite::Result<()> {
        self.change(conn, time_ns, place, |sums| sums.merge(more))
    }

    /// Adds packets out of order that a summary told of.
    pub fn add_reordered(
        &mut self,
        conn: &Connection,
        time_ns: u64,
        place: (RollUpTable, i64),
        more: u64,
    ) -> rusqlite::Result<()> {
        self.change(conn, time_ns, place, |sums| sums.reordered += more)
    }

    /// Records a single report of a subject. Returns the id of the one before it in the same ten seconds, or 0.
    pub fn single(
        &mut self,
        conn: &Connection,
        time_ns: u64,
        place: (RollUpTable, i64),
        id: i64,
    ) -> rusqlite::Result<i64> {
        let mut before = 0;
        self.change(conn, time_ns, place, |sums| {
            // The row of ten seconds comes last.
            before = sums.last_id;
            sums.single(id);
        })?;
        Ok(before)
    }

    /// Writes all rows that changed, and rolls up the minutes that are over.
    pub fn write(&mut self, conn: &Connection) -> rusqlite::Result<()> {
        let keep_ns = self.newest_ns.saturating_sub(KEPT_NS);
        let kept_ns = |level, ten_seconds_ns| match level {
            RollUpLevel::TenSeconds => ten_seconds_ns,
            _ => u64::MAX,
        };
        for rows in &mut self.tables {
            rows.write(conn, kept_ns(rows.level, keep_ns))?;
        }
        // Those of many paths come when they are complete, and would take much memory.
        let of_paths_ns = (self.newest_ns).saturating_sub(RollUpLevel::TenSeconds.ns());
        for rows in &mut self.paths {
            rows.write(conn, kept_ns(rows.level, of_paths_ns))?;
        }
        self.roll(conn, RollUpLevel::Minute.floor(keep_ns))?;
        set_fact(conn, "rolled_ns", self.rolled_ns)?;
        set_fact(conn, "newest_ns", self.newest_ns)
    }

    /// Adds the ten seconds before a time to minutes and hours.
    fn roll(&mut self, conn: &Connection, until_ns: u64) -> rusqlite::Result<()> {
        while self.rolled_ns < until_ns {
            let first = RollUpLevel::TenSeconds.key(self.rolled_ns, 0);
            let next: Option<i64> = conn
                .prepare_cached(NEXT_KEY)?
                .query_row([first], |row| row.get(0))?;
            let begin_ns = next.map_or(until_ns, |key| {
                RollUpLevel::Minute.floor(RollUpLevel::TenSeconds.begin_of(key))
            });
            if begin_ns >= until_ns {
                self.rolled_ns = until_ns;
                break;
            }
            for table in RollUpTable::OF_REPORTS {
                roll_minute(conn, &mut self.tables, table, begin_ns)?;
            }
            for table in RollUpTable::OF_PATHS {
                roll_minute(conn, &mut self.paths, table, begin_ns)?;
            }
            self.rolled_ns = begin_ns + RollUpLevel::Minute.ns();
        }
        Ok(())
    }
}

fn rows_of<R>(
    tables: &mut [Rows<R>],
    table: RollUpTable,
    level: RollUpLevel,
) -> Option<&mut Rows<R>> {
    let wanted = (table, level);
    let mut tables = tables.iter_mut();
    tables.find(|rows| (rows.table, rows.level) == wanted)
}

/// Adds the ten seconds of a minute to minutes and hours.
fn roll_minute<R: RollUpRow>(
    conn: &Connection,
    tables: &mut [Rows<R>],
    table: RollUpTable,
    begin_ns: u64,
) -> rusqlite::Result<()> {
    let name = table.name(RollUpLevel::TenSeconds);
    let mut all = conn.prepare_cached(&R::range(name))?;
    let key = |time_ns| RollUpLevel::TenSeconds.key(time_ns, 0);
    let keys = (key(begin_ns), key(begin_ns + RollUpLevel::Minute.ns()));
    let mut sums: HashMap<i64, R> = HashMap::new();
    R::each_of(&mut all, keys, |key, one| {
        let subject = R::subject(subject_of(key));
        sums.entry(subject).or_default().merge(&one);
    })?;
    for level in [RollUpLevel::Minute, RollUpLevel::Hour] {
        let Some(rows) = rows_of(tables, table, level) else {
            continue;
        };
        for (subject, one) in &sums {
            rows.at(conn, begin_ns, *subject)?.merge(one);
        }
        rows.write(conn, u64::MAX)?;
    }
    Ok(())
}

pub fn fact(conn: &Connection, name: &str) -> rusqlite::Result<u64> {
    let mut find = conn.prepare_cached("SELECT value FROM fact WHERE name = ?")?;
    let found = find.query_row([name], |row| row.get::<_, i64>(0));
    Ok(found.optional()?.unwrap_or(0) as u64)
}

pub fn set_fact(conn: &Connection, name: &str, value: u64) -> rusqlite::Result<()> {
    conn.prepare_cached("INSERT OR REPLACE INTO fact VALUES (?, ?)")?
        .execute((name, value.min(i64::MAX as u64) as i64))?;
    Ok(())
}
