//! What is asked of a table before the first row, and how rows are inserted.

use std::collections::HashMap;
use std::fmt::Write;

use super::columns::COLUMNS;

/// Stands for the parcel's token in settings.
pub(super) const TOKEN: &str = "TOKEN";

/// Settings of an INSERT, of those that the server knows: old ones refuse others.
const SETTINGS: [(&str, &str); 4] = [
    // A parcel that comes again is not stored again,
    ("insert_deduplication_token", TOKEN),
    // nor counted again by the roll-ups.
    ("deduplicate_blocks_in_dependent_materialized_views", "1"),
    // What is acknowledged is in the table, or at the shard: parcels are large enough.
    ("async_insert", "0"),
    ("insert_distributed_sync", "1"),
];

const TRY: &str = "(try a table made by schema.sql, or by schema-plain.sql for old servers)";

/// Asks for the columns of the table, and for the settings that the server knows.
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

/// Compares the answer with what rows have; the settings of an INSERT, for a query string.
pub(super) fn check(answer: &[u8]) -> Result<String, String> {
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
                    "{line:?} is not what ClickHouse answers (try another URL)"
                ));
            }
        }
    }
    if columns.is_empty() {
        return Err(format!("there is none that this user sees {TRY}"));
    }
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
            None => return Err(format!("column {name} is missing {TRY}")),
        }
    }
    let settings = SETTINGS.iter().filter(|(name, _)| known.contains(name));
    let settings: Vec<_> = settings
        .map(|(name, value)| format!("{name}={value}"))
        .collect();
    Ok(settings.join("&"))
}

/// The statement, for a query string.
pub(super) fn insert(table: &str) -> String {
    let columns: Vec<_> = COLUMNS.iter().map(|column| column.name).collect();
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
