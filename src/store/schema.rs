//! The schema of the file: its version, and its tables.

use std::path::Path;

use rusqlite::Connection;

use super::path_sums;
use super::period::{RollUpLevel, RollUpTable};
use super::store_error::StoreError;
use super::{paths, unseen_hops};

/// The schema that this version reads and writes. Builds before the first release had those before it; a later schema
/// comes with a migration.
pub const SCHEMA_VERSION: i64 = 5;

/// "HInt", which tells the file from other databases.
const APPLICATION: i64 = 0x4849_6e74;

/// The columns of a roll-up of reports.
const COLUMNS: &str = "key INTEGER PRIMARY KEY,
     reports INTEGER NOT NULL,
     packets INTEGER NOT NULL,
     lost INTEGER NOT NULL,
     reordered INTEGER NOT NULL,
     summaries INTEGER NOT NULL,
     first_id INTEGER NOT NULL,
     last_id INTEGER NOT NULL,
     latency BLOB NOT NULL,
     measured INTEGER NOT NULL,
     measured_packets INTEGER NOT NULL,
     measured_bytes INTEGER NOT NULL,
     measured_lost INTEGER NOT NULL,
     measured_recovered INTEGER NOT NULL,
     measured_reordered INTEGER NOT NULL,
     measured_duplicates INTEGER NOT NULL,
     lost_squares REAL NOT NULL,
     lost_sent_squares REAL NOT NULL,
     sent_squares REAL NOT NULL,
     measured_latency BLOB NOT NULL,
     corrected_packets INTEGER NOT NULL,
     corrected_latency INTEGER NOT NULL,
     corrected_error INTEGER NOT NULL,
     corrected_less INTEGER NOT NULL,
     corrected_more INTEGER NOT NULL";

/// Returns the version of the schema, or `None` if the file is empty.
pub fn version(conn: &Connection, path: &Path) -> Result<Option<i64>, StoreError> {
    let failed = |err: rusqlite::Error| StoreError::of(path, &err);
    let number = |sql: &str| conn.query_row(sql, [], |row| row.get::<_, i64>(0));
    let application = number("PRAGMA application_id").map_err(failed)?;
    let found = number("PRAGMA user_version").map_err(failed)?;
    let tables = number("SELECT count(*) FROM sqlite_schema").map_err(failed)?;
    match (application, found, tables) {
        (0, 0, 0) => Ok(None),
        (APPLICATION, found, _) => Ok(Some(found)),
        _ => Err(StoreError::Foreign(path.to_owned())),
    }
}

/// Refuses any other version.
fn known(found: i64, path: &Path) -> Result<(), StoreError> {
    match found {
        SCHEMA_VERSION => Ok(()),
        _ => Err(StoreError::OtherSchema {
            path: path.to_owned(),
            found,
            known: SCHEMA_VERSION,
        }),
    }
}

/// Makes a file ready for a writer: an empty one gets its tables.
pub fn prepare_to_write(conn: &mut Connection, path: &Path) -> Result<(), StoreError> {
    match version(conn, path)? {
        None => create(conn).map_err(|err| StoreError::of(path, &err)),
        Some(found) => known(found, path),
    }
}

/// Says whether a reader can use the file.
pub fn prepare_to_read(conn: &Connection, path: &Path) -> Result<(), StoreError> {
    let found = version(conn, path)?.ok_or_else(|| StoreError::Absent(path.to_owned()))?;
    known(found, path)
}

/// Makes the roll-ups of each level.
fn create_roll_ups(
    conn: &Connection,
    tables: impl IntoIterator<Item = RollUpTable>,
    columns: &str,
) -> rusqlite::Result<()> {
    for table in tables {
        for level in RollUpLevel::EACH {
            conn.execute_batch(&format!("CREATE TABLE {} ({columns});", table.name(level)))?;
        }
    }
    Ok(())
}

fn create(conn: &mut Connection) -> rusqlite::Result<()> {
    // These settings only take effect while the file is empty.
    conn.execute_batch("PRAGMA auto_vacuum = INCREMENTAL; PRAGMA journal_mode = WAL;")?;
    let transaction = conn.transaction()?;
    transaction.execute_batch(
        "CREATE TABLE report (
             id INTEGER PRIMARY KEY,
             time_ns INTEGER NOT NULL,
             flow INTEGER,
             pair INTEGER NOT NULL,
             class INTEGER NOT NULL,
             -- the flow's report before this one, in the same ten seconds
             before INTEGER,
             kind INTEGER NOT NULL,
             lost INTEGER NOT NULL,
             latency_ns INTEGER,
             -- which report of its datagram
             part INTEGER NOT NULL,
             exporter BLOB,
             -- the datagram; that of a later part is with the first
             evidence BLOB
         );
         CREATE TABLE flow (
             id INTEGER PRIMARY KEY,
             key BLOB NOT NULL UNIQUE,
             pair INTEGER NOT NULL,
             class INTEGER NOT NULL,
             first_ns INTEGER NOT NULL,
             -- the end of the hour of the last report
             until_ns INTEGER NOT NULL
         );
         CREATE TABLE pair (
             id INTEGER PRIMARY KEY, source INTEGER NOT NULL, sink INTEGER NOT NULL, UNIQUE (source, sink)
         );
         CREATE TABLE class (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);
         CREATE TABLE fact (name TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID;",
    )?;
    create_roll_ups(&transaction, RollUpTable::OF_REPORTS, COLUMNS)?;
    create_roll_ups(&transaction, RollUpTable::OF_PATHS, path_sums::COLUMNS)?;
    for table in [paths::TABLE, unseen_hops::TABLE] {
        transaction.execute_batch(&format!("CREATE TABLE {table};"))?;
    }
    transaction.pragma_update(None, "application_id", APPLICATION)?;
    transaction.pragma_update(None, "user_version", SCHEMA_VERSION)?;
    transaction.commit()
}
