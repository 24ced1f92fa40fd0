//! The arguments of `hostint run`.

use std::path::PathBuf;

use clap::Args;

use crate::config::{RunOptions, USUAL_FILE};

/// `hostint run`
#[derive(Args, Clone, Debug)]
pub struct RunArgs {
    /// The file with the roles of this host: each table [sink], [source], [transit], [postcards], [tcp], [collect] is one.
    /// SIGHUP reloads the file
    #[arg(long, value_name = "FILE", env = "HOSTINT_CONFIG", hide_env = true, default_value = USUAL_FILE)]
    pub config: PathBuf,

    #[command(flatten)]
    pub settings: RunOptions,
}
