//! The command line: help, man pages and completions come from here.

mod history;

use std::ffi::OsString;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use clap::error::{ContextKind, ContextValue};
use clap::{Args, Parser, Subcommand, ValueEnum};

pub use history::{FlowsArgs, HistoryArgs, HistoryCommand, HistoryOrder, Shown, SubjectArgs, When};

use crate::config::{CollectOptions, Given, SinkOptions, SourceOptions, Span, variables};
use crate::model::FlowSort;

/// Exit codes, as hostint(8) documents them.
pub mod exit {
    /// What was asked was done.
    pub const OK: u8 = 0;
    /// It failed; the message says why.
    pub const FAILURE: u8 = 1;
    /// The command line or config file is wrong; nothing was changed.
    pub const USAGE: u8 = 2;
    /// Nothing of hostint runs on this host, or there is no such history.
    pub const NOTHING: u8 = 3;
}

const AFTER_HELP: &str = "On a new host, hostint status --preflight says what is missing, and changes nothing.\n\n\
                          Exit codes: 0 done, 1 failed, 2 wrong command line or config, 3 nothing of hostint \
                          runs on this host, or there is no such history.";

/// Behind a command's own options, before help and version.
const LAST: usize = 900;

/// One-way latency and packet loss of production TCP and UDP flows between Linux hosts, measured in band
#[derive(Debug, Parser)]
#[command(name = "hostint", version, propagate_version = true, after_help = AFTER_HELP)]
pub struct Cli {
    /// BPF file system to pin in, below hostint/ and the network namespace's number
    /// [default: the system's /sys/fs/bpf]
    #[arg(long, global = true, value_name = "DIR", env = "HOSTINT_BPFFS", display_order = LAST)]
    pub bpffs: Option<PathBuf>,

    #[command(subcommand)]
    pub command: Command,
}

impl Cli {
    /// What the command line says; if it is wrong, that is said, and it is the end.
    pub fn of_process() -> Self {
        Self::try_parse().unwrap_or_else(|err| {
            let _ = err.print();
            if let Some(name) = variable_in(&err) {
                eprintln!("The value is that of {name} in the environment.");
            }
            std::process::exit(err.exit_code())
        })
    }
}

/// The variable that a refused value came from, if it was no flag.
fn variable_in(err: &clap::Error) -> Option<String> {
    let Some(ContextValue::String(arg)) = err.get(ContextKind::InvalidArg) else {
        return None;
    };
    let end = arg.find([' ', '[', '=']).unwrap_or(arg.len());
    let flag = arg[..end].strip_prefix("--")?;
    let refused = match err.get(ContextKind::InvalidValue) {
        Some(ContextValue::String(value)) => value.as_str(),
        _ => "",
    };
    let says = |name: &String| {
        let value = std::env::var_os(name);
        value.is_some_and(|value| value.to_string_lossy().contains(refused))
    };
    let name = variables(flag).into_iter().find(says)?;
    let flag = |given: &OsString| given.to_string_lossy().starts_with(&arg[..end]);
    let given = std::env::args_os().any(|given| flag(&given));
    (!given).then_some(name)
}

/// What to do.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Strip INT from received packets, measure flows and report (a daemon, in the foreground)
    Sink(Box<SinkArgs>),
    /// Tag packets to watched destinations with INT
    #[command(subcommand)]
    Source(SourceCommand),
    /// Receive telemetry reports and print them
    Collect(Box<CollectArgs>),
    /// Ask the history that a collector keeps, while it runs or later
    #[command(subcommand)]
    History(HistoryCommand),
    /// Show what runs on this host, its counters and flows
    Status(StatusArgs),
}

/// `hostint sink`
#[derive(Args, Clone, Debug)]
pub struct SinkArgs {
    /// Read settings from [sink] and [[watch]] of this TOML file; flags win. SIGHUP reads it again
    #[arg(long, value_name = "FILE", env = "HOSTINT_CONFIG", hide_env = true)]
    pub config: Option<PathBuf>,

    /// Detach the sink from --dev, or from all interfaces, and end. Sources stop tagging first, which takes a
    /// second
    #[arg(long, display_order = LAST - 2)]
    pub detach: bool,

    /// With --detach: at once, although sources may still tag
    #[arg(long, display_order = LAST - 1)]
    pub now: bool,

    #[command(flatten)]
    pub settings: Given<SinkOptions>,
}

/// `hostint source …`
#[derive(Debug, Subcommand)]
pub enum SourceCommand {
    /// Attach the source to interfaces
    Attach(Box<AttachArgs>),
    /// Detach the source; with the last interface, destinations are no longer watched either
    Detach {
        /// Only from this interface; repeat for several
        #[arg(long, value_name = "DEV")]
        dev: Vec<String>,
    },
    /// Watch destinations, at once
    AddDest {
        /// Name, address or prefix (10.0.0.0/8, 2001:db8::/32)
        #[arg(value_name = "HOST", required_unless_present = "dest_file")]
        host: Vec<String>,

        /// Read destinations from a file: one a line, # begins a comment
        #[arg(long, value_name = "FILE")]
        dest_file: Option<PathBuf>,

        /// Tag whether a sink answers or not: for sinks of Host-INT. A host without a sink gets INT in its data
        #[arg(long = "static")]
        fixed: bool,
    },
    /// Stop watching destinations, at once
    DelDest {
        /// Name, address or prefix, as it was added
        #[arg(value_name = "HOST", required = true)]
        host: Vec<String>,
    },
    /// List all rules of the watchlist, those of the config file too
    Rules {
        /// Print one JSON object (schema hostint.rules/1)
        #[arg(long)]
        json: bool,
    },
    /// List the watched destinations
    Dests {
        /// Print one JSON object (schema hostint.dests/1)
        #[arg(long)]
        json: bool,
    },
}

/// `hostint source attach`
#[derive(Args, Clone, Debug)]
pub struct AttachArgs {
    /// Read settings from [source] and [[watch]] of this TOML file; flags win. With --foreground SIGHUP reads it
    /// again
    #[arg(long, value_name = "FILE", env = "HOSTINT_CONFIG", hide_env = true)]
    pub config: Option<PathBuf>,

    /// Stay in the foreground and keep clock, flow table and leases, on a host where no sink does
    #[arg(long, display_order = LAST - 1)]
    pub foreground: bool,

    #[command(flatten)]
    pub settings: Given<SourceOptions>,
}

/// `hostint collect`
#[derive(Args, Clone, Debug)]
pub struct CollectArgs {
    /// Read settings from [collect] and [[watch]] of this TOML file; flags win. SIGHUP reads it again
    #[arg(long, value_name = "FILE", env = "HOSTINT_CONFIG", hide_env = true)]
    pub config: Option<PathBuf>,

    #[command(flatten)]
    pub settings: Given<CollectOptions>,

    /// Read reports from a capture (pcap, pcapng) or from JSON lines of hostint; - is standard input
    #[arg(long, value_name = "FILE", conflicts_with = "listen")]
    pub read: Option<PathBuf>,

    /// With --read: UDP port that a capture has reports at; repeat for several [default: 32766]
    #[arg(long, value_name = "PORT", requires = "read")]
    pub port: Vec<u16>,

    /// End after this many datagrams
    #[arg(long, value_name = "N")]
    pub count: Option<u64>,
}

/// What flows are sorted by.
#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
pub enum FlowOrder {
    /// most lost packets first
    Loss,
    /// highest mean latency first
    Latency,
    /// most packets first
    Packets,
}

impl From<FlowOrder> for FlowSort {
    fn from(order: FlowOrder) -> Self {
        match order {
            FlowOrder::Loss => Self::Loss,
            FlowOrder::Latency => Self::Latency,
            FlowOrder::Packets => Self::Packets,
        }
    }
}

/// How often something is looked at: seconds, or with a unit.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Interval(pub Duration);

impl FromStr for Interval {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let span = match text.parse::<f64>() {
            Ok(seconds) => Duration::try_from_secs_f64(seconds).map_err(|err| err.to_string())?,
            Err(_) => text.parse::<Span>()?.0,
        };
        if !(Duration::from_millis(100)..=Duration::from_secs(3600)).contains(&span) {
            return Err("from 0.1 seconds to an hour".to_owned());
        }
        Ok(Self(span))
    }
}

/// `hostint status`
#[derive(Args, Debug)]
pub struct StatusArgs {
    /// How many flows to show
    #[arg(long, value_name = "N", default_value_t = 10)]
    pub flows: usize,

    /// How to sort flows
    #[arg(long, value_name = "KEY", default_value = "loss")]
    pub sort: FlowOrder,

    /// How many peers of the source to show
    #[arg(long, value_name = "N", default_value_t = 10)]
    pub peers: usize,

    /// Show counters that are 0 too
    #[arg(long)]
    pub all: bool,

    /// Print one JSON object (schema hostint.status/1, with --preflight hostint.preflight/1, with --check-config
    /// hostint.config-check/1)
    #[arg(long)]
    pub json: bool,

    /// Show flows, counters and peers on the whole screen, and look again every so many seconds [default: 1]; with
    /// --json a line each time
    #[arg(long, value_name = "SECONDS", num_args = 0..=1, default_missing_value = "1")]
    #[arg(conflicts_with_all = ["preflight", "check_config", "all"])]
    pub watch: Option<Interval>,

    /// Socket of the sink's daemon, which is asked where this user may not read the host's state
    /// [default: /run/hostint/control.NAMESPACE.sock]
    #[arg(long, value_name = "PATH", env = "HOSTINT_CONTROL", hide_env = true)]
    pub control: Option<PathBuf>,

    /// Show instead whether this host has what hostint needs, and what to do where not; changes nothing. Exit code
    /// 1 if something fails
    #[arg(long)]
    pub preflight: bool,

    /// With --preflight: look at what the daemons would use by this TOML file: interfaces, collectors, lease key
    /// [default: HOSTINT_CONFIG, or /etc/hostint/hostint.toml if it is there]
    #[arg(long, value_name = "FILE", requires = "preflight")]
    pub config: Option<PathBuf>,

    /// With --preflight: look at this interface, not at those of the config file; repeat for several
    #[arg(long, value_name = "DEV", requires = "preflight")]
    pub dev: Vec<String>,

    /// With --preflight: look for a way to this collector, not to those of the config file; repeat for several
    #[arg(long, value_name = "HOST[:PORT]", requires = "preflight")]
    pub collector: Vec<String>,

    /// Only read this config file, and say all that is wrong with it
    #[arg(long, value_name = "FILE", conflicts_with_all = ["flows", "peers", "sort", "all"])]
    pub check_config: Option<PathBuf>,
}
