//! The sink's settings: flags over file over defaults.

use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::{Args, ValueEnum};
use serde::Deserialize;

use super::mark::parse_dscp;
use super::{Compat, DscpMark, EXTENSION_PORT, SinkHook, Span};
use crate::model::{Encapsulation, NodeId, REPORT_PORT};

/// How XDP is attached.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq, ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub enum XdpMode {
    /// native, else generic
    #[default]
    Auto,
    /// in the driver
    Native,
    /// in the stack: works everywhere, costs more
    Generic,
}

/// The report log's form.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq, ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub enum LogFormatName {
    /// Host-INT's text line
    #[default]
    HostInt,
    /// one JSON object a line, as hostint collect --json prints
    Json,
}

/// What can be set, by flag or by the same name in the config file.
#[derive(Args, Clone, Debug, Default, Deserialize)]
#[serde(
    rename_all = "kebab-case",
    deny_unknown_fields,
    default,
    expecting = "a table of settings"
)]
pub struct SinkOptions {
    /// Interface to strip INT on; repeat for several
    #[arg(long, value_name = "DEV")]
    pub dev: Vec<String>,

    /// This host's INT node id, unique in the INT domain
    #[arg(long, value_name = "N")]
    pub node_id: Option<u32>,

    /// Where to look at packets [default: xdp]
    #[arg(long, value_name = "HOOK")]
    pub hook: Option<SinkHook>,

    /// How to attach the XDP program [default: auto]
    #[arg(long, value_name = "MODE", hide_possible_values = false)]
    pub xdp_mode: Option<XdpMode>,

    /// Encapsulations to recognise, separated by commas [default: all:
    /// over-tcp-udp,extension-udp,vxlan-gpe]
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub encap: Vec<String>,

    /// DSCP value that marks over-tcp-udp packets [default: 0x01]
    #[arg(long, value_name = "VALUE", value_parser = parse_dscp)]
    pub dscp_value: Option<u8>,

    /// DSCP bits that the mark consists of [default: 0x01]
    #[arg(long, value_name = "MASK", value_parser = parse_dscp)]
    pub dscp_mask: Option<u8>,

    /// UDP destination port of extension-udp packets [default: 33122]
    #[arg(long, value_name = "PORT")]
    pub extension_port: Option<u16>,

    /// Report each flow's latency at least this often [default: 2s]
    #[arg(long, value_name = "TIME")]
    pub report_period: Option<Span>,

    /// A missing sequence number is lost after this time [default: 200ms]
    #[arg(long, value_name = "TIME")]
    pub loss_timeout: Option<Span>,

    /// Forget flows that are idle for this time [default: 2m]
    #[arg(long, value_name = "TIME")]
    pub idle_flow_timeout: Option<Span>,

    /// Edges of the latency buckets, up to 16; a flow that changes its bucket is news
    /// [default: 5us,10us,20us,40us,60us,120us]
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub latency_buckets: Vec<Span>,

    /// Report a flow's bucket changes at most this often [default: 100ms]
    #[arg(long, value_name = "TIME")]
    pub bucket_hold: Option<Span>,

    /// Send reports to this collector, default port 32766; repeat for several
    #[arg(long, value_name = "HOST[:PORT]")]
    pub collector: Vec<String>,

    /// Send each report to the sender of the reported packet too [default port: 32766]
    #[arg(long, value_name = "PORT", num_args = 0..=1, require_equals = true, default_missing_value = "32766")]
    pub report_to_sender: Option<u16>,

    /// Append each report to this file; SIGUSR1 reopens it
    #[arg(long, value_name = "FILE")]
    pub report_log: Option<PathBuf>,

    /// Form of the report log [default: host-int]
    #[arg(long, value_name = "FORMAT")]
    pub log_format: Option<LogFormatName>,

    /// Leave the sink's node id out of latency reports
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    pub no_node_id_word: Option<bool>,

    /// Write reports that collectors of this implementation understand: without queue depth
    #[arg(long, value_name = "WHOM")]
    pub compat: Option<Compat>,

    /// Drop tagged packets instead of stripping them (a test of reports without traffic)
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    pub drop_tagged: Option<bool>,

    /// Size of the flow table [default: 65536]
    #[arg(long, value_name = "N")]
    pub max_flows: Option<u32>,
}

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
}

/// Mistakes in flags or file, all of them.
#[derive(Debug, thiserror::Error)]
#[error("{}", .0.join("\n"))]
pub struct ConfigError(pub Vec<String>);

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct File {
    sink: SinkOptions,
}

/// Reads the `[sink]` table of a config file.
pub fn load_file(path: &Path) -> Result<SinkOptions, ConfigError> {
    let fail = |why: String| ConfigError(vec![why]);
    let text = std::fs::read_to_string(path)
        .map_err(|err| fail(format!("cannot read config {}: {err}", path.display())))?;
    let file: File = toml::from_str(&text).map_err(|err| {
        let err = err.to_string();
        fail(format!(
            "cannot use config {}: {}",
            path.display(),
            err.trim_end()
        ))
    })?;
    Ok(file.sink)
}

fn first_set<T>(flag: Vec<T>, file: Vec<T>) -> Vec<T> {
    if flag.is_empty() { file } else { flag }
}

impl SinkOptions {
    /// These, and the file's where these say nothing.
    pub fn over(self, file: Self) -> Self {
        Self {
            dev: first_set(self.dev, file.dev),
            node_id: self.node_id.or(file.node_id),
            hook: self.hook.or(file.hook),
            xdp_mode: self.xdp_mode.or(file.xdp_mode),
            encap: first_set(self.encap, file.encap),
            dscp_value: self.dscp_value.or(file.dscp_value),
            dscp_mask: self.dscp_mask.or(file.dscp_mask),
            extension_port: self.extension_port.or(file.extension_port),
            report_period: self.report_period.or(file.report_period),
            loss_timeout: self.loss_timeout.or(file.loss_timeout),
            idle_flow_timeout: self.idle_flow_timeout.or(file.idle_flow_timeout),
            latency_buckets: first_set(self.latency_buckets, file.latency_buckets),
            bucket_hold: self.bucket_hold.or(file.bucket_hold),
            collector: first_set(self.collector, file.collector),
            report_to_sender: self.report_to_sender.or(file.report_to_sender),
            report_log: self.report_log.or(file.report_log),
            log_format: self.log_format.or(file.log_format),
            no_node_id_word: self.no_node_id_word.or(file.no_node_id_word),
            compat: self.compat.or(file.compat),
            drop_tagged: self.drop_tagged.or(file.drop_tagged),
            max_flows: self.max_flows.or(file.max_flows),
        }
    }

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
        })
    }
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
