//! The watchlist of int-host-reporter: its own file, the ConfigMap that carries it, and the values of its Helm chart.

use serde_json::{Map, Value};

use super::document::Document;
use super::{Imported, ImportedRule};
use crate::model::{PortRange, Prefix};

/// The list in the file itself, and in the values of the chart.
const LISTS: [&str; 2] = ["rules", "intWatchlistRules"];
const FILE_IN_MAP: &str = "watchlist.yaml";

fn list(root: &Value) -> Option<&Value> {
    LISTS.iter().find_map(|key| root.get(key))
}

/// The file that a ConfigMap carries.
fn carried(root: &Value) -> Option<&str> {
    root.get("data")?.get(FILE_IN_MAP)?.as_str()
}

pub fn fits(document: &Document) -> bool {
    list(&document.0).is_some() || carried(&document.0).is_some()
}

pub fn read(document: &Document) -> Result<Imported, String> {
    if list(&document.0).is_none()
        && let Some(text) = carried(&document.0)
    {
        let inner = Document::read(text).map_err(|why| format!("{FILE_IN_MAP}: {why}"))?;
        return match list(&inner.0) {
            Some(_) => read(&inner),
            None => Err(format!("{FILE_IN_MAP} has no \"rules\"")),
        };
    }
    let root = &document.0;
    let rules = list(root)
        .and_then(Value::as_array)
        .ok_or("the watchlist is no list of rules")?;
    if rules.is_empty() {
        return Err(
            "the watchlist is empty: int-host-reporter reports nothing with it, and there is nothing to import".to_owned(),
        );
    }
    let mut imported = Imported {
        remarks: vec!["Drops are told of all flows: there is no watchlist for them.".to_owned()],
        collector: word(root, "intCollector")?,
        ..Imported::default()
    };
    if let Some(collector) = &imported.collector {
        collector
            .parse::<std::net::SocketAddr>()
            .map_err(|_| format!("intCollector: {collector:?} is no address with a port"))?;
    }
    let dev = word(root, "dataInterface")?;
    if let Some(dev) = &dev
        && !dev
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || "._-".contains(c))
    {
        return Err(format!("dataInterface: {dev:?} is no name of an interface"));
    }
    imported.remarks.push(match dev {
        Some(dev) => {
            format!("Interfaces of containers are in it, beside {dev}, as by int-host-reporter.")
        }
        None => "All interfaces are in it; int-host-reporter was told its own by --data-interface."
            .to_owned(),
    });
    let mut has_ports = false;
    for (index, rule) in rules.iter().enumerate() {
        let within = |why: String| format!("rule {}: {why}", index + 1);
        let rule = rule
            .as_object()
            .ok_or_else(|| within("is no map".to_owned()))?;
        let (rule, ports) = read_rule(rule).map_err(within)?;
        has_ports |= ports;
        imported.rules.push(rule);
    }
    if has_ports {
        let remark = "Ports count here; int-host-reporter did not look at them.";
        imported.remarks.push(remark.to_owned());
    }
    Ok(imported)
}

/// A word of the chart's values.
fn word(root: &Value, key: &str) -> Result<Option<String>, String> {
    match root.get(key) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(word)) => Ok(Some(word.clone())),
        Some(_) => Err(format!("{key} is no word")),
    }
}

/// int-host-reporter compares no ports. No packet has port 0, so a rule that names it means any port.
fn is_any_port(value: &str) -> bool {
    value.is_empty() || value.parse::<PortRange>() == PortRange::new(0, 0)
}

/// A rule, and whether it has ports.
fn read_rule(rule: &Map<String, Value>) -> Result<(ImportedRule, bool), String> {
    let mut found = ImportedRule::default();
    let mut has_ports = false;
    let mut ends = [false; 2];
    let mut has_protocol = false;
    for (key, value) in rule {
        let value = value
            .as_str()
            .ok_or_else(|| format!("{key} is no word"))?
            .trim();
        let prefix = |value: &str| {
            let prefix = value.parse::<Prefix>();
            prefix
                .map(|prefix| prefix.to_string())
                .map_err(|why| format!("{key}: {value:?} is no prefix: {why}"))
        };
        let ports = |value: &str| {
            let ports = value.parse::<PortRange>();
            ports
                .map(|_| value.to_owned())
                .map_err(|why| format!("{key}: {value:?} is no port: {why}"))
        };
        let (name, value) = match key.as_str() {
            "protocol" => {
                has_protocol = true;
                match value {
                    "TCP" => ("protocol", "tcp".to_owned()),
                    "UDP" => ("protocol", "udp".to_owned()),
                    _ => return Err(format!("protocol: {value:?} is neither TCP nor UDP")),
                }
            }
            "src-addr" | "srcAddr" => {
                ends[0] = true;
                ("from", prefix(value)?)
            }
            "dst-addr" | "dstAddr" => {
                ends[1] = true;
                ("to", prefix(value)?)
            }
            "src-port" | "srcPort" | "dst-port" | "dstPort" if is_any_port(value) => continue,
            "src-port" | "srcPort" => {
                has_ports = true;
                ("from-port", ports(value)?)
            }
            "dst-port" | "dstPort" => {
                has_ports = true;
                ("to-port", ports(value)?)
            }
            _ => return Err(format!("{key} has no counterpart in hostint")),
        };
        found.0.push((name, value));
    }
    if !has_protocol {
        return Err("protocol is missing (TCP or UDP)".to_owned());
    }
    for (given, key) in ends.into_iter().zip(["src-addr", "dst-addr"]) {
        if !given {
            return Err(format!(
                "{key} is missing: int-host-reporter finds no packet for it (try 0.0.0.0/0 if all are meant)"
            ));
        }
    }
    Ok((found, has_ports))
}
