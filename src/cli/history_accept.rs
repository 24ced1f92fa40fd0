//! The command line of `hostint history accept`.

use std::path::PathBuf;

use clap::Args;

use super::history_args::HistoryArgs;
use crate::config::{TimeSpan, USUAL_FILE};

/// `hostint history accept`
#[derive(Args, Clone, Debug)]
pub struct AcceptArgs {
    #[command(flatten)]
    pub history: HistoryArgs,

    /// A host by name or id, or a label such as rack=r1 [default: all causes]
    #[arg(value_name = "PLACE")]
    pub place: Option<String>,

    /// With it, the causes of packets from PLACE to this host alone
    #[arg(value_name = "TO")]
    pub to: Option<String>,

    /// Do not alert causes there for this time, instead of taking them as usual
    #[arg(long = "for", value_name = "TIME")]
    pub time: Option<TimeSpan>,

    /// Why, to be shown with it
    #[arg(long, value_name = "TEXT")]
    pub text: Option<String>,

    /// The collector's file, whose http and events-token-file are used
    #[arg(long, value_name = "PATH", default_value = USUAL_FILE)]
    pub config: PathBuf,
}
