//! The plan of the view of TCP connections: settings that are read and checked, and names that are looked up.

use std::net::SocketAddr;
use std::path::Path;

use anyhow::{Context, Result};

use crate::cli::TcpArgs;
use crate::config::{File, OptionPeers, Settled, TcpConfig, settle};
use crate::daemon::collectors::Collectors;
use crate::datapath::tcp::programs::{OptionPlan, TcpPlan};
use crate::host::advice::warn_of_own_cgroup;
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
    option: Option<OptionPlan>,
}

impl TcpDaemonPlan {
    /// # Errors
    /// All mistakes in the settings, or a cgroup or a collector that is not there.
    pub fn make(args: &TcpArgs, cgroups: Option<&Path>) -> Result<Self> {
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
        let option = plan_option(&config, cgroups)?;
        Ok(Self {
            config,
            collectors,
            file,
            rules,
            cgroup,
            option,
        })
    }

    /// The plan for the programs.
    pub fn for_programs(&self) -> Result<TcpPlan> {
        Ok(TcpPlan {
            netns: netns::inode()?,
            cgroup: self.cgroup,
            rules: self.rules.clone(),
            max_endings: self.config.max_endings,
            option: self.option.clone(),
        })
    }
}

fn plan_option(config: &TcpConfig, cgroups: Option<&Path>) -> Result<Option<OptionPlan>> {
    if !config.option.sends() {
        return Ok(None);
    }
    let folder = config.cgroup.as_deref().or(cgroups).context(
        "cannot send option 114: no cgroup2 file system can be seen here (try --cgroup DIR, or mount -t cgroup2 none \
         /sys/fs/cgroup)",
    )?;
    if config.cgroup.is_none() {
        warn_of_own_cgroup(folder);
    }
    Ok(Some(OptionPlan {
        cgroup: folder.to_owned(),
        to_all: config.option == OptionPeers::All,
        interval: config.option_period.0,
    }))
}
