//! The engine for OTLP logs: reports become events named `hostint.report`, whose attributes are the keys of
//! hostint.report/1.

use std::net::IpAddr;
use std::time::Duration;

use prost::Message;
use serde_json::Value;

use super::messages::{
    Any, AnyValue, Attribute, LogRecord, LogsRequest, Resource, ResourceLogs, ScopeLogs, Severity,
};
use super::sender::{client, resource, scope};
use super::{added, answer};
use crate::engines::http::{HttpClient, PROTOBUF, gzip};
use crate::engines::{Accepted, Engine, FedReport, Pace, Parcel, RunId, Trouble};
use crate::model::metrics::Identity;
use crate::model::{
    EndRecord, FlowKey, HopRecord, NodeId, NodePort, RECORD_SCHEMA, Record, ReportFacts, Transport,
};

const PACE: Pace = Pace {
    reports: 1024,
    linger: Duration::from_millis(500),
};

const EVENT: &str = "hostint.report";

/// The keys that have a name in the semantic conventions. All others begin with `hostint.`.
const CONVENTIONS: [(&str, &str); 4] = [
    ("hostint.flow.src", "source.address"),
    ("hostint.flow.sport", "source.port"),
    ("hostint.flow.dst", "destination.address"),
    ("hostint.flow.dport", "destination.port"),
];

/// A receiver of logs.
pub struct OtlpLogs {
    http: HttpClient,
    resource: Resource,
    /// The number and the compressed request of the present parcel.
    ready: Option<(u64, Vec<u8>)>,
}

impl OtlpLogs {
    /// # Errors
    /// The URL or the system's certificates are unusable.
    pub fn new(
        url: &str,
        headers: Vec<(String, String)>,
        identity: &Identity,
    ) -> Result<Self, String> {
        Ok(Self {
            http: client(url, headers)?,
            resource: resource(identity),
            ready: None,
        })
    }

    /// Returns the request of a parcel, not compressed.
    pub fn encode(&self, parcel: &Parcel) -> Vec<u8> {
        let run = parcel.run();
        let request = LogsRequest {
            resources: vec![ResourceLogs {
                resource: Some(self.resource.clone()),
                scopes: vec![ScopeLogs {
                    scope: Some(scope(RECORD_SCHEMA)),
                    records: parcel.entries().map(|entry| record(run, entry)).collect(),
                }],
            }],
        };
        request.encode_to_vec()
    }

    fn send(&mut self, parcel: &Parcel) -> Result<Accepted, Trouble> {
        if self
            .ready
            .as_ref()
            .is_none_or(|(of, _)| *of != parcel.number)
        {
            let packed =
                gzip(&self.encode(parcel)).map_err(|err| Trouble::Refused(err.to_string()))?;
            self.ready = Some((parcel.number, packed));
        }
        let body = self.ready.as_ref().map_or(&[][..], |(_, body)| body);
        answer::accepted(self.http.send("/v1/logs", PROTOBUF, Some("gzip"), body)?)
    }
}

impl Engine for OtlpLogs {
    fn name(&self) -> &'static str {
        "otlp-reports"
    }

    fn destination(&self) -> String {
        self.http.url().to_owned()
    }

    fn pace(&self) -> Pace {
        PACE
    }

    fn deliver(&mut self, parcel: &Parcel) -> Result<Accepted, Trouble> {
        let sent = self.send(parcel);
        if !matches!(sent, Err(Trouble::Later(_))) {
            self.ready = None;
        }
        sent
    }

    fn rest(&self) -> Duration {
        self.http.rest()
    }
}

fn record(run: RunId, entry: &FedReport) -> LogRecord {
    let observed = ReportFacts::new(&entry.report, entry.arrival, || 0);
    let mut record = Record::new(&entry.report, entry.arrival)
        .in_class(entry.class.as_deref())
        .naming(&entry.names)
        .with_pods(&entry.pods)
        .with_clocks(entry.clocks);
    record.drop_reason_name = entry.drop_reason.as_deref().map(str::to_owned);
    let (severity, severity_text) = if observed.lost > 0 || is_loss(&record, entry) {
        (Severity::Warn, "WARN")
    } else {
        (Severity::Info, "INFO")
    };
    let mut attributes = vec![
        Attribute::text("hostint.run", &format!("{:016x}", run.0)),
        Attribute::new("hostint.number", int(entry.number)),
    ];
    if let Some(flow) = &record.flow {
        network(flow, &mut attributes);
    }
    if let Ok(Value::Object(mut keys)) = serde_json::to_value(&record) {
        // The scope has the schema as its name.
        keys.remove("schema");
        keys.remove("names");
        keys.remove("interfaces");
        flatten("hostint", Value::Object(keys), &mut attributes);
    }
    names(&record, &mut attributes);
    interfaces(&record, &mut attributes);
    if let Some(added) = &entry.added {
        added::attributes(added, &mut attributes);
    }
    if let Some(dropped) = entry.dropped.as_deref().copied() {
        added::drops(dropped, &mut attributes);
    }
    LogRecord {
        time_ns: time_ns(&record),
        observed_ns: observed.time_ns,
        severity: severity.into(),
        severity_text: severity_text.to_owned(),
        body: Some(AnyValue {
            value: Some(Any::Text(observed.kind.to_owned())),
        }),
        attributes,
        event_name: EVENT.to_owned(),
    }
}

/// True if packets were lost on a part of a path, or a host dropped some.
fn is_loss(record: &Record, entry: &FedReport) -> bool {
    let is_ignored = record.host_drop_sum.as_ref().is_some_and(|sum| sum.ignored);
    let on_part = record.path_part.is_some() && entry.added.as_ref().is_some_and(|it| it.lost > 0);
    on_part || entry.dropped.is_some() && !is_ignored
}

/// Adds the name of each node beside its ID.
fn names(record: &Record, attributes: &mut Vec<Attribute>) {
    let mut add = |key: &str, node: NodeId| {
        let named = record.names.iter().find(|one| one.node == node);
        attributes.extend(named.map(|one| Attribute::text(key, &one.name)));
    };
    if let Some(source) = &record.source {
        add("hostint.source.name", source.node());
    }
    for (at, hop) in record.transit.iter().enumerate() {
        add(&format!("hostint.transit.{at}.name"), hop.node);
    }
    if let Some(sink) = &record.sink {
        add("hostint.sink.name", sink.node());
    }
    for (at, int) in record.int.iter().enumerate() {
        for (of, hop) in int.hops.iter().enumerate() {
            if let Some(node) = hop.node {
                add(&format!("hostint.int.{at}.hops.{of}.name"), node);
            }
        }
    }
    if let Some(part) = &record.path_part {
        add("hostint.path_part.from.name", part.from.node);
        add("hostint.path_part.to.name", part.to.node);
    }
    if let Some(node) = record.tagged_by() {
        add("hostint.tagged_by_name", node);
    }
    if let Some(reporter) = record.reporter_node {
        add("hostint.reporter_name", reporter);
    }
}

/// Adds the name of each interface on a path over transit hops beside its port.
fn interfaces(record: &Record, attributes: &mut Vec<Attribute>) {
    if record.interfaces.is_empty() {
        return;
    }
    let mut add = |key: &str, node: Option<NodeId>, port: Option<u16>| {
        let (Some(node), Some(port)) = (node, port) else {
            return;
        };
        let mut named = record.interfaces.iter();
        let named = named.find(|one| one.at == NodePort { node, port });
        attributes.extend(named.map(|one| Attribute::text(key, &one.name)));
    };
    let mut both = |place: &str, node, [ingress, egress]: [Option<u16>; 2]| {
        add(&format!("{place}.ingress_interface"), node, ingress);
        add(&format!("{place}.egress_interface"), node, egress);
    };
    let mut hop = |place: &str, hop: &HopRecord| {
        let ports = [hop.ingress_port, hop.egress_port];
        both(place, Some(hop.node), ports.map(Some));
    };
    for (place, end) in [("source", &record.source), ("sink", &record.sink)] {
        if let Some(end) = end.as_ref().and_then(EndRecord::hop) {
            hop(&format!("hostint.{place}"), end);
        }
    }
    for (at, passed) in record.transit.iter().enumerate() {
        hop(&format!("hostint.transit.{at}"), passed);
    }
    for (at, int) in record.int.iter().enumerate() {
        for (of, hop) in int.hops.iter().enumerate() {
            let ports = [hop.ingress_port, hop.egress_port];
            both(&format!("hostint.int.{at}.hops.{of}"), hop.node, ports);
        }
    }
    if let Some(part) = &record.path_part {
        for (end, at) in [("from", part.from), ("to", part.to)] {
            let key = format!("hostint.path_part.{end}.interface");
            add(&key, Some(at.node), Some(at.port));
        }
    }
}

/// Returns the time of the event according to the exporter, or 0.
fn time_ns(record: &Record) -> u64 {
    let seconds = record.report_time_s.map_or(0, u64::from);
    record.arrival_ns.unwrap_or(seconds * 1_000_000_000)
}

fn network(flow: &FlowKey, attributes: &mut Vec<Attribute>) {
    let version = match flow.src {
        IpAddr::V4(_) => "ipv4",
        IpAddr::V6(_) => "ipv6",
    };
    attributes.push(Attribute::text("network.type", version));
    let transport = match Transport::from_protocol(flow.protocol) {
        Some(Transport::Tcp) => "tcp",
        Some(Transport::Udp) => "udp",
        None => return,
    };
    attributes.push(Attribute::text("network.transport", transport));
}

/// Adds each value with its path as the key, for example `hostint.source.node`. Values of lists are numbered from 0.
fn flatten(path: &str, value: Value, attributes: &mut Vec<Attribute>) {
    let any = match value {
        Value::Object(keys) => {
            for (key, value) in keys {
                flatten(&format!("{path}.{key}"), value, attributes);
            }
            return;
        }
        Value::Array(values) => {
            for (at, value) in values.into_iter().enumerate() {
                flatten(&format!("{path}.{at}"), value, attributes);
            }
            return;
        }
        Value::Null => return,
        Value::Bool(bool) => Any::Bool(bool),
        Value::String(text) => Any::Text(text),
        Value::Number(number) => match (number.as_i64(), number.as_u64()) {
            (Some(integer), _) => Any::Int(integer),
            (None, Some(large)) => int(large),
            (None, None) => Any::Double(number.as_f64().unwrap_or_default()),
        },
    };
    let key = CONVENTIONS
        .iter()
        .find(|(key, _)| *key == path)
        .map_or(path, |(_, name)| name);
    attributes.push(Attribute::new(key, any));
}

/// Returns an integer. OTLP's are signed, so a larger one becomes text to stay exact.
fn int(number: u64) -> Any {
    i64::try_from(number).map_or_else(|_| Any::Text(number.to_string()), Any::Int)
}
