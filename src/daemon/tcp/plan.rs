//! The plan of the view of TCP connections: settings that are read and checked, and names that are looked up.

use std::net::SocketAddr;

use anyhow::{Context, Result};

use crate::cli::TcpArgs;
use crate::config::{File, Settled, TcpConfig, settle};
use crate::daemon::collectors::Collectors;
use crate::datapath::tcp::TcpPlan;
use crate::host::source::places::find_names;
use crate::model::{WatchPurpose, WatchRule};
use crate::os::{cgroup, netns};

/// All that is known before the programs are attached, or go on with other settings.
pub struct TcpDaemonPlan {
    pub config: TcpConfig,
    /// The addresses of the collectors.
    pub collectors: Vec<SocketAddr>,
    pub file: Option<File>,
    /// The file's rules, their names looked up.
    pub rules: Vec<WatchRule>,
    cgroup: Option<u64>,
}

impl TcpDaemonPlan {
    /// # Errors
    /// All mistakes in the settings, or a cgroup or a collector that is not there.
    pub fn make(args: &TcpArgs) -> Result<Self> {
        let Settled { config, file } = settle(&args.settings, args.config.as_deref())?;
        let collectors = Collectors::find(&config.collectors, false)?.addresses();
        let rules = File::rules_for(file.as_ref(), WatchPurpose::Tcp);
        let rules = find_names(rules)?;
        let cgroup = match &config.cgroup {
            Some(folder) => Some(
                cgroup::id(folder)
                    .with_context(|| format!("cannot watch cgroup {}", folder.display()))?,
            ),
            None => None,
        };
        Ok(Self {
            config,
            collectors,
            file,
            rules,
            cgroup,
        })
    }

    /// The plan for the programs.
    pub fn for_programs(&self) -> Result<TcpPlan> {
        Ok(TcpPlan {
            netns: netns::inode()?,
            cgroup: self.cgroup,
            rules: self.rules.clone(),
            max_endings: self.config.max_endings,
        })
    }
}
