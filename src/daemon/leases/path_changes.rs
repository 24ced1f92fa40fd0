//! Changes of this host's routes and links: the paths of the peers that they concern are proved again.

use std::collections::HashMap;
use std::net::IpAddr;

use anyhow::{Context, Result};

use crate::datapath::source::source_links::RunningSource;
use crate::lease::LeaseKeeper;
use crate::os::route_events::{LinkNow, RouteEvent, RouteEvents};
use crate::os::{netdev, rtnetlink};

/// Of more changed prefixes at a time, all peers are concerned.
const MOST_PREFIXES: usize = 256;

/// The listener, once there is one.
#[derive(Default)]
pub(super) struct PathChanges {
    events: Option<RouteEvents>,
    /// The links that packets are tagged on.
    links: HashMap<u32, LinkNow>,
}

/// The changes since the last look.
#[derive(Default)]
struct Changed {
    all: bool,
    prefixes: Vec<(IpAddr, u8)>,
}

impl Changed {
    fn add(&mut self, prefix: (IpAddr, u8)) {
        if self.prefixes.contains(&prefix) {
            return;
        }
        self.all |= self.prefixes.len() == MOST_PREFIXES;
        if !self.all {
            self.prefixes.push(prefix);
        }
    }

    fn concerns(&self, dest: IpAddr) -> bool {
        self.all
            || self
                .prefixes
                .iter()
                .any(|(prefix, len)| is_within(dest, *prefix, *len))
    }
}

/// True if the address has this prefix.
fn is_within(addr: IpAddr, prefix: IpAddr, len: u8) -> bool {
    let (bits, other, width) = match (addr, prefix) {
        (IpAddr::V4(addr), IpAddr::V4(prefix)) => {
            (addr.to_bits().into(), prefix.to_bits().into(), 32)
        }
        (IpAddr::V6(addr), IpAddr::V6(prefix)) => (addr.to_bits(), prefix.to_bits(), 128),
        _ => return false,
    };
    let differ: u128 = bits ^ other;
    let rest = width - u32::from(len).min(width);
    differ.checked_shr(rest).unwrap_or_default() == 0
}

fn link_now(at: &RunningSource) -> LinkNow {
    let runs = rtnetlink::interface_state(at.ifindex).is_ok_and(|now| now.up && now.running);
    LinkNow {
        index: at.ifindex,
        runs,
        mtu: netdev::mtu(&at.dev).unwrap_or_default(),
    }
}

impl PathChanges {
    /// Sets the links that packets are tagged on.
    pub(super) fn watch(&mut self, attached: &[RunningSource]) {
        let mut before = std::mem::take(&mut self.links);
        for at in attached {
            let known = before.remove(&at.ifindex);
            self.links
                .insert(at.ifindex, known.unwrap_or_else(|| link_now(at)));
        }
    }

    /// Lets the paths that changed since the last call be proved again.
    pub(super) fn apply(&mut self, keeper: &mut LeaseKeeper, now_ns: u64) -> Result<()> {
        let events = match &self.events {
            Some(events) => events,
            None => {
                let events = RouteEvents::listen().context("cannot hear of changed routes")?;
                self.events.insert(events)
            }
        };
        let mut changed = Changed::default();
        let links = &mut self.links;
        let taken = events.take(|event| match event {
            RouteEvent::Prefix(prefix, len) => changed.add((prefix, len)),
            RouteEvent::Anything => changed.all = true,
            RouteEvent::Link(link) => {
                if let Some(known) = links.get_mut(&link.index) {
                    changed.all |= *known != link;
                    *known = link;
                }
            }
        });
        taken.context("cannot hear of changed routes")?;
        if changed.all || !changed.prefixes.is_empty() {
            keeper.doubt_paths(|pair| changed.concerns(pair.dest), now_ns);
        }
        Ok(())
    }
}
