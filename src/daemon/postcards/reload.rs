//! Reads the config file again after a SIGHUP, and goes on with what it says now.

use std::time::Instant;

use anyhow::Result;

use super::plan::PostcardsPlan;
use super::state::PostcardsDaemon;
use crate::cli::PostcardsArgs;
use crate::config::{ConfigError, POSTCARDS};
use crate::daemon::duty::Duty;
use crate::daemon::reload::{Reload, say_changes, say_refusal};
use crate::os::signals;

/// The duty to do so.
pub struct ReloadPostcards {
    args: PostcardsArgs,
    reload: Reload<PostcardsPlan>,
}

impl ReloadPostcards {
    pub fn new(args: &PostcardsArgs) -> Self {
        let again = args.clone();
        Self {
            args: args.clone(),
            reload: Reload::new(move || PostcardsPlan::make(&again)),
        }
    }
}

impl Duty<PostcardsDaemon> for ReloadPostcards {
    fn task(&self) -> &'static str {
        "read the config file again"
    }

    fn turn(&mut self, daemon: &mut PostcardsDaemon, _now: Instant) -> Result<()> {
        if signals::reload_asked() {
            self.reload.ask();
        }
        if let Some(made) = self.reload.plan() {
            match made.and_then(|plan| go_on(daemon, plan)) {
                Ok(before) => say_changes(
                    daemon.plan.file.as_ref(),
                    before.file.as_ref(),
                    &[POSTCARDS],
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

/// Goes on with all of the new plan, or none: the program's settings are one value, changed at once. Returns the plan
/// before.
fn go_on(daemon: &mut PostcardsDaemon, now: PostcardsPlan) -> Result<PostcardsPlan> {
    let (new, old) = (&now.config, &daemon.plan.config);
    let table = format!(
        "the table has room for {} flows while postcards run, and cannot grow or shrink (try to start them again)",
        old.max_flows
    );
    let address = "the address is bound when postcards start (try to start them again)";
    for (changed, key, why) in [
        (new.max_flows != old.max_flows, "max-flows", &*table),
        (new.http != old.http, "http", address),
    ] {
        if changed {
            let mistake = now.file.as_ref().map_or_else(
                || why.to_owned().into(),
                |file| file.postcards.mistake_at(&file.path, key, why.to_owned()),
            );
            return Err(ConfigError(vec![mistake]).into());
        }
    }
    daemon.host.set_node(new)?;
    daemon.programmed = now.for_program(&daemon.names.reasons)?;
    daemon.program.set(&daemon.programmed)?;
    daemon.names.set_places(now.config.places);
    daemon.told.set_most(now.config.max_reports);
    if now.collectors != daemon.plan.collectors {
        daemon.emitter.set_collectors(now.collectors.clone());
    }
    Ok(std::mem::replace(&mut daemon.plan, now))
}
