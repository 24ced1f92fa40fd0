//! The sink's settings, checked.

use std::path::{Path, PathBuf};
use std::time::Duration;

use super::http::{SINK_HTTP_PORT, check_http};
use super::key::read_key;
use super::mistake::{Fault, fault, item_fault, missing, secret_fault};
use super::push::PushConfig;
use super::receivers::{check_receivers, check_spread};
use super::sink_options::{LogFormatName, ReportFormat, SinkOptions, XdpMode};
use super::{BadMark, Compat, DscpMark, EXTENSION_PORT, SinkHook, Span};
use crate::model::{Encapsulation, LeaseKey, NodeId, Prefix, REPORT_PORT, UnknownEncapsulation};

/// The sink's settings, checked.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct SinkConfig {
    pub devs: Vec<String>,
    pub node_id: NodeId,
    pub hook: SinkHook,
    pub xdp_mode: XdpMode,
    /// Arrival times come from the network card, if its driver provides them.
    pub nic_timestamps: bool,
    pub over_tcp_udp: bool,
    pub extension_udp: bool,
    pub vxlan_gpe: bool,
    pub mark: DscpMark,
    pub extension_port: u16,
    pub report_period: Span,
    /// The period of flow summaries; 0 means none.
    pub summary_period: Span,
    pub loss_timeout: Span,
    pub idle_flow_timeout: Span,
    /// Ascending edges, at most 16, each from 1 ns to about 2 s.
    pub latency_buckets_ns: Vec<i32>,
    pub bucket_hold: Span,
    pub collectors: Vec<String>,
    /// Each report goes to one of the collectors.
    pub spread: bool,
    pub report_format: ReportFormat,
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
    /// Most new flows of one source address each second; 0 means no limit.
    pub max_new_flows: u64,
    pub max_reports: u64,
    pub control: Option<PathBuf>,
    pub http: Option<String>,
    pub push: PushConfig,
}

impl SinkOptions {
    /// Checks everything and fills in defaults.
    ///
    /// # Errors
    /// All faults.
    pub fn check(self) -> Result<SinkConfig, Vec<Fault>> {
        let mut faults = Vec::new();
        let mut devs: Vec<String> = Vec::new();
        for dev in self.dev {
            if !devs.contains(&dev) {
                devs.push(dev);
            }
        }
        if self.hook == Some(SinkHook::Tc) && self.xdp_mode.is_some() {
            faults.push(fault(
                &["xdp-mode", "hook"],
                "hook tc has no XDP mode (leave xdp-mode out)",
            ));
        }
        let nic = self.nic_timestamps.unwrap_or(false);
        check_nic(nic, self.hook, self.xdp_mode, &mut faults);
        if devs.is_empty() {
            faults.push(missing("dev", "no interface given (try --dev eth0)"));
        }
        if self.node_id.is_none() {
            faults.push(missing(
                "node-id",
                "no node id given (try --node-id 2; unique in the INT domain)",
            ));
        }
        let mark = check_mark(self.dscp_value, self.dscp_mask, &mut faults);
        let encapsulations = check_encapsulations(&self.encap, &mut faults);
        let buckets = check_buckets(&self.latency_buckets, &mut faults);
        let span = |given: Option<Span>, default_ms| {
            given.unwrap_or(Span(Duration::from_millis(default_ms)))
        };
        let loss_timeout = span(self.loss_timeout, 200);
        let idle_flow_timeout = span(self.idle_flow_timeout, 120_000);
        check_timeouts(loss_timeout, idle_flow_timeout, &mut faults);
        let extension_port = self.extension_port.unwrap_or(EXTENSION_PORT);
        if extension_port == 0 {
            faults.push(fault(
                &["extension-port"],
                "extension-udp needs a port other than 0",
            ));
        }
        check_receivers(&self.collector, self.report_to_sender, &mut faults);
        let spread = self.spread.unwrap_or(false);
        check_spread(spread, &self.collector, &mut faults);
        check_format(self.report_format, self.compat, &mut faults);
        let summary_period = span(self.summary_period, 0);
        check_summaries(summary_period, self.compat, &mut faults);
        let max_flows = self.max_flows.unwrap_or(65536);
        if !(1..=16_777_216).contains(&max_flows) {
            faults.push(fault(
                &["max-flows"],
                format!("{max_flows} is not a possible number of flows (expected 1 to 16777216)"),
            ));
        }
        let allow = check_prefixes(&self.allow, &mut faults);
        let lease_key = check_key(self.lease_key.as_deref(), &mut faults);
        check_http(self.http.as_deref(), SINK_HTTP_PORT, &mut faults);
        let push = self.push.check(&mut faults);
        if !faults.is_empty() {
            return Err(faults);
        }
        Ok(SinkConfig {
            devs,
            node_id: NodeId(self.node_id.unwrap_or_default()),
            hook: self.hook.unwrap_or_default(),
            xdp_mode: self.xdp_mode.unwrap_or_default(),
            nic_timestamps: nic,
            over_tcp_udp: encapsulations.contains(&Encapsulation::OverTcpUdp),
            extension_udp: encapsulations.contains(&Encapsulation::ExtensionUdp),
            vxlan_gpe: encapsulations.contains(&Encapsulation::VxlanGpe),
            mark,
            extension_port,
            report_period: span(self.report_period, 2000),
            summary_period,
            loss_timeout,
            idle_flow_timeout,
            latency_buckets_ns: buckets,
            bucket_hold: span(self.bucket_hold, 100),
            collectors: self.collector,
            spread,
            report_format: self.report_format.unwrap_or_default(),
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
            control: self.control,
            http: self.http,
            push,
        })
    }
}

/// The network card's time can only be read where the driver itself runs the program.
fn check_nic(nic: bool, hook: Option<SinkHook>, mode: Option<XdpMode>, faults: &mut Vec<Fault>) {
    if nic && hook == Some(SinkHook::Tc) {
        faults.push(fault(
            &["nic-timestamps", "hook"],
            "hook tc cannot read the network card's timestamps, XDP can (leave hook tc out)",
        ));
    } else if nic && mode == Some(XdpMode::Generic) {
        faults.push(fault(
            &["nic-timestamps", "xdp-mode"],
            "generic XDP cannot read the network card's timestamps (leave xdp-mode out)",
        ));
    }
}

/// Default limit of new flows, and of reports, for one source address each second.
const DEFAULT_RATE: u32 = 10_000;

/// The number of prefixes that the kernel half has room for.
const MAX_ALLOWED: usize = 4096;

/// The mark of over-tcp-udp, for source and sink alike.
pub(super) fn check_mark(value: Option<u8>, mask: Option<u8>, faults: &mut Vec<Fault>) -> DscpMark {
    DscpMark::new(value.unwrap_or(0x01), mask.unwrap_or(0x01)).unwrap_or_else(|bad| {
        let keys: &[_] = match bad {
            BadMark::TooWide if value.is_some_and(|value| value > 0x3f) => &["dscp-value"],
            BadMark::TooWide | BadMark::EmptyMask => &["dscp-mask"],
            BadMark::OutsideMask => &["dscp-value", "dscp-mask"],
            BadMark::Unmarked => &["dscp-value"],
        };
        faults.push(fault(keys, bad.to_string()));
        DscpMark::DEFAULT
    })
}

/// The key of lease messages, for source and sink alike.
pub(super) fn check_key(path: Option<&Path>, faults: &mut Vec<Fault>) -> Option<LeaseKey> {
    read_key(path?)
        .map_err(|why| faults.push(secret_fault("lease-key", why)))
        .ok()
}

fn check_timeouts(loss: Span, idle: Span, faults: &mut Vec<Fault>) {
    if loss.as_ns() == 0 {
        faults.push(fault(
            &["loss-timeout"],
            "a loss timeout of 0 would count every reordered packet as lost",
        ));
    }
    let shortest = Span(loss.0.saturating_mul(2));
    if idle.0 < shortest.0 {
        faults.push(fault(
            &["idle-flow-timeout", "loss-timeout"],
            format!(
                "idle flows can be forgotten after {shortest} at the earliest, twice the loss timeout: \
                 {idle} is too short"
            ),
        ));
    }
}

fn check_format(format: Option<ReportFormat>, compat: Option<Compat>, faults: &mut Vec<Fault>) {
    let standard = format.filter(|format| *format != ReportFormat::V05);
    if let (Some(_), Some(Compat::HostInt)) = (standard, compat) {
        faults.push(fault(
            &["report-format", "compat"],
            "collectors of Host-INT read v0.5 only (leave report-format or compat out)",
        ));
    }
}

fn check_summaries(period: Span, compat: Option<Compat>, faults: &mut Vec<Fault>) {
    if period.0.is_zero() {
        return;
    }
    if period.0 < SHORTEST_SUMMARY_PERIOD {
        faults.push(fault(
            &["summary-period"],
            format!(
                "a summary period of {period} is shorter than a pass over the flow table (try 1s or more; 0s: never)"
            ),
        ));
    }
    if compat == Some(Compat::HostInt) {
        faults.push(fault(
            &["summary-period", "compat"],
            "collectors of Host-INT do not know summaries (leave summary-period or compat out)",
        ));
    }
}

fn check_prefixes(texts: &[String], faults: &mut Vec<Fault>) -> Vec<Prefix> {
    let mut found = Vec::new();
    for (i, text) in texts.iter().enumerate() {
        match text.parse() {
            Ok(prefix) => found.push(prefix),
            Err(err) => faults.push(item_fault(
                "allow",
                i,
                format!("cannot allow {text}: {err} (try 10.0.0.0/24 or 2001:db8::/64)"),
            )),
        }
    }
    if found.len() > MAX_ALLOWED {
        faults.push(fault(
            &["allow"],
            format!("{} prefixes: {MAX_ALLOWED} are possible", found.len()),
        ));
    }
    found
}

fn check_encapsulations(names: &[String], faults: &mut Vec<Fault>) -> Vec<Encapsulation> {
    if names.is_empty() {
        return Encapsulation::ALL.to_vec();
    }
    let mut found = Vec::new();
    for (i, name) in names.iter().enumerate() {
        match name.parse() {
            Ok(encapsulation) => found.push(encapsulation),
            Err(_) => faults.push(item_fault(
                "encap",
                i,
                UnknownEncapsulation(name.clone()).to_string(),
            )),
        }
    }
    found
}

fn check_buckets(edges: &[Span], faults: &mut Vec<Fault>) -> Vec<i32> {
    if edges.is_empty() {
        return [5, 10, 20, 40, 60, 120].map(|us| us * 1000).to_vec();
    }
    if edges.len() > 16 {
        faults.push(fault(
            &["latency-buckets"],
            format!(
                "{} latency bucket edges given: 16 are possible",
                edges.len()
            ),
        ));
    }
    let mut found = Vec::new();
    for (i, edge) in edges.iter().enumerate() {
        // The wire's 32-bit timestamps can express latencies up to 2.1 s; thresholds lie an eighth beyond the edges.
        match i32::try_from(edge.as_ns()) {
            Ok(ns) if (1..=1_900_000_000).contains(&ns) => found.push(ns),
            _ => faults.push(item_fault(
                "latency-buckets",
                i,
                format!("latency bucket edge {edge}: from 1ns to 1.9s is possible"),
            )),
        }
    }
    for (i, pair) in edges.windows(2).enumerate() {
        if pair[0] >= pair[1] {
            faults.push(item_fault(
                "latency-buckets",
                i + 1,
                format!(
                    "latency bucket edges must ascend, but {} comes after {}",
                    pair[1], pair[0]
                ),
            ));
        }
    }
    found
}

/// The period at which flow tables are walked; summaries cannot come more often.
const SHORTEST_SUMMARY_PERIOD: Duration = Duration::from_secs(1);

/// Bytes of the longest report other than a summary, as an IP packet.
const REPORT_BYTES: u32 = 256;
/// Bytes of the longest summary, as an IP packet.
const SUMMARY_BYTES: u64 = 332;

impl SinkConfig {
    /// Greatest number of bytes that one report costs over all its destinations.
    pub fn report_bytes(&self) -> u32 {
        let receivers = self.copies() + u32::from(self.report_to_sender.is_some());
        REPORT_BYTES.saturating_mul(receivers)
    }
}

impl SinkConfig {
    /// Greatest number of bytes that one summary costs; packet senders get none.
    pub fn summary_bytes(&self) -> u64 {
        SUMMARY_BYTES * u64::from(self.copies())
    }

    /// Number of collectors that get the same report.
    fn copies(&self) -> u32 {
        match self.spread {
            true => 1,
            false => self.collectors.len() as u32,
        }
    }
}

/// The UDP destination ports of all reports, including the default one.
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
