//! The fleet of this host: the last order that it obeyed, and the hosts that it passes orders on to. Both outlive daemons, because
//! a host that is off has no leases.

use std::fs;
use std::net::IpAddr;
use std::path::Path;

use anyhow::{Context, Result};

use super::kept_files;
use super::state::{self, StatusQuery};
use crate::config::{File, read_key};
use crate::model::{FleetOrder, HostStatus, LeaseKey};

/// The most hosts that an order is passed on to.
const MOST: usize = 4096;
const NAME: &str = "fleet";

/// What is kept.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct KeptFleet {
    pub last: FleetOrder,
    pub peers: Vec<IpAddr>,
}

impl KeptFleet {
    /// Without a file there was no order.
    pub fn read() -> Self {
        let text = fs::read_to_string(kept_files::path(NAME)).unwrap_or_default();
        let mut lines = text.lines();
        let last = lines.next().and_then(parse_order).unwrap_or_default();
        Self {
            last,
            peers: lines.filter_map(|line| line.parse().ok()).collect(),
        }
    }

    /// # Errors
    /// If the file cannot be written: the order could be replayed.
    pub fn keep(&self) -> Result<()> {
        let FleetOrder {
            is_off,
            epoch,
            ordered_ns,
        } = self.last;
        let word = if is_off { "off" } else { "on" };
        let peers = self.peers.iter().map(|peer| format!("{peer}\n"));
        let text = format!("{word} {epoch} {ordered_ns}\n{}", peers.collect::<String>());
        let file = kept_files::path(NAME);
        kept_files::write(&file, &text)
            .with_context(|| format!("cannot keep the order: cannot write {}", file.display()))
    }

    /// Adds the hosts that leases connect with this one now.
    pub fn add_peers(&mut self, bpffs: Option<&Path>) {
        // What is off, or cannot be read, connects with none.
        let Ok(status) = state::read_here(bpffs, None, StatusQuery::ALL_PEERS) else {
            return;
        };
        for peer in peers_of(&status) {
            if !self.peers.contains(&peer) && self.peers.len() < MOST {
                self.peers.push(peer);
            }
        }
    }
}

fn parse_order(line: &str) -> Option<FleetOrder> {
    let mut words = line.split(' ');
    Some(FleetOrder {
        is_off: words.next()? == "off",
        epoch: words.next()?.parse().ok()?,
        ordered_ns: words.next()?.parse().ok()?,
    })
}

/// The sinks that ever answered, and the sources with a grant.
fn peers_of(status: &HostStatus) -> Vec<IpAddr> {
    let sinks = status.source.iter().flat_map(|source| &source.peers);
    let sinks = sinks
        .filter(|peer| peer.node.is_some())
        .map(|peer| peer.dest);
    let sources = status.sink.iter().flat_map(|sink| &sink.grants);
    sinks.chain(sources.map(|grant| grant.source)).collect()
}

/// The key of this host's file, with which orders are signed.
pub fn key_of(file: &File) -> Option<LeaseKey> {
    let keys = [&file.sink.options.lease_key, &file.source.options.lease_key];
    keys.into_iter()
        .flatten()
        .find_map(|path| read_key(path).ok())
}
