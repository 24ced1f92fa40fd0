//! The plan of a transit hop: settings that are read and checked; nothing is changed yet.

use std::net::SocketAddr;

use anyhow::Result;

use crate::cli::TransitServeArgs;
use crate::config::{File, Settled, TransitSetup, settle};
use crate::daemon::collectors::Collectors;
use crate::host::interfaces::named_by;
use crate::host::transit::check_devs;

/// All that is known before a transit hop is attached, or goes on with other settings.
pub struct TransitPlan {
    pub setup: TransitSetup,
    pub file: Option<File>,
    /// The addresses of the collectors.
    pub collectors: Vec<SocketAddr>,
}

impl TransitPlan {
    /// # Errors
    /// If the hop could not do what the plan says.
    pub fn make(args: &TransitServeArgs) -> Result<Self> {
        let Settled { mut config, file } = settle(&args.settings, args.config.as_deref())?;
        config.devs = named_by(&config.devs)?;
        check_devs(&config.devs)?;
        let collectors = Collectors::find(&config.collectors, false)?.addresses();
        Ok(Self {
            setup: config,
            file,
            collectors,
        })
    }
}
