//! SIGHUP to a daemon: its config file is read again, beside its loop, which must not wait.

use std::fs;
use std::sync::Arc;
use std::thread::{self, JoinHandle};

use anyhow::{Result, anyhow};
use nix::fcntl::Flock;

use crate::config::{File, Given, Settings};
use crate::datapath::pins::Pins;
use crate::os::{log, signals};

/// The right to attach and detach on this host.
pub type Changing = Flock<fs::File>;

/// Makes a new plan after each SIGHUP. That may look up names, for which leases, which last less than a second, must
/// not wait.
pub struct Planning<P> {
    make: Arc<dyn Fn() -> Result<P> + Send + Sync>,
    asked: bool,
    running: Option<JoinHandle<Result<P>>>,
    /// Waits until no command attaches or detaches.
    ready: Option<P>,
}

impl<P: Send + 'static> Planning<P> {
    pub fn new(make: impl Fn() -> Result<P> + Send + Sync + 'static) -> Self {
        Self {
            make: Arc::new(make),
            asked: false,
            running: None,
            ready: None,
        }
    }

    /// Whether a SIGHUP came that is not dealt with yet.
    pub fn goes_on(&self) -> bool {
        self.asked || self.running.is_some() || self.ready.is_some()
    }

    /// To be called every few ms: a plan, once after each SIGHUP. `free`: one may be begun.
    pub fn step(&mut self, pins: &Pins, free: bool) -> Option<Result<(P, Changing)>> {
        self.asked |= signals::reload_asked();
        if self.asked && free && self.running.is_none() && self.ready.is_none() {
            self.asked = false;
            let make = self.make.clone();
            self.running = Some(thread::spawn(move || make()));
        }
        match finished(&mut self.running) {
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

/// What a thread came to, once.
pub fn finished<T>(thread: &mut Option<JoinHandle<Result<T>>>) -> Option<Result<T>> {
    let done = thread.take_if(|thread| thread.is_finished())?;
    Some(
        done.join()
            .unwrap_or_else(|_| Err(anyhow!("a thread ended early"))),
    )
}

/// Says what changed in these tables, but for what flags or environment say of the first one.
pub fn summary<O: Settings>(
    now: Option<&File>,
    before: Option<&File>,
    tables: &[&str],
    given: &Given<O>,
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

/// Says why nothing was changed, a line for each reason.
pub fn tell_refusal(err: &anyhow::Error) {
    log::error(format_args!(
        "{err:#}\nthe config file was not applied: all settings stay as they were"
    ));
}
