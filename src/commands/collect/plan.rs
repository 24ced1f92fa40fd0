//! What a collector is to do: settings, and the classes that the rules of its config file name.

use std::thread::{self, JoinHandle};

use anyhow::Result;

use crate::cli::CollectArgs;
use crate::commands::reloading::{finished, summary, tell_refusal};
use crate::commands::source::find_names;
use crate::config::{COLLECT, CollectConfig, File, Settled, WATCH, settle};
use crate::model::Classes;
use crate::os::log;

/// Settings, and what they lead to.
pub struct Plan {
    pub config: CollectConfig,
    pub classes: Classes,
    file: Option<File>,
}

impl Plan {
    pub fn make(args: &CollectArgs) -> Result<Self> {
        let Settled { config, file } = settle(&args.settings, args.config.as_deref())?;
        let rules = file
            .as_ref()
            .map_or_else(Vec::new, |file| file.rules.clone());
        Ok(Self {
            config,
            classes: Classes::new(&find_names(rules)?),
            file,
        })
    }
}

/// The config file is read again beside the decoder, which must not wait for names to be found.
pub struct Reload {
    args: CollectArgs,
    plan: Plan,
    asked: bool,
    running: Option<JoinHandle<Result<Plan>>>,
}

impl Reload {
    pub fn new(args: &CollectArgs, plan: Plan) -> Self {
        Self {
            args: args.clone(),
            plan,
            asked: false,
            running: None,
        }
    }

    /// After a SIGHUP.
    pub fn ask(&mut self) {
        self.asked = self.args.config.is_some();
    }

    pub fn goes_on(&self) -> bool {
        self.asked || self.running.is_some()
    }

    /// To be called often: the new plan, once after each SIGHUP.
    pub fn step(&mut self) -> Option<&Plan> {
        if self.asked && self.running.is_none() {
            self.asked = false;
            let args = self.args.clone();
            self.running = Some(thread::spawn(move || Plan::make(&args)));
        }
        let plan = match finished(&mut self.running)? {
            Ok(plan) => plan,
            Err(err) => {
                tell_refusal(&err);
                return None;
            }
        };
        let changes = &self.args.settings;
        summary(
            plan.file.as_ref(),
            self.plan.file.as_ref(),
            &[COLLECT, WATCH],
            changes,
        );
        let other = CollectConfig {
            drop_reasons: self.plan.config.drop_reasons.clone(),
            ..plan.config.clone()
        };
        if other != self.plan.config {
            log::warning(
                "of [collect] only drop-reasons changes while the collector runs (try to start it again)",
            );
        }
        self.plan = Plan {
            config: CollectConfig {
                drop_reasons: plan.config.drop_reasons,
                ..self.plan.config.clone()
            },
            ..plan
        };
        Some(&self.plan)
    }
}
