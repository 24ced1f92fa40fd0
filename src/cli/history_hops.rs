//! The command line of `hostint history hops`.

use clap::Args;

use super::history_args::{HistoryArgs, NodeArg};
use crate::model::PassageOrder;

/// `hostint history hops`
#[derive(Args, Clone, Debug)]
pub struct HopsArgs {
    #[command(flatten)]
    pub history: HistoryArgs,

    /// Only flows through this host, by its id or its name
    #[arg(long, value_name = "NODE")]
    pub node: Option<NodeArg>,

    /// Only the flow with this id, as hostint history flows shows it, before or behind NAT
    #[arg(long, value_name = "ID")]
    pub flow: Option<i64>,

    /// Order of flows, largest first
    #[arg(long, value_name = "KEY", default_value = "mean")]
    pub sort: PassageOrder,

    /// Number of rows to show
    #[arg(long, value_name = "N", default_value_t = 20)]
    pub limit: usize,
}
