//! The source's kernel half: each attachment has a program of its own, and all share the same maps.

use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;

use libbpf_rs::skel::{OpenSkel, SkelBuilder};

use super::gso_limit;
use super::ioam_devices;
use super::missed;
use super::source_settings::{encapsulation_number, info_of, superpackets_number};
use super::stage::{self, StagePair};
use crate::config::{DscpMark, SourceConfig, SourceHook, Superpackets};
use crate::datapath::abi::source_object::SourceSkelBuilder;
use crate::datapath::abi::source_object::types::rodata;
use crate::datapath::abi::{
    flow_key, source_flow, source_hook, source_info, source_key, superpackets,
};
use crate::datapath::host::shared_settings::SharedSettings;
use crate::datapath::kernel::clsact::{self, ClsactFilter};
use crate::datapath::kernel::handover;
use crate::datapath::kernel::links::{AttachedBy, Hook, Link, remove_link};
use crate::datapath::kernel::load::{choose, chosen_fd, load_object, pin_maps, size_flow_table};
use crate::datapath::kernel::map_names::{
    HOST_MAPS, SOURCE_FLOWS, SOURCE_INFO, SOURCE_LEASES, SOURCE_MAPS,
};
use crate::datapath::kernel::maps::Map;
use crate::datapath::kernel::pins::Pins;
use crate::datapath::kernel::probe::Features;
use crate::datapath::watch;
use crate::model::Encapsulation;
use crate::os::{clock, log, netdev};

/// The flow table's size unless the user says otherwise.
const DEFAULT_FLOWS: u32 = 65_536;

/// The handle of the source's clsact filter, where the kernel has no tcx.
const CLSACT_HANDLE: u32 = 1;

/// Returns a hook's name in pins, and its number in the source_info map.
pub fn role(hook: SourceHook) -> (&'static str, source_hook) {
    match hook {
        SourceHook::Tc => ("source-tc", source_hook::HOOK_TC_EGRESS),
        SourceHook::TcIngress => ("source-tc-ingress", source_hook::HOOK_TC_INGRESS),
        SourceHook::Xdp => ("source-xdp", source_hook::HOOK_XDP),
    }
}

/// Returns the hook that has this number in the source_info map.
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

/// The interfaces that segment superpackets, and the program that tags the segments.
struct Stage {
    pair: StagePair,
    tc: OwnedFd,
}

/// A program's position relative to the staging pair.
#[derive(Clone, Copy)]
enum StagePosition<'a> {
    /// There is no pair.
    Alone,
    Before(&'a StagePair),
    /// Packets go on to this interface.
    Behind(u32),
}

impl Source {
    /// Loads programs with this configuration for this interface, onto the pinned maps, or pins new ones.
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
        position: StagePosition<'_>,
    ) -> io::Result<Self> {
        let features = Features::probe();
        let mut object = MaybeUninit::uninit();
        let mut open = SourceSkelBuilder::default()
            .open(&mut object)
            .map_err(io::Error::other)?;
        if let Some(constants) = open.maps.rodata_data.as_deref_mut() {
            set_constants(constants, features, dev, config)?;
            match position {
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
        let flows = flow_capacity(pins, config)?;
        size_flow_table(&mut open.maps.source_flows, flows)?;
        let fresh = !pins.map(SOURCE_INFO).exists();
        pin_maps(open.open_object_mut(), pins, &HOST_MAPS)?;
        pin_maps(open.open_object_mut(), pins, &SOURCE_MAPS)?;
        let programs = &mut open.progs;
        choose(
            features,
            &mut programs.source_tc,
            &mut programs.source_tc_locked,
        );
        choose(
            features,
            &mut programs.source_xdp,
            &mut programs.source_xdp_locked,
        );
        let skel = load_object(open)?;
        if fresh {
            handover::copy(pins, SOURCE_INFO)?;
            watch::adopt(pins)?;
            handover::copy(pins, SOURCE_LEASES)?;
            missed::make_room_for_others(pins)?;
        }
        let programs = &skel.progs;
        Ok(Self {
            tc: chosen_fd(features, &programs.source_tc, &programs.source_tc_locked)?,
            xdp: chosen_fd(features, &programs.source_xdp, &programs.source_xdp_locked)?,
            stage: None,
            host: SharedSettings::new(Map::of(&skel.maps.host_settings)?, features),
            info: Map::of(&skel.maps.source_info)?,
        })
    }

    /// Attaches to an interface, or replaces the programs that are attached there.
    pub fn attach(&self, pins: &Pins, dev: &str, config: &SourceConfig) -> io::Result<AttachedBy> {
        let ifindex = netdev::index_of(dev)?;
        let (name, number) = role(config.hook);
        let path = pins.link(name, dev);
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
            stage_ifindex: self.stage.as_ref().map_or(0, |stage| stage.pair.front),
            gso_max_segs: match config.superpackets {
                Superpackets::NoGso => gso_limit::before(ifindex, before.gso_max_segs)?,
                _ => 0,
            },
            clsact_made: before.clsact_made,
            ..info_of(dev, config)
        };
        let filter = clsact_filter(ifindex, config.hook);
        let attached = if self.attach_link(&path, ifindex, config)? {
            // Until here, an attachment by a filter tagged too.
            if before.clsact != 0 {
                filter.detach(pins)?;
            }
            AttachedBy::Link
        } else {
            info.clsact_made |= u32::from(clsact::make_qdisc(ifindex)?);
            info.clsact = CLSACT_HANDLE << 16 | clsact::PRIORITY;
            // No pin tells of filters. With the settings written first, a filter is found and removed after a crash.
            self.info.set(&key, &info)?;
            filter.attach(self.tc.as_fd())?;
            // Until here, an attachment by a link tagged too.
            remove_link(&path)?;
            AttachedBy::Clsact
        };
        log::debug(|| format!("writing the settings of the source on {dev}"));
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

    /// Attaches by a link. Returns false where a clsact filter is to serve instead.
    fn attach_link(&self, path: &Path, ifindex: u32, config: &SourceConfig) -> io::Result<bool> {
        let hook = match config.hook {
            SourceHook::Tc => Hook::TcxEgress,
            SourceHook::TcIngress => Hook::TcxIngress,
            SourceHook::Xdp => {
                let hooks = [Hook::XdpNative, Hook::XdpGeneric];
                return Link::attach(path, self.xdp.as_fd(), ifindex, &hooks).map(|()| true);
            }
        };
        Ok(!config.no_tcx && Link::attach_tcx(path, self.tc.as_fd(), ifindex, hook)?)
    }
}

/// Sets the constants of all programs of an attachment.
fn set_constants(
    constants: &mut rodata,
    features: Features,
    dev: &str,
    config: &SourceConfig,
) -> io::Result<()> {
    constants.have_tai_clock = features.tai_clock;
    constants.have_check_mtu = features.check_mtu;
    constants.have_kernel_ctx = features.kernel_ctx;
    constants.have_kernel_reads = features.kernel_reads;
    constants.have_xdp_frags = features.xdp_frags;
    constants.have_coarse_clock = features.coarse_clock;
    constants.encapsulation = encapsulation_number(config.encapsulation);
    constants.tos_value = config.mark.tos_value();
    constants.tos_mask = config.mark.tos_mask();
    constants.md_tos_value = config.int_dscp.map_or(0, DscpMark::tos_value);
    constants.md_tos_mask = config.int_dscp.map_or(0, DscpMark::tos_mask);
    constants.is_mx = config.mx_sample.is_some();
    constants.mx_sample = config.mx_sample.unwrap_or_default().into();
    constants.extension_port = config.extension_port.to_be();
    constants.fixed_mtu = fixed_mtu(features, dev, config.mtu)?;
    constants.superpackets = superpackets_number(config.superpackets);
    constants.full_checksum = config.compat.is_some();
    constants.max_hops = config.max_hops.into();
    constants.without_queue = !config.path_items.queue;
    if config.encapsulation == Encapsulation::Ioam.into() {
        ioam_devices::check_sums(dev)?;
        constants.ioam_superpackets = ioam_devices::copy_options(dev);
    }
    Ok(())
}

/// The MTU that programs are loaded with: the configured one, or 0 where the kernel reports the interface's for each
/// packet. A kernel before 5.12 cannot, so the interface's present MTU is taken.
pub(in crate::datapath) fn fixed_mtu(
    features: Features,
    dev: &str,
    configured: Option<u32>,
) -> io::Result<u32> {
    match configured {
        Some(mtu) => Ok(mtu),
        None if features.check_mtu => Ok(0),
        None => netdev::mtu(dev),
    }
}

/// How many flows the table holds: as configured, or as the source of another interface made it.
fn flow_capacity(pins: &Pins, config: &SourceConfig) -> io::Result<u32> {
    if let Some(configured) = config.max_flows {
        return Ok(configured);
    }
    let flows = Map::<flow_key, source_flow>::open(&pins.map(SOURCE_FLOWS))?;
    Ok(flows.map_or(DEFAULT_FLOWS, |flows| flows.capacity()))
}

/// Undoes the changes of an attachment to interfaces, unless the attachment that follows it needs them.
pub(in crate::datapath) fn leave_behind(
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

pub(in crate::datapath) fn clsact_filter(ifindex: u32, hook: SourceHook) -> ClsactFilter {
    ClsactFilter {
        ifindex,
        ingress: hook == SourceHook::TcIngress,
        handle: CLSACT_HANDLE,
    }
}
