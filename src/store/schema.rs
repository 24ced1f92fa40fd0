//! The schema of the file: its tables, its versions, and how an older version becomes the present one.

use std::path::Path;

use rusqlite::{Connection, OptionalExtension, TransactionBehavior};

use super::file::StoreError;
use super::period::{RollUpLevel, RollUpTable};
use super::{path_sums, paths, unseen_hops};

/// The schema that this version writes, and the newest that it reads.
pub const SCHEMA_VERSION: i64 = 3;

/// The schema of hostint 0.1.0, whose roll-ups know reports only.
const REPORTS_ONLY: i64 = 1;

/// The column that schema 3 adds to roll-ups of paths, and its value in rows that were written before.
const PLACES: (&str, &str) = (path_sums::COLUMN, "x''");

/// "HInt", which tells the file from other databases.
const APPLICATION: i64 = 0x4849_6e74;

/// The columns of a roll-up since its first schema.
const FIRST_COLUMNS: &str = "key INTEGER PRIMARY KEY,
     reports INTEGER NOT NULL,
     packets INTEGER NOT NULL,
     lost INTEGER NOT NULL,
     reordered INTEGER NOT NULL,
     summaries INTEGER NOT NULL,
     first_id INTEGER NOT NULL,
     last_id INTEGER NOT NULL,
     latency BLOB NOT NULL";

/// The columns that schema 2 adds, and the value of each in rows that were written before: no packets were counted.
const ADDED_COLUMNS: [(&str, &str); 13] = [
    ("measured", "0"),
    ("measured_packets", "0"),
    ("measured_bytes", "0"),
    ("measured_lost", "0"),
    ("measured_recovered", "0"),
    ("measured_reordered", "0"),
    ("measured_duplicates", "0"),
    ("measured_latency", "x''"),
    ("corrected_packets", "0"),
    ("corrected_latency", "0"),
    ("corrected_error", "0"),
    ("corrected_less", "0"),
    ("corrected_more", "0"),
];

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

/// Refuses a version that this one can neither read nor migrate.
fn known(found: i64, path: &Path) -> Result<(), StoreError> {
    let path = path.to_owned();
    match found {
        REPORTS_ONLY..=SCHEMA_VERSION => Ok(()),
        newer if newer > SCHEMA_VERSION => Err(StoreError::Newer { path, found }),
        _ => Err(StoreError::Damaged {
            path,
            why: format!("it has schema {found}, which never was"),
        }),
    }
}

/// Makes a file ready for a writer: an empty one gets its tables, and one of an older version is migrated.
pub fn prepare_to_write(conn: &mut Connection, path: &Path) -> Result<(), StoreError> {
    let failed = |err: rusqlite::Error| StoreError::of(path, &err);
    match version(conn, path)? {
        None => create(conn).map_err(failed)?,
        Some(SCHEMA_VERSION) => {}
        Some(found) => {
            known(found, path)?;
            migrate(conn, found).map_err(|err| StoreError::Migration {
                path: path.to_owned(),
                found,
                why: err.to_string(),
            })?;
        }
    }
    add_paths(conn, "TABLE").map_err(failed)
}

/// Makes a connection ready for a reader: rows of an older version look like those of the present one. Returns the
/// version of the file.
pub fn prepare_to_read(conn: &Connection, path: &Path) -> Result<i64, StoreError> {
    let found = version(conn, path)?.ok_or_else(|| StoreError::Absent(path.to_owned()))?;
    known(found, path)?;
    let failed = |err: rusqlite::Error| StoreError::of(path, &err);
    if found == REPORTS_ONLY {
        show_added(conn).map_err(failed)?;
    }
    if found < SCHEMA_VERSION {
        show_places(conn).map_err(failed)?;
    }
    if !has_table(conn, "path").map_err(failed)?
        || !has_table(conn, "path_unseen").map_err(failed)?
    {
        conn.execute_batch("PRAGMA temp_store = MEMORY;")
            .and_then(|()| add_paths(conn, "TEMP TABLE"))
            .map_err(failed)?;
    }
    Ok(found)
}

/// True if the store has a table of this name. Reports without transit hops need none of paths.
fn has_table(conn: &Connection, name: &str) -> rusqlite::Result<bool> {
    let table = "SELECT 1 FROM sqlite_schema WHERE name = ? AND type = 'table'";
    let there: Option<i64> = conn.query_row(table, [name], |row| row.get(0)).optional()?;
    Ok(there.is_some())
}

/// Adds the tables of paths, if there are none: to the file, or for this connection alone.
fn add_paths(conn: &Connection, kind: &str) -> rusqlite::Result<()> {
    let added: String = (ADDED_COLUMNS.iter().chain([&PLACES]))
        .map(|(column, value)| format!(", {column} {} NOT NULL DEFAULT {value}", kind_of(value)))
        .collect();
    // A temporary table would hide that of the file.
    let create = |table: &str, name: &str| match has_table(conn, name)? {
        true => Ok(()),
        false => conn.execute_batch(&format!("CREATE {kind} IF NOT EXISTS {table};")),
    };
    for table in RollUpTable::OF_PATHS {
        for level in RollUpLevel::EACH {
            let name = table.name(level);
            create(&format!("{name} ({FIRST_COLUMNS}{added})"), name)?;
        }
    }
    create(paths::TABLE, "path")?;
    create(unseen_hops::TABLE, "path_unseen")
}

/// The type of a column whose value in old rows is this one.
fn kind_of(value: &str) -> &'static str {
    match value {
        "0" => "INTEGER",
        _ => "BLOB",
    }
}

fn each_table(mut each: impl FnMut(&str) -> rusqlite::Result<()>) -> rusqlite::Result<()> {
    for table in RollUpTable::OF_REPORTS {
        for level in RollUpLevel::EACH {
            each(table.name(level))?;
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
    each_table(|table| {
        transaction.execute_batch(&format!("CREATE TABLE {table} ({FIRST_COLUMNS});"))
    })?;
    add_columns(&transaction)?;
    transaction.pragma_update(None, "application_id", APPLICATION)?;
    transaction.pragma_update(None, "user_version", SCHEMA_VERSION)?;
    transaction.commit()
}

/// Migrates a file of an older schema. It is one transaction, so a writer that is killed leaves the old schema or the
/// present one and nothing between. SQLite writes the new columns to the list of tables only and takes their values in
/// old rows from there, so time and room do not depend on the size of the file.
fn migrate(conn: &mut Connection, found: i64) -> rusqlite::Result<()> {
    let transaction = conn.transaction_with_behavior(TransactionBehavior::Immediate)?;
    if found == REPORTS_ONLY {
        add_columns(&transaction)?;
    }
    each_table_of_paths(&transaction, |table| {
        add_column(&transaction, table, PLACES)
    })?;
    transaction.pragma_update(None, "user_version", SCHEMA_VERSION)?;
    transaction.commit()
}

fn add_columns(conn: &Connection) -> rusqlite::Result<()> {
    each_table(|table| {
        for column in ADDED_COLUMNS {
            add_column(conn, table, column)?;
        }
        Ok(())
    })
}

fn add_column(conn: &Connection, table: &str, column: (&str, &str)) -> rusqlite::Result<()> {
    let ((column, value), kind) = (column, kind_of(column.1));
    conn.execute_batch(&format!(
        "ALTER TABLE {table} ADD COLUMN {column} {kind} NOT NULL DEFAULT {value};"
    ))
}

/// The roll-ups of paths, if the file has them.
fn each_table_of_paths(
    conn: &Connection,
    mut each: impl FnMut(&str) -> rusqlite::Result<()>,
) -> rusqlite::Result<()> {
    for table in RollUpTable::OF_PATHS {
        for level in RollUpLevel::EACH {
            let name = table.name(level);
            if has_table(conn, name)? {
                each(name)?;
            }
        }
    }
    Ok(())
}

/// Adds the column of schema 3 for this connection alone, as [`show_added`] does.
fn show_places(conn: &Connection) -> rusqlite::Result<()> {
    let (column, value) = PLACES;
    conn.execute_batch("PRAGMA temp_store = MEMORY;")?;
    each_table_of_paths(conn, |table| {
        conn.execute_batch(&format!(
            "CREATE TEMP VIEW {table} AS SELECT *, {value} AS {column} FROM main.{table};"
        ))
    })
}

/// Adds the columns of schema 2 for this connection alone, by views that hide the tables. The file may be read-only, and
/// only its writer may migrate it.
fn show_added(conn: &Connection) -> rusqlite::Result<()> {
    let added: String = ADDED_COLUMNS
        .iter()
        .map(|(column, value)| format!(", {value} AS {column}"))
        .collect();
    conn.execute_batch("PRAGMA temp_store = MEMORY;")?;
    each_table(|table| {
        conn.execute_batch(&format!(
            "CREATE TEMP VIEW {table} AS SELECT key, reports, packets, lost, reordered, summaries, first_id, last_id,
                 latency{added} FROM main.{table};"
        ))
    })
}
