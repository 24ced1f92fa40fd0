//! The table [names]: names of nodes by their ids.

use std::collections::BTreeMap;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::lines::LineIndex;
use super::mistake::Mistake;
use super::node_name::problem;
use super::table_name::NAMES;
use super::value::kind_of;
use crate::model::NodeId;
use crate::model::node_identity::MOST_NAME_BYTES;

/// Reads lines such as `7 = "web-3"`.
pub(super) fn read(
    table: &DeTable<'_>,
    lines: &LineIndex<'_>,
    mistakes: &mut Vec<Mistake>,
) -> BTreeMap<NodeId, String> {
    let mut names = BTreeMap::new();
    for (key, value) in table {
        match name_of(key.get_ref(), value) {
            Ok((node, name)) if !names.contains_key(&node) => {
                names.insert(node, name);
            }
            Ok((node, _)) => mistakes.push(mistake(
                lines.of(key.span().start),
                key.get_ref(),
                format!("node {node} has a name already (leave one of them out)"),
            )),
            Err(why) => mistakes.push(mistake(lines.of(key.span().start), key.get_ref(), why)),
        }
    }
    names
}

fn mistake(line: usize, key: &str, message: String) -> Mistake {
    Mistake {
        line: Some(line),
        table: Some(NAMES.to_owned()),
        key: Some(key.escape_debug().collect()),
        message,
        ..Mistake::default()
    }
}

fn name_of(key: &str, value: &Spanned<DeValue<'_>>) -> Result<(NodeId, String), String> {
    let node = key.parse().map_err(|_| {
        "not a node id (expected one on the left and its name on the right, as in 7 = \"web-3\")"
            .to_owned()
    })?;
    let DeValue::String(name) = value.get_ref() else {
        let found = kind_of(value.get_ref());
        return Err(format!("{found} (expected a name, such as \"web-3\")"));
    };
    match problem(name, MOST_NAME_BYTES) {
        Some(why) => Err(format!("cannot use {name:?} as a name: {why} (try web-3)")),
        None => Ok((node, name.to_string())),
    }
}
