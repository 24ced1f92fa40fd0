//! A host has one node id, whatever roles the config file gives it.

use super::file::File;
use super::mistake::Mistake;
use super::table_name::{SINK, SOURCE, TRANSIT};

/// Returns the mistakes of tables that give this host another node id than the first one of them does.
pub fn check(file: &File) -> Vec<Mistake> {
    let (sink, source, transit) = (&file.sink, &file.source, &file.transit);
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
                file: Some(file.path.display().to_string()),
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
pub fn share(file: &mut File) {
    let nodes = [
        &mut file.sink.options.node_id,
        &mut file.source.options.node_id,
        &mut file.transit.options.node_id,
        &mut file.postcards.options.node_id,
        &mut file.tcp.options.node_id,
    ];
    let first = nodes.iter().find_map(|node| **node);
    for node in nodes {
        *node = node.or(first);
    }
}
