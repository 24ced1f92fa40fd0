//! The command line of `hostint history queues`.

use clap::Args;

use super::history_args::{HistoryArgs, NodeArg};
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
    pub sort: EpisodeOrder,

    /// Number of rows to show
    #[arg(long, value_name = "N", default_value_t = 20)]
    pub limit: usize,
}
