//! The plan of a transit hop: settings that are read and checked; nothing is changed yet.

use std::net::SocketAddr;

use anyhow::Result;

use crate::cli::TransitServeArgs;
use crate::config::{File, Settled, TransitSetup, settle};
use crate::daemon::collectors::Collectors;
use crate::daemon::newcomers::NamesInterfaces;
use crate::host::interfaces::named_by;
use crate::host::transit::check_devs;

/// All that is known before a transit hop is attached, or goes on with other settings.
#[derive(Clone)]
pub struct TransitPlan {
    /// What names the interfaces: some come later.
    words: Vec<String>,
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
        let words = config.devs;
        config.devs = named_by(&words)?;
        check_devs(&config.devs)?;
        let collectors = Collectors::find(&config.collectors, false)?.addresses();
        Ok(Self {
            words,
            setup: config,
            file,
            collectors,
        })
    }
}

impl NamesInterfaces for TransitPlan {
    fn words(&self) -> &[String] {
        &self.words
    }

    fn devs(&self) -> &[String] {
        &self.setup.devs
    }

    fn set_devs(&mut self, devs: Vec<String>) {
        self.setup.devs = devs;
    }
}
