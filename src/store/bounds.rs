//! The bounds of tables that hosts fill: rows that are too old or too many are removed, oldest first.

use rusqlite::{Connection, OptionalExtension, Row};

use super::period::RollUpLevel;
use crate::model::Span;

/// The most rows of a kind that wait to be written.
pub const MOST_WAITING: usize = 65_536;

/// Rows are counted each time that about this many were written.
const COUNT_EVERY: usize = 50_000;

/// A table whose rows have a time.
#[derive(Clone, Copy, Debug)]
pub struct BoundedTable {
    pub name: &'static str,
    /// The column with the time.
    pub time: &'static str,
    pub most_rows: i64,
}

impl BoundedTable {
    /// A table of counts in periods, which `begin_ns` names.
    pub const fn by_begin(name: &'static str) -> Self {
        Self {
            name,
            time: "begin_ns",
            most_rows: 2_000_000,
        }
    }

    /// Removes rows that are older than `before_ns`.
    pub fn forget(&self, conn: &Connection, before_ns: u64) -> rusqlite::Result<()> {
        let Self { name, time, .. } = self;
        let sql = format!("DELETE FROM {name} WHERE {time} < ?");
        conn.prepare_cached(&sql)?.execute([signed(before_ns)])?;
        Ok(())
    }

    /// False until something was written to it.
    pub fn exists(&self, conn: &Connection) -> rusqlite::Result<bool> {
        has_table(conn, self.name)
    }

    /// The time of the oldest row.
    pub fn oldest_ns(&self, conn: &Connection) -> rusqlite::Result<Option<u64>> {
        let Self { name, time, .. } = self;
        let oldest: Option<i64> = conn
            .prepare_cached(&format!("SELECT min({time}) FROM {name}"))?
            .query_row([], |row| row.get(0))?;
        Ok(oldest.map(i64::cast_unsigned))
    }

    /// Removes about `most` of the rows that are older than `before_ns`. Returns the number of removed rows.
    pub fn drop_oldest(
        &self,
        conn: &Connection,
        before_ns: u64,
        most: u64,
    ) -> rusqlite::Result<u64> {
        let Self { name, time, .. } = self;
        let before = signed(before_ns);
        let end: Option<i64> = conn
            .prepare_cached(&format!(
                "SELECT {time} FROM {name} WHERE {time} < ? ORDER BY {time} LIMIT 1 OFFSET ?"
            ))?
            .query_row((before, signed(most)), |row| row.get(0))
            .optional()?;
        // Rows of one time go together.
        let end = end.map_or(before, |end| end + 1);
        let gone = conn
            .prepare_cached(&format!("DELETE FROM {name} WHERE {time} < ?"))?
            .execute([end])?;
        Ok(gone as u64)
    }

    /// Removes the oldest tenth if there are too many rows.
    pub fn shorten(&self, conn: &Connection) -> rusqlite::Result<()> {
        let Self {
            name,
            time,
            most_rows,
        } = self;
        let rows: i64 = conn.query_row(&format!("SELECT count(*) FROM {name}"), [], |row| {
            row.get(0)
        })?;
        if rows > *most_rows {
            conn.execute(
                &format!(
                    "DELETE FROM {name} WHERE {time} <=
                         (SELECT {time} FROM {name} ORDER BY {time} LIMIT 1 OFFSET ?)"
                ),
                [rows - most_rows + most_rows / 10],
            )?;
        }
        Ok(())
    }
}

/// The number of rows that were written since tables were counted last.
#[derive(Debug, Default)]
pub struct RowsWritten(usize);

impl RowsWritten {
    /// Returns true if it is time to count the rows of tables.
    pub fn add(&mut self, rows: usize) -> bool {
        self.0 += rows;
        let is_due = self.0 >= COUNT_EVERY;
        if is_due {
            self.0 = 0;
        }
        is_due
    }
}

/// Stores keep signed numbers.
pub fn signed(value: u64) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}

/// A number that was written as one.
pub fn number(row: &Row<'_>, at: usize) -> rusqlite::Result<u64> {
    row.get::<_, i64>(at).map(i64::unsigned_abs)
}

/// The times of the ten seconds that a span touches.
pub fn touched(span: Span) -> [i64; 2] {
    let begin = RollUpLevel::TenSeconds.floor(span.since_ns);
    [signed(begin), signed(span.until_ns)]
}

/// The distance between points of a series: whole periods of ten seconds.
pub fn period_for(span: Span, points: usize) -> u64 {
    let step_ns = RollUpLevel::TenSeconds.ns();
    let wanted = (span.until_ns - span.since_ns) / points.max(1) as u64;
    wanted.div_ceil(step_ns).max(1) * step_ns
}

/// True if the file has a table of this name: some are made when something is first written to them.
pub fn has_table(conn: &Connection, name: &str) -> rusqlite::Result<bool> {
    let sql = "SELECT 1 FROM sqlite_schema WHERE name = ? AND type = 'table'";
    let mut ask = conn.prepare_cached(sql)?;
    let there: Option<i64> = ask.query_row([name], |row| row.get(0)).optional()?;
    Ok(there.is_some())
}
