//! The arguments by which `hostint off` and `hostint on` reach other hosts.

use std::path::PathBuf;

use clap::Args;

use crate::config::USUAL_FILE;

/// Whom the command is for.
#[derive(Args, Clone, Debug)]
pub struct FleetArgs {
    /// Order the same to all hosts that leases connect with this one, and they to theirs: those with the same lease key that
    /// hostint run looks after
    #[arg(long)]
    pub fleet: bool,

    /// With --fleet: the file with the lease key
    #[arg(long, value_name = "FILE", env = "HOSTINT_CONFIG", hide_env = true, default_value = USUAL_FILE)]
    pub config: PathBuf,
}
