//! Looks after the hop's programs: interfaces that go, come back or change their name, and programs that something else
//! took off.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use anyhow::Result;

use super::state::TransitDaemon;
use crate::daemon::duty::Duty;
use crate::datapath::kernel::pins::Pins;
use crate::datapath::kernel::probe::Features;
use crate::datapath::transit::transit_gauges;
use crate::datapath::transit::transit_links::{self, TransitAttachment};
use crate::host::transit::repair;
use crate::os::log::{self, Event, Level};
use crate::os::netdev;

const LOOK: Duration = Duration::from_millis(600);
const ROLE: &str = "transit";

/// The duty to do so.
pub struct LookAfterHop {
    /// The MTUs that the programs were made for, on kernels that a program cannot ask for each packet.
    mtus: Option<BTreeMap<String, u32>>,
    /// The sentences that were logged already.
    said: BTreeSet<String>,
}

impl LookAfterHop {
    pub fn start() -> Self {
        Self {
            mtus: (!Features::probe().check_mtu).then(BTreeMap::new),
            said: BTreeSet::new(),
        }
    }

    fn look_at(&mut self, pins: &Pins, seen: &TransitAttachment) -> Result<()> {
        let dev = &seen.dev;
        if let Some(name) = seen.name.as_ref().filter(|name| *name != dev) {
            log::info(format_args!("{dev} is called {name} now"));
            return Ok(transit_links::rename(pins, seen, name)?);
        }
        let other_mtu = self.has_other_mtu(dev, seen);
        if seen.alive && !other_mtu {
            return Ok(transit_gauges::follow_speed(
                pins,
                seen.ifindex,
                dev,
                &seen.config(),
            )?);
        }
        if netdev::index_of(dev).is_err() {
            let what = format!("{dev} is gone: the transit hop waits for it to come back");
            self.say_once(dev, what);
            return Ok(());
        }
        match repair(pins, dev, seen) {
            Ok(()) if other_mtu => {}
            Ok(()) => self.put_back(dev),
            Err(err) => self.say_once(
                dev,
                format!("cannot attach the transit hop to {dev} again: {err:#}"),
            ),
        }
        Ok(())
    }

    fn has_other_mtu(&mut self, dev: &str, seen: &TransitAttachment) -> bool {
        let (Some(mtus), Ok(mtu)) = (&mut self.mtus, netdev::mtu(dev)) else {
            return false;
        };
        let before = mtus.insert(dev.to_owned(), mtu);
        seen.follows_mtu() && before.is_some_and(|before| before != mtu)
    }

    fn put_back(&mut self, dev: &str) {
        self.said.retain(|said| !said.contains(dev));
        log::event(
            Level::Warning,
            Event::Repaired,
            &[("DEV", &dev), ("ROLE", &ROLE)],
            format_args!("the transit hop was no longer attached to {dev}: attached again"),
        );
    }

    fn say_once(&mut self, dev: &str, what: String) {
        if !self.said.contains(&what) {
            let fields = [("DEV", &dev as _), ("ROLE", &ROLE as _)];
            log::event(Level::Warning, Event::CannotRepair, &fields, &what);
            self.said.insert(what);
        }
    }
}

impl Duty<TransitDaemon> for LookAfterHop {
    fn task(&self) -> &'static str {
        "look after what is attached"
    }

    fn period(&self, _daemon: &TransitDaemon) -> Duration {
        LOOK
    }

    fn turn(&mut self, daemon: &mut TransitDaemon, _now: Instant) -> Result<()> {
        let pins = &daemon.side.pins;
        let is_there_none = match pins.try_change()? {
            Some(_changing) => {
                let all = transit_links::inspect(pins)?;
                for seen in &all {
                    self.look_at(pins, seen)?;
                }
                all.is_empty()
            }
            // While a command attaches or detaches, what is seen says nothing.
            None => pins.are_gone(),
        };
        // Another version of hostint may have taken over, and pins may be hidden: both are something else.
        daemon.is_detached =
            is_there_none && pins.other_versions()?.is_empty() && pins.check_visible().is_ok();
        Ok(())
    }
}
