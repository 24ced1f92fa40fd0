//! Goes on with the plan that the config file leads to after a SIGHUP.

use std::time::Instant;

use anyhow::Result;

use super::collector::Collector;
use super::plan::CollectPlan;
use crate::config::{COLLECT, CollectConfig, LIMITS, NAMES, WATCH};
use crate::daemon::duty::Duty;
use crate::daemon::reload::{say_changes, say_refusal};
use crate::os::log;

/// The duty to do so.
pub struct ReloadPlan;

impl Duty<Collector> for ReloadPlan {
    fn task(&self) -> &'static str {
        "read the config file again"
    }

    fn turn(&mut self, collector: &mut Collector, _now: Instant) -> Result<()> {
        match collector.reload.plan() {
            Some(Ok(plan)) => go_on(collector, plan),
            Some(Err(err)) => say_refusal(&err),
            None => {}
        }
        let goes_on = collector.reload.goes_on();
        collector.signs.notify.reload_goes_on(goes_on);
        Ok(())
    }
}

/// Names of nodes, drop reasons, classes and limits change while the collector runs; all else stays until it starts anew.
fn go_on(collector: &mut Collector, now: CollectPlan) {
    let before = &collector.plan;
    say_changes(
        now.file.as_ref(),
        before.file.as_ref(),
        &[COLLECT, NAMES, LIMITS, WATCH],
        &collector.args.settings,
    );
    let as_before = CollectConfig {
        drop_reasons: before.config.drop_reasons.clone(),
        names: before.config.names.clone(),
        ..now.config.clone()
    };
    if as_before != before.config {
        log::warning(
            "of [collect] only drop-reasons and name change while the collector runs (try to start it again)",
        );
    }
    let drop_reasons = now.config.drop_reasons;
    collector.plan = CollectPlan {
        config: CollectConfig {
            drop_reasons: drop_reasons.clone(),
            names: now.config.names,
            ..before.config.clone()
        },
        ..now
    };
    let classes = collector.plan.classes.clone();
    collector.hub.rename(drop_reasons, classes);
}
