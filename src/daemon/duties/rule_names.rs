//! Follows the names and interfaces of rules that are pinned nowhere: their addresses and numbers are those that they have
//! now.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};

use crate::daemon::duty::Duty;
use crate::daemon::lookups::Lookups;
use crate::daemon::names::names_of;
use crate::host::source::rules::rename;
use crate::model::{Prefix, RuleHost, WatchRule};
use crate::os::netdev;

/// A daemon with rules of its own.
pub trait HasRules {
    /// The rules of its plan.
    fn rules(&mut self) -> &mut Vec<WatchRule>;

    /// Goes on with the rules as its plan has them now.
    fn set_rules(&mut self) -> Result<()>;
}

/// The duty to do so.
pub struct FollowRules {
    lookups: Lookups,
    /// The rules whose names are followed.
    rules: Vec<WatchRule>,
    interfaces: BTreeMap<String, Option<u32>>,
}

impl FollowRules {
    pub fn start() -> Self {
        Self {
            lookups: Lookups::start(),
            rules: Vec::new(),
            interfaces: BTreeMap::new(),
        }
    }
}

/// The interfaces in the rules, each with its number if it exists.
fn interfaces_of(rules: &[WatchRule]) -> BTreeMap<String, Option<u32>> {
    let devs = rules.iter().flat_map(|rule| &rule.devs);
    devs.map(|dev| (dev.clone(), netdev::index_of(dev).ok()))
        .collect()
}

impl<D: HasRules> Duty<D> for FollowRules {
    fn task(&self) -> &'static str {
        "follow the names in the rules"
    }

    fn period(&self, _daemon: &D) -> Duration {
        Duration::from_secs(1)
    }

    fn turn(&mut self, daemon: &mut D, now: Instant) -> Result<()> {
        let rules = daemon.rules();
        if self.rules != *rules {
            self.lookups.set(names_of(rules), now);
            self.interfaces = interfaces_of(rules);
        }
        let renamed = self.lookups.step(now).into_iter();
        let renamed: Vec<RuleHost> = renamed
            .map(|(text, addresses)| RuleHost {
                text,
                prefixes: addresses.into_iter().map(Prefix::host).collect(),
            })
            .collect();
        rename(rules, &renamed);
        self.rules.clone_from(rules);
        let interfaces = interfaces_of(rules);
        if renamed.is_empty() && interfaces == self.interfaces {
            return Ok(());
        }
        self.interfaces = interfaces;
        daemon.set_rules().context("cannot change the watchlist")
    }
}
