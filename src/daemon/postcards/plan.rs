//! The plan of postcards: settings that are read and checked.

use std::collections::BTreeSet;
use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;

use anyhow::{Context, Result, bail};

use crate::cli::PostcardsArgs;
use crate::config::{
    DscpMark, EXTENSION_PORT, File, HopsChoice, NetnsChoice, PostcardsConfig, Settled, settle,
};
use crate::daemon::collectors::Collectors;
use crate::datapath::postcards::drop_reasons::DropReasonNames;
use crate::datapath::postcards::drops::DropPlan;
use crate::datapath::postcards::passages::PassagePlan;
use crate::host::advice::warn_of_own_cgroup;
use crate::host::source::places::find_names;
use crate::model::{WatchPurpose, WatchRule};
use crate::os::{cgroup, log, netns};
use crate::report::{Destinations, ReportForm};

/// A packet to a group without a member here ends so, which is no loss.
const IGNORED_GROUPS: [&str; 3] = ["NOT_SPECIFIED", "IP_INNOROUTES", "IPV6DISABLED"];

/// An acknowledgement or a FIN ends so when a connection is being closed, or was closed here first: its number was read before.
const IGNORED_ACKS: [&str; 1] = ["NOT_SPECIFIED"];

/// A socket for bare ICMP gets a copy of each such packet. That its filter refuses most of them is no loss: the kernel has the
/// packet itself. The sockets of leases are such ones. A reply to a ping of such a socket finds no ping socket at its end.
const IGNORED_COPIES: [&str; 2] = ["SOCKET_FILTER", "NO_SOCKET"];

/// All that is known before the program is attached, or goes on with other settings.
pub struct PostcardsPlan {
    pub config: PostcardsConfig,
    /// The addresses of the collectors.
    pub collectors: Vec<SocketAddr>,
    pub file: Option<File>,
    /// The file's rules for postcards, their names looked up.
    pub rules: Vec<WatchRule>,
    /// The folder of the cgroup that all others are below, if packets for this host are timed.
    cgroups: Option<PathBuf>,
}

impl PostcardsPlan {
    /// # Errors
    /// All mistakes in the settings, or a collector that is not found.
    pub fn make(args: &PostcardsArgs) -> Result<Self> {
        let Settled { config, file } = settle(&args.settings, args.config.as_deref())?;
        let collectors = Collectors::find(&config.collectors, false)?.addresses();
        let rules = find_names(File::rules_for(file.as_ref(), WatchPurpose::Postcards))?;
        if config.hops == HopsChoice::Watched && rules.is_empty() {
            bail!(
                "no rule says which packets are timed (try [[watch]] with for = [\"postcards\"] in a config file, or \
                 --hops=all)"
            );
        }
        let cgroups = match config.local {
            true => Some(cgroup::root().context(
                "cannot time packets for this host: no cgroup2 file system can be seen here (try mount -t cgroup2 none \
                 /sys/fs/cgroup, or leave out --local)",
            )?),
            false => None,
        };
        if let Some(folder) = &cgroups {
            warn_of_own_cgroup(folder);
        }
        Ok(Self {
            config,
            collectors,
            file,
            rules,
            cgroups,
        })
    }

    /// Where reports go, and in which form.
    pub fn destinations(&self) -> Destinations {
        let version = self.config.report_format.standard();
        Destinations {
            collectors: self.collectors.clone(),
            form: ReportForm {
                version: version.unwrap_or_default(),
                ..ReportForm::default()
            },
            ..Destinations::default()
        }
    }

    /// The plan for the programs of hops.
    pub fn for_hops(&self) -> io::Result<PassagePlan> {
        Ok(PassagePlan {
            netns: netns::inode()?,
            rules: (self.config.hops == HopsChoice::Watched).then(|| self.rules.clone()),
            step: self.config.latency_step.0,
            hold: self.config.latency_hold.0,
            max_new_flows: self.config.max_new_flows,
            tunnels: self.config.inner.clone(),
            extension_port: EXTENSION_PORT,
            sockets: self.cgroups.clone(),
        })
    }

    /// The plan for the program of drops, with the reasons as this kernel numbers them.
    pub fn for_drops(&self, names: &DropReasonNames) -> io::Result<DropPlan> {
        let mut ignored = BTreeSet::new();
        for name in &self.config.ignored_reasons {
            match names.number(name) {
                Some(number) => {
                    ignored.insert(number);
                }
                None if self.config.ignored_given && names.exist() => log::warning(format_args!(
                    "ignored-reasons: this kernel has no reason {name} (hostint postcards --drops --once lists those \
                     that occur)"
                )),
                None => {}
            }
        }
        let numbers = |all: &[&str]| all.iter().filter_map(|name| names.number(name)).collect();
        Ok(DropPlan {
            netns: match self.config.netns {
                NetnsChoice::Own => Some(netns::inode()?),
                NetnsChoice::All => None,
            },
            ignored,
            ignored_groups: numbers(&IGNORED_GROUPS),
            ignored_acks: numbers(&IGNORED_ACKS),
            ignored_copies: numbers(&IGNORED_COPIES),
            max_new_flows: self.config.max_new_flows,
            tunnels: self.config.inner.clone(),
            mark: DscpMark::DEFAULT,
            extension_port: EXTENSION_PORT,
        })
    }
}
