//! Gives the config file's rules to a source that is attached later, or anew: with its last interface, a source loses
//! its watchlist.

use std::time::{Duration, Instant};

use anyhow::Result;

use crate::daemon::duty::Duty;
use crate::daemon::on_host::OnHost;
use crate::datapath::source::source_links;
use crate::host::source::rules::set_file_rules;
use crate::model::WatchRule;

/// A daemon with a config file that may have rules.
pub trait HasFileRules: OnHost {
    /// The rules of the file, unless it says nothing of sources.
    fn file_rules(&self) -> Option<&[WatchRule]>;
}

/// The duty to do so.
#[derive(Default)]
pub struct SetFileRules {
    /// The source that has the rules.
    instance: Option<u32>,
}

impl<D: HasFileRules> Duty<D> for SetFileRules {
    fn task(&self) -> &'static str {
        "watch what the config file names"
    }

    fn period(&self, _daemon: &D) -> Duration {
        Duration::from_secs(1)
    }

    fn turn(&mut self, daemon: &mut D, _now: Instant) -> Result<()> {
        let pins = daemon.pins();
        let instance = source_links::instance(pins)?;
        if instance == self.instance {
            return Ok(());
        }
        if let (Some(_), Some(rules)) = (instance, daemon.file_rules()) {
            // If the command that attaches is still at work, the next turn does it.
            let Some(_changing) = pins.try_change()? else {
                return Ok(());
            };
            set_file_rules(pins, rules)?;
        }
        self.instance = instance;
        Ok(())
    }
}
