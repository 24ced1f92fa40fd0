//! The roll-ups in the writer's memory: rows that changed are kept there until a transaction ends.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use rusqlite::{Connection, OptionalExtension};

use super::period::{RollUpLevel, RollUpTable, subject_of};
use super::sums::{COLUMNS, PARAMETERS, Sums};
use crate::model::NumberHash;

/// Periods are kept in memory for this time after their end.
const KEPT_NS: u64 = 20_000_000_000;

/// Finds the next ten seconds with reports, or with packets of paths, of which there may be no report.
const NEXT_KEY: &str = "SELECT min(key) FROM (SELECT min(key) AS key FROM class_10s WHERE key >= ?1
     UNION ALL SELECT min(key) FROM segment_10s WHERE key >= ?1)";

/// The rows of one table.
#[derive(Debug)]
struct Rows {
    table: RollUpTable,
    level: RollUpLevel,
    /// By their key; true: the row changed, and its key is among those that changed.
    rows: HashMap<i64, (Sums, bool), NumberHash>,
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
    tables: Vec<Rows>,
    /// Minutes and hours include all periods that ended before this time.
    rolled_ns: u64,
    newest_ns: u64,
}

impl Rows {
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
    fn at(&mut self, conn: &Connection, time_ns: u64, subject: i64) -> rusqlite::Result<&mut Sums> {
        let key = self.level.key(time_ns, subject);
        let (sums, is_changed) = match self.rows.entry(key) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(vacant) => {
                let stored = if time_ns < self.new_from_ns {
                    read(conn, self.table, self.level, key)?
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
        let mut put = conn.prepare_cached(&format!(
            "INSERT OR REPLACE INTO {} (key, {COLUMNS}) VALUES ({PARAMETERS})",
            self.table.name(self.level)
        ))?;
        let (mut latency, mut measured_latency) = (Vec::new(), Vec::new());
        for key in self.changed.drain(..) {
            let Some((sums, is_changed)) = self.rows.get_mut(&key) else {
                continue;
            };
            latency.clear();
            sums.latency.encode(&mut latency);
            measured_latency.clear();
            let measured = &sums.measured;
            let corrected = &measured.corrected;
            measured.latency.encode(&mut measured_latency);
            put.execute(rusqlite::params![
                key,
                sums.reports as i64,
                sums.packets as i64,
                sums.lost as i64,
                sums.reordered as i64,
                sums.summaries as i64,
                sums.first_id,
                sums.last_id,
                &latency,
                measured.summaries as i64,
                measured.packets as i64,
                measured.bytes as i64,
                measured.lost as i64,
                measured.recovered as i64,
                measured.reordered as i64,
                measured.duplicates as i64,
                &measured_latency,
                corrected.packets as i64,
                corrected.latency_ns,
                corrected.error_ns as i64,
                corrected.less_ns as i64,
                corrected.more_ns as i64,
            ])?;
            *is_changed = false;
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

fn read(
    conn: &Connection,
    table: RollUpTable,
    level: RollUpLevel,
    key: i64,
) -> rusqlite::Result<Option<Sums>> {
    let name = table.name(level);
    let mut find = conn.prepare_cached(&format!("SELECT {COLUMNS} FROM {name} WHERE key = ?"))?;
    find.query_row([key], |row| Sums::read(row, 0)).optional()
}

impl RollUps {
    /// Reads the state of the store's roll-ups.
    pub fn open(conn: &Connection) -> rusqlite::Result<Self> {
        let mut tables = Vec::new();
        for level in RollUpLevel::EACH {
            for table in RollUpTable::EACH {
                tables.push(Rows::open(conn, table, level)?);
            }
        }
        Ok(Self {
            tables,
            rolled_ns: fact(conn, "rolled_ns")?,
            newest_ns: fact(conn, "newest_ns")?,
        })
    }

    pub fn newest_ns(&self) -> u64 {
        self.newest_ns
    }

    fn rows(&mut self, table: RollUpTable, level: RollUpLevel) -> Option<&mut Rows> {
        self.tables
            .iter_mut()
            .find(|rows| (rows.table, rows.level) == (table, level))
    }

    /// Changes the rows that reports of a time count in. If the reports are late, minutes and hours are corrected too.
    pub fn change(
        &mut self,
        conn: &Connection,
        time_ns: u64,
        (table, subject): (RollUpTable, i64),
        mut change: impl FnMut(&mut Sums),
    ) -> rusqlite::Result<()> {
        let late = RollUpLevel::Minute.floor(time_ns) < self.rolled_ns;
        // The coarsest level comes first.
        let levels = if late {
            &RollUpLevel::EACH[..]
        } else {
            &RollUpLevel::EACH[..1]
        };
        for level in levels.iter().rev() {
            if let Some(rows) = self.rows(table, *level) {
                change(rows.at(conn, time_ns, subject)?);
            }
        }
        Ok(())
    }

    /// Records the time of the newest report.
    pub fn reaches(&mut self, time_ns: u64) {
        self.newest_ns = self.newest_ns.max(time_ns);
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
        for rows in &mut self.tables {
            let keep_ns = match rows.level {
                // Those of many paths come when they are complete, and would take much memory.
                RollUpLevel::TenSeconds if RollUpTable::OF_PATHS.contains(&rows.table) => {
                    self.newest_ns.saturating_sub(rows.level.ns())
                }
                RollUpLevel::TenSeconds => keep_ns,
                _ => u64::MAX,
            };
            rows.write(conn, keep_ns)?;
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
            for table in RollUpTable::EACH {
                self.roll_minute(conn, table, begin_ns)?;
            }
            self.rolled_ns = begin_ns + RollUpLevel::Minute.ns();
        }
        Ok(())
    }

    fn roll_minute(
        &mut self,
        conn: &Connection,
        table: RollUpTable,
        begin_ns: u64,
    ) -> rusqlite::Result<()> {
        let name = table.name(RollUpLevel::TenSeconds);
        let mut all = conn.prepare_cached(&format!(
            "SELECT key, {COLUMNS} FROM {name} WHERE key >= ? AND key < ?"
        ))?;
        let key = |time_ns| RollUpLevel::TenSeconds.key(time_ns, 0);
        let mut rows = all.query((key(begin_ns), key(begin_ns + RollUpLevel::Minute.ns())))?;
        let mut sums: HashMap<i64, Sums> = HashMap::new();
        while let Some(row) = rows.next()? {
            let one = Sums::read(row, 1)?;
            sums.entry(subject_of(row.get(0)?)).or_default().merge(&one);
        }
        for level in [RollUpLevel::Minute, RollUpLevel::Hour] {
            let Some(rows) = self.rows(table, level) else {
                continue;
            };
            for (subject, one) in &sums {
                rows.at(conn, begin_ns, *subject)?.merge(one);
            }
            rows.write(conn, u64::MAX)?;
        }
        Ok(())
    }
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
