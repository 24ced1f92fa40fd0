//! The list of destinations, as text or JSON.

use std::fmt::Write;

use crate::model::Dest;

/// Characters of the longest IPv4 prefix.
const IPV4_WIDTH: usize = 18;

/// One line for each destination, or one JSON object (schema `hostint.dests/1`).
pub fn render(dests: &[Dest], json: bool) -> String {
    let mut out = String::new();
    if json {
        let list: Vec<_> = dests
            .iter()
            .map(|dest| {
                serde_json::json!({
                    "prefix": dest.prefix.to_string(),
                    "name": dest.name,
                    "static": dest.fixed,
                })
            })
            .collect();
        let object = serde_json::json!({"schema": "hostint.dests/1", "dests": list});
        let _ = writeln!(out, "{object}");
        return out;
    }
    let prefixes = dests.iter().map(|dest| dest.prefix.to_string().len());
    let width = prefixes.max().unwrap_or(0).max(IPV4_WIDTH);
    for dest in dests {
        let prefix = dest.prefix.to_string();
        let name = if dest.name == prefix { "" } else { &dest.name };
        let fixed = if dest.fixed { "static" } else { "" };
        let line = format!("{prefix:<width$} {name:<20} {fixed}");
        let _ = writeln!(out, "{}", line.trim_end());
    }
    out
}
