//! Reads the config file again after a SIGHUP, and goes on with what it says now.

use std::time::Instant;

use anyhow::Result;

use crate::config::{CommandSettings, File, Overrides};
use crate::daemon::duty::Duty;
use crate::daemon::newcomers::{Newcomers, say_newcomers, say_refused};
use crate::daemon::reload::{Reload, say_changes, say_refusal};
use crate::daemon::signs::ShowsSigns;
use crate::datapath::kernel::pins::Pins;
use crate::os::wait::Wait;

/// A daemon whose settings may change while it runs.
pub trait ReadsFile: ShowsSigns {
    type Plan: Send + 'static;
    /// The settings that flags and environment give instead of the file.
    type Options: CommandSettings;
    /// The tables of the file that it reads.
    const TABLES: &'static [&'static str];

    fn plan(&self) -> &Self::Plan;

    fn file(plan: &Self::Plan) -> Option<&File>;

    /// The pins below which a new plan changes programs: no command may attach or detach meanwhile.
    fn changed_pins(&self) -> Option<&Pins> {
        None
    }

    /// The plan from now on, if interfaces came that are to be measured, too.
    fn follow(&self, _newcomers: &mut Newcomers, _now: Instant) -> Result<Option<Self::Plan>> {
        Ok(None)
    }

    /// The interfaces of the plan.
    fn devs(_plan: &Self::Plan) -> &[String] {
        &[]
    }

    /// Goes on with all of the new plan, or none. Returns the plan before.
    fn go_on(&mut self, now: Self::Plan) -> Result<Self::Plan>;
}

/// The duty to do so.
pub struct ReadFileAgain<D: ReadsFile> {
    given: Overrides<D::Options>,
    reload: Reload<D::Plan>,
}

impl<D: ReadsFile> ReadFileAgain<D> {
    /// `make` makes a plan from the arguments, and the file as it is then.
    pub fn new(
        given: Overrides<D::Options>,
        make: impl Fn() -> Result<D::Plan> + Send + Sync + 'static,
    ) -> Self {
        Self {
            given,
            reload: Reload::new(make),
        }
    }

    /// Goes on with a new plan, if one was made and may be used now.
    fn go_on(&mut self, daemon: &mut D) -> Option<Result<D::Plan>> {
        match daemon.changed_pins() {
            None => Some(self.reload.plan()?.and_then(|plan| daemon.go_on(plan))),
            Some(pins) => {
                let made = self.reload.plan_and_lock(pins)?;
                Some(made.and_then(|(plan, _changing)| daemon.go_on(plan)))
            }
        }
    }
}

impl<D: ReadsFile> Duty<D> for ReadFileAgain<D> {
    fn task(&self) -> &'static str {
        "read the config file again"
    }

    fn wakes<'a>(&'a self, _daemon: &'a D, wait: &mut Wait<'a>) {
        self.reload.wakes(wait);
    }

    fn turn(&mut self, daemon: &mut D, now: Instant) -> Result<()> {
        self.reload
            .look(|newcomers| daemon.follow(newcomers, now))?;
        let done = self.go_on(daemon);
        let follows = done.is_some() && self.reload.followed();
        match done {
            Some(Ok(before)) if follows => {
                say_newcomers(D::devs(&before), D::devs(daemon.plan()));
            }
            Some(Err(err)) if follows => say_refused(&err),
            Some(Ok(before)) => say_changes(
                D::file(daemon.plan()),
                D::file(&before),
                D::TABLES,
                &self.given,
            ),
            Some(Err(err)) => say_refusal(&err),
            None => {}
        }
        let goes_on = self.reload.goes_on();
        daemon.signs().notify.reload_goes_on(goes_on);
        Ok(())
    }
}
