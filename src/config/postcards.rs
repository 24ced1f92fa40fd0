//! The settings of postcards: what a host reports of packets without changing any.

use std::collections::BTreeSet;
use std::time::Duration;

use clap::{Args, ValueEnum};

use super::duration::TimeSpan;
use super::heading::{ESSENTIALS, LIMITS, MEASURING, REPORTS, STATUS};
use super::http::{POSTCARDS_HTTP_PORT, check_http};
use super::mistake::{Fault, fault};
use super::node_name::{IdentityOptions, IdentitySettings};
use super::receivers::check_receivers;
use crate::model::{NodeId, QueueRule, ReportVersion, TunnelKind};

/// The drops that are reported.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq, ValueEnum)]
pub enum DropsChoice {
    /// no drops
    #[default]
    None,
    /// all drops
    All,
}

/// The forwarded packets that are timed.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq, ValueEnum)]
pub enum HopsChoice {
    /// none
    #[default]
    None,
    /// those that a [[watch]] rule for postcards selects
    Watched,
    /// all
    All,
}

/// The form in which collectors get postcards.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq, ValueEnum)]
pub enum PostcardFormat {
    /// hostint's own reports, with all counts and names
    #[default]
    #[value(name = "v0.5")]
    Own,
    /// standard reports of single packets, as collectors of SD-Fabric read them
    #[value(name = "v0.5-standard")]
    Standard,
    /// standard reports, several in a datagram, with counts
    #[value(name = "v2.0")]
    V20,
}

impl PostcardFormat {
    /// The version of standard reports, if those are sent.
    pub fn standard(self) -> Option<ReportVersion> {
        match self {
            Self::Own => None,
            Self::Standard => Some(ReportVersion::V05),
            Self::V20 => Some(ReportVersion::V20),
        }
    }
}

/// The network namespaces whose drops count.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq, ValueEnum)]
pub enum NetnsChoice {
    /// that of this process
    #[default]
    Own,
    /// all of this machine
    All,
}

impl NetnsChoice {
    pub fn name(self) -> &'static str {
        match self {
            Self::Own => "own",
            Self::All => "all",
        }
    }
}

/// The tunnels whose packets are known by the flow inside.
#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
pub enum InnerChoice {
    /// none: packets are known by the tunnel's own flow
    None,
    /// UDP ports 4789 and 8472
    Vxlan,
    /// UDP port 6081
    Geneve,
    /// UDP port 2152
    GtpU,
}

impl InnerChoice {
    fn kind(self) -> Option<TunnelKind> {
        match self {
            Self::None => None,
            Self::Vxlan => Some(TunnelKind::Vxlan),
            Self::Geneve => Some(TunnelKind::Geneve),
            Self::GtpU => Some(TunnelKind::GtpU),
        }
    }
}

/// Options of `hostint postcards`, which are also keys of its table in the config file.
#[derive(Args, Clone, Debug, Default)]
pub struct PostcardsOptions {
    /// Report the packets that this host drops, with the kernel's reasons (this, --hops or --queue is required)
    #[arg(long, help_heading = ESSENTIALS, value_name = "WHICH", num_args = 0..=1, require_equals = true, default_missing_value = "all")]
    pub drops: Option<DropsChoice>,

    /// Report the time that packets take through this host, from interface to interface, with and without the queue
    #[arg(long, help_heading = ESSENTIALS, value_name = "WHICH", num_args = 0..=1, require_equals = true, default_missing_value = "all")]
    pub hops: Option<HopsChoice>,

    /// Time the packets that come and leave by these interfaces; * and ? in a name stand for any characters and for one,
    /// and for interfaces that come later; may be repeated (required with --hops)
    #[arg(long, help_heading = ESSENTIALS, value_name = "DEV", value_delimiter = ',')]
    pub dev: Vec<String>,

    /// Time packets for this host, too, from the interface to the socket that takes them (with --hops)
    #[arg(long, help_heading = MEASURING, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    pub local: Option<bool>,

    /// Report when packets wait in the queues of this interface, and whose they are: from a packet that took as long as the
    /// trigger, or found as many bytes there (trigger:200k), until below the reset [default: half of it], and at most
    /// quota packets [default: 1024]; queue:N stands for that queue alone; several words and patterns of names are possible
    #[arg(long, help_heading = ESSENTIALS, value_name = "DEV=trigger:TIME[,reset:TIME][,quota:N]", value_delimiter = ' ')]
    pub queue: Vec<QueueRule>,

    /// This host's INT node id, by which collectors know it [default: that of its other
    /// roles, else derived from /etc/machine-id]
    #[arg(long, help_heading = ESSENTIALS, value_name = "N")]
    pub node_id: Option<u32>,

    /// Count drops in this process's network namespace, or in all [default: own]
    #[arg(long, help_heading = MEASURING, value_name = "WHICH")]
    pub netns: Option<NetnsChoice>,

    /// Count drops for these reasons of the kernel, and do not report their flows, separated by commas; none: report all
    /// [default: reasons that are no loss, see hostint-postcards(8)]
    #[arg(long, help_heading = MEASURING, value_name = "LIST", value_delimiter = ',')]
    pub ignored_reasons: Vec<String>,

    /// Know packets in these tunnels by the flow inside and the number of the network (VNI) or tunnel (TEID), separated by
    /// commas; none: by the tunnel's own flow [default: vxlan,geneve,gtp-u]
    #[arg(long, help_heading = MEASURING, value_name = "LIST", value_delimiter = ',')]
    pub inner: Vec<InnerChoice>,

    /// Send reports to this collector, default port 32766; may be repeated
    #[arg(long, help_heading = REPORTS, value_name = "HOST[:PORT]", value_delimiter = ',')]
    pub collector: Vec<String>,

    /// Form of Telemetry Report in which collectors get drops, hops and queues [default: v0.5]
    #[arg(long, help_heading = REPORTS, value_name = "VERSION")]
    pub report_format: Option<PostcardFormat>,

    #[command(flatten)]
    pub identity: IdentityOptions,

    /// Report a flow's drops or hops at once, and again at most once in this time, from 100ms [default: 1s]
    #[arg(long, help_heading = REPORTS, value_name = "TIME")]
    pub report_period: Option<TimeSpan>,

    /// Report a flow at once if its time through this host changed by this; 0s: never [default: 20us]
    #[arg(long, help_heading = REPORTS, value_name = "TIME")]
    pub latency_step: Option<TimeSpan>,

    /// Report a flow's changes of time and of interfaces at most once in this time [default: 100ms]
    #[arg(long, help_heading = REPORTS, value_name = "TIME")]
    pub latency_hold: Option<TimeSpan>,

    /// Do not name the kernel's functions that dropped packets
    #[arg(long, help_heading = REPORTS, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    pub no_places: Option<bool>,

    /// Do not name pods and containers
    #[arg(long, help_heading = REPORTS, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    pub no_pods: Option<bool>,

    /// Number of flows that the table of drops holds, and that of hops [default: 65536]
    #[arg(long, help_heading = LIMITS, value_name = "N")]
    pub max_flows: Option<u32>,

    /// Begin at most this many flows of drops a second, and of hops; packets of others are counted, and not reported by
    /// flow; 0: no limit [default: 10000]
    #[arg(long, help_heading = LIMITS, value_name = "N")]
    pub max_new_flows: Option<u32>,

    /// Report at most this many flows of drops a second, and of hops; the others' turn comes later; 0: no limit
    /// [default: 10000]
    #[arg(long, help_heading = LIMITS, value_name = "N")]
    pub max_reports: Option<u32>,

    /// Serve metrics (/metrics) and health (/healthz, /readyz) by HTTP on this address, default port 13278, without
    /// authentication; 127.0.0.1 restricts it to this host [default: no HTTP]
    #[arg(long, help_heading = STATUS, value_name = "ADDR[:PORT]")]
    pub http: Option<String>,
}

/// The settings of postcards, checked.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct PostcardsConfig {
    pub drops: DropsChoice,
    pub hops: HopsChoice,
    /// Empty without hops.
    pub devs: Vec<String>,
    /// Packets for this host are timed, too.
    pub local: bool,
    /// Empty if queues are not watched.
    pub queues: Vec<QueueRule>,
    pub latency_step: TimeSpan,
    pub latency_hold: TimeSpan,
    pub netns: NetnsChoice,
    /// `None`: that of this host's sink or source.
    pub node_id: Option<NodeId>,
    pub collectors: Vec<String>,
    pub report_format: PostcardFormat,
    /// What this host says of itself; `None`: nothing.
    pub identity: Option<IdentitySettings>,
    /// Names of reasons. The running kernel may not know all of them.
    pub ignored_reasons: Vec<String>,
    /// The names were given, so that one which the kernel does not know is worth a word.
    pub ignored_given: bool,
    /// The tunnels whose packets are known by the flow inside.
    pub inner: BTreeSet<TunnelKind>,
    pub report_period: TimeSpan,
    pub places: bool,
    pub pods: bool,
    pub max_flows: u32,
    pub max_new_flows: u64,
    pub max_reports: u64,
    pub http: Option<String>,
}

/// What ends so is no loss: packets for others, data that arrived before, probes of a full window, what was left when
/// the application closed its socket.
const IGNORED: [&str; 9] = [
    "OTHERHOST",
    "SOCKET_CLOSE",
    "TCP_ZEROWINDOW",
    "TCP_OLD_DATA",
    "TCP_OLD_ACK",
    "TCP_OLD_SEQUENCE",
    "TCP_OFOMERGE",
    "IPV6_NDISC_NS_OTHERHOST",
    "QUEUE_PURGE",
];

/// The word for no reason at all.
pub(super) const TELL_ALL: &str = "none";

const DEFAULT_RATE: u32 = 10_000;
const DEFAULT_STEP: TimeSpan = TimeSpan(Duration::from_micros(20));
const DEFAULT_HOLD: TimeSpan = TimeSpan(Duration::from_millis(100));

impl PostcardsOptions {
    /// Checks everything and fills in defaults.
    ///
    /// # Errors
    /// All faults.
    pub fn check(self) -> Result<PostcardsConfig, Vec<Fault>> {
        let mut faults = Vec::new();
        self.check_choices(&mut faults);
        self.check_queues(&mut faults);
        self.check_ignored(&mut faults);
        let report_period = self.check_period(&mut faults);
        let max_flows = self.max_flows.unwrap_or(65_536);
        if !(1..=16_777_216).contains(&max_flows) {
            faults.push(fault(
                &["max-flows"],
                format!("{max_flows} is not a possible number of flows (expected 1 to 16777216)"),
            ));
        }
        if self.inner.len() > 1 && self.inner.contains(&InnerChoice::None) {
            let why = "none stands alone (leave it or the tunnels out)";
            faults.push(fault(&["inner"], why));
        }
        check_receivers(&self.collector, None, &mut faults);
        let identity = self.identity.check(&mut faults);
        check_http(self.http.as_deref(), POSTCARDS_HTTP_PORT, &mut faults);
        if !faults.is_empty() {
            return Err(faults);
        }
        Ok(PostcardsConfig {
            drops: self.drops.unwrap_or_default(),
            hops: self.hops.unwrap_or_default(),
            devs: self.dev,
            local: self.local.unwrap_or(false),
            queues: self.queue,
            latency_step: self.latency_step.unwrap_or(DEFAULT_STEP),
            latency_hold: self.latency_hold.unwrap_or(DEFAULT_HOLD),
            netns: self.netns.unwrap_or_default(),
            node_id: self.node_id.map(NodeId),
            collectors: self.collector,
            report_format: self.report_format.unwrap_or_default(),
            identity,
            ignored_given: !self.ignored_reasons.is_empty(),
            ignored_reasons: match &self.ignored_reasons[..] {
                [] => IGNORED.map(str::to_owned).to_vec(),
                [only] if only == TELL_ALL => Vec::new(),
                given => given.to_vec(),
            },
            inner: match &self.inner[..] {
                [] => TunnelKind::EACH.into(),
                given => given.iter().filter_map(|one| one.kind()).collect(),
            },
            report_period,
            places: !self.no_places.unwrap_or(false),
            pods: !self.no_pods.unwrap_or(false),
            max_flows,
            max_new_flows: self.max_new_flows.unwrap_or(DEFAULT_RATE).into(),
            max_reports: self.max_reports.unwrap_or(DEFAULT_RATE).into(),
            http: self.http,
        })
    }
}
