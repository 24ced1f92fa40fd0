//! A row of a roll-up: how it is read from the file, added up, and written.

use rusqlite::{CachedStatement, Connection, OptionalExtension, Row};

use super::path_sums::{self, PathSums};
use super::sums::{COLUMNS, PARAMETERS, Sums};

/// The sums of a subject in one period.
pub trait RollUpRow: Default {
    /// Memory for encoding.
    type Bytes: Default;

    /// The statement that writes a row of a table.
    fn put(table: &str) -> String;

    /// The columns that [`Self::read`] reads, the key first.
    fn columns() -> String;

    /// The subject of the row that this one counts in.
    fn subject(of_row: i64) -> i64;

    fn read(row: &Row<'_>) -> rusqlite::Result<Self>;

    fn merge(&mut self, other: &Self);

    fn write(
        &self,
        key: i64,
        put: &mut CachedStatement<'_>,
        bytes: &mut Self::Bytes,
    ) -> rusqlite::Result<()>;

    /// The statement that finds the rows of a table with keys from one up to another one.
    fn range(table: &str) -> String {
        let columns = Self::columns();
        format!("SELECT {columns} FROM {table} WHERE key >= ? AND key < ?")
    }

    /// Gives each row that it finds to `each`, with its key.
    fn each_of(
        range: &mut CachedStatement<'_>,
        keys: (i64, i64),
        mut each: impl FnMut(i64, Self),
    ) -> rusqlite::Result<()> {
        let mut rows = range.query(keys)?;
        while let Some(row) = rows.next()? {
            each(row.get(0)?, Self::read(row)?);
        }
        Ok(())
    }

    /// Reads a row; `None` if there is none of this key.
    fn stored(conn: &Connection, table: &str, key: i64) -> rusqlite::Result<Option<Self>> {
        let columns = Self::columns();
        let mut find =
            conn.prepare_cached(&format!("SELECT {columns} FROM {table} WHERE key = ?"))?;
        find.query_row([key], |row| Self::read(row)).optional()
    }
}

impl RollUpRow for Sums {
    /// Those of reported latencies, and of measured ones.
    type Bytes = (Vec<u8>, Vec<u8>);

    fn put(table: &str) -> String {
        format!("INSERT OR REPLACE INTO {table} (key, {COLUMNS}) VALUES ({PARAMETERS})")
    }

    fn columns() -> String {
        format!("key, {COLUMNS}")
    }

    fn subject(of_row: i64) -> i64 {
        of_row
    }

    fn read(row: &Row<'_>) -> rusqlite::Result<Self> {
        Self::read(row, 1)
    }

    fn merge(&mut self, other: &Self) {
        Self::merge(self, other);
    }

    fn write(
        &self,
        key: i64,
        put: &mut CachedStatement<'_>,
        (latency, measured_latency): &mut Self::Bytes,
    ) -> rusqlite::Result<()> {
        let measured = &self.measured;
        let corrected = &measured.corrected;
        latency.clear();
        self.latency.encode(latency);
        measured_latency.clear();
        measured.latency.encode(measured_latency);
        let squares = measured.squares.all().map(|sum| sum as f64);
        put.execute(rusqlite::params![
            key,
            self.reports as i64,
            self.packets as i64,
            self.lost as i64,
            self.reordered as i64,
            self.summaries as i64,
            self.first_id,
            self.last_id,
            &*latency,
            measured.summaries as i64,
            measured.packets as i64,
            measured.bytes as i64,
            measured.lost as i64,
            measured.recovered as i64,
            measured.reordered as i64,
            measured.duplicates as i64,
            squares[0],
            squares[1],
            squares[2],
            &*measured_latency,
            corrected.packets as i64,
            corrected.latency_ns,
            corrected.error_ns as i64,
            corrected.less_ns as i64,
            corrected.more_ns as i64,
        ])?;
        Ok(())
    }
}

impl RollUpRow for PathSums {
    type Bytes = Vec<u8>;

    fn put(table: &str) -> String {
        path_sums::put_row(table)
    }

    fn columns() -> String {
        "key, places".to_owned()
    }

    fn subject(of_row: i64) -> i64 {
        path_sums::row_of(of_row)
    }

    fn read(row: &Row<'_>) -> rusqlite::Result<Self> {
        Self::read(row)
    }

    fn merge(&mut self, other: &Self) {
        Self::merge(self, other);
    }

    fn write(
        &self,
        key: i64,
        put: &mut CachedStatement<'_>,
        bytes: &mut Vec<u8>,
    ) -> rusqlite::Result<()> {
        bytes.clear();
        self.encode(bytes);
        put.execute((key, &bytes[..]))?;
        Ok(())
    }
}
