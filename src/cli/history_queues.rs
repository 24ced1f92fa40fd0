//! The command line of `hostint history queues`.

use clap::{Args, ValueEnum};

use super::{HistoryArgs, NodeArg};
use crate::model::EpisodeOrder;

/// `hostint history queues`
#[derive(Args, Clone, Debug)]
pub struct QueuesArgs {
    #[command(flatten)]
    pub history: HistoryArgs,

    /// Only queues of this host, by its id or its name
    #[arg(long, value_name = "NODE")]
    pub node: Option<NodeArg>,

    /// Order of episodes, largest first
    #[arg(long, value_name = "KEY", default_value = "newest")]
    pub sort: EpisodeKey,

    /// Number of rows to show
    #[arg(long, value_name = "N", default_value_t = 20)]
    pub limit: usize,
}

/// The figure that episodes are sorted by.
#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
pub enum EpisodeKey {
    /// newest first
    Newest,
    /// longest first
    Length,
    /// longest wait of a packet first
    Wait,
    /// most bytes in the queue first
    Bytes,
    /// most packets over the trigger first
    Packets,
}

impl From<EpisodeKey> for EpisodeOrder {
    fn from(key: EpisodeKey) -> Self {
        match key {
            EpisodeKey::Newest => Self::Newest,
            EpisodeKey::Length => Self::Length,
            EpisodeKey::Wait => Self::Wait,
            EpisodeKey::Bytes => Self::Bytes,
            EpisodeKey::Packets => Self::Packets,
        }
    }
}
