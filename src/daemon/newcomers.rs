//! Interfaces that come while a daemon runs, and fit a pattern in its `--dev`, are measured, too.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use anyhow::Result;

use crate::host::interfaces::{fitting, is_open};
use crate::os::wait::Wait;
use crate::os::{log, netdev, tick};

const LOOK: Duration = Duration::from_millis(600);

/// An interface that is gone for this long is not waited for any more.
const GONE: Duration = Duration::from_secs(5);

/// A plan whose interfaces are named by words, some of which may be patterns.
pub trait NamesInterfaces: Clone {
    fn words(&self) -> &[String];

    fn devs(&self) -> &[String];

    fn set_devs(&mut self, devs: Vec<String>);
}

/// Looks for such interfaces.
pub struct Newcomers {
    /// `None`: no word may stand for others later, as far as is known.
    next_look: Option<Instant>,
    /// The interfaces of the last plan that was made here: it is not tried twice.
    tried: Vec<String>,
    gone: BTreeMap<String, Instant>,
}

impl Newcomers {
    pub fn start() -> Self {
        Self {
            next_look: None,
            tried: Vec::new(),
            gone: BTreeMap::new(),
        }
    }

    /// Lets the daemon wake for the next look, if there is one.
    pub fn wakes(&self, wait: &mut Wait<'_>) {
        self.next_look.iter().for_each(|next| wait.until(*next));
    }

    /// The plan from now on, if interfaces came, or have been gone for a while.
    pub fn plan<P: NamesInterfaces>(&mut self, plan: &P, now: Instant) -> Result<Option<P>> {
        let is_open = plan.words().iter().any(|word| is_open(word));
        if !is_open || self.next_look.is_some_and(|next| now < next) {
            self.next_look = self.next_look.filter(|_| is_open);
            return Ok(None);
        }
        self.next_look = Some(tick::before(now) + LOOK);
        let mut devs = plan.devs().to_vec();
        self.forget_gone(&mut devs, now);
        for dev in fitting(plan.words())? {
            if !devs.contains(&dev) {
                devs.push(dev);
            }
        }
        if devs == plan.devs() {
            // What could not be measured is gone, and may come again.
            self.tried.clear();
            return Ok(None);
        }
        if devs.is_empty() || devs == self.tried {
            return Ok(None);
        }
        self.tried.clone_from(&devs);
        let mut next = plan.clone();
        next.set_devs(devs);
        Ok(Some(next))
    }

    /// Takes those off that have been gone for a while.
    fn forget_gone(&mut self, devs: &mut Vec<String>, now: Instant) {
        self.gone.retain(|dev, _| devs.contains(dev));
        devs.retain(|dev| {
            if netdev::index_of(dev).is_ok() {
                self.gone.remove(dev);
                return true;
            }
            now < *self.gone.entry(dev.clone()).or_insert(now) + GONE
        });
    }
}

/// Says which interfaces are in and out now.
pub fn say_newcomers(before: &[String], now: &[String]) {
    for dev in now.iter().filter(|dev| !before.contains(dev)) {
        log::info(format_args!("{dev} came, and is measured, too"));
    }
    for dev in before.iter().filter(|dev| !now.contains(dev)) {
        log::info(format_args!(
            "{dev} is gone, and is not waited for any more"
        ));
    }
}

/// Says why nothing was changed.
pub fn say_refused(err: &anyhow::Error) {
    log::error(format_args!(
        "cannot measure interfaces that came; all goes on as it was: {err:#}"
    ));
}
