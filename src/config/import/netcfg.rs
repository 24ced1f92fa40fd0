//! The settings of SD-Fabric's INT in ONOS' netcfg: the app that has "report".

use serde_json::{Map, Value};

use super::document::Document;
use super::{Imported, ImportedQueue, ImportedRule};
use crate::model::Prefix;

/// SD-Fabric's own port for reports.
const USUAL_PORT: u64 = 32766;
/// SD-Fabric's own step.
const USUAL_STEP_NS: u64 = 256;
const QUEUES: &str = "queueReportLatencyThresholds";
/// The settings that are known.
const KNOWN: [&str; 5] = [
    "collectorIp",
    "collectorPort",
    "minFlowHopLatencyChangeNs",
    "watchSubnets",
    QUEUES,
];

/// The apps, which may stand in a part called netcfg.
fn apps(document: &Document) -> Option<&Map<String, Value>> {
    let root = document.0.as_object()?;
    let netcfg = root.get("netcfg").and_then(Value::as_object);
    netcfg.unwrap_or(root).get("apps")?.as_object()
}

/// The apps that have a report, each with its settings.
fn reporting(document: &Document) -> Vec<(&String, &Value)> {
    let apps = apps(document).into_iter().flatten();
    apps.filter(|(_, app)| app.get("report").is_some())
        .collect()
}

pub fn fits(document: &Document) -> bool {
    apps(document).is_some()
}

pub fn read(document: &Document) -> Result<Imported, String> {
    let (name, app) = match &reporting(document)[..] {
        [one] => *one,
        [] => {
            return Err("no app in it has \"report\", so there are no settings of INT".to_owned());
        }
        several => {
            let names: Vec<&str> = several.iter().map(|(name, _)| name.as_str()).collect();
            return Err(format!(
                "several apps have \"report\": {} (leave one)",
                names.join(", ")
            ));
        }
    };
    let report = app
        .get("report")
        .and_then(Value::as_object)
        .ok_or_else(|| format!("apps.{name}.report is no map"))?;
    if let Some(key) = report.keys().find(|key| !KNOWN.contains(&key.as_str())) {
        return Err(format!(
            "apps.{name}.report.{key} has no counterpart in hostint (remove it from the file, and look at \
             hostint-postcards(8) for what comes near)"
        ));
    }
    let mut imported = Imported {
        remarks: vec![
            "Switches have all of their ports in this; here a pattern stands for all interfaces."
                .to_owned(),
        ],
        collector: Some(collector(report)?),
        latency_step_ns: Some(step(report)?),
        rules: rules(report)?,
        ..Imported::default()
    };
    let queues = report.get(QUEUES).or_else(|| app.get(QUEUES));
    if let Some(queues) = queues {
        imported.queues = read_queues(queues)?;
    }
    if imported.rules.is_empty() {
        let remark = "watchSubnets is empty, so flows and drops are not told, as by SD-Fabric.";
        imported.remarks.push(remark.to_owned());
        if imported.queues.is_empty() {
            return Err(
                "watchSubnets is empty and there are no thresholds of queues: SD-Fabric reports nothing with it, and \
                 there is nothing to import"
                    .to_owned(),
            );
        }
    } else {
        let remark = "Drops are told of all flows: there is no watchlist for them.";
        imported.remarks.push(remark.to_owned());
    }
    Ok(imported)
}

fn collector(report: &Map<String, Value>) -> Result<String, String> {
    let ip = text(report, "collectorIp")?.ok_or("report.collectorIp is missing")?;
    let ip: std::net::IpAddr = ip
        .parse()
        .map_err(|_| format!("report.collectorIp: {ip:?} is no IP address"))?;
    let port = number(report, "collectorPort")?.unwrap_or(USUAL_PORT);
    let port = u16::try_from(port).ok().filter(|port| *port > 0);
    let port = port.ok_or("report.collectorPort is no port (expected 1 to 65535)")?;
    Ok(std::net::SocketAddr::new(ip, port).to_string())
}

/// SD-Fabric takes the next lower power of two; 0 and 1 stand for each change.
fn step(report: &Map<String, Value>) -> Result<u64, String> {
    let ns = number(report, "minFlowHopLatencyChangeNs")?.unwrap_or(USUAL_STEP_NS);
    Ok(1 << ns.max(1).ilog2())
}

/// A packet is watched if one of its ends is in one of the subnets.
fn rules(report: &Map<String, Value>) -> Result<Vec<ImportedRule>, String> {
    let Some(subnets) = report.get("watchSubnets") else {
        return Ok(Vec::new());
    };
    let subnets = subnets
        .as_array()
        .ok_or("report.watchSubnets is no list of subnets")?;
    let rule = |subnet: &Value| {
        let subnet = subnet.as_str().unwrap_or_default();
        let prefix: Prefix = subnet
            .parse()
            .map_err(|why| format!("report.watchSubnets: {subnet:?} is no subnet: {why}"))?;
        Ok(ImportedRule(vec![("either", prefix.to_string())]))
    };
    subnets.iter().map(rule).collect()
}

fn read_queues(queues: &Value) -> Result<Vec<ImportedQueue>, String> {
    let queues = queues
        .as_object()
        .ok_or_else(|| format!("{QUEUES} is no map from numbers of queues"))?;
    let mut found = Vec::new();
    for (number_of, limits) in queues {
        let place = format!("{QUEUES}.{number_of}");
        let queue = number_of
            .parse()
            .map_err(|_| format!("{place}: {number_of:?} is no number of a queue"))?;
        let limits = limits
            .as_object()
            .ok_or_else(|| format!("{place} is no map"))?;
        if let Some(key) = limits
            .keys()
            .find(|key| !["triggerNs", "resetNs"].contains(&key.as_str()))
        {
            return Err(format!("{place}.{key} has no counterpart in hostint"));
        }
        let within = |why: String| format!("{QUEUES}.{number_of}: {why}");
        let trigger_ns = number(limits, "triggerNs").map_err(within)?;
        let trigger_ns = trigger_ns
            .filter(|ns| *ns > 0)
            .ok_or_else(|| format!("{place}.triggerNs is missing, or 0"))?;
        let reset_ns = number(limits, "resetNs").map_err(within)?;
        let reset_ns = reset_ns.unwrap_or(trigger_ns / 2);
        if reset_ns > trigger_ns {
            return Err(format!("{place}.resetNs is above triggerNs"));
        }
        found.push(ImportedQueue {
            queue,
            trigger_ns,
            reset_ns,
        });
    }
    found.sort_by_key(|one| one.queue);
    Ok(found)
}

fn text<'a>(map: &'a Map<String, Value>, key: &str) -> Result<Option<&'a str>, String> {
    match map.get(key) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text)),
        Some(other) => Err(format!("{key}: {other} is no text")),
    }
}

fn number(map: &Map<String, Value>, key: &str) -> Result<Option<u64>, String> {
    match map.get(key) {
        None | Some(Value::Null) => Ok(None),
        Some(value) => {
            let number = value.as_u64();
            let number = number.or_else(|| value.as_str().and_then(|text| text.parse().ok()));
            let number = number.ok_or_else(|| format!("{key}: {value} is no whole number"))?;
            Ok(Some(number))
        }
    }
}
