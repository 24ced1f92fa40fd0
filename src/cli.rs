//! The command line, from which help, man pages and completions are generated.

mod collect;
mod demo;
mod doctor;
mod fleet;
mod history;
mod history_accept;
mod history_args;
mod history_hops;
mod history_queues;
mod history_tcp;
mod interval;
mod run;
mod tcp;
mod transit;
mod wrong;

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

pub use collect::{CollectArgs, LineArgs};
pub use demo::DemoArgs;
pub use doctor::{CheckArgs, DoctorArgs};
pub use fleet::FleetArgs;
pub use history::{FlowsArgs, HistoryCommand, SubjectArgs};
pub use history_accept::AcceptArgs;
pub use history_args::{HistoryArgs, NodeArg};
pub use history_hops::HopsArgs;
pub use history_queues::QueuesArgs;
pub use history_tcp::{ConnectionsArgs, ConnectionsBy};
pub use interval::Interval;
pub use run::RunArgs;
pub use tcp::TcpArgs;
pub use transit::{TransitArgs, TransitCommand, TransitServeArgs};
pub use wrong::words_behind;

use crate::config::{
    ESSENTIALS, Overrides, PostcardsOptions, SinkOptions, SourceOptions, TimeSpan,
};
use crate::model::FlowSort;

/// Exit codes, as hostint(8) documents them.
pub mod exit {
    /// The command succeeded.
    pub const OK: u8 = 0;
    /// The command failed; the message says why.
    pub const FAILURE: u8 = 1;
    /// The command line or config file is wrong; nothing was changed.
    pub const USAGE: u8 = 2;
    /// hostint does not run on this host, or there is no such history.
    pub const NOTHING: u8 = 3;
    /// The verdict, if it is asked for with --check: degraded, the measurement is at fault, it cannot be said.
    pub const DEGRADED: u8 = 4;
    pub const MEASUREMENT: u8 = 5;
    pub const CANNOT_TELL: u8 = 6;
}

const AFTER_HELP: &str = "On a new host, run hostint doctor: it lists what is missing and changes nothing.\n\n\
                          Exit codes: 0 success, 1 failure, 2 wrong command line or config, 3 hostint does not run \
                          on this host, or there is no such history.";

/// The display order after a command's own options, before help and version.
const LAST: usize = 900;

/// One-way latency and packet loss of production TCP and UDP flows between Linux hosts, measured in band
#[derive(Debug, Parser)]
#[command(name = "hostint", version, propagate_version = true, after_help = AFTER_HELP)]
pub struct Cli {
    /// BPF file system for pins, which go into a folder hostint/ and a folder for the network namespace
    /// [default: the system's /sys/fs/bpf]
    #[arg(long, global = true, value_name = "DIR", env = "HOSTINT_BPFFS", display_order = LAST)]
    pub bpffs: Option<PathBuf>,

    /// Least severe log lines to write: error, warning, info or debug. debug logs each request to the kernel
    #[arg(long, global = true, value_name = "LEVEL", env = "HOSTINT_LOG_LEVEL", display_order = LAST)]
    #[arg(default_value = "info", hide_possible_values = true)]
    pub log_level: LogLevel,

    /// Log each request to the kernel, as --log-level debug does
    #[arg(short, long, global = true, display_order = LAST)]
    pub verbose: bool,

    #[command(subcommand)]
    pub command: Command,
}

/// The most detailed log lines that are written.
#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
pub enum LogLevel {
    Error,
    Warning,
    Info,
    Debug,
}

impl Cli {
    /// The level of log lines, from both options.
    pub fn log_level(&self) -> LogLevel {
        if self.verbose {
            LogLevel::Debug
        } else {
            self.log_level
        }
    }

    /// Parses words that came from elsewhere.
    ///
    /// # Errors
    /// Why they are no command line.
    pub fn try_parse_from_words<'a>(
        words: impl Iterator<Item = &'a str>,
    ) -> Result<Command, String> {
        let parsed = Self::try_parse_from(words);
        let cli = parsed.map_err(|err| wrong::sentence(&err))?;
        Ok(cli.command)
    }

    /// Parses the command line. If it is wrong, prints the error and exits.
    pub fn of_process() -> Self {
        Self::try_parse_from(wrong::arguments()).unwrap_or_else(|err| {
            if err.use_stderr() {
                eprint!("{}", wrong::message(&err));
            } else {
                let _ = err.print();
            }
            std::process::exit(err.exit_code())
        })
    }
}

/// The command.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Run all roles that a file gives this host (a daemon, in the foreground)
    Run(RunArgs),
    /// Strip INT from received packets, measure flows and report them (a daemon, in the foreground)
    Sink(Box<SinkArgs>),
    /// Tag packets to watched destinations with INT (without a subcommand a daemon, in the foreground)
    Source(Box<SourceArgs>),
    /// Push this host's entry onto packets with INT that pass through it (without a subcommand a daemon, in the
    /// foreground)
    Transit(Box<TransitArgs>),
    /// Report what this host drops and delays; no packet is changed (a daemon, in the foreground)
    Postcards(Box<PostcardsArgs>),
    /// Report the state of TCP connections, and what limits them; none is changed (a daemon, in the foreground)
    Tcp(Box<TcpArgs>),
    /// Receive telemetry reports and print them
    Collect(Box<CollectArgs>),
    /// Stop all that hostint does to packets of this host at once, also after a reboot
    Off {
        /// Detach the sink immediately, although other hosts may still tag
        #[arg(long)]
        now: bool,

        #[command(flatten)]
        fleet: FleetArgs,
    },
    /// End that: roles may start again
    On(FleetArgs),
    /// Query the history that a collector keeps, while it runs or later
    #[command(subcommand)]
    History(HistoryCommand),
    /// Show what hostint does on this host, with counters and flows
    Status(StatusArgs),
    /// Say what is wrong on this host or missing for hostint, worst first, each with what to try; changes nothing
    Doctor(DoctorArgs),
    /// Check a config file, and list all mistakes in it
    Check(CheckArgs),
    /// See hostint at work on this machine, in a small network of its own
    Demo(DemoArgs),
    /// Print what a shell needs to complete hostint's command lines
    #[command(hide = true)]
    Completions {
        /// Shell that completes: bash, zsh, fish or another that clap knows
        shell: String,
    },
}

/// `hostint sink`
#[derive(Args, Debug)]
#[command(args_conflicts_with_subcommands = true)]
pub struct SinkArgs {
    #[command(subcommand)]
    pub command: Option<SinkCommand>,

    #[command(flatten)]
    pub serve: SinkServeArgs,
}

/// `hostint sink …`
#[derive(Debug, Subcommand)]
pub enum SinkCommand {
    /// Attach the sink and exit: packets are stripped and counted, and nothing is reported until a daemon runs
    Attach(Box<SinkServeArgs>),
    /// Detach the sink. Sources stop tagging first, which takes a second
    Detach {
        /// Detach only from this interface; may be repeated
        #[arg(long, value_name = "DEV")]
        dev: Vec<String>,

        /// Detach immediately, although sources may still tag
        #[arg(long)]
        now: bool,
    },
}

/// The settings of `hostint sink` and `hostint sink attach`.
#[derive(Args, Clone, Debug)]
pub struct SinkServeArgs {
    /// Read settings from [sink] and [[watch]] of this TOML file; flags override them. SIGHUP reloads the file
    #[arg(long, value_name = "FILE", env = "HOSTINT_CONFIG", hide_env = true, help_heading = ESSENTIALS)]
    pub config: Option<PathBuf>,

    #[command(flatten)]
    pub settings: Overrides<SinkOptions>,
}

/// `hostint source`
#[derive(Args, Debug)]
#[command(args_conflicts_with_subcommands = true)]
pub struct SourceArgs {
    #[command(subcommand)]
    pub command: Option<SourceCommand>,

    #[command(flatten)]
    pub serve: SourceServeArgs,
}

/// `hostint source …`
#[derive(Debug, Subcommand)]
pub enum SourceCommand {
    /// Attach the source to interfaces and exit: the sink's daemon looks after it
    Attach(Box<SourceAttachArgs>),
    /// Detach the source; detaching the last interface also clears the watchlist
    Detach {
        /// Detach only from this interface; may be repeated
        #[arg(long, value_name = "DEV")]
        dev: Vec<String>,
    },
    /// Watch destinations, with immediate effect
    AddDest {
        /// Name, address or prefix (10.0.0.0/8, 2001:db8::/32)
        #[arg(value_name = "HOST", required_unless_present = "dest_file")]
        host: Vec<String>,

        /// Read destinations from a file: one per line, # begins a comment
        #[arg(long, value_name = "FILE")]
        dest_file: Option<PathBuf>,

        /// Tag packets even if no sink answers; takes --compat or --encap of attach. Hosts without a sink receive INT
        #[arg(long = "static")]
        fixed: bool,
    },
    /// Stop watching destinations, with immediate effect
    DelDest {
        /// Name, address or prefix that was added
        #[arg(value_name = "HOST", required = true)]
        host: Vec<String>,
    },
    /// List all rules of the watchlist, including those of the config file
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
#[derive(Args, Debug)]
pub struct SourceAttachArgs {
    /// Stay in the foreground, as hostint source does without a subcommand
    #[arg(long, display_order = LAST - 1)]
    pub foreground: bool,

    #[command(flatten)]
    pub serve: SourceServeArgs,
}

/// The settings of `hostint source` and `hostint source attach`.
#[derive(Args, Clone, Debug)]
pub struct SourceServeArgs {
    /// Read settings from [source] and [[watch]] of this TOML file; flags override them. In the foreground SIGHUP
    /// reloads the file
    #[arg(long, value_name = "FILE", env = "HOSTINT_CONFIG", hide_env = true, help_heading = ESSENTIALS)]
    pub config: Option<PathBuf>,

    #[command(flatten)]
    pub settings: Overrides<SourceOptions>,
}

/// `hostint postcards`
#[derive(Args, Clone, Debug)]
pub struct PostcardsArgs {
    /// Read settings from [postcards] of this TOML file; flags override them. SIGHUP reloads the file
    #[arg(long, value_name = "FILE", env = "HOSTINT_CONFIG", hide_env = true, help_heading = ESSENTIALS)]
    pub config: Option<PathBuf>,

    #[command(flatten)]
    pub settings: Overrides<PostcardsOptions>,

    /// Print one JSON object per line (schema hostint.postcards/1)
    #[arg(long)]
    pub json: bool,

    /// Count for this time, print all counts, and exit [default: 1s]
    #[arg(long, value_name = "TIME", num_args = 0..=1, require_equals = true, default_missing_value = "1s")]
    pub once: Option<TimeSpan>,
}

/// The figure that flows are sorted by.
#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
pub enum StatusOrder {
    /// most lost packets first
    Loss,
    /// highest mean latency first
    Latency,
    /// most packets first
    Packets,
}

impl From<StatusOrder> for FlowSort {
    fn from(order: StatusOrder) -> Self {
        match order {
            StatusOrder::Loss => Self::Loss,
            StatusOrder::Latency => Self::Latency,
            StatusOrder::Packets => Self::Packets,
        }
    }
}

/// `hostint status`
#[derive(Args, Debug)]
pub struct StatusArgs {
    /// Number of flows to show
    #[arg(long, value_name = "N", default_value_t = 10)]
    pub flows: usize,

    /// Order of flows
    #[arg(long, value_name = "KEY", default_value = "loss")]
    pub sort: StatusOrder,

    /// Number of the source's peers to show
    #[arg(long, value_name = "N", default_value_t = 10)]
    pub peers: usize,

    /// Show settings, and all counters, too
    #[arg(long)]
    pub all: bool,

    /// Print one JSON object (schema hostint.status/1)
    #[arg(long)]
    pub json: bool,

    /// Show flows, counters and peers on the whole screen, and refresh them at this interval [default: 1]; with
    /// --json print one line each time
    #[arg(long, value_name = "SECONDS", num_args = 0..=1, default_missing_value = "1")]
    #[arg(conflicts_with = "all")]
    pub watch: Option<Interval>,

    /// With --watch: take the ways of packets from this history of a collector, which knows the times between nodes and
    /// where packets are lost [default: what this host's sink counts]
    #[arg(long, value_name = "FILE", requires = "watch", conflicts_with = "json")]
    pub store: Option<PathBuf>,

    /// Socket of the sink's daemon, which is asked if this user may not read the host's state
    /// [default: /run/hostint/control.NAMESPACE.sock]
    #[arg(long, value_name = "PATH", env = "HOSTINT_CONTROL", hide_env = true)]
    pub control: Option<PathBuf>,
}
