//! The sink's settings, checked.

use std::num::NonZeroU32;
use std::path::PathBuf;
use std::time::Duration;

use super::choice::{Compat, HookChoice};
use super::duration::TimeSpan;
use super::http::{SINK_HTTP_PORT, check_http};
use super::key::check_key;
use super::mark::DscpMark;
use super::mistake::{Fault, fault, missing};
use super::node_name::IdentitySettings;
use super::push::PushConfig;
use super::receivers::{check_receivers, check_spread, report_ports};
use super::sink_checks::{
    check_buckets, check_encapsulations, check_format, check_headers, check_host_times, check_nic,
    check_prefixes, check_summaries, check_timeouts,
};
use super::sink_options::{LogFormatName, ReportFormat, SinkOptions, XdpMode};
use crate::model::{Encapsulation, LeaseKey, NodeId, Prefix};

/// The sink's settings, checked.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct SinkConfig {
    pub devs: Vec<String>,
    /// `None`: that of the roles that run on this host, or the derived one.
    pub node_id: Option<NodeId>,
    pub hook: HookChoice,
    pub xdp_mode: XdpMode,
    /// Arrival times come from the network card, if its driver provides them.
    pub nic_timestamps: bool,
    /// It is reported to collectors how long packets wait in this host.
    pub host_times: bool,
    pub over_tcp_udp: bool,
    pub extension_udp: bool,
    pub vxlan_gpe: bool,
    pub ioam: bool,
    pub options: bool,
    /// The mark of int-md packets, which are recognised only by it.
    pub int_md: Option<DscpMark>,
    pub mark: DscpMark,
    pub extension_port: u16,
    pub report_period: TimeSpan,
    /// The period of flow summaries; 0 means none.
    pub summary_period: TimeSpan,
    pub loss_timeout: TimeSpan,
    pub idle_flow_timeout: TimeSpan,
    /// Ascending edges, at most 16, each from 1 ns to about 2 s.
    pub latency_buckets_ns: Vec<i32>,
    pub bucket_hold: TimeSpan,
    pub collectors: Vec<String>,
    /// Each report goes to one of the collectors.
    pub spread: bool,
    pub report_format: ReportFormat,
    pub report_to_sender: Option<u16>,
    pub report_log: Option<PathBuf>,
    pub log_format: LogFormatName,
    pub node_id_word: bool,
    /// Reports quote the headers of packets.
    pub packet_headers: bool,
    /// What this host says of itself; `None`: nothing.
    pub identity: Option<IdentitySettings>,
    /// The error of this host's clock in ns, as its operator states it.
    pub clock_error_ns: Option<NonZeroU32>,
    pub compat: Option<Compat>,
    pub drop_tagged: bool,
    pub max_flows: u32,
    /// The number of flows whose latencies are counted in fine slots.
    pub max_fine_flows: u32,
    pub allow: Vec<Prefix>,
    pub strict: bool,
    pub lease_key: Option<LeaseKey>,
    /// Most new flows of one source address each second; 0 means no limit.
    pub max_new_flows: u64,
    pub max_reports: u64,
    /// The most summaries in a second.
    pub max_summaries: u32,
    pub control: Option<PathBuf>,
    pub http: Option<String>,
    pub push: PushConfig,
}

/// The fine slots of this many flows take 3.6 GB, and the kernel allows no array of 4 GiB.
const MOST_FINE_FLOWS: u32 = 1 << 20;

/// Default limit of new flows, and of reports, for one source address each second.
const DEFAULT_RATE: u32 = 10_000;

/// The sink's options that become other values, as far as they are right.
struct ParsedOptions {
    mark: DscpMark,
    int_dscp: Option<DscpMark>,
    encapsulations: Vec<Encapsulation>,
    latency_buckets_ns: Vec<i32>,
    allow: Vec<Prefix>,
    lease_key: Option<LeaseKey>,
    push: PushConfig,
    identity: Option<IdentitySettings>,
    clock_error_ns: Option<NonZeroU32>,
}

impl ParsedOptions {
    fn of(options: &SinkOptions, faults: &mut Vec<Fault>) -> Self {
        Self {
            mark: options.marks.check(faults),
            int_dscp: options.int_dscp.check(faults),
            encapsulations: check_encapsulations(
                &options.encap,
                options.int_dscp.int_dscp.is_some(),
                faults,
            ),
            latency_buckets_ns: check_buckets(&options.latency_buckets, faults),
            allow: check_prefixes(&options.allow, faults),
            lease_key: check_key(options.lease_key.as_deref(), faults),
            push: options.push.clone().check(faults),
            identity: options.identity.check(faults),
            clock_error_ns: options.clock.check(faults),
        }
    }
}

/// A duration, or its default in milliseconds.
fn span(given: Option<TimeSpan>, default_ms: u64) -> TimeSpan {
    given.unwrap_or(TimeSpan(Duration::from_millis(default_ms)))
}

impl SinkOptions {
    /// Checks everything and fills in defaults.
    ///
    /// # Errors
    /// All faults.
    pub fn check(self) -> Result<SinkConfig, Vec<Fault>> {
        let mut faults = Vec::new();
        self.check_attachment(&mut faults);
        self.check_measuring(&mut faults);
        self.check_reporting(&mut faults);
        let parsed = ParsedOptions::of(&self, &mut faults);
        if faults.is_empty() {
            Ok(self.with_defaults(parsed))
        } else {
            Err(faults)
        }
    }

    fn check_attachment(&self, faults: &mut Vec<Fault>) {
        if self.hook == Some(HookChoice::Tc) && self.xdp_mode.is_some() {
            faults.push(fault(
                &["xdp-mode", "hook"],
                "hook tc has no XDP mode (leave xdp-mode out)",
            ));
        }
        if self.dev.is_empty() {
            faults.push(missing("dev", "no interface given (try --dev eth0)"));
        }
    }

    fn check_measuring(&self, faults: &mut Vec<Fault>) {
        let nic = self.nic_timestamps.unwrap_or(false);
        check_nic(nic, self.hook, self.xdp_mode, faults);
        check_timeouts(self.loss_timeout(), self.idle_flow_timeout(), faults);
        let max_flows = self.max_flows();
        if !(1..=16_777_216).contains(&max_flows) {
            faults.push(fault(
                &["max-flows"],
                format!("{max_flows} is not a possible number of flows (expected 1 to 16777216)"),
            ));
        }
        let max_fine_flows = self.max_fine_flows();
        if !(1..=MOST_FINE_FLOWS).contains(&max_fine_flows) {
            faults.push(fault(
                &["max-fine-flows"],
                format!(
                    "{max_fine_flows} is not a possible number of flows with fine slots (expected 1 to \
                     {MOST_FINE_FLOWS})"
                ),
            ));
        }
    }

    fn check_reporting(&self, faults: &mut Vec<Fault>) {
        check_receivers(&self.collector, self.report_to_sender, faults);
        check_host_times(
            self.host_times.unwrap_or(false),
            &self.collector,
            self.compat,
            faults,
        );
        check_spread(self.spread.unwrap_or(false), &self.collector, faults);
        check_format(self.report_format, self.compat, faults);
        check_headers(self.no_packet_headers, self.compat, faults);
        check_summaries(
            self.summary_period(),
            self.max_summaries,
            self.compat,
            faults,
        );
        check_http(self.http.as_deref(), SINK_HTTP_PORT, faults);
    }

    fn loss_timeout(&self) -> TimeSpan {
        span(self.loss_timeout, 200)
    }

    fn idle_flow_timeout(&self) -> TimeSpan {
        span(self.idle_flow_timeout, 120_000)
    }

    fn summary_period(&self) -> TimeSpan {
        let otherwise_ms = match self.compat {
            Some(Compat::HostInt) => 0,
            None => 10_000,
        };
        span(self.summary_period, otherwise_ms)
    }

    fn max_flows(&self) -> u32 {
        self.max_flows.unwrap_or(65536)
    }

    fn max_fine_flows(&self) -> u32 {
        self.max_fine_flows.unwrap_or(16_384)
    }

    /// Only XDP has modes, and reads the network card's timestamps.
    fn hook_choice(&self) -> HookChoice {
        let asks_for_xdp =
            self.xdp_mode.unwrap_or_default() != XdpMode::Auto || self.nic_timestamps == Some(true);
        match self.hook.unwrap_or_default() {
            HookChoice::Auto if asks_for_xdp => HookChoice::Xdp,
            hook => hook,
        }
    }

    /// The interfaces, each once.
    fn devs(&self) -> Vec<String> {
        let mut devs: Vec<String> = Vec::new();
        for dev in &self.dev {
            if !devs.contains(dev) {
                devs.push(dev.clone());
            }
        }
        devs
    }

    fn with_defaults(self, parsed: ParsedOptions) -> SinkConfig {
        let recognises = |one| parsed.encapsulations.contains(&one);
        SinkConfig {
            devs: self.devs(),
            node_id: self.node_id.map(NodeId),
            hook: self.hook_choice(),
            xdp_mode: self.xdp_mode.unwrap_or_default(),
            nic_timestamps: self.nic_timestamps.unwrap_or(false),
            host_times: self.host_times.unwrap_or(false),
            over_tcp_udp: recognises(Encapsulation::OverTcpUdp),
            extension_udp: recognises(Encapsulation::ExtensionUdp),
            vxlan_gpe: recognises(Encapsulation::VxlanGpe),
            ioam: recognises(Encapsulation::Ioam),
            options: recognises(Encapsulation::Options),
            int_md: parsed.int_dscp,
            mark: parsed.mark,
            extension_port: self.marks.extension_port(),
            report_period: span(self.report_period, 2000),
            summary_period: self.summary_period(),
            loss_timeout: self.loss_timeout(),
            idle_flow_timeout: self.idle_flow_timeout(),
            latency_buckets_ns: parsed.latency_buckets_ns,
            bucket_hold: span(self.bucket_hold, 100),
            max_flows: self.max_flows(),
            max_fine_flows: self.max_fine_flows(),
            collectors: self.collector,
            spread: self.spread.unwrap_or(false),
            report_format: self.report_format.unwrap_or_default(),
            report_to_sender: self.report_to_sender,
            report_log: self.report_log,
            log_format: self.log_format.unwrap_or_default(),
            // Collectors of Host-INT do not know identities.
            identity: parsed.identity.filter(|_| self.compat.is_none()),
            clock_error_ns: parsed.clock_error_ns,
            node_id_word: !self.no_node_id_word.unwrap_or(false),
            packet_headers: !self.no_packet_headers.unwrap_or(false),
            compat: self.compat,
            drop_tagged: self.drop_tagged.unwrap_or(false),
            allow: parsed.allow,
            strict: self.strict.unwrap_or(false),
            lease_key: parsed.lease_key,
            max_new_flows: self.max_new_flows.unwrap_or(DEFAULT_RATE).into(),
            max_reports: self.max_reports.unwrap_or(DEFAULT_RATE).into(),
            max_summaries: self.max_summaries.unwrap_or(DEFAULT_SUMMARIES),
            control: self.control,
            http: self.http,
            push: parsed.push,
        }
    }
}

/// Bytes of the longest report other than a summary, as an IP packet.
const REPORT_BYTES: u32 = 256;
/// Summaries in a second, which a host with a hundred peers and as many flows does not need.
const DEFAULT_SUMMARIES: u32 = 50;

impl SinkConfig {
    /// Greatest number of bytes that one report costs over all its destinations.
    pub fn report_bytes(&self) -> u32 {
        let receivers = self.copies() + u32::from(self.report_to_sender.is_some());
        REPORT_BYTES.saturating_mul(receivers)
    }

    /// True if summaries have somewhere to go; packet senders get none.
    pub fn has_summary_receivers(&self) -> bool {
        !self.collectors.is_empty() || self.report_log.is_some()
    }

    /// Number of collectors that get the same report.
    pub fn copies(&self) -> u32 {
        match self.spread {
            true => 1,
            false => self.collectors.len() as u32,
        }
    }

    /// The UDP destination ports of all reports, including the default one.
    pub fn report_ports(&self, collectors: impl Iterator<Item = u16>) -> Vec<u16> {
        report_ports(collectors.chain(self.report_to_sender))
    }
}
