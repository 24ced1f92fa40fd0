//! The names of the config file's tables.

pub const RUN: &str = "run";
pub const SINK: &str = "sink";
pub const SOURCE: &str = "source";
pub const COLLECT: &str = "collect";
pub const POSTCARDS: &str = "postcards";
pub const TCP: &str = "tcp";
pub const TRANSIT: &str = "transit";
pub const QUEUE: &str = "queue";
pub const LIMITS: &str = "limits";
pub const WATCH: &str = "watch";
pub const NAMES: &str = "names";
pub const TABLES: [&str; 11] = [
    RUN, SINK, SOURCE, TRANSIT, POSTCARDS, TCP, COLLECT, NAMES, LIMITS, QUEUE, WATCH,
];

/// A table's header as it stands in the file.
pub fn shown_table(table: &str) -> String {
    match table {
        LIMITS | QUEUE | WATCH => format!("[[{table}]]"),
        _ => format!("[{table}]"),
    }
}
