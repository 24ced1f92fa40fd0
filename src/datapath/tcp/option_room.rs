//! The programs that make room for INT in the segments of this host's sockets. Nothing of them is pinned: a daemon that ends
//! makes no more room, and connections go on without.

use std::io::{self, Read};
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
use std::path::Path;

use libbpf_rs::Link;
use libbpf_rs::skel::{OpenSkel, SkelBuilder};

use crate::datapath::abi::option_room_object::OptionRoomSkelBuilder;
use crate::datapath::abi::{encapsulation, source_info, source_key, watch_state};
use crate::datapath::kernel::iterator;
use crate::datapath::kernel::load::{attach_to_cgroup, load_object, pin_maps, without_refused};
use crate::datapath::kernel::map_names::{HOST_SETTINGS, SOURCE_INFO, SOURCE_MAPS, WATCH_STATE};
use crate::datapath::kernel::maps::Map;
use crate::datapath::kernel::pins::Pins;
use crate::datapath::kernel::probe::Features;
use crate::model::{KernelPart, KernelParts, PartsFound};

/// Connections that are there already may go without.
const OPTIONAL: [(&str, KernelPart); 1] = [("room_for_open", KernelPart::AdoptedConnections)];

/// The programs, attached to a cgroup for as long as this lives.
pub struct OptionRoom {
    adopt: Option<OwnedFd>,
    /// The watchlist's state that the programs look at.
    watching: Map<u32, watch_state>,
    _link: Link,
}

impl OptionRoom {
    /// True if connections of some attachment of the source go in options.
    pub fn is_wanted(pins: &Pins) -> io::Result<bool> {
        let Some(info) = Map::<source_key, source_info>::open(&pins.map(SOURCE_INFO))? else {
            return Ok(false);
        };
        let mut wanted = false;
        info.for_each(|_, one| {
            wanted |= one.encapsulation == encapsulation::ENCAP_OPTIONS.0;
        })?;
        Ok(wanted)
    }

    /// Attaches to the cgroup of this folder. Tells what the kernel gives of what was asked for.
    pub fn attach(pins: &Pins, cgroup: &Path) -> io::Result<(Self, PartsFound)> {
        let (room, refused) = without_refused(&OPTIONAL, |refused| {
            Self::attach_without(pins, cgroup, refused)
        })?;
        let mut tried = KernelParts::default();
        tried.insert(KernelPart::Option114);
        tried.insert(KernelPart::AdoptedConnections);
        Ok((room, PartsFound { tried, refused }))
    }

    fn attach_without(pins: &Pins, cgroup: &Path, refused: KernelParts) -> io::Result<Self> {
        let adopts = !refused.contains(KernelPart::AdoptedConnections);
        let mut object = MaybeUninit::uninit();
        let mut open = OptionRoomSkelBuilder::default()
            .open(&mut object)
            .map_err(io::Error::other)?;
        if let Some(constants) = open.maps.rodata_data.as_deref_mut() {
            constants.have_coarse_clock = Features::probe().coarse_clock;
            constants.can_adopt = adopts;
        }
        open.progs.room_for_open.set_autoload(adopts);
        pin_maps(open.open_object_mut(), pins, &SOURCE_MAPS)?;
        pin_maps(open.open_object_mut(), pins, &[HOST_SETTINGS])?;
        let skel = load_object(open)?;
        let link = attach_to_cgroup(&skel.progs.option_room, cgroup)?;
        let adopt = match adopts {
            true => Some(iterator::link(&skel.progs.room_for_open)?),
            false => None,
        };
        let watching = Map::open(&pins.map(WATCH_STATE))?;
        Ok(Self {
            adopt,
            watching: watching.ok_or_else(|| io::Error::other("no watchlist is pinned"))?,
            _link: link,
        })
    }

    /// True if a rule makes exceptions from the budget: then all connections have room, whatever the share is.
    pub fn is_for_all(&self) -> io::Result<bool> {
        Ok(self.watching.get(&0)?.unwrap_or_default().has_always != 0)
    }

    /// Lets connections have room that were there before their lease, or before the budget had room for them.
    pub fn adopt(&self) -> io::Result<()> {
        let Some(adopt) = &self.adopt else {
            return Ok(());
        };
        iterator::begin(adopt)?
            .read_to_end(&mut Vec::new())
            .map(drop)
    }
}
