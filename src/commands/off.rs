//! `hostint off` and `hostint on`: all that hostint does to packets of this host ends at once, and stays so.

use std::path::Path;

use anyhow::Result;

use crate::cli::{FleetArgs, exit};
use crate::config::File;
use crate::daemon::fleet::OrderSockets;
use crate::host::advice::Usage;
use crate::host::fleet::{KeptFleet, key_of};
use crate::host::{off, sink, source, transit};
use crate::model::{FleetOrder, LeaseKey};
use crate::os::{clock, log};

/// Takes everything off, each part although another one cannot be.
pub fn off(bpffs: Option<&Path>, now: bool, fleet: &FleetArgs) -> Result<u8> {
    if !fleet.fleet {
        return off_here(bpffs, now);
    }
    // The hosts that it is passed on to are known for as long as there are leases.
    let order = Order::give(true, bpffs, fleet)?;
    let others = order.pass_on();
    let here = off_here(bpffs, now)?;
    Ok(others.max(here))
}

fn off_here(bpffs: Option<&Path>, now: bool) -> Result<u8> {
    let is_new = off::set();
    // Tagging ends first, while this host's sink still strips what others send.
    let parts = [
        source::detach(bpffs, &[]),
        transit::detach(bpffs, &[]),
        sink::detach(bpffs, &[], now),
    ];
    let mut failed = false;
    for err in parts.into_iter().filter_map(Result::err) {
        log::error(format_args!("{err:#}"));
        failed = true;
    }
    let is_new = is_new?;
    if failed {
        return Ok(exit::FAILURE);
    }
    log::info(match is_new {
        true => {
            "off: no packet of this host is changed, and no role starts, also after a reboot, until hostint on"
        }
        false => "it was off, and is",
    });
    Ok(exit::OK)
}

/// Lets roles start again.
pub fn on(bpffs: Option<&Path>, fleet: &FleetArgs) -> Result<u8> {
    if !fleet.fleet {
        return on_here();
    }
    let order = Order::give(false, bpffs, fleet)?;
    let here = on_here()?;
    Ok(order.pass_on().max(here))
}

fn on_here() -> Result<u8> {
    let was_off = off::end()?;
    log::info(match was_off {
        true => {
            "on: hostint run starts its roles within a second; roles of other commands are to be started by hand"
        }
        false => "it was on, and is",
    });
    Ok(exit::OK)
}

/// An order to the fleet that this host has given, and not yet passed on.
struct Order {
    fleet: KeptFleet,
    key: LeaseKey,
    sockets: OrderSockets,
}

impl Order {
    /// Gives it: this host knows it from now on.
    fn give(is_off: bool, bpffs: Option<&Path>, args: &FleetArgs) -> Result<Self> {
        let (file, _) = File::read(&args.config)?;
        let Some(key) = key_of(&file) else {
            return Err(Usage(format!(
                "{} names no lease key that can be read, and only hosts with a key take orders, because strangers could give them \
                 otherwise (try lease-key in [sink] and [source] of all hosts)",
                args.config.display()
            ))
            .into());
        };
        let sockets = OrderSockets::open()?;
        let mut fleet = KeptFleet::read();
        fleet.add_peers(bpffs);
        fleet.last = FleetOrder::next(is_off, fleet.last, clock::realtime_ns());
        fleet.keep()?;
        Ok(Self {
            fleet,
            key,
            sockets,
        })
    }

    /// Returns an exit code: a failure if a host does not say that it obeys.
    fn pass_on(&self) -> u8 {
        let KeptFleet { last, peers } = &self.fleet;
        let silent = self.sockets.pass_on(*last, peers, self.key);
        log::info(format_args!(
            "{} of {} hosts obey, and pass the order on to those that leases connect with them",
            peers.len() - silent.len(),
            peers.len()
        ));
        for host in &silent {
            log::error(format_args!(
                "{host} does not say that it obeys (does hostint run look after it, with the same key?)"
            ));
        }
        match silent.is_empty() {
            true => exit::OK,
            false => exit::FAILURE,
        }
    }
}
