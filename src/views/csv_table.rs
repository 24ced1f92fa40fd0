//! A table as CSV, from the JSON of its rows.

use serde::Serialize;
use serde_json::Value;

/// Columns are paths of keys, and their names have underscores.
pub fn csv_table<T: Serialize>(columns: &str, rows: &[T]) -> Result<String, csv::Error> {
    let columns: Vec<&str> = columns.split_whitespace().collect();
    let mut writer = csv::Writer::from_writer(Vec::new());
    writer.write_record(columns.iter().map(|column| column.replace('.', "_")))?;
    for row in rows {
        let row = serde_json::to_value(row).unwrap_or_default();
        writer.write_record(columns.iter().map(|column| {
            let path = format!("/{}", column.replace('.', "/"));
            match row.pointer(&path) {
                None | Some(Value::Null) => String::new(),
                Some(Value::String(text)) => text.clone(),
                Some(value) => value.to_string(),
            }
        }))?;
    }
    let bytes = writer.into_inner().map_err(|err| err.into_error())?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
