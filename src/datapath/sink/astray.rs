//! Watchers of the interfaces without a sink: a program that counts tagged packets which no sink strips.
//!
//! The watchers need a daemon that looks at their counts, so their links are not pinned: they go with the daemon.

use std::collections::BTreeMap;
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, OwnedFd};

use libbpf_rs::skel::{OpenSkel, SkelBuilder};

use super::sink_links;
use crate::datapath::abi::astray_count;
use crate::datapath::abi::astray_object::AstraySkelBuilder;
use crate::datapath::kernel::links::{Hook, Link};
use crate::datapath::kernel::load::{load_object, pin_maps, program_fd};
use crate::datapath::kernel::map_names::{SINK_ASTRAY_COUNTS, SINK_MAPS};
use crate::datapath::kernel::maps::Map;
use crate::datapath::kernel::pins::Pins;
use crate::datapath::kernel::probe::Features;
use crate::model::AstrayStatus;
use crate::os::rtnetlink::{self, InterfaceState};
use crate::os::{clock, netdev};

/// The time after the last tagged packet in which leases are refused.
pub const ASTRAY_NS: u64 = 10_000_000_000;

/// The kinds of interfaces that take packets from the one below by its own address.
const TAKERS: [&str; 4] = ["macvlan", "macvtap", "ipvlan", "ipvtap"];

/// The watchers, each on one interface.
pub struct AstrayWatchers {
    program: OwnedFd,
    counts: Map<u32, astray_count>,
    links: BTreeMap<u32, Link>,
}

impl AstrayWatchers {
    /// Loads the program onto the sink's pinned maps.
    pub fn load(pins: &Pins) -> io::Result<Self> {
        let features = Features::probe();
        let mut object = MaybeUninit::uninit();
        let mut open = AstraySkelBuilder::default()
            .open(&mut object)
            .map_err(io::Error::other)?;
        if let Some(constants) = open.maps.rodata_data.as_deref_mut() {
            constants.have_kernel_ctx = features.kernel_ctx;
            constants.have_kernel_reads = features.kernel_reads;
            constants.have_coarse_clock = features.coarse_clock;
        }
        pin_maps(open.open_object_mut(), pins, &SINK_MAPS)?;
        let skel = load_object(open)?;
        Ok(Self {
            program: program_fd(&skel.progs.sink_astray)?,
            counts: Map::of(&skel.maps.sink_astray_counts)?,
            links: BTreeMap::new(),
        })
    }

    /// Attaches a watcher to each interface by which tagged packets could come in unnoticed, and takes those off all
    /// others. Returns false where the kernel has no tcx (before 6.6).
    pub fn follow(&mut self, pins: &Pins) -> io::Result<bool> {
        let sinks: Vec<u32> = sink_links::links(pins)?
            .into_iter()
            .map(|(_, _, ifindex)| ifindex)
            .collect();
        let wanted = without_sink(&rtnetlink::interfaces()?, &sinks);
        self.links.retain(|ifindex, link| {
            let alive = link.state().is_ok_and(|at| at.ifindex == *ifindex);
            alive && wanted.contains(ifindex)
        });
        let mut failure = None;
        for ifindex in wanted {
            if self.links.contains_key(&ifindex) {
                continue;
            }
            match self.watch(ifindex) {
                Ok(link) => {
                    self.links.insert(ifindex, link);
                }
                Err(err) if err.raw_os_error() == Some(nix::libc::EINVAL) => return Ok(false),
                // The interface is gone again.
                Err(err) if err.raw_os_error() == Some(nix::libc::ENODEV) => {}
                Err(err) => failure = Some((ifindex, err)),
            }
        }
        self.forget_counts()?;
        match failure {
            Some((ifindex, err)) => Err(io::Error::new(
                err.kind(),
                format!("{}: {err}", netdev::label_of(ifindex)),
            )),
            None => Ok(true),
        }
    }

    fn watch(&self, ifindex: u32) -> io::Result<Link> {
        if self.counts.get(&ifindex)?.is_none() {
            self.counts.set(&ifindex, &astray_count::default())?;
        }
        // Programs of other tools may end the way of packets that they accept, so this one comes before them.
        Link::create(self.program.as_fd(), ifindex, Hook::TcxIngressFirst)
    }

    /// Removes the counts of interfaces that are gone.
    fn forget_counts(&self) -> io::Result<()> {
        let known: Vec<u32> = self.counts.keys().collect();
        for ifindex in known {
            if netdev::name_of(ifindex).is_none() {
                self.counts.remove(&ifindex)?;
            }
        }
        Ok(())
    }

    /// Returns the number of tagged packets that came in by each interface.
    pub fn packets(&self) -> io::Result<BTreeMap<u32, u64>> {
        let mut found = BTreeMap::new();
        self.counts.for_each(|ifindex, count| {
            found.insert(ifindex, count.packets);
        })?;
        Ok(found)
    }
}

/// Returns the interfaces on which a watcher sees packets that no sink strips on their further way.
///
/// Packets that come in by a port of a bridge or a bond come in by that, too; a VRF's ports are no such ports. Packets
/// for a macvlan or ipvlan that has a sink may pass the interface below by its own address. Frames with VLAN tags are
/// left to the VLAN's device by the program itself. Where no sink is attached any more, the daemon is about to end, and no
/// lease is left that brings tagged packets.
pub fn without_sink(interfaces: &[(u32, InterfaceState)], sinks: &[u32]) -> Vec<u32> {
    if sinks.is_empty() {
        return Vec::new();
    }
    let state_of = |ifindex: u32| {
        let found = interfaces.iter().find(|(index, _)| *index == ifindex);
        found.map(|(_, state)| state)
    };
    let is_kind = |state: &InterfaceState, kinds: &[&str]| {
        state
            .kind
            .as_deref()
            .is_some_and(|kind| kinds.contains(&kind))
    };
    let is_port = |state: &InterfaceState| {
        let master = state.master.and_then(state_of);
        state.master.is_some() && !master.is_some_and(|master| is_kind(master, &["vrf"]))
    };
    let hands_on = |ifindex: u32| {
        sinks
            .iter()
            .filter_map(|sink| state_of(*sink))
            .any(|sink| sink.lower == Some(ifindex) && is_kind(sink, &TAKERS))
    };
    interfaces
        .iter()
        .filter(|(ifindex, state)| {
            state.up
                && !state.loopback
                && !sinks.contains(ifindex)
                && !is_port(state)
                && !hands_on(*ifindex)
        })
        .map(|(ifindex, _)| *ifindex)
        .collect()
}

/// Returns the interfaces by which tagged packets came in while no sink stripped there.
pub fn read(pins: &Pins) -> io::Result<Vec<AstrayStatus>> {
    let mut found = Vec::new();
    let Some(map) = Map::<u32, astray_count>::open(&pins.map(SINK_ASTRAY_COUNTS))? else {
        return Ok(found);
    };
    let now_ns = clock::monotonic_ns();
    map.for_each(|ifindex, count| {
        if let Some(dev) = netdev::name_of(ifindex).filter(|_| count.packets > 0) {
            found.push(AstrayStatus {
                dev,
                packets: count.packets,
                active: now_ns < count.last_ns + ASTRAY_NS,
            });
        }
    })?;
    found.sort_by(|a, b| a.dev.cmp(&b.dev));
    Ok(found)
}
