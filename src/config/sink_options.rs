//! Options of the sink, which are also keys of its table in the config file.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::choice::{Compat, HookChoice};
use super::clock_error::ClockErrorOption;
use super::duration::TimeSpan;
use super::heading::{ESSENTIALS, LIMITS, MEASURING, REPORTS, STATUS, TRUST, WIRE_FORMAT};
use super::mark::{IntDscpOption, MarkOptions};
use super::node_name::IdentityOptions;
use super::push::PushOptions;

/// The XDP mode of the sink's program.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq, ValueEnum)]
pub enum XdpMode {
    /// native if possible, otherwise generic
    #[default]
    Auto,
    /// in the driver
    Native,
    /// in the stack: works everywhere, costs more
    Generic,
}

/// The format of the report log.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq, ValueEnum)]
pub enum LogFormatName {
    /// Host-INT's text lines
    #[default]
    HostInt,
    /// one JSON object per line, as hostint collect --json prints
    Json,
}

/// The version of Telemetry Report that collectors get.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq, ValueEnum)]
pub enum ReportFormat {
    /// Host-INT's reports and hostint's own
    #[default]
    #[value(name = "v0.5")]
    V05,
    /// standard reports of single packets; losses as in v0.5
    #[value(name = "v1.0")]
    V10,
    /// standard reports, several in a datagram
    #[value(name = "v2.0")]
    V20,
}

/// Options of `hostint sink`, which are also keys of its table in the config file.
#[derive(Args, Clone, Debug, Default)]
pub struct SinkOptions {
    /// Interface to strip INT on (required): a name, a pattern such as eth*, or default-route, for interfaces that come
    /// while the daemon runs, too; may be repeated
    #[arg(long, help_heading = ESSENTIALS, value_name = "DEV", value_delimiter = ',')]
    pub dev: Vec<String>,

    /// This host's INT node id, unique in the INT domain [default: that of its other roles, else derived from
    /// /etc/machine-id]
    #[arg(long, help_heading = ESSENTIALS, value_name = "N")]
    pub node_id: Option<u32>,

    #[command(flatten)]
    pub identity: IdentityOptions,

    /// Hook at which the sink sees packets [default: auto, or xdp with --xdp-mode or --nic-timestamps]
    #[arg(long, help_heading = MEASURING, value_name = "HOOK")]
    pub hook: Option<HookChoice>,

    /// Mode in which the XDP program is attached [default: auto]
    #[arg(long, help_heading = MEASURING, value_name = "MODE", hide_possible_values = false)]
    pub xdp_mode: Option<XdpMode>,

    /// Take arrival times from the network card where its driver provides them; its clock must be synchronised with the
    /// host's
    #[arg(long, help_heading = MEASURING, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    pub nic_timestamps: Option<bool>,

    /// Report to collectors how long packets wait in this host: what it tags in send buffers, in the stack and in the queue of the
    /// interface, and what it receives until the application reads it
    #[arg(long, help_heading = MEASURING, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    pub host_times: Option<bool>,

    #[command(flatten)]
    pub clock: ClockErrorOption,

    /// Encapsulations to recognise, separated by commas [default: over-tcp-udp,extension-udp,vxlan-gpe,ioam,options, and with
    /// --int-dscp int-md]
    #[arg(long, help_heading = WIRE_FORMAT, value_name = "LIST", value_delimiter = ',')]
    pub encap: Vec<String>,

    #[command(flatten)]
    pub marks: MarkOptions,

    #[command(flatten)]
    pub int_dscp: IntDscpOption,

    /// Report each flow's latency at least once in this time [default: 2s]
    #[arg(long, help_heading = REPORTS, value_name = "TIME")]
    pub report_period: Option<TimeSpan>,

    /// Report the totals of source nodes, classes and flows once in this time, from 1s; 0s: never [default: 10s; with
    /// --compat 0s]
    #[arg(long, help_heading = REPORTS, value_name = "TIME")]
    pub summary_period: Option<TimeSpan>,

    /// Count a missing sequence number as lost after this time [default: 200ms]
    #[arg(long, help_heading = MEASURING, value_name = "TIME")]
    pub loss_timeout: Option<TimeSpan>,

    /// Forget flows that have been idle for this time [default: 2m]
    #[arg(long, help_heading = MEASURING, value_name = "TIME")]
    pub idle_flow_timeout: Option<TimeSpan>,

    /// Edges of the latency buckets, up to 16; a flow's change to another bucket is reported [default:
    /// 5us,10us,20us,40us,60us,120us]
    #[arg(long, help_heading = REPORTS, value_name = "LIST", value_delimiter = ',')]
    pub latency_buckets: Vec<TimeSpan>,

    /// Report a flow's bucket changes at most once in this time [default: 100ms]
    #[arg(long, help_heading = REPORTS, value_name = "TIME")]
    pub bucket_hold: Option<TimeSpan>,

    /// Send reports to this collector, default port 32766; may be repeated
    #[arg(long, help_heading = ESSENTIALS, value_name = "HOST[:PORT]", value_delimiter = ',')]
    pub collector: Vec<String>,

    /// Send each report to one of the collectors instead of all: both directions of a flow to the same one, or to
    /// another one while that is silent
    #[arg(long, help_heading = REPORTS, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    pub spread: Option<bool>,

    /// Version of Telemetry Report that collectors get [default: v0.5]
    #[arg(long, help_heading = REPORTS, value_name = "VERSION")]
    pub report_format: Option<ReportFormat>,

    /// Send each report to the sender of the reported packet too [default port: 32766]
    #[arg(long, help_heading = REPORTS, value_name = "PORT", num_args = 0..=1, require_equals = true, default_missing_value = "32766")]
    pub report_to_sender: Option<u16>,

    /// Append each report to this file; SIGUSR1 reopens it
    #[arg(long, help_heading = REPORTS, value_name = "FILE")]
    pub report_log: Option<PathBuf>,

    /// Format of the report log [default: host-int]
    #[arg(long, help_heading = REPORTS, value_name = "FORMAT")]
    pub log_format: Option<LogFormatName>,

    /// Leave the sink's node id out of latency reports
    #[arg(long, help_heading = REPORTS, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    pub no_node_id_word: Option<bool>,

    /// Report of a packet's headers only the flow that they name
    #[arg(long, help_heading = REPORTS, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    pub no_packet_headers: Option<bool>,

    /// Restrict reports to fields that this implementation understands: no queue depth
    #[arg(long, help_heading = REPORTS, value_name = "WHOM")]
    pub compat: Option<Compat>,

    /// Drop tagged packets after measuring instead of stripping them: for tests of reports
    #[arg(long, help_heading = MEASURING, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    pub drop_tagged: Option<bool>,

    /// Number of flows that the flow table holds [default: 65536]
    #[arg(long, help_heading = LIMITS, value_name = "N")]
    pub max_flows: Option<u32>,

    /// Number of flows whose latencies are counted in fine slots, 3.5 kB each; quantiles of others are rough, within a
    /// factor of 2 [default: 16384]
    #[arg(long, help_heading = LIMITS, value_name = "N")]
    pub max_fine_flows: Option<u32>,

    /// Strip packets from these addresses even without a lease: for sources of Host-INT and sources that use --static;
    /// may be repeated
    #[arg(long, help_heading = TRUST, value_name = "PREFIX", value_delimiter = ',')]
    pub allow: Vec<String>,

    /// Drop packets tagged by hosts that have no lease and are not covered by --allow, instead of passing them on with
    /// INT
    #[arg(long, help_heading = TRUST, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    pub strict: Option<bool>,

    /// File with the key of lease messages, 32 hexadecimal digits, the same on all hosts. Without a key, any host that
    /// can ping this one can get a lease
    #[arg(long, help_heading = TRUST, value_name = "FILE")]
    pub lease_key: Option<PathBuf>,

    /// Track at most this many new flows a second from one source address, and five times as many in all; 0: no limit
    /// [default: 10000]
    #[arg(long, help_heading = LIMITS, value_name = "N")]
    pub max_new_flows: Option<u32>,

    /// Make at most this many reports a second about flows from one source address, and five times as many in all; 0:
    /// no limit [default: 10000]
    #[arg(long, help_heading = LIMITS, value_name = "N")]
    pub max_reports: Option<u32>,

    /// Send at most this many summaries a second. Totals of source nodes and classes come first, then flows with losses,
    /// then large ones [default: 50]
    #[arg(long, help_heading = LIMITS, value_name = "N")]
    pub max_summaries: Option<u32>,

    /// Socket on which root and the group hostint ask this daemon for its status [default:
    /// /run/hostint/control.NAMESPACE.sock]
    #[arg(long, help_heading = STATUS, value_name = "PATH")]
    pub control: Option<PathBuf>,

    /// Serve metrics (/metrics) and health (/healthz, /readyz) by HTTP on this address, default port 13276, without
    /// authentication; 127.0.0.1 restricts it to this host [default: no HTTP]
    #[arg(long, help_heading = STATUS, value_name = "ADDR[:PORT]")]
    pub http: Option<String>,

    #[command(flatten)]
    pub push: PushOptions,
}
