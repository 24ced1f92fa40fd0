//! The command line of `hostint tcp`.

use std::path::PathBuf;

use clap::Args;

use crate::config::{ESSENTIALS, Overrides, TcpOptions, TimeSpan};

/// `hostint tcp`
#[derive(Args, Clone, Debug)]
pub struct TcpArgs {
    /// Read settings from [tcp] and [[watch]] of this TOML file; flags override them. SIGHUP reloads the file
    #[arg(long, value_name = "FILE", env = "HOSTINT_CONFIG", hide_env = true, help_heading = ESSENTIALS)]
    pub config: Option<PathBuf>,

    #[command(flatten)]
    pub settings: Overrides<TcpOptions>,

    /// Print one JSON object per line (schema hostint.tcp/1)
    #[arg(long)]
    pub json: bool,

    /// Watch connections for this time, print a table of them, and exit [default: 2s]
    #[arg(long, value_name = "TIME", num_args = 0..=1, require_equals = true, default_missing_value = "2s")]
    pub once: Option<TimeSpan>,

    /// Show the table on the screen in each period, instead of lines
    #[arg(long, conflicts_with_all = ["json", "once"])]
    pub watch: bool,

    /// With --once or --watch: the most connections to show; those with most retransmissions come first
    #[arg(long, value_name = "N", default_value_t = 20)]
    pub top: usize,
}
