//! schema-plain.sql, for old servers, is made of schema.sql, whose columns are those of the engine.
//!
//! `HOSTINT_BLESS=1 cargo test --test engines plain_schema` writes it anew.

use std::path::Path;

use hostint::engines::clickhouse::COLUMNS;

const SCHEMA: &str = include_str!("../../../packaging/clickhouse/schema.sql");
const BEGIN: &str = "CREATE DATABASE";

/// Columns that servers compute.
const COMPUTED: [&str; 8] = [
    "time",
    "exact_time",
    "src_namespace",
    "src_pod",
    "src_workload",
    "dst_namespace",
    "dst_pod",
    "dst_workload",
];

/// What stands in front of the statements.
const ABOUT: &str = "\
-- Tables of hostint collect --clickhouse, for old servers, from ClickHouse 18.16 on. Made of schema.sql: HOSTINT_BLESS=1
-- cargo test --test engines plain_schema
--
--     clickhouse-client --multiquery <schema-plain.sql
--
-- Nothing is deleted automatically; drop days: ALTER TABLE hostint.reports DROP PARTITION '2026-01-31'.
--
-- The engine inserts all columns of hostint.reports but time and those with ALIAS; rows that tell of no host go without those from in_interface on.
-- Values that a report does not have are NULL, or 0 and '' in columns that cannot be NULL, which must stay the defaults of the
-- columns: kind determines the values of a report. Times and latencies are integers in nanoseconds.
--
-- Duplicates: a report may come twice if an acknowledgement was lost; run and number identify it. The table
-- drops such rows when it merges, and queries with FINAL do not see them.
-- Roll-ups count such a report twice: these servers know no tokens.

";

/// Old servers have none of these types, no time zones of columns, and no engines without parentheses.
const OLDER: [(&str, &str); 7] = [
    ("LowCardinality(String)", "String"),
    ("IPv6", "FixedString(16)"),
    ("DateTime('UTC')", "DateTime"),
    (", 'UTC')", ")"),
    (
        "ENGINE = ReplacingMergeTree",
        "ENGINE = ReplacingMergeTree()",
    ),
    (
        "ENGINE = AggregatingMergeTree",
        "ENGINE = AggregatingMergeTree()",
    ),
    (
        "what partitions, TTL and the key",
        "what partitions and the key",
    ),
];

fn without_codec(line: &str) -> String {
    let Some(at) = line.find(" CODEC(") else {
        return line.to_owned();
    };
    let comma = if line.ends_with(',') { "," } else { "" };
    format!("{}{comma}", &line[..at])
}

/// The statements for old servers.
fn plain() -> String {
    let begin = SCHEMA.find(BEGIN).unwrap();
    let mut lines: Vec<String> = Vec::new();
    for line in SCHEMA[begin..].lines() {
        if line.starts_with("SETTINGS ") {
            lines.last_mut().unwrap().push(';');
        }
        let is_newer = ["TTL ", "SETTINGS "]
            .iter()
            .any(|word| line.starts_with(word));
        if is_newer || line.contains("exact_time ") || line.contains("time_ns in readable form") {
            continue;
        }
        let mut line = without_codec(line);
        if line.starts_with("    time DateTime") {
            line = line.trim_end_matches(',').to_owned();
        }
        for (newer, older) in OLDER {
            line = line.replace(newer, older);
        }
        lines.push(line);
    }
    format!("{ABOUT}{}\n", lines.join("\n"))
}

#[test]
fn the_schema_for_old_servers_is_made_of_the_other() {
    let path = "packaging/clickhouse/schema-plain.sql";
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
    if std::env::var_os("HOSTINT_BLESS").is_some() {
        std::fs::write(&path, plain()).unwrap();
    }
    let found = std::fs::read_to_string(&path).unwrap();
    let first = plain()
        .lines()
        .zip(found.lines())
        .find(|(a, b)| a != b)
        .map(|(a, _)| a.to_owned());
    assert!(
        found == plain(),
        "schema-plain.sql is not what schema.sql gives, first {first:?} (HOSTINT_BLESS=1 cargo test --test engines plain_schema)"
    );
}

#[test]
fn the_table_has_the_columns_of_the_engine_in_their_order() {
    let (_, table) = SCHEMA
        .split_once("CREATE TABLE IF NOT EXISTS hostint.reports\n(\n")
        .unwrap();
    let (table, _) = table.split_once("\n)\n").unwrap();
    let lines = table
        .lines()
        .map(str::trim)
        .filter(|line| !line.starts_with("--"));
    let columns = lines.map(|line| {
        let (name, rest) = line.split_once(' ').unwrap();
        let kind = rest.split([' ', ',']).next().unwrap();
        (name.trim_matches('`').to_owned(), kind.to_owned())
    });
    let found: Vec<_> = columns
        .filter(|(name, _)| !COMPUTED.contains(&name.as_str()))
        .collect();
    let wanted: Vec<_> = COLUMNS
        .iter()
        .map(|column| (column.name.to_owned(), column.value.types()[0].to_owned()))
        .collect();
    assert_eq!(found, wanted);
}
