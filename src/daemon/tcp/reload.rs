//! Reads the config file again after a SIGHUP, and goes on with what it says now.

use std::time::Instant;

use anyhow::Result;

use super::plan::TcpDaemonPlan;
use super::state::TcpDaemon;
use crate::cli::TcpArgs;
use crate::config::{ConfigError, TCP, WATCH};
use crate::daemon::duty::Duty;
use crate::daemon::reload::{Reload, say_changes, say_refusal};
use crate::os::signals;

/// The duty to do so.
pub struct ReloadTcp {
    args: TcpArgs,
    reload: Reload<TcpDaemonPlan>,
}

impl ReloadTcp {
    pub fn new(args: &TcpArgs) -> Self {
        let again = args.clone();
        Self {
            args: args.clone(),
            reload: Reload::new(move || TcpDaemonPlan::make(&again)),
        }
    }
}

impl Duty<TcpDaemon> for ReloadTcp {
    fn task(&self) -> &'static str {
        "read the config file again"
    }

    fn turn(&mut self, daemon: &mut TcpDaemon, _now: Instant) -> Result<()> {
        if signals::reload_asked() {
            self.reload.ask();
        }
        if let Some(made) = self.reload.plan() {
            match made.and_then(|plan| go_on(daemon, plan)) {
                Ok(before) => say_changes(
                    daemon.plan.file.as_ref(),
                    before.file.as_ref(),
                    &[TCP, WATCH],
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

/// Goes on with all of the new plan, or none. Returns the plan before.
fn go_on(daemon: &mut TcpDaemon, now: TcpDaemonPlan) -> Result<TcpDaemonPlan> {
    let (new, old) = (&now.config, &daemon.plan.config);
    let table = format!(
        "the table has room for {} connections, and cannot grow or shrink (try to start hostint tcp again)",
        old.max_connections
    );
    let address = "the address is bound at the start (try to start hostint tcp again)";
    for (changed, key, why) in [
        (
            new.max_connections != old.max_connections,
            "max-connections",
            &*table,
        ),
        (new.http != old.http, "http", address),
    ] {
        if changed {
            let mistake = now.file.as_ref().map_or_else(
                || why.to_owned().into(),
                |file| file.tcp.mistake_at(&file.path, key, why.to_owned()),
            );
            return Err(ConfigError(vec![mistake]).into());
        }
    }
    daemon.programs.set(&now.for_programs()?)?;
    daemon.connections.set_rules(&now.rules);
    Ok(std::mem::replace(&mut daemon.plan, now))
}
