//! The sink's settings, checked.

use std::path::PathBuf;
use std::time::Duration;

use super::key::read_key;
use super::sink_options::{LogFormatName, SinkOptions, XdpMode};
use super::{Compat, DscpMark, EXTENSION_PORT, SinkHook, Span};
use crate::model::{Encapsulation, LeaseKey, NodeId, Prefix, REPORT_PORT};

/// All settings of a sink, checked.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct SinkConfig {
    pub devs: Vec<String>,
    pub node_id: NodeId,
    pub hook: SinkHook,
    pub xdp_mode: XdpMode,
    pub over_tcp_udp: bool,
    pub extension_udp: bool,
    pub vxlan_gpe: bool,
    pub mark: DscpMark,
    pub extension_port: u16,
    pub report_period: Span,
    pub loss_timeout: Span,
    pub idle_flow_timeout: Span,
    /// Ascending, at most 16, each from 1 ns to about 2 s.
    pub latency_buckets_ns: Vec<i32>,
    pub bucket_hold: Span,
    pub collectors: Vec<String>,
    pub report_to_sender: Option<u16>,
    pub report_log: Option<PathBuf>,
    pub log_format: LogFormatName,
    pub node_id_word: bool,
    pub compat: Option<Compat>,
    pub drop_tagged: bool,
    pub max_flows: u32,
    pub allow: Vec<Prefix>,
    pub strict: bool,
    pub lease_key: Option<LeaseKey>,
    /// A second and source address; 0: no limit.
    pub max_new_flows: u64,
    pub max_reports: u64,
}

/// Mistakes in flags or file, all of them.
#[derive(Debug, thiserror::Error)]
#[error("{}", .0.join("\n"))]
pub struct ConfigError(pub Vec<String>);

impl SinkOptions {
    /// Checks everything and fills in defaults.
    pub fn check(self) -> Result<SinkConfig, ConfigError> {
        let mut mistakes = Vec::new();
        let mut devs: Vec<String> = Vec::new();
        for dev in self.dev {
            if !devs.contains(&dev) {
                devs.push(dev);
            }
        }
        if self.hook == Some(SinkHook::Tc) && self.xdp_mode.is_some() {
            mistakes.push("--hook tc has no XDP mode (leave --xdp-mode out)".to_owned());
        }
        if devs.is_empty() {
            mistakes.push("no interface given (try --dev eth0)".to_owned());
        }
        if self.node_id.is_none() {
            mistakes
                .push("no node id given (try --node-id 2; unique in the INT domain)".to_owned());
        }
        let mark = DscpMark::new(
            self.dscp_value.unwrap_or(0x01),
            self.dscp_mask.unwrap_or(0x01),
        )
        .unwrap_or_else(|bad| {
            mistakes.push(bad.to_string());
            DscpMark::DEFAULT
        });
        let encapsulations = check_encapsulations(&self.encap, &mut mistakes);
        let buckets = check_buckets(&self.latency_buckets, &mut mistakes);
        let span = |given: Option<Span>, default_ms| {
            given.unwrap_or(Span(Duration::from_millis(default_ms)))
        };
        let loss_timeout = span(self.loss_timeout, 200);
        let idle_flow_timeout = span(self.idle_flow_timeout, 120_000);
        if loss_timeout.as_ns() == 0 {
            mistakes
                .push("a loss timeout of 0 would take every reordered packet for lost".to_owned());
        }
        if idle_flow_timeout.0 < loss_timeout.0 * 2 {
            mistakes.push(format!(
                "idle flows can be forgotten after {} at the earliest, twice the loss timeout: {idle_flow_timeout} is too short",
                Span(loss_timeout.0 * 2)
            ));
        }
        let extension_port = self.extension_port.unwrap_or(EXTENSION_PORT);
        if extension_port == 0 {
            mistakes.push("extension-udp needs a port other than 0".to_owned());
        }
        if self.report_to_sender == Some(0) {
            mistakes.push("reports cannot be sent to port 0".to_owned());
        }
        let max_flows = self.max_flows.unwrap_or(65536);
        if !(1..=16_777_216).contains(&max_flows) {
            mistakes.push(format!(
                "max-flows is {max_flows}: from 1 to 16777216 flows are possible"
            ));
        }
        let allow = check_prefixes(&self.allow, &mut mistakes);
        let lease_key = self.lease_key.as_deref().and_then(|path| {
            read_key(path)
                .map_err(|mistake| mistakes.push(mistake))
                .ok()
        });
        if !mistakes.is_empty() {
            return Err(ConfigError(mistakes));
        }
        Ok(SinkConfig {
            devs,
            node_id: NodeId(self.node_id.unwrap_or_default()),
            hook: self.hook.unwrap_or_default(),
            xdp_mode: self.xdp_mode.unwrap_or_default(),
            over_tcp_udp: encapsulations.contains(&Encapsulation::OverTcpUdp),
            extension_udp: encapsulations.contains(&Encapsulation::ExtensionUdp),
            vxlan_gpe: encapsulations.contains(&Encapsulation::VxlanGpe),
            mark,
            extension_port,
            report_period: span(self.report_period, 2000),
            loss_timeout,
            idle_flow_timeout,
            latency_buckets_ns: buckets,
            bucket_hold: span(self.bucket_hold, 100),
            collectors: self.collector,
            report_to_sender: self.report_to_sender,
            report_log: self.report_log,
            log_format: self.log_format.unwrap_or_default(),
            node_id_word: !self.no_node_id_word.unwrap_or(false),
            compat: self.compat,
            drop_tagged: self.drop_tagged.unwrap_or(false),
            max_flows,
            allow,
            strict: self.strict.unwrap_or(false),
            lease_key,
            max_new_flows: self.max_new_flows.unwrap_or(DEFAULT_RATE).into(),
            max_reports: self.max_reports.unwrap_or(DEFAULT_RATE).into(),
        })
    }
}

/// New flows, and reports, of one source address a second.
const DEFAULT_RATE: u32 = 10_000;

fn check_prefixes(texts: &[String], mistakes: &mut Vec<String>) -> Vec<Prefix> {
    let mut found = Vec::new();
    for text in texts {
        match text.parse() {
            Ok(prefix) => found.push(prefix),
            Err(err) => mistakes.push(format!(
                "cannot allow {text}: {err} (try 10.0.0.0/24 or 2001:db8::/64)"
            )),
        }
    }
    found
}

fn check_encapsulations(names: &[String], mistakes: &mut Vec<String>) -> Vec<Encapsulation> {
    if names.is_empty() {
        return Encapsulation::ALL.to_vec();
    }
    let mut found = Vec::new();
    for name in names {
        match name.parse() {
            Ok(encapsulation) => found.push(encapsulation),
            Err(err) => mistakes.push(format!("{err}")),
        }
    }
    found
}

fn check_buckets(edges: &[Span], mistakes: &mut Vec<String>) -> Vec<i32> {
    if edges.is_empty() {
        return [5, 10, 20, 40, 60, 120].map(|us| us * 1000).to_vec();
    }
    if edges.len() > 16 {
        mistakes.push(format!(
            "{} latency bucket edges given: 16 are possible",
            edges.len()
        ));
    }
    let mut found = Vec::new();
    for edge in edges {
        // The wire's 32-bit timestamps tell latencies up to 2.1 s apart; thresholds lie an eighth beyond.
        match i32::try_from(edge.as_ns()) {
            Ok(ns) if (1..=1_900_000_000).contains(&ns) => found.push(ns),
            _ => mistakes.push(format!(
                "latency bucket edge {edge}: from 1ns to 1.9s is possible"
            )),
        }
    }
    if !found.is_sorted_by(|a, b| a < b) {
        mistakes.push("latency bucket edges must ascend".to_owned());
    }
    found
}

/// Bytes of the longest report as an IP packet.
const REPORT_BYTES: u32 = 256;

impl SinkConfig {
    /// Bytes that a report costs at most, to all who get it.
    pub fn report_bytes(&self) -> u32 {
        let receivers = self.collectors.len() + usize::from(self.report_to_sender.is_some());
        REPORT_BYTES.saturating_mul(receivers as u32)
    }
}

/// The UDP destination ports of all reports, the default one included.
impl SinkConfig {
    pub fn report_ports(&self, collectors: impl Iterator<Item = u16>) -> Vec<u16> {
        let mut ports: Vec<u16> = collectors
            .chain(self.report_to_sender)
            .chain([REPORT_PORT])
            .collect();
        ports.sort_unstable();
        ports.dedup();
        ports
    }
}
