//! The settings of `hostint tcp`: which connections' state is read, and what is reported of them to whom.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum};

use super::duration::TimeSpan;
use super::heading::{ESSENTIALS, LIMITS, MEASURING, REPORTS, STATUS};
use super::http::{TCP_HTTP_PORT, check_http};
use super::mistake::{Fault, fault};
use super::node_name::{IdentityOptions, IdentitySettings};
use super::receivers::check_receivers;
use crate::model::NodeId;

/// When a connection is reported.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq, ValueEnum)]
pub enum TcpReportChoice {
    /// when it is seen first, when something else limits it, after a retransmission timeout, and when it ends
    #[default]
    Change,
    /// in each period, and when it ends
    Sample,
    /// when it ends
    End,
}

/// The hosts that segments with option 114 are sent to.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq, ValueEnum)]
pub enum OptionPeers {
    /// no host
    #[default]
    None,
    /// hosts whose leases say that they take it
    Leased,
    /// all hosts
    All,
}

impl OptionPeers {
    pub fn sends(self) -> bool {
        self != Self::None
    }
}

/// Options of `hostint tcp`, which are also keys of its table in the config file.
#[derive(Args, Clone, Debug, Default)]
pub struct TcpOptions {
    /// This host's INT node id, by which collectors know it [default: that of its other
    /// roles, else derived from /etc/machine-id]
    #[arg(long, help_heading = ESSENTIALS, value_name = "N")]
    pub node_id: Option<u32>,

    /// Read the state of each connection once in this time, from 100ms [default: 1s]
    #[arg(long, help_heading = MEASURING, value_name = "TIME")]
    pub sample_period: Option<TimeSpan>,

    /// Watch only sockets of this cgroup and those below it: a folder of the cgroup2 file system
    #[arg(long, help_heading = MEASURING, value_name = "PATH")]
    pub cgroup: Option<PathBuf>,

    /// Send TCP option 114 (as TCP-INT 0.4), which hops on the path fill in and the other end echoes, to no host, to
    /// those whose leases say that they take it, or to all [default: none]
    #[arg(long, help_heading = MEASURING, value_name = "HOSTS")]
    pub option: Option<OptionPeers>,

    /// Ask by that option once in this time and in each round trip of a connection, from 1ms [default: 10ms]
    #[arg(long, help_heading = MEASURING, value_name = "TIME")]
    pub option_period: Option<TimeSpan>,

    /// Send reports to this collector, default port 32766; may be repeated
    #[arg(long, help_heading = REPORTS, value_name = "HOST[:PORT]", value_delimiter = ',')]
    pub collector: Vec<String>,

    #[command(flatten)]
    pub identity: IdentityOptions,

    /// Report a connection to collectors at once, then once in this time, from 1s, and at its end [default: 10s]
    #[arg(long, help_heading = REPORTS, value_name = "TIME")]
    pub report_period: Option<TimeSpan>,

    /// Print a connection at each change, in each sample, or at its end [default: change]
    #[arg(long, help_heading = REPORTS, value_name = "WHEN")]
    pub report: Option<TcpReportChoice>,

    /// Follow at most this many connections at a time [default: 65536]
    #[arg(long, help_heading = LIMITS, value_name = "N")]
    pub max_connections: Option<u32>,

    /// Report at most this many endings a second; others are counted; 0: no limit [default: 10000]
    #[arg(long, help_heading = LIMITS, value_name = "N")]
    pub max_endings: Option<u32>,

    /// Send collectors at most this many reports a second; the others' turn comes later; 0: no limit [default: 10000]
    #[arg(long, help_heading = LIMITS, value_name = "N")]
    pub max_reports: Option<u32>,

    /// Serve metrics (/metrics) and health (/healthz, /readyz) by HTTP on this address, default port 13280, without
    /// authentication; 127.0.0.1 restricts it to this host [default: no HTTP]
    #[arg(long, help_heading = STATUS, value_name = "ADDR[:PORT]")]
    pub http: Option<String>,
}

/// The settings of `hostint tcp`, checked.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct TcpConfig {
    pub sample_period: TimeSpan,
    pub cgroup: Option<PathBuf>,
    pub option: OptionPeers,
    pub option_period: TimeSpan,
    /// `None`: that of this host's sink or source.
    pub node_id: Option<NodeId>,
    pub collectors: Vec<String>,
    /// What this host says of itself; `None`: nothing.
    pub identity: Option<IdentitySettings>,
    pub report_period: TimeSpan,
    pub report: TcpReportChoice,
    pub max_connections: u32,
    pub max_endings: u64,
    pub max_reports: u64,
    pub http: Option<String>,
}

const SHORTEST_PERIOD: Duration = Duration::from_millis(100);
const SHORTEST_OPTION_PERIOD: Duration = Duration::from_millis(1);
const SHORTEST_REPORT_PERIOD: Duration = Duration::from_secs(1);
const DEFAULT_RATE: u32 = 10_000;

impl TcpOptions {
    /// Checks everything and fills in defaults.
    ///
    /// # Errors
    /// All faults.
    pub fn check(self) -> Result<TcpConfig, Vec<Fault>> {
        let mut faults = Vec::new();
        let period = self
            .sample_period
            .unwrap_or(TimeSpan(Duration::from_secs(1)));
        if period.0 < SHORTEST_PERIOD {
            faults.push(fault(
                &["sample-period"],
                format!("{period} is too short (expected 100ms or more)"),
            ));
        }
        let report_period = self
            .report_period
            .unwrap_or(TimeSpan(Duration::from_secs(10)));
        if report_period.0 < SHORTEST_REPORT_PERIOD {
            faults.push(fault(
                &["report-period"],
                format!("{report_period} is too short (expected 1s or more)"),
            ));
        }
        let option_period = self
            .option_period
            .unwrap_or(TimeSpan(Duration::from_millis(10)));
        if option_period.0 < SHORTEST_OPTION_PERIOD {
            faults.push(fault(
                &["option-period"],
                format!("{option_period} is too short (expected 1ms or more)"),
            ));
        }
        let most = self.max_connections.unwrap_or(65_536);
        if !(1..=16_777_216).contains(&most) {
            faults.push(fault(
                &["max-connections"],
                format!("{most} is not a possible number of connections (expected 1 to 16777216)"),
            ));
        }
        check_receivers(&self.collector, None, &mut faults);
        let identity = self.identity.check(&mut faults);
        check_http(self.http.as_deref(), TCP_HTTP_PORT, &mut faults);
        if !faults.is_empty() {
            return Err(faults);
        }
        Ok(TcpConfig {
            sample_period: period,
            cgroup: self.cgroup,
            option: self.option.unwrap_or_default(),
            option_period,
            node_id: self.node_id.map(NodeId),
            collectors: self.collector,
            identity,
            report_period,
            report: self.report.unwrap_or_default(),
            max_connections: most,
            max_endings: self.max_endings.unwrap_or(DEFAULT_RATE).into(),
            max_reports: self.max_reports.unwrap_or(DEFAULT_RATE).into(),
            http: self.http,
        })
    }
}
