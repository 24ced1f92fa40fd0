//! Reads the config file again after a SIGHUP, and goes on with what it says now.

use std::time::Instant;

use anyhow::Result;

use super::plan::SourcePlan;
use super::state::SourceDaemon;
use crate::cli::SourceServeArgs;
use crate::config::{SOURCE, WATCH};
use crate::daemon::duty::Duty;
use crate::daemon::leases::warn_without_key;
use crate::daemon::reload::{Reload, say_changes, say_refusal};
use crate::datapath::pins::Pins;
use crate::datapath::watch::Watchlist;
use crate::host::source::dests::unwatch;
use crate::host::source::reconfigure::{reconfigure, refuse};
use crate::host::source::rules::set_file_rules;
use crate::host::source::{choose_node, leave};
use crate::model::RuleHost;
use crate::os::{log, signals};

/// The duty to do so.
pub struct ReloadSource {
    args: SourceServeArgs,
    reload: Reload<SourcePlan>,
}

impl ReloadSource {
    pub fn new(args: &SourceServeArgs) -> Self {
        let again = args.clone();
        Self {
            args: args.clone(),
            reload: Reload::new(move || SourcePlan::make(&again)),
        }
    }
}

impl Duty<SourceDaemon> for ReloadSource {
    fn task(&self) -> &'static str {
        "read the config file again"
    }

    fn turn(&mut self, daemon: &mut SourceDaemon, _now: Instant) -> Result<()> {
        if signals::reload_asked() {
            self.reload.ask();
        }
        if let Some(made) = self.reload.plan_and_lock(&daemon.side.pins) {
            match made.and_then(|(plan, _changing)| go_on(daemon, plan)) {
                Ok(before) => say_changes(
                    daemon.plan.file.as_ref(),
                    before.file.as_ref(),
                    &[SOURCE, WATCH],
                    &self.args.settings,
                ),
                Err(err) => say_refusal(&err),
            }
        }
        let goes_on = self.reload.goes_on();
        daemon.signs.notify.reload_goes_on(goes_on);
        Ok(())
    }
}

/// Goes on with all of the new plan, or none: the watchlist and the programs come first, which may fail and are
/// undone then. Each program is replaced in place; the caller holds the right to do that. Returns the plan before.
fn go_on(daemon: &mut SourceDaemon, now: SourcePlan) -> Result<SourcePlan> {
    change_kernel(daemon, &now)?;
    let before = std::mem::replace(&mut daemon.plan, now);
    let (setup, was) = (&daemon.plan.setup, &before.setup);
    let key = setup.source.lease_key;
    if key != was.source.lease_key {
        daemon.source.host.set_lease_key(key)?;
        warn_without_key(key);
        if let Some(leases) = &mut daemon.side.leases {
            leases.set_key(key);
        }
    }
    if daemon.plan.collectors != before.collectors {
        daemon
            .source
            .host
            .set_report_ports(&daemon.plan.report_ports())?;
        daemon
            .emitter
            .set_collectors(daemon.plan.collectors.clone());
    }
    let gone: Vec<String> = was
        .devs
        .iter()
        .filter(|dev| !setup.devs.contains(dev))
        .cloned()
        .collect();
    let pins = &daemon.side.pins;
    for done in [
        leave(pins, &gone),
        unwatch_places(pins, &before.places, &daemon.plan.places),
    ] {
        if let Err(err) = done {
            log::error(format_args!(
                "cannot give up what is no longer named: {err:#}"
            ));
        }
    }
    Ok(before)
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
            daemon.source.host.set_node_id(old_node).map_err(Into::into),
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
