//! The arguments of `hostint doctor` and `hostint check`.

use std::path::PathBuf;

use clap::Args;

use crate::config::USUAL_FILE;

/// `hostint doctor`
#[derive(Args, Debug)]
pub struct DoctorArgs {
    /// Say instead what this host knows of these others, by leases and by its collector's history: names, addresses or node ids
    #[arg(value_name = "HOST", conflicts_with_all = ["dev", "collector"])]
    pub host: Vec<String>,

    /// Look at the interfaces, collectors and lease key of this TOML file [default: HOSTINT_CONFIG, or
    /// /etc/hostint/hostint.toml if it exists]
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,

    /// Look at this interface instead of those of the file; may be repeated
    #[arg(long, value_name = "DEV")]
    pub dev: Vec<String>,

    /// Look at the route to this collector instead of those of the file; may be repeated
    #[arg(long, value_name = "HOST[:PORT]")]
    pub collector: Vec<String>,

    /// Show what is fine, too
    #[arg(long)]
    pub all: bool,

    /// Print one JSON object (schema hostint.doctor/1), which has all findings
    #[arg(long)]
    pub json: bool,
}

/// `hostint check`
#[derive(Args, Debug)]
pub struct CheckArgs {
    /// The file
    #[arg(value_name = "FILE", env = "HOSTINT_CONFIG", hide_env = true, default_value = USUAL_FILE)]
    pub file: PathBuf,

    /// Look also whether this host has what the file needs: interfaces, addresses, free ports, key files, the kernel, the clock
    #[arg(long)]
    pub here: bool,

    /// Print one JSON object (schema hostint.config-check/1)
    #[arg(long)]
    pub json: bool,
}
