//! The watchlist, as text or JSON.

use std::fmt::{Display, Write};

use crate::model::{Place, WatchAction, WatchRule};

/// The rules in the order in which they are asked, one line each, or one JSON object (schema `hostint.rules/1`).
pub fn render(rules: &[WatchRule], json: bool) -> String {
    let mut rules: Vec<&WatchRule> = rules.iter().collect();
    rules.sort_by_key(|rule| (std::cmp::Reverse(rule.priority), rule.action));
    let mut out = String::new();
    if json {
        let object = serde_json::json!({"schema": "hostint.rules/1", "rules": rules});
        let _ = writeln!(out, "{object}");
        return out;
    }
    for rule in rules {
        let _ = writeln!(out, "{}", sentence(rule));
    }
    out
}

fn list<T: Display>(out: &mut String, what: &str, values: impl IntoIterator<Item = T>) {
    for (number, value) in values.into_iter().enumerate() {
        let _ = match number {
            0 => write!(out, "{what} {value}"),
            _ => write!(out, ", {value}"),
        };
    }
}

/// As the user wrote it, and what a name means now.
fn place(place: &Place) -> String {
    let prefixes: Vec<String> = place.prefixes.iter().map(ToString::to_string).collect();
    if prefixes.is_empty() {
        return format!("{} (not found)", place.text);
    }
    if prefixes.len() == 1 && prefixes[0] == place.text {
        return place.text.clone();
    }
    format!("{} ({})", place.text, prefixes.join(", "))
}

/// One rule in words: `100 watch tcp to host-r (10.0.0.2) port 443, one flow in 10`.
pub fn sentence(rule: &WatchRule) -> String {
    let action = match rule.action {
        WatchAction::Watch => "watch",
        WatchAction::Exclude => "exclude",
    };
    let mut out = format!("{:>5} {action:<7}", rule.priority);
    if let Some(class) = &rule.class {
        let _ = write!(out, " {class}:");
    }
    list(
        &mut out,
        "",
        rule.protocols
            .iter()
            .map(|transport| format!("{transport:?}").to_lowercase()),
    );
    list(&mut out, " from", rule.from.iter().map(place));
    list(&mut out, " port", &rule.from_ports);
    list(&mut out, " to", rule.to.iter().map(place));
    list(&mut out, " port", &rule.to_ports);
    list(&mut out, " dscp", &rule.dscp);
    list(&mut out, " by", &rule.devs);
    if out.trim_end().ends_with(action) {
        out.push_str(" everything");
    }
    if rule.one_flow_in > 1 {
        let _ = write!(out, ", one flow in {}", rule.one_flow_in);
    }
    if rule.one_packet_in > 1 {
        let _ = write!(out, ", one packet in {}", rule.one_packet_in);
    }
    if rule.fixed {
        out.push_str(", static");
    }
    out
}
