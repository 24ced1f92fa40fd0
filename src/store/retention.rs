//! The retention of the history: old rows are removed, a slice with each transaction, and their room is given back.

use rusqlite::{Connection, OptionalExtension};

use super::bounds::BoundedTable;
use super::period::{RollUpLevel, RollUpTable};
use super::rollups::{fact, set_fact};
use super::{connections, drops, paths, pods};

/// The least number of rows that a transaction removes, if there are as many to remove.
const SLICE: u64 = 20_000;

/// An upper bound for the bytes of most rows. Those of paths are the longest.
const ROW_BYTES: u64 = 1024;

/// The most pages that are given back in a transaction.
const PAGES: u64 = 4096;

/// The limits of the history: how long rows are kept, and how large the file gets.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct StoreLimits {
    pub raw_ns: u64,
    pub ten_seconds_ns: u64,
    pub minutes_ns: u64,
    pub hours_ns: u64,
    /// The approximate size of the file and its log.
    pub bytes: u64,
}

impl StoreLimits {
    fn kept_ns(&self, level: RollUpLevel) -> u64 {
        match level {
            RollUpLevel::TenSeconds => self.ten_seconds_ns,
            RollUpLevel::Minute => self.minutes_ns,
            RollUpLevel::Hour => self.hours_ns,
        }
    }

    /// Removes rows that are too old or too many, about as fast as new ones come. Without a time that can be trusted, none
    /// is too old. Returns true if flows were forgotten.
    pub fn enforce(
        &self,
        conn: &Connection,
        now_ns: Option<u64>,
        written: u64,
    ) -> rusqlite::Result<bool> {
        let slice = SLICE.max(written.saturating_mul(4));
        if let Some(now_ns) = now_ns {
            self.drop_old(conn, now_ns, slice)?;
        }
        let room = self.bytes - (self.bytes / 8).min(64 << 20);
        let mut left = slice;
        while left > 0 {
            let over = used_bytes(conn)?.saturating_sub(room);
            if over == 0 {
                break;
            }
            // Most rows are shorter than that, so not more rows than necessary are removed.
            let gone = drop_oldest(conn, left.min(over / ROW_BYTES + 100))?;
            if gone == 0 {
                break;
            }
            left = left.saturating_sub(gone);
        }
        give_back(conn, self.bytes)?;
        let Some(now_ns) = now_ns else {
            return Ok(false);
        };
        let hour = RollUpLevel::Hour.floor(now_ns);
        let before = hour.saturating_sub(self.hours_ns).min(i64::MAX as u64) as i64;
        // This scans all flows, so it is done once an hour.
        if before <= 0 || fact(conn, "forgot_ns")? >= before as u64 {
            return Ok(false);
        }
        set_fact(conn, "forgot_ns", before as u64)?;
        let paths = paths::forget(conn, before)?;
        let gone = paths + conn.execute("DELETE FROM flow WHERE until_ns <= ?", [before])?;
        Ok(gone > 0)
    }

    fn drop_old(&self, conn: &Connection, now_ns: u64, slice: u64) -> rusqlite::Result<()> {
        drop_reports(conn, now_ns.saturating_sub(self.raw_ns), slice)?;
        for level in RollUpLevel::EACH {
            let before_ns = level.floor(now_ns.saturating_sub(self.kept_ns(level)));
            let before_ns = before_ns.min(droppable(conn, level)?);
            for table in RollUpTable::EACH {
                drop_rows(conn, table, level, level.key(before_ns, 0), slice)?;
            }
        }
        Ok(())
    }
}

/// Makes room by removing single reports first, then what is as fine as ten seconds, then minutes and hours. Returns the
/// number of removed rows.
fn drop_oldest(conn: &Connection, slice: u64) -> rusqlite::Result<u64> {
    let mut gone = drop_reports(conn, u64::MAX, slice)?;
    if gone < slice {
        gone += drop_finest(conn, slice - gone)?;
    }
    // Rows of coarser levels stay while there are finer ones.
    if gone > 0 {
        return Ok(gone);
    }
    for level in [RollUpLevel::Minute, RollUpLevel::Hour] {
        let before = level.key(droppable(conn, level)?, 0);
        for table in RollUpTable::EACH {
            if gone < slice {
                gone += drop_rows(conn, table, level, before, slice - gone)?;
            }
        }
    }
    Ok(gone)
}

/// Removes roll-ups of ten seconds, drops and connections of the oldest hour of which there are any.
fn drop_finest(conn: &Connection, slice: u64) -> rusqlite::Result<u64> {
    let level = RollUpLevel::TenSeconds;
    let rolled_ns = droppable(conn, level)?;
    let mut oldest_ns = u64::MAX;
    for table in RollUpTable::EACH {
        let first: Option<i64> = conn
            .prepare_cached(&format!("SELECT min(key) FROM {}", table.name(level)))?
            .query_row([], |row| row.get(0))?;
        let first = first.map(|key| level.begin_of(key));
        oldest_ns = oldest_ns.min(first.filter(|ns| *ns < rolled_ns).unwrap_or(u64::MAX));
    }
    let mut bounded: Vec<BoundedTable> = Vec::new();
    for table in (drops::TABLES.into_iter().chain(connections::TABLES)).chain([pods::TABLE]) {
        if table.exists(conn)? {
            oldest_ns = oldest_ns.min(table.oldest_ns(conn)?.unwrap_or(u64::MAX));
            bounded.push(table);
        }
    }
    let until_ns = oldest_ns.saturating_add(RollUpLevel::Hour.ns());
    let mut gone = 0;
    for table in bounded {
        if gone < slice {
            gone += table.drop_oldest(conn, until_ns, slice - gone)?;
        }
    }
    let before = level.key(rolled_ns.min(until_ns), 0);
    for table in RollUpTable::EACH {
        if gone < slice {
            gone += drop_rows(conn, table, level, before, slice - gone)?;
        }
    }
    Ok(gone)
}

/// Returns the time before which rows of a level may be removed: later ones are not in the coarser levels yet, or still
/// change.
fn droppable(conn: &Connection, level: RollUpLevel) -> rusqlite::Result<u64> {
    let rolled_ns = fact(conn, "rolled_ns")?;
    Ok(level.floor(rolled_ns))
}

/// Removes at most `slice` of the first reports if they are older than a time. Returns the number of removed reports.
fn drop_reports(conn: &Connection, before_ns: u64, slice: u64) -> rusqlite::Result<u64> {
    let first: Option<i64> = conn
        .prepare_cached("SELECT min(id) FROM report")?
        .query_row([], |row| row.get(0))?;
    let Some(first) = first else {
        return Ok(0);
    };
    let last: i64 = conn
        .prepare_cached("SELECT max(id) FROM report")?
        .query_row([], |row| row.get(0))?;
    let mut at = conn.prepare_cached("SELECT time_ns FROM report WHERE id = ?")?;
    let mut old = |id: i64| -> rusqlite::Result<bool> {
        let time: Option<i64> = at.query_row([id], |row| row.get(0)).optional()?;
        Ok(time.is_some_and(|time| (time as u64) < before_ns))
    };
    // Reports are roughly in order of time: a binary search finds the first that stays.
    let slice = i64::try_from(slice).unwrap_or(i64::MAX);
    let (mut gone, mut stays) = (first, first.saturating_add(slice).min(last + 1));
    while gone < stays {
        let middle = gone + (stays - gone) / 2;
        if old(middle)? {
            gone = middle + 1;
        } else {
            stays = middle;
        }
    }
    let went = conn
        .prepare_cached("DELETE FROM report WHERE id < ?")?
        .execute([stays])?;
    Ok(went as u64)
}

/// Removes about `slice` of the rows before a key at most. Returns the number of removed rows.
fn drop_rows(
    conn: &Connection,
    table: RollUpTable,
    level: RollUpLevel,
    before: i64,
    slice: u64,
) -> rusqlite::Result<u64> {
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
    if gone > 0 {
        // A part of the period in which a slice ends was removed.
        let until_ns = end.map_or(level.begin_of(before), |end| {
            level.begin_of(end) + level.ns()
        });
        let known_ns = fact(conn, level.gone())?;
        set_fact(conn, level.gone(), known_ns.max(until_ns))?;
    }
    Ok(gone as u64)
}

fn pragma(conn: &Connection, name: &str) -> rusqlite::Result<u64> {
    let sql = format!("PRAGMA {name}");
    let value: i64 = conn.prepare_cached(&sql)?.query_row([], |row| row.get(0))?;
    Ok(value as u64)
}

/// Returns the bytes in use. Free pages do not count, because they are reused before the file grows.
fn used_bytes(conn: &Connection) -> rusqlite::Result<u64> {
    let pages = pragma(conn, "page_count")? - pragma(conn, "freelist_count")?;
    Ok(pages * pragma(conn, "page_size")?)
}

/// Shortens the file if more than a quarter of it is free, or if it is too long.
fn give_back(conn: &Connection, most_bytes: u64) -> rusqlite::Result<()> {
    let (pages, free) = (pragma(conn, "page_count")?, pragma(conn, "freelist_count")?);
    let too_long = pages * pragma(conn, "page_size")? > most_bytes;
    if free > 0 && too_long || free > PAGES / 16 && free > pages / 4 {
        let mut vacuum = conn.prepare_cached(&format!("PRAGMA incremental_vacuum({PAGES})"))?;
        let mut steps = vacuum.query([])?;
        while steps.next()?.is_some() {}
    }
    Ok(())
}
