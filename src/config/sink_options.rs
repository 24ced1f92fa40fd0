//! What can be set of the sink: flags over file.

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use serde::Deserialize;

use super::mark::parse_dscp;
use super::{Compat, ConfigError, SinkHook, Span};

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

    /// Strip packets from these addresses too, not only from hosts that hold a lease: for sources of Host-INT,
    /// and those that watch with --static; repeat for several
    #[arg(long, value_name = "PREFIX", value_delimiter = ',')]
    pub allow: Vec<String>,

    /// Drop packets that are tagged by hosts which may not, instead of passing them on
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    pub strict: Option<bool>,

    /// File with the key of lease messages, 32 hexadecimal digits, the same on all hosts [default: none: a
    /// trusted network]
    #[arg(long, value_name = "FILE")]
    pub lease_key: Option<PathBuf>,

    /// Track at most so many new flows a second from one source address, and five times as many in all; 0: no
    /// limit [default: 10000]
    #[arg(long, value_name = "N")]
    pub max_new_flows: Option<u32>,

    /// Tell news at most so many times a second about flows from one source address, and five times as often in
    /// all; 0: no limit [default: 10000]
    #[arg(long, value_name = "N")]
    pub max_reports: Option<u32>,
}

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
            allow: first_set(self.allow, file.allow),
            strict: self.strict.or(file.strict),
            lease_key: self.lease_key.or(file.lease_key),
            max_new_flows: self.max_new_flows.or(file.max_new_flows),
            max_reports: self.max_reports.or(file.max_reports),
        }
    }
}
