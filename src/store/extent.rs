//! The answer about how far a history reaches.

use rusqlite::Connection;

use super::period::{RollUpLevel, RollUpTable};
use super::rollups::fact;
use super::writer::{LAST_ROLLED_UP_ONLY, ROLLED_UP_ONLY};
use crate::model::Extent;

pub fn read(conn: &Connection) -> rusqlite::Result<Extent> {
    let number = |sql: &str| -> rusqlite::Result<u64> {
        let value: Option<i64> = conn.query_row(sql, [], |row| row.get(0))?;
        Ok(value.unwrap_or(0) as u64)
    };
    let reports = number("SELECT max(id) - min(id) + 1 FROM report")?;
    let mut first_ns = u64::MAX;
    if reports > 0 {
        first_ns = number("SELECT time_ns FROM report ORDER BY id LIMIT 1")?;
    }
    for level in RollUpLevel::EACH {
        let sql = format!("SELECT min(key) FROM {}", RollUpTable::Class.name(level));
        let key: Option<i64> = conn.query_row(&sql, [], |row| row.get(0))?;
        // A period that ended before the oldest report tells of reports that were removed.
        if let Some(begin) = key.map(|key| level.begin_of(key))
            && begin + level.ns() <= first_ns
        {
            first_ns = begin;
        }
    }
    let newest_ns = fact(conn, "newest_ns")?;
    let pages = number("PRAGMA page_count")?;
    Ok(Extent {
        first_ns: if newest_ns == 0 { 0 } else { first_ns },
        last_ns: newest_ns,
        reports,
        flows: number("SELECT count(*) FROM flow")?,
        bytes: pages * number("PRAGMA page_size")?,
        rolled_up_only: fact(conn, ROLLED_UP_ONLY)?,
        rolled_up_only_ns: fact(conn, LAST_ROLLED_UP_ONLY)?,
    })
}
