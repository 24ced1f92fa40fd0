//! A host has one node id, whatever roles the config file gives it.

use std::path::Path;

use super::mistake::Mistake;
use super::sink_options::SinkOptions;
use super::source::SourceOptions;
use super::table::SettingsTable;
use super::table_name::{SINK, SOURCE, TRANSIT};
use super::transit::TransitOptions;

/// Returns the mistakes of tables that give this host another node id than the first one of them does.
pub fn check(
    file: &Path,
    sink: &SettingsTable<SinkOptions>,
    source: &SettingsTable<SourceOptions>,
    transit: &SettingsTable<TransitOptions>,
) -> Vec<Mistake> {
    let nodes = [
        (SINK, sink.options.node_id, sink.entries.get("node-id")),
        (
            SOURCE,
            source.options.node_id,
            source.entries.get("node-id"),
        ),
        (
            TRANSIT,
            transit.options.node_id,
            transit.entries.get("node-id"),
        ),
    ];
    let first = nodes
        .iter()
        .filter(|(.., entry)| entry.is_some())
        .find_map(|(table, node, _)| Some((*table, (*node)?)));
    let Some((owner, known)) = first else {
        return Vec::new();
    };
    nodes
        .into_iter()
        .filter_map(|(table, node, entry)| {
            let node = node.filter(|node| *node != known)?;
            Some(Mistake {
                file: Some(file.display().to_string()),
                line: entry.map(|entry| entry.line),
                table: Some(table.to_owned()),
                key: Some("node-id".to_owned()),
                message: format!(
                    "{node} differs from the {owner}'s node id {known}, but a host has one node id (try to leave \
                     it out here)"
                ),
                ..Mistake::default()
            })
        })
        .collect()
}

/// Gives tables without a node id that of another one.
pub fn share(nodes: [&mut Option<u32>; 5]) {
    let first = nodes.iter().find_map(|node| **node);
    for node in nodes {
        *node = node.or(first);
    }
}
