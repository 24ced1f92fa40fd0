//! Looks after what is attached: interfaces that go, come back or change their name, and programs that somebody
//! else took off.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};

use super::names::Names;
use super::source::{follow_addresses, follow_interfaces, reattach};
use crate::config::SinkConfig;
use crate::datapath::pins::Pins;
use crate::datapath::probe::Features;
use crate::datapath::sink::Sink;
use crate::datapath::sink_links;
use crate::datapath::source_links::{self, SourceAttachment};
use crate::os::log::{self, Event, Level};
use crate::os::netdev;
use crate::os::netlink_events::Changes;

/// The kernel tells of interfaces, but not of programs that are taken off.
const LOOK: Duration = Duration::from_millis(500);

/// What is attached, as it was seen last.
pub struct Follower {
    changes: Option<Changes>,
    next_look: Instant,
    /// Where the kernel cannot be asked for each packet: what the programs were made for.
    mtus: Option<BTreeMap<String, u32>>,
    /// What was said already.
    told: BTreeSet<String>,
    pub repaired: u64,
    names: Names,
}

impl Follower {
    pub fn start() -> Self {
        let changes = Changes::listen()
            .inspect_err(|err| {
                log::warning(format_args!(
                    "cannot hear of changed interfaces at once: {err}"
                ));
            })
            .ok();
        Self {
            changes,
            next_look: Instant::now() + LOOK,
            mtus: (!Features::probe().check_mtu).then(BTreeMap::new),
            told: BTreeSet::new(),
            repaired: 0,
            names: Names::start(),
        }
    }

    /// To be called every few ms.
    pub fn follow(&mut self, pins: &Pins, sink: Option<(&Sink, &SinkConfig)>) -> Result<()> {
        let now = Instant::now();
        let changed = match &self.changes {
            Some(changes) => changes.any().context("cannot hear of changed interfaces")?,
            None => false,
        };
        if !changed && now < self.next_look {
            return Ok(());
        }
        self.next_look = now + LOOK;
        // A command that attaches or detaches is at work: what is seen meanwhile says nothing.
        let Some(_changing) = pins.try_change()? else {
            return Ok(());
        };
        if let Some((sink, config)) = sink {
            self.follow_sink(pins, sink, config)?;
        }
        self.follow_source(pins)?;
        if changed {
            follow_interfaces(pins)?;
            follow_addresses(pins)?;
        }
        self.names.follow(pins)
    }

    fn tell(&mut self, dev: &str, role: &str, what: String) {
        if !self.told.contains(&what) {
            let fields = [("DEV", &dev as _), ("ROLE", &role as _)];
            log::event(Level::Warning, Event::CannotRepair, &fields, &what);
            self.told.insert(what);
        }
    }

    fn follow_sink(&mut self, pins: &Pins, sink: &Sink, config: &SinkConfig) -> Result<()> {
        for (hook, dev, ifindex) in sink_links::links(pins)? {
            if ifindex != 0 {
                if let Some(name) = netdev::name_of(ifindex).filter(|name| *name != dev) {
                    pins.rename_link(sink_links::role(hook), &dev, &name)?;
                    log::info(format_args!("{dev} is called {name} now"));
                }
                continue;
            }
            if netdev::index_of(&dev).is_err() {
                self.tell(
                    &dev,
                    "sink",
                    format!("{dev} is gone: the sink waits for it to come back"),
                );
                continue;
            }
            let as_it_was = SinkConfig {
                hook,
                ..config.clone()
            };
            match sink.attach(pins, &dev, &as_it_was) {
                Ok(_) => self.put_back(&dev, "sink"),
                Err(err) => self.tell(
                    &dev,
                    "sink",
                    format!("cannot attach the sink to {dev} again: {err}"),
                ),
            }
        }
        Ok(())
    }

    fn put_back(&mut self, dev: &str, role: &str) {
        self.repaired += 1;
        self.told.retain(|said| !said.contains(dev));
        log::event(
            Level::Warning,
            Event::Repaired,
            &[("DEV", &dev), ("ROLE", &role)],
            format_args!("the {role} was no longer attached to {dev}: attached again"),
        );
    }

    fn follow_source(&mut self, pins: &Pins) -> Result<()> {
        for seen in source_links::inspect(pins)? {
            let mut dev = seen.dev.clone();
            if let Some(name) = seen.name.as_ref().filter(|name| **name != dev) {
                source_links::rename(pins, &seen, name)?;
                log::info(format_args!("{dev} is called {name} now"));
                dev.clone_from(name);
            }
            let other_mtu = self.has_other_mtu(&dev, &seen);
            if seen.alive && !other_mtu {
                continue;
            }
            if netdev::index_of(&dev).is_err() {
                self.tell(
                    &dev,
                    "source",
                    format!("{dev} is gone: the source waits for it to come back"),
                );
                continue;
            }
            match reattach(pins, &dev, &seen) {
                Ok(()) if other_mtu => {}
                Ok(()) => self.put_back(&dev, "source"),
                Err(err) => self.tell(
                    &dev,
                    "source",
                    format!("cannot attach the source to {dev} again: {err:#}"),
                ),
            }
        }
        Ok(())
    }

    fn has_other_mtu(&mut self, dev: &str, seen: &SourceAttachment) -> bool {
        let (Some(mtus), Ok(mtu)) = (&mut self.mtus, netdev::mtu(dev)) else {
            return false;
        };
        let before = mtus.insert(dev.to_owned(), mtu);
        seen.info.mtu == 0 && before.is_some_and(|before| before != mtu)
    }
}
