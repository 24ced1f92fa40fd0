//! Reads the config file again after a SIGHUP, and goes on with what it says now.

use std::sync::PoisonError;
use std::time::Instant;

use anyhow::{Context, Result};

use super::apply::apply;
use super::plan::{SinkPlan, say_form};
use super::state::{SinkDaemon, summary_plan};
use crate::cli::SinkServeArgs;
use crate::config::{NAMES, SINK, SOURCE, WATCH};
use crate::daemon::duty::Duty;
use crate::daemon::leases::warn_without_key;
use crate::daemon::newcomers::{say_newcomers, say_refused};
use crate::daemon::reload::{Reload, say_changes, say_refusal};
use crate::daemon::side_thread::SideThread;
use crate::datapath::kernel::pins::Pins;
use crate::host::sink::leave;
use crate::os::{log, wait::Wait};
use crate::report::Emitter;

/// The duty to do so.
pub struct ReloadSink {
    args: SinkServeArgs,
    reload: Reload<SinkPlan>,
    /// Sources stop tagging before an interface is left, which takes a second.
    leaving: Option<SideThread<()>>,
}

impl ReloadSink {
    pub fn new(pins: &Pins, args: &SinkServeArgs) -> Self {
        let (pins, again) = (pins.clone(), args.clone());
        Self {
            args: args.clone(),
            reload: Reload::new(move || SinkPlan::make(|| Ok(Some(pins.clone())), &again)),
            leaving: None,
        }
    }

    fn step(&mut self, daemon: &mut SinkDaemon, now: Instant) -> Result<()> {
        if let Some(Err(err)) = SideThread::take_result(&mut self.leaving) {
            say_left(&err);
        }
        // One plan after another: an interface that is being left may be named again.
        if self.leaving.is_some() {
            return Ok(());
        }
        self.reload
            .look(|newcomers| newcomers.plan(&daemon.plan, now))?;
        let Some(made) = self.reload.plan_and_lock(&daemon.side.pins) else {
            return Ok(());
        };
        let follows = self.reload.followed();
        match made.and_then(|(plan, _changing)| go_on(daemon, plan)) {
            Ok(before) => self.after(daemon, &before, follows),
            Err(err) if follows => say_refused(&err),
            Err(err) => say_refusal(&err),
        }
        Ok(())
    }

    /// Says what changed, and leaves interfaces that only the plan before names, as `hostint sink detach --dev` does.
    fn after(&mut self, daemon: &SinkDaemon, before: &SinkPlan, follows: bool) {
        let now = &daemon.plan;
        if follows {
            say_newcomers(&before.config.devs, &now.config.devs);
        } else {
            say_changes(
                now.file.as_ref(),
                before.file.as_ref(),
                &[SINK, SOURCE, NAMES, WATCH],
                &self.args.settings,
            );
        }
        let gone: Vec<String> = before
            .config
            .devs
            .iter()
            .filter(|dev| !now.config.devs.contains(dev))
            .cloned()
            .collect();
        if !gone.is_empty() {
            let pins = daemon.side.pins.clone();
            match SideThread::start("leave", move || leave(&pins, &gone)) {
                Ok(leaving) => self.leaving = Some(leaving),
                Err(err) => say_left(&err.into()),
            }
        }
    }
}

impl Duty<SinkDaemon> for ReloadSink {
    fn task(&self) -> &'static str {
        "read the config file again"
    }

    fn wakes<'a>(&'a self, _daemon: &'a SinkDaemon, wait: &mut Wait<'a>) {
        self.reload.wakes(wait);
    }

    fn turn(&mut self, daemon: &mut SinkDaemon, now: Instant) -> Result<()> {
        let done = self.step(daemon, now);
        let goes_on = self.reload.goes_on();
        daemon.signs.notify.reload_goes_on(goes_on);
        done
    }

    /// Waits for interfaces that are being left: sources that were told to stop are told to go on.
    fn finish(&mut self, _daemon: &mut SinkDaemon) -> Result<()> {
        if let Some(leaving) = self.leaving.take() {
            let _ = leaving.join();
        }
        Ok(())
    }
}

fn say_left(err: &anyhow::Error) {
    log::error(format_args!(
        "cannot detach what the config file no longer names: {err:#}"
    ));
}

/// Goes on with another plan, all of it or none: what may fail comes first. Returns the plan before.
fn go_on(daemon: &mut SinkDaemon, now: SinkPlan) -> Result<SinkPlan> {
    let (config, node) = (&now.config, now.node.id);
    let emitter =
        Emitter::new(now.destinations.clone()).context("cannot prepare to send reports")?;
    apply(&daemon.side.pins, &daemon.sink, &now, &daemon.plan)?;
    daemon.reports.change(config, node, emitter);
    let before = &daemon.plan.config;
    if config.report_format != before.report_format {
        say_form(config);
    }
    let flows = &mut daemon.flows;
    flows.set_timeouts(config.loss_timeout.0, config.idle_flow_timeout.0);
    flows.set_summaries(summary_plan(config));
    if let Some(leases) = &mut daemon.side.leases
        && config.lease_key != before.lease_key
    {
        warn_without_key(config.lease_key);
        leases.set_key(config.lease_key);
    }
    let classes = now.destinations.classes.clone();
    match &daemon.metrics {
        // A thread of its own may read the tally for a while.
        Some(metrics) => metrics.set_classes(classes),
        None => {
            let tally = daemon.tally.lock();
            tally
                .unwrap_or_else(PoisonError::into_inner)
                .set_classes(classes);
        }
    }
    Ok(std::mem::replace(&mut daemon.plan, now))
}
