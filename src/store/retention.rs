//! What is old goes, a slice with each transaction, and its room is given back.

use rusqlite::{Connection, OptionalExtension};

use super::period::{Level, Table};

/// Rows that a transaction takes away at least, if so many are to go.
const SLICE: u64 = 20_000;

/// Pages given back in a transaction.
const PAGES: u64 = 4096;

/// How long and how much is kept.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Limits {
    pub raw_ns: u64,
    pub ten_seconds_ns: u64,
    pub minutes_ns: u64,
    pub hours_ns: u64,
    /// Of the file and its log, about.
    pub bytes: u64,
}

impl Limits {
    fn kept_ns(&self, level: Level) -> u64 {
        match level {
            Level::TenSeconds => self.ten_seconds_ns,
            Level::Minute => self.minutes_ns,
            Level::Hour => self.hours_ns,
        }
    }

    /// Takes away what is too old or too much, about as fast as it comes, and says whether flows were forgotten.
    pub fn enforce(&self, conn: &Connection, now_ns: u64, written: u64) -> rusqlite::Result<bool> {
        let slice = SLICE.max(written.saturating_mul(4));
        let hour = Level::Hour.floor(now_ns);
        drop_reports(conn, now_ns.saturating_sub(self.raw_ns), slice)?;
        for level in Level::EACH {
            let before_ns = level.floor(now_ns.saturating_sub(self.kept_ns(level)));
            for table in Table::EACH {
                drop_rows(conn, table, level, level.key(before_ns, 0), slice)?;
            }
        }
        let room = self.bytes - (self.bytes / 8).min(64 << 20);
        if used_bytes(conn)? > room {
            self.drop_oldest(conn, slice)?;
        }
        give_back(conn)?;
        let before = hour.saturating_sub(self.hours_ns).min(i64::MAX as u64) as i64;
        // Once an hour is often enough for what takes a look at every flow.
        if before <= 0 || super::rollups::fact(conn, "forgot_ns")? >= before as u64 {
            return Ok(false);
        }
        super::rollups::set_fact(conn, "forgot_ns", before as u64)?;
        let gone = conn.execute("DELETE FROM flow WHERE until_ns <= ?", [before])?;
        Ok(gone > 0)
    }

    /// Makes room: single reports go first, then the finest roll-ups.
    fn drop_oldest(&self, conn: &Connection, slice: u64) -> rusqlite::Result<()> {
        if drop_reports(conn, u64::MAX, slice)? {
            return Ok(());
        }
        for level in Level::EACH {
            let newest: Option<i64> = conn.query_row(
                &format!("SELECT max(key) FROM {}", Table::Class.name(level)),
                [],
                |row| row.get(0),
            )?;
            // The newest period is still written to.
            let Some(newest) = newest else { continue };
            let before = level.key(level.begin_of(newest), 0);
            let mut some = false;
            for table in Table::EACH {
                some |= drop_rows(conn, table, level, before, slice)?;
            }
            if some {
                return Ok(());
            }
        }
        Ok(())
    }
}

/// Takes away at most so many of the first reports, as long as they are older; whether any went.
fn drop_reports(conn: &Connection, before_ns: u64, slice: u64) -> rusqlite::Result<bool> {
    let first: Option<i64> = conn
        .prepare_cached("SELECT min(id) FROM report")?
        .query_row([], |row| row.get(0))?;
    let Some(first) = first else {
        return Ok(false);
    };
    let mut at = conn.prepare_cached("SELECT time_ns FROM report WHERE id = ?")?;
    let mut count = i64::try_from(slice).unwrap_or(i64::MAX / 2);
    let last: i64 = conn
        .prepare_cached("SELECT max(id) FROM report")?
        .query_row([], |row| row.get(0))?;
    // They are about in order of time: half as many, if the last of so many is too young.
    while count > 0 {
        let end = (first + count - 1).min(last);
        let time: Option<i64> = at.query_row([end], |row| row.get(0)).optional()?;
        if time.is_some_and(|time| (time as u64) < before_ns) {
            conn.prepare_cached("DELETE FROM report WHERE id <= ?")?
                .execute([end])?;
            return Ok(true);
        }
        count = (end - first + 1) / 2;
    }
    Ok(false)
}

/// Takes away at most about so many of the rows before a key; whether any went.
fn drop_rows(
    conn: &Connection,
    table: Table,
    level: Level,
    before: i64,
    slice: u64,
) -> rusqlite::Result<bool> {
    let name = table.name(level);
    let end: Option<i64> = conn
        .prepare_cached(&format!(
            "SELECT key FROM {name} WHERE key < ? ORDER BY key LIMIT 1 OFFSET ?"
        ))?
        .query_row((before, slice as i64), |row| row.get(0))
        .optional()?;
    let gone = conn
        .prepare_cached(&format!("DELETE FROM {name} WHERE key < ?"))?
        .execute([end.unwrap_or(before)])?;
    Ok(gone > 0)
}

fn pragma(conn: &Connection, name: &str) -> rusqlite::Result<u64> {
    let sql = format!("PRAGMA {name}");
    let value: i64 = conn.prepare_cached(&sql)?.query_row([], |row| row.get(0))?;
    Ok(value as u64)
}

/// What the file holds, free pages not counted: they are used before it grows.
fn used_bytes(conn: &Connection) -> rusqlite::Result<u64> {
    let pages = pragma(conn, "page_count")? - pragma(conn, "freelist_count")?;
    Ok(pages * pragma(conn, "page_size")?)
}

/// Shortens the file if more than a quarter of it is free.
fn give_back(conn: &Connection) -> rusqlite::Result<()> {
    let (pages, free) = (pragma(conn, "page_count")?, pragma(conn, "freelist_count")?);
    if free > PAGES / 16 && free > pages / 4 {
        let mut vacuum = conn.prepare_cached(&format!("PRAGMA incremental_vacuum({PAGES})"))?;
        let mut steps = vacuum.query([])?;
        while steps.next()?.is_some() {}
    }
    Ok(())
}
