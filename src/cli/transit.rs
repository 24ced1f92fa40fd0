//! The arguments of `hostint transit`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use crate::config::{ESSENTIALS, Overrides, TransitOptions};

/// `hostint transit`
#[derive(Args, Debug)]
#[command(args_conflicts_with_subcommands = true)]
pub struct TransitArgs {
    #[command(subcommand)]
    pub command: Option<TransitCommand>,

    #[command(flatten)]
    pub serve: TransitServeArgs,
}

/// `hostint transit …`
#[derive(Debug, Subcommand)]
pub enum TransitCommand {
    /// Attach the transit hop to interfaces and exit: packets get their entries, and nothing looks after it
    Attach(Box<TransitServeArgs>),
    /// Detach the transit hop; packets pass unchanged from the next one on
    Detach {
        /// Detach only from this interface; may be repeated
        #[arg(long, value_name = "DEV")]
        dev: Vec<String>,
    },
}

/// The settings of `hostint transit` and `hostint transit attach`.
#[derive(Args, Clone, Debug)]
pub struct TransitServeArgs {
    /// Read settings from [transit] of this TOML file; flags override them. In the foreground SIGHUP reloads the file
    #[arg(long, value_name = "FILE", env = "HOSTINT_CONFIG", hide_env = true, help_heading = ESSENTIALS)]
    pub config: Option<PathBuf>,

    #[command(flatten)]
    pub settings: Overrides<TransitOptions>,
}
