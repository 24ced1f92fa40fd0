//! The names of the config file's tables.

pub const SINK: &str = "sink";
pub const SOURCE: &str = "source";
pub const COLLECT: &str = "collect";
pub const POSTCARDS: &str = "postcards";
pub const TCP: &str = "tcp";
pub const TRANSIT: &str = "transit";
pub const WATCH: &str = "watch";
pub const NAMES: &str = "names";
pub const TABLES: [&str; 8] = [SINK, SOURCE, TRANSIT, POSTCARDS, TCP, COLLECT, NAMES, WATCH];

/// A table's header as it stands in the file.
pub fn shown_table(table: &str) -> String {
    match table {
        WATCH => format!("[[{table}]]"),
        _ => format!("[{table}]"),
    }
}
