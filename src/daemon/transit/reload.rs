//! Reads the config file again after a SIGHUP, and goes on with what it says now.

use std::time::Instant;

use anyhow::Result;

use super::plan::TransitPlan;
use super::state::TransitDaemon;
use crate::cli::TransitServeArgs;
use crate::config::{ConfigError, TRANSIT};
use crate::daemon::duty::Duty;
use crate::daemon::reload::{Reload, say_changes, say_refusal};
use crate::host::transit;
use crate::os::{log, signals};

/// The duty to do so.
pub struct ReloadTransit {
    args: TransitServeArgs,
    reload: Reload<TransitPlan>,
}

impl ReloadTransit {
    pub fn new(args: &TransitServeArgs) -> Self {
        let again = args.clone();
        Self {
            args: args.clone(),
            reload: Reload::new(move || TransitPlan::make(&again)),
        }
    }
}

impl Duty<TransitDaemon> for ReloadTransit {
    fn task(&self) -> &'static str {
        "read the config file again"
    }

    fn turn(&mut self, daemon: &mut TransitDaemon, _now: Instant) -> Result<()> {
        if signals::reload_asked() {
            self.reload.ask();
        }
        if let Some(made) = self.reload.plan_and_lock(&daemon.side.pins) {
            match made.and_then(|(plan, _changing)| go_on(daemon, plan)) {
                Ok(before) => say_changes(
                    daemon.plan.file.as_ref(),
                    before.file.as_ref(),
                    &[TRANSIT],
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

/// Goes on with all of the new plan, or none. Each program is replaced in place; the caller holds the right to do that.
/// Returns the plan before.
fn go_on(daemon: &mut TransitDaemon, now: TransitPlan) -> Result<TransitPlan> {
    let (new, old) = (&now.setup, &daemon.plan.setup);
    if new.http != old.http {
        let why = "the address is bound when the transit hop starts (try to start it again)";
        let mistake = now.file.as_ref().map_or_else(
            || why.to_owned().into(),
            |file| file.transit.mistake_at(&file.path, "http", why.to_owned()),
        );
        return Err(ConfigError(vec![mistake]).into());
    }
    if new != old {
        daemon.transit = transit::attach(&daemon.side.pins, new)?;
    }
    let kept = &new.devs;
    let gone: Vec<String> = old
        .devs
        .iter()
        .filter(|dev| !kept.contains(dev))
        .cloned()
        .collect();
    if let Err(err) = transit::leave(&daemon.side.pins, &gone) {
        log::error(format_args!(
            "cannot give up what is no longer named: {err:#}"
        ));
    }
    Ok(std::mem::replace(&mut daemon.plan, now))
}
