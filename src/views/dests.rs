//! The list of destinations, as text or JSON.

use std::fmt::Write;

use crate::model::Prefix;

/// Characters of the longest IPv4 prefix.
const IPV4_WIDTH: usize = 18;

/// One line each, or one JSON object (schema `hostint.dests/1`).
pub fn render(dests: &[(Prefix, String)], json: bool) -> String {
    let mut out = String::new();
    if json {
        let list: Vec<_> = dests
            .iter()
            .map(|(prefix, name)| serde_json::json!({"prefix": prefix.to_string(), "name": name}))
            .collect();
        let object = serde_json::json!({"schema": "hostint.dests/1", "dests": list});
        let _ = writeln!(out, "{object}");
        return out;
    }
    let prefixes = dests.iter().map(|(prefix, _)| prefix.to_string().len());
    let width = prefixes.max().unwrap_or(0).max(IPV4_WIDTH);
    for (prefix, name) in dests {
        let prefix = prefix.to_string();
        if *name == prefix {
            let _ = writeln!(out, "{prefix}");
        } else {
            let _ = writeln!(out, "{prefix:<width$} {name}");
        }
    }
    out
}
