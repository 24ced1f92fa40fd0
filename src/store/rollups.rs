//! Roll-ups as the writer has them: rows that changed, in memory until a transaction ends.

use std::collections::HashMap;

use rusqlite::{Connection, OptionalExtension};

use super::period::{Level, Table, subject_of};
use super::sums::{COLUMNS, Sums};

/// Periods that ended longer ago are not kept in memory.
const KEPT_NS: u64 = 20_000_000_000;

/// Rows of one table.
#[derive(Debug)]
struct Rows {
    table: Table,
    level: Level,
    rows: HashMap<i64, (Sums, bool)>,
    /// From this time on there are no rows but those here.
    new_from_ns: u64,
}

/// All tables.
#[derive(Debug)]
pub struct RollUps {
    tables: Vec<Rows>,
    /// Minutes and hours have all that ended before.
    rolled_ns: u64,
    newest_ns: u64,
}

impl Rows {
    fn open(conn: &Connection, table: Table, level: Level) -> rusqlite::Result<Self> {
        let name = table.name(level);
        let last = conn.query_row(&format!("SELECT max(key) FROM {name}"), [], |row| {
            row.get::<_, Option<i64>>(0)
        })?;
        Ok(Self {
            table,
            level,
            rows: HashMap::new(),
            new_from_ns: last.map_or(0, |key| level.begin_of(key) + level.ns()),
        })
    }

    /// The row of a subject at a time, about to change.
    fn at(&mut self, conn: &Connection, time_ns: u64, subject: i64) -> rusqlite::Result<&mut Sums> {
        let key = self.level.key(time_ns, subject);
        if let std::collections::hash_map::Entry::Vacant(vacant) = self.rows.entry(key) {
            let stored = match time_ns < self.new_from_ns {
                true => read(conn, self.table, self.level, key)?,
                false => None,
            };
            vacant.insert((stored.unwrap_or_default(), true));
        }
        let row = self.rows.entry(key).or_default();
        row.1 = true;
        Ok(&mut row.0)
    }

    /// Writes what changed, and forgets periods before a time.
    fn write(&mut self, conn: &Connection, keep_ns: u64) -> rusqlite::Result<()> {
        let changed = self.rows.iter_mut().filter(|(_, row)| row.1);
        let mut changed: Vec<_> = changed.collect();
        // In their order in the file.
        changed.sort_unstable_by_key(|(key, _)| **key);
        let mut put = conn.prepare_cached(&format!(
            "INSERT OR REPLACE INTO {} (key, {COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            self.table.name(self.level)
        ))?;
        let mut bytes = Vec::new();
        for (key, (sums, changed)) in changed {
            bytes.clear();
            sums.latency.encode(&mut bytes);
            put.execute((
                key,
                sums.reports as i64,
                sums.packets as i64,
                sums.lost as i64,
                sums.reordered as i64,
                sums.summaries as i64,
                sums.first_id,
                sums.last_id,
                &bytes,
            ))?;
            *changed = false;
        }
        let level = self.level;
        let end_of = |key: i64| level.begin_of(key) + level.ns();
        if let Some(last) = self.rows.keys().map(|key| end_of(*key)).max() {
            // What is forgotten may have rows now.
            let forgotten = last.min(level.ceil(keep_ns));
            self.new_from_ns = self.new_from_ns.max(forgotten);
            self.rows.retain(|key, _| end_of(*key) > forgotten);
        }
        Ok(())
    }
}

fn read(conn: &Connection, table: Table, level: Level, key: i64) -> rusqlite::Result<Option<Sums>> {
    let name = table.name(level);
    let mut find = conn.prepare_cached(&format!("SELECT {COLUMNS} FROM {name} WHERE key = ?"))?;
    find.query_row([key], |row| Sums::read(row, 0)).optional()
}

impl RollUps {
    /// As the store has them.
    pub fn open(conn: &Connection) -> rusqlite::Result<Self> {
        let mut tables = Vec::new();
        for level in Level::EACH {
            for table in Table::EACH {
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

    fn rows(&mut self, table: Table, level: Level) -> Option<&mut Rows> {
        let mut tables = self.tables.iter_mut();
        tables.find(|rows| (rows.table, rows.level) == (table, level))
    }

    /// The rows that reports of a time change: what was rolled up is mended too, if they are late.
    fn each(
        &mut self,
        conn: &Connection,
        time_ns: u64,
        (table, subject): (Table, i64),
        mut change: impl FnMut(&mut Sums),
    ) -> rusqlite::Result<()> {
        let late = Level::Minute.floor(time_ns) < self.rolled_ns;
        // Coarser ones first.
        let levels = if late {
            &Level::EACH[..]
        } else {
            &Level::EACH[..1]
        };
        for level in levels.iter().rev() {
            if let Some(rows) = self.rows(table, *level) {
                change(rows.at(conn, time_ns, subject)?);
            }
        }
        Ok(())
    }

    /// The newest report's time.
    pub fn reaches(&mut self, time_ns: u64) {
        self.newest_ns = self.newest_ns.max(time_ns);
    }

    /// Adds what reports of the same ten seconds say.
    pub fn add(
        &mut self,
        conn: &Connection,
        time_ns: u64,
        place: (Table, i64),
        more: &Sums,
    ) -> rusqlite::Result<()> {
        self.each(conn, time_ns, place, |sums| sums.merge(more))
    }

    /// Adds to what summaries said.
    pub fn add_reordered(
        &mut self,
        conn: &Connection,
        time_ns: u64,
        place: (Table, i64),
        more: u64,
    ) -> rusqlite::Result<()> {
        self.each(conn, time_ns, place, |sums| sums.reordered += more)
    }

    /// A report of a subject is stored by itself: says which was the one before it in the same ten seconds, or 0.
    pub fn single(
        &mut self,
        conn: &Connection,
        time_ns: u64,
        place: (Table, i64),
        id: i64,
    ) -> rusqlite::Result<i64> {
        let mut before = 0;
        self.each(conn, time_ns, place, |sums| {
            // That of the ten seconds comes last.
            before = sums.last_id;
            sums.single(id);
        })?;
        Ok(before)
    }

    /// Writes everything that changed, and rolls up the minutes that are over.
    pub fn write(&mut self, conn: &Connection) -> rusqlite::Result<()> {
        let keep_ns = self.newest_ns.saturating_sub(KEPT_NS);
        for rows in &mut self.tables {
            let keep_ns = match rows.level {
                Level::TenSeconds => keep_ns,
                _ => u64::MAX,
            };
            rows.write(conn, keep_ns)?;
        }
        self.roll(conn, Level::Minute.floor(keep_ns))?;
        set_fact(conn, "rolled_ns", self.rolled_ns)?;
        set_fact(conn, "newest_ns", self.newest_ns)
    }

    /// Makes minutes and hours of the ten seconds before a time.
    fn roll(&mut self, conn: &Connection, until_ns: u64) -> rusqlite::Result<()> {
        while self.rolled_ns < until_ns {
            let first = Level::TenSeconds.key(self.rolled_ns, 0);
            let next: Option<i64> = conn
                .prepare_cached("SELECT min(key) FROM class_10s WHERE key >= ?")?
                .query_row([first], |row| row.get(0))?;
            let begin_ns = next.map_or(until_ns, |key| {
                Level::Minute.floor(Level::TenSeconds.begin_of(key))
            });
            if begin_ns >= until_ns {
                self.rolled_ns = until_ns;
                break;
            }
            for table in Table::EACH {
                self.roll_minute(conn, table, begin_ns)?;
            }
            self.rolled_ns = begin_ns + Level::Minute.ns();
        }
        Ok(())
    }

    fn roll_minute(
        &mut self,
        conn: &Connection,
        table: Table,
        begin_ns: u64,
    ) -> rusqlite::Result<()> {
        let name = table.name(Level::TenSeconds);
        let mut all = conn.prepare_cached(&format!(
            "SELECT key, {COLUMNS} FROM {name} WHERE key >= ? AND key < ?"
        ))?;
        let key = |time_ns| Level::TenSeconds.key(time_ns, 0);
        let mut rows = all.query((key(begin_ns), key(begin_ns + Level::Minute.ns())))?;
        let mut sums: HashMap<i64, Sums> = HashMap::new();
        while let Some(row) = rows.next()? {
            let one = Sums::read(row, 1)?;
            sums.entry(subject_of(row.get(0)?)).or_default().merge(&one);
        }
        for level in [Level::Minute, Level::Hour] {
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
