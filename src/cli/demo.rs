//! The command line of `hostint demo`.

use clap::Args;

/// `hostint demo`
#[derive(Args, Clone, Debug)]
pub struct DemoArgs {
    /// Show a recorded network of six hosts instead: needs neither root nor BPF
    #[arg(long)]
    pub recorded: bool,

    /// Stay for this many seconds after the result, for a look at the page
    /// [default: until Ctrl-C on a terminal, else not at all]
    #[arg(long, value_name = "N")]
    pub seconds: Option<u64>,
}
