//! The command line of `hostint history tcp`.

use clap::{Args, ValueEnum};

use super::history_args::{HistoryArgs, NodeArg};
use crate::model::{ConnectionOrder, Limit};

/// `hostint history tcp`
#[derive(Args, Clone, Debug)]
pub struct ConnectionsArgs {
    #[command(flatten)]
    pub history: HistoryArgs,

    /// What is shown: single connections, or sums
    #[arg(long, value_name = "WHAT", default_value = "connection")]
    pub by: ConnectionsBy,

    /// Only connections of this host, by its id or its name
    #[arg(long, value_name = "NODE")]
    pub node: Option<NodeArg>,

    /// Only connections that this limits
    #[arg(long, value_name = "LIMIT")]
    pub limited: Option<Limit>,

    /// Only connections whose segments are the flow with this id, as hostint history flows shows it
    #[arg(long, value_name = "ID")]
    pub flow: Option<i64>,

    /// Order of connections, largest first
    #[arg(long, value_name = "KEY", default_value = "retransmitted")]
    pub sort: ConnectionOrder,

    /// Number of rows to show
    #[arg(long, value_name = "N", default_value_t = 20)]
    pub limit: usize,
}

/// What connections are added up by.
#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
pub enum ConnectionsBy {
    /// nothing: each connection is a row
    Connection,
    /// what limits the sender
    Limit,
    /// sending host, and address of its peer
    Pair,
    /// sending host
    Host,
    /// the worst hop of their paths, as option 114 had it
    Hop,
}
