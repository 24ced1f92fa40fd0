//! The watchlist, as text or JSON.

use std::fmt::{Display, Write};

use crate::model::{PortRange, RuleHost, Transport, WatchAction, WatchRule};

/// The rules in the order of their precedence, one line each, or one JSON object (schema `hostint.rules/1`).
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

/// Number of values of a list that are shown.
const SHOWN: usize = 8;

fn list<T: Display>(out: &mut String, what: &str, values: impl ExactSizeIterator<Item = T>) {
    let more = values.len().saturating_sub(SHOWN);
    for (number, value) in values.take(SHOWN).enumerate() {
        let _ = match number {
            0 => write!(out, "{what} {value}"),
            _ => write!(out, ", {value}"),
        };
    }
    if more > 0 {
        let _ = write!(out, " and {more} more");
    }
}

/// One end of a flow.
fn end(out: &mut String, what: &str, places: &[RuleHost], ports: &[PortRange]) {
    list(out, what, places.iter().map(place));
    let behind = if places.is_empty() { what } else { "" };
    list(out, &format!("{behind} port"), ports.iter());
}

/// The text that the user wrote, with a name's current addresses.
fn place(place: &RuleHost) -> String {
    let prefixes: Vec<String> = place.prefixes.iter().map(ToString::to_string).collect();
    if prefixes.is_empty() {
        return format!("{} (not found)", place.text);
    }
    if prefixes.len() == 1 && prefixes[0] == place.text {
        return place.text.clone();
    }
    format!("{} ({})", place.text, prefixes.join(", "))
}

/// One rule as a phrase: `100 watch tcp to host-r (10.0.0.2) port 443, one flow in 10`.
pub fn sentence(rule: &WatchRule) -> String {
    let action = match rule.action {
        WatchAction::Watch => "watch",
        WatchAction::Exclude => "exclude",
    };
    let mut asked = String::new();
    let protocols = rule.protocols.iter().map(|transport| match transport {
        Transport::Tcp => "tcp",
        Transport::Udp => "udp",
    });
    list(&mut asked, "", protocols);
    end(&mut asked, " from", &rule.from, &rule.from_ports);
    end(&mut asked, " to", &rule.to, &rule.to_ports);
    list(&mut asked, " dscp", rule.dscp.iter());
    list(&mut asked, " on", rule.devs.iter());
    if asked.is_empty() {
        asked.push_str(" everything");
    }
    let mut out = format!("{:>5} {action:<7}{asked}", rule.priority);
    if rule.one_flow_in > 1 {
        let _ = write!(out, ", one flow in {}", rule.one_flow_in);
    }
    if rule.one_packet_in > 1 {
        let _ = write!(out, ", one packet in {}", rule.one_packet_in);
    }
    if rule.fixed {
        out.push_str(", static");
    }
    if let Some(class) = &rule.class {
        let _ = write!(out, ", class {class}");
    }
    out
}
