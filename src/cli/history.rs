//! The command line of `hostint history`: queries, their subjects and their times.

use clap::{Args, Subcommand};

use super::history_accept::AcceptArgs;
use super::history_args::{HistoryArgs, NodeArg};
use super::history_hops::HopsArgs;
use super::history_queues::QueuesArgs;
use super::history_tcp::ConnectionsArgs;
use crate::model::{DropGrouping, FlowOrder, MatrixFigure, PodsOf, SegmentOrder};

/// The query.
#[derive(Debug, Subcommand)]
pub enum HistoryCommand {
    /// Whether it is the network, where, since when, and how that is known
    Verdict {
        #[command(flatten)]
        history: HistoryArgs,

        /// Exit with 4 if the network or a host is degraded, 5 if the measurement is, 6 if it cannot be said
        #[arg(long)]
        check: bool,
    },
    /// Take what the causes of the verdict are now as usual, or silence them for a time (asks the collector)
    Accept(AcceptArgs),
    /// Why a pair, or a flow, is as it is: there, back, the day before, where packets are lost, and which others lose some
    Why {
        /// The sending node, by ID or name
        #[arg(value_name = "FROM", required_unless_present = "flow", requires = "to")]
        from: Option<NodeArg>,

        /// The receiving node
        #[arg(value_name = "TO")]
        to: Option<NodeArg>,

        /// The flow with most loss whose text has all these words, as --search of hostint history flows, and its pair
        #[arg(long, value_name = "WORDS", conflicts_with_all = ["from", "to"])]
        flow: Option<String>,

        #[command(flatten)]
        history: HistoryArgs,
    },
    /// The worst flows
    Flows(FlowsArgs),
    /// Latency or loss from each node to each other, and the worst pairs
    Pairs {
        #[command(flatten)]
        history: HistoryArgs,

        /// Only pairs from this node, by its id or its name
        #[arg(long, value_name = "NODE")]
        source: Option<NodeArg>,

        /// Only pairs to this node, by its id or its name
        #[arg(long, value_name = "NODE")]
        sink: Option<NodeArg>,

        /// Figure in the matrix
        #[arg(long, value_name = "FIGURE", default_value = "p99")]
        show: MatrixFigure,

        /// Order of the pairs
        #[arg(long, value_name = "KEY", default_value = "loss")]
        sort: FlowOrder,

        /// Number of pairs to list; JSON and CSV list all
        #[arg(long, value_name = "N", default_value_t = 10)]
        limit: usize,
    },
    /// Classes of traffic
    Classes {
        #[command(flatten)]
        history: HistoryArgs,

        /// The names of the pods at both ends instead of the classes of rules (hostint collect --kubernetes)
        #[arg(long, value_name = "WHAT")]
        by: Option<PodsOf>,
    },
    /// Share of the traffic that the watchlists ask for that was measured, and why the rest was not
    Coverage {
        #[command(flatten)]
        history: HistoryArgs,
    },
    /// One flow, and its figures over time
    Flow {
        /// The flow's id, as hostint history flows shows it
        #[arg(value_name = "ID")]
        id: i64,

        #[command(flatten)]
        history: HistoryArgs,

        /// Approximate number of points in time
        #[arg(long, value_name = "N", default_value_t = 30)]
        points: usize,
    },
    /// Figures over time: for all traffic, a pair of nodes, a class, or a flow
    Series {
        #[command(flatten)]
        history: HistoryArgs,

        #[command(flatten)]
        subject: SubjectArgs,

        /// Approximate number of points in time
        #[arg(long, value_name = "N", default_value_t = 30)]
        points: usize,
    },
    /// Single reports, newest first
    Reports {
        #[command(flatten)]
        history: HistoryArgs,

        #[command(flatten)]
        subject: SubjectArgs,

        /// Number of reports to show
        #[arg(long, value_name = "N", default_value_t = 20)]
        limit: usize,
    },
    /// The way over transit hops, as a waterfall: where a pair's or a flow's packets spend their time
    Path {
        #[command(flatten)]
        history: HistoryArgs,

        /// The node of the INT source, by its id or its name, with --to
        #[arg(
            long,
            value_name = "NODE",
            requires = "to",
            required_unless_present = "flow"
        )]
        from: Option<NodeArg>,

        /// The node of the INT sink, by its id or its name, with --from
        #[arg(
            long,
            value_name = "NODE",
            requires = "from",
            required_unless_present = "flow"
        )]
        to: Option<NodeArg>,

        /// The flow with this id, as hostint history flows shows it
        #[arg(long, value_name = "ID", conflicts_with_all = ["from", "to"])]
        flow: Option<i64>,
    },
    /// The slowest segments of all paths over transit hops
    Segments {
        #[command(flatten)]
        history: HistoryArgs,

        /// Order of the segments, largest first
        #[arg(long, value_name = "KEY", default_value = "p99")]
        sort: SegmentOrder,

        /// Number of segments to show
        #[arg(long, value_name = "N", default_value_t = 20)]
        limit: usize,
    },
    /// Packets that hosts dropped, by the kernel's reason, by place, by host or by flow
    Drops {
        #[command(flatten)]
        history: HistoryArgs,

        /// What drops are added up by
        #[arg(long, value_name = "WHAT", default_value = "reason")]
        by: DropGrouping,

        /// Only drops of this host, by its id or its name
        #[arg(long, value_name = "NODE")]
        node: Option<NodeArg>,

        /// Number of rows to show
        #[arg(long, value_name = "N", default_value_t = 20)]
        limit: usize,
    },
    /// The time that packets take through hosts, by flow
    Hops(HopsArgs),
    /// Episodes of queues in which packets waited too long, and whose packets these were
    Queues(QueuesArgs),
    /// TCP connections, as their hosts report them: single ones, or sums by what limits them or by pair
    Tcp(ConnectionsArgs),
    /// The extent of the history
    Info {
        #[command(flatten)]
        history: HistoryArgs,
    },
}

impl HistoryCommand {
    /// What all queries have in common.
    pub fn args(&self) -> &HistoryArgs {
        match self {
            Self::Accept(args) => &args.history,
            Self::Flows(args) => &args.history,
            Self::Hops(args) => &args.history,
            Self::Queues(args) => &args.history,
            Self::Tcp(args) => &args.history,
            Self::Pairs { history, .. }
            | Self::Verdict { history, .. }
            | Self::Why { history, .. }
            | Self::Classes { history, .. }
            | Self::Coverage { history }
            | Self::Flow { history, .. }
            | Self::Series { history, .. }
            | Self::Reports { history, .. }
            | Self::Path { history, .. }
            | Self::Segments { history, .. }
            | Self::Drops { history, .. }
            | Self::Info { history } => history,
        }
    }
}

/// `hostint history flows`
#[derive(Args, Clone, Debug)]
pub struct FlowsArgs {
    #[command(flatten)]
    pub history: HistoryArgs,

    /// Order of flows, largest first
    #[arg(long, value_name = "KEY", default_value = "loss")]
    pub sort: FlowOrder,

    /// Only flows from this node, by its id or its name
    #[arg(long, value_name = "NODE")]
    pub source: Option<NodeArg>,

    /// Only flows to this node, by its id or its name
    #[arg(long, value_name = "NODE")]
    pub sink: Option<NodeArg>,

    /// Only flows of this class
    #[arg(long, value_name = "CLASS")]
    pub class: Option<String>,

    /// Only flows whose text has all these words: addresses, ports, protocols, names of hosts, or parts of them
    #[arg(long, value_name = "WORDS")]
    pub search: Option<String>,

    /// Number of flows to show
    #[arg(long, value_name = "N", default_value_t = 20)]
    pub limit: usize,
}

/// The subject of figures or reports.
#[derive(Args, Clone, Debug)]
pub struct SubjectArgs {
    /// Packets from this node (its id or name), with --sink
    #[arg(long, value_name = "NODE", requires = "sink")]
    pub source: Option<NodeArg>,

    /// Packets to this node (its id or name), with --source
    #[arg(long, value_name = "NODE", requires = "source")]
    pub sink: Option<NodeArg>,

    /// Packets of this class
    #[arg(long, value_name = "CLASS", conflicts_with_all = ["source", "sink"])]
    pub class: Option<String>,

    /// Packets of the flow with this id
    #[arg(long, value_name = "ID", conflicts_with_all = ["source", "sink", "class"])]
    pub flow: Option<i64>,
}
