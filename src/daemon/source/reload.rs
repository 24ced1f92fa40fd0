//! Goes on with what the config file says after a SIGHUP.

use std::time::Instant;

use anyhow::Result;

use super::plan::SourcePlan;
use super::state::SourceDaemon;
use crate::cli::SourceServeArgs;
use crate::config::{File, NAMES, SOURCE, SourceOptions, WATCH};
use crate::daemon::duties::{ReadFileAgain, ReadsFile};
use crate::daemon::leases::warn_without_key;
use crate::daemon::newcomers::Newcomers;
use crate::datapath::kernel::pins::Pins;
use crate::datapath::watch::Watchlist;
use crate::host::source::dests::unwatch;
use crate::host::source::reconfigure::{reconfigure, refuse};
use crate::host::source::rules::set_file_rules;
use crate::host::source::{ROLE, choose_node};
use crate::model::RuleHost;
use crate::os::log;

/// The duty to read the config file again after a SIGHUP.
pub fn read_again(args: &SourceServeArgs) -> ReadFileAgain<SourceDaemon> {
    let again = args.clone();
    ReadFileAgain::new(args.settings.clone(), move || SourcePlan::make(&again))
}

impl ReadsFile for SourceDaemon {
    type Plan = SourcePlan;
    type Options = SourceOptions;
    const TABLES: &'static [&'static str] = &[SOURCE, NAMES, WATCH];

    fn plan(&self) -> &SourcePlan {
        &self.plan
    }

    fn file(plan: &SourcePlan) -> Option<&File> {
        plan.file.as_ref()
    }

    fn changed_pins(&self) -> Option<&Pins> {
        Some(&self.side.pins)
    }

    fn follow(&self, newcomers: &mut Newcomers, now: Instant) -> Result<Option<SourcePlan>> {
        newcomers.plan(&self.plan, now)
    }

    fn devs(plan: &SourcePlan) -> &[String] {
        &plan.setup.devs
    }

    /// Goes on with all of the new plan, or none: the watchlist and the programs come first, which may fail and are
    /// undone then. Each program is replaced in place; the caller holds the right to do that. Returns the plan before.
    fn go_on(&mut self, now: SourcePlan) -> Result<SourcePlan> {
        change_kernel(self, &now)?;
        let before = std::mem::replace(&mut self.plan, now);
        let (setup, was) = (&self.plan.setup, &before.setup);
        let key = setup.source.lease_key;
        if key != was.source.lease_key {
            self.source.host.set_lease_key(key)?;
            warn_without_key(key);
            if let Some(leases) = &mut self.side.leases {
                leases.set_key(key);
            }
        }
        if self.plan.collectors != before.collectors {
            self.source
                .host
                .set_report_ports(&self.plan.report_ports())?;
            self.emitter.set_collectors(self.plan.collectors.clone());
        }
        let gone: Vec<String> = was
            .devs
            .iter()
            .filter(|dev| !setup.devs.contains(dev))
            .cloned()
            .collect();
        let pins = &self.side.pins;
        for done in [
            ROLE.leave(pins, &gone),
            unwatch_places(pins, &before.places, &self.plan.places),
        ] {
            if let Err(err) = done {
                log::error(format_args!(
                    "cannot give up what is no longer named: {err:#}"
                ));
            }
        }
        Ok(before)
    }
}

fn change_kernel(daemon: &SourceDaemon, now: &SourcePlan) -> Result<()> {
    let (pins, before) = (&daemon.side.pins, &daemon.plan);
    let (setup, was) = (&now.setup, &before.setup);
    refuse(pins, setup, now.file.as_ref())?;
    let node = choose_node(pins, &setup.source, true)?;
    let old_node = choose_node(pins, &was.source, true)?;
    let changed = set_file_rules(pins, &now.rules).and_then(|()| {
        if setup == was && now.places == before.places {
            return Ok(());
        }
        reconfigure(pins, setup, node, now.dests())
    });
    if changed.is_err() {
        for undone in [
            set_file_rules(pins, &before.rules),
            daemon.source.host.set_node(old_node).map_err(Into::into),
            unwatch_places(pins, &now.places, &before.places),
        ] {
            if let Err(err) = undone {
                log::error(format_args!("cannot go back: {err:#}"));
            }
        }
    }
    changed
}

/// Takes places off the list that are not among those to be kept.
fn unwatch_places(pins: &Pins, places: &[RuleHost], kept: &[RuleHost]) -> Result<()> {
    let is_kept = |place: &RuleHost| kept.iter().any(|one| one.text == place.text);
    let gone: Vec<String> = places
        .iter()
        .filter(|place| !is_kept(place))
        .map(|place| place.text.clone())
        .collect();
    if gone.is_empty() {
        return Ok(());
    }
    match Watchlist::open(pins)? {
        Some(list) => unwatch(pins, &list, &gone).map(drop),
        None => Ok(()),
    }
}
