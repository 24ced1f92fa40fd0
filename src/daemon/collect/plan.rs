//! The plan of a collector: its settings, and the classes that the rules of its config file name.

use std::net::SocketAddr;

use anyhow::Result;

use crate::cli::CollectArgs;
use crate::config::{CollectConfig, ConfigError, File, Settled, settle};
use crate::host::source::places::find_names;
use crate::model::{Classes, REPORT_PORT, TrafficLimit, WatchPurpose};
use crate::os::resolve;

/// Settings, and what follows from them.
pub struct CollectPlan {
    pub config: CollectConfig,
    pub classes: Classes,
    pub limits: Vec<TrafficLimit>,
    pub file: Option<File>,
}

impl CollectPlan {
    pub fn make(args: &CollectArgs) -> Result<Self> {
        let Settled { mut config, file } = settle(&args.settings, args.config.as_deref())?;
        // Those of --name and its key come before the table's.
        for (node, name) in file.iter().flat_map(|file| &file.names) {
            config.names.entry(*node).or_insert_with(|| name.clone());
        }
        let rules = File::rules_for(file.as_ref(), WatchPurpose::Int);
        Ok(Self {
            config,
            classes: Classes::new(&find_names(rules)?),
            limits: file.iter().flat_map(|file| file.limits.clone()).collect(),
            file,
        })
    }

    /// The addresses of `--listen`.
    pub fn listen_addresses(&self) -> Result<Vec<SocketAddr>> {
        self.config
            .listen
            .iter()
            .map(|text| {
                resolve::socket_address(text, REPORT_PORT).map_err(|err| {
                    ConfigError::one(format!(
                        "cannot listen on {text}: {err} (try 0.0.0.0:32766 or [::]:32766)"
                    ))
                    .into()
                })
            })
            .collect()
    }
}
