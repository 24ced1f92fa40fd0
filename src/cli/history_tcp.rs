//! The command line of `hostint history tcp`.

use clap::{Args, ValueEnum};

use super::{HistoryArgs, NodeArg};
use crate::model::{ConnectionOrder, Limit, TcpGrouping};

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
    pub limited: Option<LimitArg>,

    /// Only connections whose segments are the flow with this id, as hostint history flows shows it
    #[arg(long, value_name = "ID")]
    pub flow: Option<i64>,

    /// Order of connections, largest first
    #[arg(long, value_name = "KEY", default_value = "retransmitted")]
    pub sort: ConnectionKey,

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
    /// the worst hop of their paths, as option 114 told it
    Hop,
}

impl From<ConnectionsBy> for Option<TcpGrouping> {
    fn from(by: ConnectionsBy) -> Self {
        match by {
            ConnectionsBy::Connection | ConnectionsBy::Hop => None,
            ConnectionsBy::Limit => Some(TcpGrouping::Limit),
            ConnectionsBy::Pair => Some(TcpGrouping::Pair),
        }
    }
}

/// What limits a sender.
#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
pub enum LimitArg {
    /// the application gives nothing to send
    Application,
    /// the receiver's window is full
    Receiver,
    /// the send buffer is too small
    SendBuffer,
    /// data waits in the host's own queues
    HostQueue,
    /// congestion control: the path takes no more
    Path,
    /// the kernel's figures do not tell
    Unknown,
}

impl From<LimitArg> for Limit {
    fn from(limit: LimitArg) -> Self {
        match limit {
            LimitArg::Application => Self::Application,
            LimitArg::Receiver => Self::Receiver,
            LimitArg::SendBuffer => Self::SendBuffer,
            LimitArg::HostQueue => Self::HostQueue,
            LimitArg::Path => Self::Path,
            LimitArg::Unknown => Self::Unknown,
        }
    }
}

/// The figure that connections are sorted by.
#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
pub enum ConnectionKey {
    /// most retransmitted segments first
    Retransmitted,
    /// most bytes first, sent and received
    Bytes,
    /// longest round-trip time first
    Rtt,
    /// newest state first
    Newest,
}

impl From<ConnectionKey> for ConnectionOrder {
    fn from(key: ConnectionKey) -> Self {
        match key {
            ConnectionKey::Retransmitted => Self::Retransmitted,
            ConnectionKey::Bytes => Self::Bytes,
            ConnectionKey::Rtt => Self::Rtt,
            ConnectionKey::Newest => Self::Newest,
        }
    }
}
