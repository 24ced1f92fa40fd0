//! The table: how it is checked before the first row, and the statement that inserts rows.

use std::collections::HashMap;
use std::fmt::Write;

use super::columns::{COLUMNS, TableColumn};

/// The placeholder of the parcel's token in settings.
pub(super) const TOKEN: &str = "TOKEN";

/// The settings of an INSERT. Only those that the server knows are sent, because old servers refuse others.
const SETTINGS: [(&str, &str); 4] = [
    // A parcel that is sent again is not stored again.
    ("insert_deduplication_token", TOKEN),
    // The roll-ups do not count it again either.
    ("deduplicate_blocks_in_dependent_materialized_views", "1"),
    // Acknowledged rows are in the table, or at the shard. Parcels are large enough for that.
    ("async_insert", "0"),
    ("insert_distributed_sync", "1"),
];

const TRY: &str = "(try a table made by schema.sql, or by schema-plain.sql for old servers)";

/// Returns the query for the columns of the table and for the settings that the server knows.
pub(super) fn question(database: &str, table: &str) -> String {
    let names: Vec<_> = SETTINGS
        .iter()
        .map(|(name, _)| format!("'{name}'"))
        .collect();
    format!(
        "SELECT 'column', name, type FROM system.columns WHERE database = '{database}' AND table = '{table}' \
         UNION ALL SELECT 'setting', name, '' FROM system.settings WHERE name IN ({})",
        names.join(", ")
    )
}

/// How rows are inserted.
#[derive(Clone)]
pub(super) struct Insertion {
    /// The settings that the server knows, as a query string.
    pub(super) settings: String,
}

/// Compares the table's columns with those of rows.
pub(super) fn check(table: &str, answer: &[u8]) -> Result<Insertion, String> {
    let answer = String::from_utf8_lossy(answer);
    let mut columns = HashMap::new();
    let mut known = Vec::new();
    for line in answer.lines() {
        let fields: Vec<_> = line.split('\t').collect();
        match fields.as_slice() {
            ["column", name, kind] => drop(columns.insert(*name, *kind)),
            ["setting", name, _] => known.push(*name),
            _ => {
                return Err(format!(
                    "{line:?} is no answer of ClickHouse (try another URL)"
                ));
            }
        }
    }
    if columns.is_empty() {
        return Err(format!("this user sees no such table {TRY}"));
    }
    let mut missing = Vec::new();
    for column in COLUMNS {
        let name = column.name;
        let types = column.value.types();
        match columns.get(name) {
            Some(kind) if types.contains(kind) => {}
            Some(kind) => {
                let expected = types.join(" or ");
                return Err(format!(
                    "column {name} is {kind}, expected {expected} {TRY}"
                ));
            }
            None => missing.push(column),
        }
    }
    if !missing.is_empty() {
        return Err(to_add(table, &missing, &columns));
    }
    let settings: Vec<_> = SETTINGS
        .iter()
        .filter(|(name, _)| known.contains(name))
        .map(|(name, value)| format!("{name}={value}"))
        .collect();
    Ok(Insertion {
        settings: settings.join("&"),
    })
}

/// Says which columns the table lacks, and what adds them: with the types that its other columns have.
fn to_add(table: &str, missing: &[&TableColumn], columns: &HashMap<&str, &str>) -> String {
    let names: Vec<_> = missing.iter().map(|column| column.name).collect();
    let additions: Vec<_> = missing
        .iter()
        .map(|column| {
            let types = column.value.types();
            let mut others = COLUMNS.iter().filter(|one| one.value.types() == types);
            let own = others.find_map(|one| columns.get(one.name).copied());
            let kind = own.or(types.first().copied()).unwrap_or_default();
            format!("ADD COLUMN `{}` {kind}", column.name)
        })
        .collect();
    format!(
        "column {} is missing (try ALTER TABLE {table} {}; or a table made by schema.sql, or by schema-plain.sql for old servers)",
        names.join(", "),
        additions.join(", ")
    )
}

/// Returns the statement that inserts rows, for a query string.
pub(super) fn insert(table: &str, columns: &[&TableColumn]) -> String {
    let columns: Vec<_> = columns.iter().map(|column| column.name).collect();
    escaped(&format!(
        "INSERT INTO {table} ({}) FORMAT RowBinary",
        columns.join(",")
    ))
}

fn escaped(text: &str) -> String {
    text.bytes().fold(String::new(), |mut escaped, byte| {
        if byte.is_ascii_alphanumeric() || b"._-".contains(&byte) {
            escaped.push(byte.into());
        } else {
            // Writing to a string does not fail.
            let _ = write!(escaped, "%{byte:02X}");
        }
        escaped
    })
}
