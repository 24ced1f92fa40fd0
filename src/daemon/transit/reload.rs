//! Goes on with what the config file says after a SIGHUP.

use std::time::Instant;

use anyhow::Result;

use super::plan::TransitPlan;
use super::state::TransitDaemon;
use crate::cli::TransitServeArgs;
use crate::config::{File, TRANSIT, TransitOptions};
use crate::daemon::duties::{ReadFileAgain, ReadsFile};
use crate::daemon::newcomers::Newcomers;
use crate::daemon::reload::refuse_changed;
use crate::datapath::kernel::pins::Pins;
use crate::host::transit;
use crate::os::log;

/// The duty to read the config file again after a SIGHUP.
pub fn read_again(args: &TransitServeArgs) -> ReadFileAgain<TransitDaemon> {
    let again = args.clone();
    ReadFileAgain::new(args.settings.clone(), move || TransitPlan::make(&again))
}

impl ReadsFile for TransitDaemon {
    type Plan = TransitPlan;
    type Options = TransitOptions;
    const TABLES: &'static [&'static str] = &[TRANSIT];

    fn plan(&self) -> &TransitPlan {
        &self.plan
    }

    fn file(plan: &TransitPlan) -> Option<&File> {
        plan.file.as_ref()
    }

    fn changed_pins(&self) -> Option<&Pins> {
        Some(&self.side.pins)
    }

    fn follow(&self, newcomers: &mut Newcomers, now: Instant) -> Result<Option<TransitPlan>> {
        newcomers.plan(&self.plan, now)
    }

    fn devs(plan: &TransitPlan) -> &[String] {
        &plan.setup.devs
    }

    /// Goes on with all of the new plan, or none. Each program is replaced in place; the caller holds the right to do that.
    /// Returns the plan before.
    fn go_on(&mut self, now: TransitPlan) -> Result<TransitPlan> {
        let (new, old) = (&now.setup, &self.plan.setup);
        let why = "the address is bound when the transit hop starts (try to start it again)";
        let waits = "the program that measures waits is attached when the transit hop starts (try to start it again)";
        let settled = [
            (new.http != old.http, "http", why),
            (new.transit.waits != old.transit.waits, "waits", waits),
        ];
        refuse_changed(now.file.as_ref(), |file| &file.transit, &settled)?;
        if (&new.devs, &new.transit) != (&old.devs, &old.transit) {
            self.transit = transit::attach(&self.side.pins, new)?;
        }
        if now.collectors != self.plan.collectors {
            self.emitter.set_collectors(now.collectors.clone());
        }
        let kept = &new.devs;
        let gone: Vec<String> = old
            .devs
            .iter()
            .filter(|dev| !kept.contains(dev))
            .cloned()
            .collect();
        if let Err(err) = transit::ROLE.leave(&self.side.pins, &gone) {
            log::error(format_args!(
                "cannot give up what is no longer named: {err:#}"
            ));
        }
        Ok(std::mem::replace(&mut self.plan, now))
    }
}
