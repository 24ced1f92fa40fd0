//! The source's kernel half: a program of its own for each attachment, all on the same maps.

use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, OwnedFd};

use libbpf_rs::skel::{OpenSkel, SkelBuilder};

use super::abi::source_object::SourceSkelBuilder;
use super::abi::{
    DEV_NAME_SIZE, flow_key, source_flow, source_hook, source_info, source_key, superpackets,
};
use super::clsact::{self, ClsactFilter};
use super::gso_limit;
use super::handover;
use super::leases;
use super::links::{Hook, Link, remove_link};
use super::load::{pin_map, program_fd, with_warnings};
use super::maps::Map;
use super::peer;
use super::pins::Pins;
use super::probe::Features;
use super::shared_settings::{self, SharedSettings};
use super::source_settings::{encapsulation_number, superpackets_number};
use super::stage::{self, StagePair};
use super::watch;
use crate::config::{SourceConfig, SourceHook, Superpackets};
use crate::os::{clock, netdev};

// Names of pinned maps.
pub const COUNTERS_MAP: &str = "source_counters";
pub const INFO_MAP: &str = "source_info";
pub const FLOWS_MAP: &str = "source_flows";

/// The source's own pinned maps.
pub const MAPS: [&str; 12] = [
    COUNTERS_MAP,
    INFO_MAP,
    watch::MAPS[0],
    watch::MAPS[1],
    watch::MAPS[2],
    watch::MAPS[3],
    watch::MAPS[4],
    watch::MAPS[5],
    watch::MAPS[6],
    FLOWS_MAP,
    leases::MAP,
    peer::COUNTERS_MAP,
];

/// ClsactFilter handle on clsact, where the kernel has no tcx.
const CLSACT_HANDLE: u32 = 1;

/// A role's name in pins, and its number in the source_info map.
pub fn role(hook: SourceHook) -> (&'static str, source_hook) {
    match hook {
        SourceHook::Tc => ("source-tc", source_hook::HOOK_TC_EGRESS),
        SourceHook::TcIngress => ("source-tc-ingress", source_hook::HOOK_TC_INGRESS),
        SourceHook::Xdp => ("source-xdp", source_hook::HOOK_XDP),
    }
}

/// The hook behind a number in the source_info map.
pub fn hook_of(number: u32) -> Option<SourceHook> {
    [SourceHook::Tc, SourceHook::TcIngress, SourceHook::Xdp]
        .into_iter()
        .find(|hook| role(*hook).1.0 == number)
}

/// A loaded source.
pub struct Source {
    tc: OwnedFd,
    xdp: OwnedFd,
    stage: Option<Stage>,
    pub host: SharedSettings,
    pub info: Map<source_key, source_info>,
}

/// Where superpackets are segmented, and the program that tags what becomes of them.
struct Stage {
    pair: StagePair,
    tc: OwnedFd,
}

/// Which part of the way a program is for.
#[derive(Clone, Copy)]
enum StagePosition<'a> {
    Alone,
    Before(&'a StagePair),
    /// What comes out of the pair goes on to this interface.
    Behind(u32),
}

/// How a program came to its hook.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum AttachedBy {
    Link,
    Clsact,
}

impl Source {
    /// Loads programs with these constants, for this interface, onto the maps that are pinned, or pins new
    /// ones.
    pub fn load(pins: &Pins, dev: &str, config: &SourceConfig) -> io::Result<Self> {
        if config.superpackets != Superpackets::Stage {
            return Self::load_at(pins, dev, config, StagePosition::Alone);
        }
        let ifindex = netdev::index_of(dev)?;
        let pair = StagePair::of(ifindex)?;
        let behind = Self::load_at(pins, dev, config, StagePosition::Behind(ifindex))?;
        let before = Self::load_at(pins, dev, config, StagePosition::Before(&pair))?;
        Ok(Self {
            stage: Some(Stage {
                pair,
                tc: behind.tc,
            }),
            ..before
        })
    }

    fn load_at(
        pins: &Pins,
        dev: &str,
        config: &SourceConfig,
        place: StagePosition<'_>,
    ) -> io::Result<Self> {
        let features = Features::probe();
        let mtu = match config.mtu {
            Some(mtu) => mtu,
            None if features.check_mtu => 0,
            // The kernel can't be asked for every packet: what it is now.
            None => netdev::mtu(dev)?,
        };
        let mut object = MaybeUninit::uninit();
        let mut open = SourceSkelBuilder::default()
            .open(&mut object)
            .map_err(io::Error::other)?;
        if let Some(constants) = open.maps.rodata_data.as_deref_mut() {
            constants.have_tai_clock = features.tai_clock;
            constants.have_check_mtu = features.check_mtu;
            constants.have_kernel_ctx = features.kernel_ctx;
            constants.have_xdp_frags = features.xdp_frags;
            constants.have_coarse_clock = features.coarse_clock;
            constants.encapsulation = encapsulation_number(config.encapsulation);
            constants.tos_value = config.mark.tos_value();
            constants.tos_mask = config.mark.tos_mask();
            constants.extension_port = config.extension_port.to_be();
            constants.fixed_mtu = mtu;
            constants.superpackets = superpackets_number(config.superpackets);
            constants.full_checksum = config.compat.is_some();
            match place {
                StagePosition::Alone => {}
                StagePosition::Before(pair) => {
                    constants.stage_ifindex = pair.front;
                    constants.stage_peer = pair.back;
                }
                StagePosition::Behind(ifindex) => {
                    constants.superpackets = superpackets::SUPER_SKIP.0;
                    constants.redirect_ifindex = ifindex;
                }
            }
        }
        let flows = Map::<flow_key, source_flow>::open(&pins.map(FLOWS_MAP))?;
        let max_flows = match (config.max_flows, flows) {
            (Some(wanted), _) => wanted,
            // Another interface's source uses the table already.
            (None, Some(flows)) => flows.capacity(),
            (None, None) => 65_536,
        };
        open.maps
            .source_flows
            .set_max_entries(max_flows)
            .map_err(io::Error::other)?;
        pin_map(&mut open.maps.host_settings, pins, shared_settings::MAP)?;
        pin_map(&mut open.maps.source_counters, pins, COUNTERS_MAP)?;
        let fresh = !pins.map(INFO_MAP).exists();
        pin_map(&mut open.maps.source_info, pins, INFO_MAP)?;
        pin_map(&mut open.maps.source_leases, pins, leases::MAP)?;
        pin_map(&mut open.maps.watch_state, pins, watch::MAPS[0])?;
        pin_map(&mut open.maps.watch_places4, pins, watch::MAPS[1])?;
        pin_map(&mut open.maps.watch_places6, pins, watch::MAPS[2])?;
        pin_map(&mut open.maps.watch_nodes, pins, watch::MAPS[3])?;
        pin_map(&mut open.maps.watch_edges, pins, watch::MAPS[4])?;
        pin_map(&mut open.maps.watch_classes, pins, watch::MAPS[5])?;
        pin_map(&mut open.maps.watch_texts, pins, watch::MAPS[6])?;
        pin_map(&mut open.maps.source_flows, pins, FLOWS_MAP)?;
        open.progs.source_tc.set_autoload(features.atomics);
        open.progs.source_xdp.set_autoload(features.atomics);
        open.progs.source_tc_locked.set_autoload(!features.atomics);
        open.progs.source_xdp_locked.set_autoload(!features.atomics);
        let skel = with_warnings(|| open.load())?;
        if fresh {
            handover::copy(pins, INFO_MAP)?;
            watch::adopt(pins)?;
            handover::copy(pins, leases::MAP)?;
        }
        Ok(Self {
            tc: program_fd(if features.atomics {
                &skel.progs.source_tc
            } else {
                &skel.progs.source_tc_locked
            })?,
            xdp: program_fd(if features.atomics {
                &skel.progs.source_xdp
            } else {
                &skel.progs.source_xdp_locked
            })?,
            stage: None,
            host: SharedSettings::new(Map::of(&skel.maps.host_settings)?, features),
            info: Map::of(&skel.maps.source_info)?,
        })
    }

    /// Attaches to an interface, or takes over what is attached there, in place.
    pub fn attach(&self, pins: &Pins, dev: &str, config: &SourceConfig) -> io::Result<AttachedBy> {
        let ifindex = netdev::index_of(dev)?;
        let (name, number) = role(config.hook);
        let path = pins.link(name, dev);
        let (program, hooks): (_, &[Hook]) = match config.hook {
            SourceHook::Tc => (&self.tc, &[Hook::TcxEgress]),
            SourceHook::TcIngress => (&self.tc, &[Hook::TcxIngress]),
            SourceHook::Xdp => (&self.xdp, &[Hook::XdpNative, Hook::XdpGeneric]),
        };
        let key = source_key {
            ifindex,
            hook: number.0,
        };
        let before = self.info.get(&key)?.unwrap_or_default();
        if let Some(stage) = &self.stage {
            stage.pair.attach(pins, dev, &stage.tc, config.no_tcx)?;
        }
        let mut info = source_info {
            attached_ns: clock::realtime_ns(),
            encapsulation: encapsulation_number(config.encapsulation),
            mtu: config.mtu.unwrap_or_default(),
            extension_port: config.extension_port.to_be(),
            tos_value: config.mark.tos_value(),
            tos_mask: config.mark.tos_mask(),
            clsact: 0,
            idle_timeout_ns: config.idle_flow_timeout.as_ns(),
            superpackets: superpackets_number(config.superpackets),
            stage_ifindex: self.stage.as_ref().map_or(0, |stage| stage.pair.front),
            compat: config.compat.is_some().into(),
            gso_max_segs: match config.superpackets {
                Superpackets::NoGso => gso_limit::before(ifindex, before.gso_max_segs)?,
                _ => 0,
            },
            clsact_made: before.clsact_made,
            mss_clamp: config.mss_clamp.into(),
            dev: name_bytes(dev),
        };
        let linked = if config.no_tcx && config.hook != SourceHook::Xdp {
            Err(io::Error::from_raw_os_error(nix::libc::EINVAL))
        } else {
            Link::attach(&path, program.as_fd(), ifindex, hooks)
        };
        let attached = match linked {
            Ok(()) => AttachedBy::Link,
            // No tcx before 6.6: a clsact filter instead.
            Err(err)
                if err.raw_os_error() == Some(nix::libc::EINVAL)
                    && config.hook != SourceHook::Xdp =>
            {
                info.clsact_made |= u32::from(clsact::make_qdisc(ifindex)?);
                info.clsact = CLSACT_HANDLE << 16 | clsact::PRIORITY;
                // No pin tells of filters: what is noted first can be taken off after a crash.
                self.info.set(&key, &info)?;
                clsact_filter(ifindex, config.hook).attach(program.as_fd())?;
                AttachedBy::Clsact
            }
            Err(err) => return Err(err),
        };
        // It was attached in the other way before: both tagged until here.
        match attached {
            AttachedBy::Link if before.clsact != 0 => {
                clsact_filter(ifindex, config.hook).detach(pins)?;
            }
            AttachedBy::Clsact => remove_link(&path)?,
            AttachedBy::Link => {}
        }
        self.info.set(&key, &info)?;
        if let Some(stage) = &self.stage {
            stage.pair.keep();
        }
        if info.gso_max_segs != 0 {
            gso_limit::lower(ifindex)?;
        }
        leave_behind(ifindex, &before, &info)?;
        stage::remove_dead_links(pins)?;
        Ok(attached)
    }
}

/// Undoes what an attachment changed beyond its program, as far as the one that follows it does not need it.
pub(super) fn leave_behind(
    ifindex: u32,
    before: &source_info,
    after: &source_info,
) -> io::Result<()> {
    if before.stage_ifindex != 0 && after.stage_ifindex == 0 {
        stage::remove(ifindex, before.stage_ifindex)?;
    }
    if before.gso_max_segs != 0 && after.gso_max_segs == 0 && netdev::name_of(ifindex).is_some() {
        gso_limit::restore(ifindex, before.gso_max_segs)?;
    }
    Ok(())
}

/// An interface's name as settings keep it.
pub(super) fn name_bytes(dev: &str) -> [u8; DEV_NAME_SIZE] {
    let mut bytes = [0; DEV_NAME_SIZE];
    let len = dev.len().min(DEV_NAME_SIZE - 1);
    bytes[..len].copy_from_slice(&dev.as_bytes()[..len]);
    bytes
}

pub(super) fn clsact_filter(ifindex: u32, hook: SourceHook) -> ClsactFilter {
    ClsactFilter {
        ifindex,
        ingress: hook == SourceHook::TcIngress,
        handle: CLSACT_HANDLE,
    }
}
