//! Looks after attached programs: interfaces that go, come back or change their name, and programs that something
//! else took off.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};

use crate::config::SinkConfig;
use crate::daemon::duty::Duty;
use crate::daemon::names::Names;
use crate::daemon::on_host::OnHost;
use crate::datapath::host::daemon_counters::DaemonCount;
use crate::datapath::kernel::pins::Pins;
use crate::datapath::kernel::probe::Features;
use crate::datapath::sink::kernel_half::Sink;
use crate::datapath::sink::sink_links;
use crate::datapath::source::source_links::{self, SourceAttachment};
use crate::host::source::attach::repair;
use crate::host::source::leases::follow_addresses;
use crate::host::source::rules::follow_interfaces;
use crate::os::log::{self, Event, Level};
use crate::os::netdev;
use crate::os::netlink_events::Changes;
use crate::os::{tick, wait::Wait};

/// The kernel tells of interfaces, but not of programs that are taken off.
const LOOK: Duration = Duration::from_millis(600);

/// The duty to look after attached programs, and after the names on the watchlist, which change like interfaces do.
pub struct LookAfterAttachments {
    changes: Option<Changes>,
    next_look: Instant,
    /// The MTUs that the programs were made for, on kernels that a program cannot ask for each packet.
    mtus: Option<BTreeMap<String, u32>>,
    /// The sentences that were logged already.
    said: BTreeSet<String>,
    /// Programs put back since the last turn.
    repaired: u64,
    names: Names,
}

impl LookAfterAttachments {
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
            said: BTreeSet::new(),
            repaired: 0,
            names: Names::start(),
        }
    }

    /// Looks, if it is time or the kernel says that interfaces changed.
    fn look(
        &mut self,
        pins: &Pins,
        sink: Option<(&Sink, &SinkConfig)>,
        now: Instant,
    ) -> Result<()> {
        let changed = match &self.changes {
            Some(changes) => changes.any().context("cannot hear of changed interfaces")?,
            None => false,
        };
        if !changed && now < self.next_look {
            return Ok(());
        }
        self.next_look = tick::before(now) + LOOK;
        // While a command attaches or detaches, what is seen says nothing.
        let Some(_changing) = pins.try_change()? else {
            return Ok(());
        };
        if let Some((sink, config)) = sink {
            self.look_at_sink(pins, sink, config)?;
        }
        self.look_at_source(pins)?;
        if changed {
            follow_interfaces(pins)?;
            follow_addresses(pins)?;
        }
        self.names.follow(pins)
    }

    fn say_once(&mut self, dev: &str, role: &str, what: String) {
        if !self.said.contains(&what) {
            let fields = [("DEV", &dev as _), ("ROLE", &role as _)];
            log::event(Level::Warning, Event::CannotRepair, &fields, &what);
            self.said.insert(what);
        }
    }

    fn look_at_sink(&mut self, pins: &Pins, sink: &Sink, config: &SinkConfig) -> Result<()> {
        for (hook, dev, ifindex) in sink_links::links(pins)? {
            if ifindex != 0 {
                if let Some(name) = netdev::name_of(ifindex).filter(|name| *name != dev) {
                    pins.rename_link(sink_links::role(hook), &dev, &name)?;
                    log::info(format_args!("{dev} is called {name} now"));
                }
                continue;
            }
            if netdev::index_of(&dev).is_err() {
                self.say_once(
                    &dev,
                    "sink",
                    format!("{dev} is gone: the sink waits for it to come back"),
                );
                continue;
            }
            let as_it_was = SinkConfig {
                hook: hook.into(),
                ..config.clone()
            };
            match sink.attach(pins, &dev, &as_it_was) {
                Ok(_) => self.put_back(&dev, "sink"),
                Err(err) => self.say_once(
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
        self.said.retain(|said| !said.contains(dev));
        log::event(
            Level::Warning,
            Event::Repaired,
            &[("DEV", &dev), ("ROLE", &role)],
            format_args!("the {role} was no longer attached to {dev}: attached again"),
        );
    }

    fn look_at_source(&mut self, pins: &Pins) -> Result<()> {
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
                self.say_once(
                    &dev,
                    "source",
                    format!("{dev} is gone: the source waits for it to come back"),
                );
                continue;
            }
            match repair(pins, &dev, &seen) {
                Ok(()) if other_mtu => {}
                Ok(()) => self.put_back(&dev, "source"),
                Err(err) => self.say_once(
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
        seen.follows_mtu() && before.is_some_and(|before| before != mtu)
    }
}

impl<D: OnHost> Duty<D> for LookAfterAttachments {
    fn task(&self) -> &'static str {
        "look after what is attached"
    }

    fn wakes<'a>(&'a self, _daemon: &'a D, wait: &mut Wait<'a>) {
        self.changes.iter().for_each(|changes| wait.on(changes));
        wait.until(self.next_look);
    }

    fn turn(&mut self, daemon: &mut D, now: Instant) -> Result<()> {
        let looked = self.look(daemon.pins(), daemon.sink(), now);
        let repaired = std::mem::take(&mut self.repaired);
        daemon
            .side_mut()
            .counts
            .add(DaemonCount::Repaired, repaired);
        looked
    }
}
