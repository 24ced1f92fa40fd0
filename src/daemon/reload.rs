//! Another plan for a daemon: after SIGHUP its config file is read again, beside its loop, which must not wait, and interfaces
//! that came are measured, too.

use std::mem;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::Result;

use super::newcomers::Newcomers;
use super::side_thread::SideThread;
use crate::config::{CommandSettings, ConfigError, File, Overrides, SettingsTable};
use crate::datapath::kernel::pins::{Pins, PinsLock};
use crate::os::wait::Wait;
use crate::os::{log, signals};

/// The time between two looks whether a command still attaches or detaches, and until another plan is made.
const LOOK: Duration = Duration::from_millis(50);

/// Makes a new plan each time that it is asked to, in a thread: that may look up names, and leases, which last less
/// than a second, must not wait for it.
pub struct Reload<P> {
    make: Arc<dyn Fn() -> Result<P> + Send + Sync>,
    asked: bool,
    running: Option<SideThread<P>>,
    /// It waits until no command attaches or detaches.
    ready: Option<P>,
    newcomers: Newcomers,
    /// The plan that waits is about them.
    follows: bool,
}

impl<P: Send + 'static> Reload<P> {
    pub fn new(make: impl Fn() -> Result<P> + Send + Sync + 'static) -> Self {
        Self {
            make: Arc::new(make),
            asked: false,
            running: None,
            ready: None,
            newcomers: Newcomers::start(),
            follows: false,
        }
    }

    /// Asks for a new plan, as SIGHUP does.
    pub fn ask(&mut self) {
        self.asked = true;
    }

    /// Looks whether there was a SIGHUP, or else whether interfaces came: `follow` makes a plan with them.
    pub fn look(&mut self, follow: impl FnOnce(&mut Newcomers) -> Result<Option<P>>) -> Result<()> {
        if signals::reload_asked() {
            self.ask();
        }
        if !self.goes_on() {
            self.ready = follow(&mut self.newcomers)?;
            self.follows = self.ready.is_some();
        }
        Ok(())
    }

    /// True once if the plan that was given out was about interfaces that came.
    pub fn followed(&mut self) -> bool {
        mem::take(&mut self.follows)
    }

    /// True from a question to its plan.
    pub fn goes_on(&self) -> bool {
        self.asked || self.running.is_some() || self.ready.is_some()
    }

    /// Lets the daemon wake while a plan waits for its use, or a question for its plan, and to look for interfaces.
    pub fn wakes(&self, wait: &mut Wait<'_>) {
        self.newcomers.wakes(wait);
        if self.ready.is_some() || (self.asked && self.running.is_none()) {
            wait.until(Instant::now() + LOOK);
        }
    }

    /// A new plan, once for each question.
    pub fn plan(&mut self) -> Option<Result<P>> {
        if self.asked && self.running.is_none() && self.ready.is_none() {
            self.asked = false;
            let make = self.make.clone();
            match SideThread::start("reload", move || make()) {
                Ok(running) => self.running = Some(running),
                Err(err) => return Some(Err(err.into())),
            }
        }
        SideThread::take_result(&mut self.running)
    }

    /// The same, as soon as no command attaches or detaches, with the right to do so.
    pub fn plan_and_lock(&mut self, pins: &Pins) -> Option<Result<(P, PinsLock)>> {
        match self.plan() {
            Some(Err(err)) => return Some(Err(err)),
            Some(Ok(plan)) => self.ready = Some(plan),
            None => {}
        }
        let plan = self.ready.take()?;
        match pins.try_change() {
            Ok(Some(lock)) => Some(Ok((plan, lock))),
            Ok(None) => {
                self.ready = Some(plan);
                None
            }
            Err(err) => Some(Err(err.into())),
        }
    }
}

/// Says what changed in these tables, but for settings that flags or environment give.
pub fn say_changes<O: CommandSettings>(
    now: Option<&File>,
    before: Option<&File>,
    tables: &[&str],
    given: &Overrides<O>,
) {
    let (Some(now), Some(before)) = (now, before) else {
        return;
    };
    let path = now.path.display();
    let changes = now.changes(before, tables, |key| given.origin(key).is_some());
    if changes.is_empty() {
        log::info(format_args!("{path} read again: nothing changed in it"));
    } else {
        log::info(format_args!("{path} applied: {}", changes.join("; ")));
    }
}

/// Refuses a plan that changes what holds from the start on: for each such key, whether it changed, and why it cannot.
pub fn refuse_changed<O: CommandSettings>(
    file: Option<&File>,
    table: fn(&File) -> &SettingsTable<O>,
    settled: &[(bool, &str, &str)],
) -> Result<()> {
    let Some((_, key, why)) = settled.iter().find(|(changed, ..)| *changed) else {
        return Ok(());
    };
    let why = (*why).to_owned();
    let mistake = match file {
        Some(file) => table(file).mistake_at(&file.path, key, why),
        None => why.into(),
    };
    Err(ConfigError(vec![mistake]).into())
}

/// Says why nothing was changed, a line for each reason.
pub fn say_refusal(err: &anyhow::Error) {
    log::error(format_args!(
        "{err:#}\nthe config file was not applied: all settings stay as they were"
    ));
}
