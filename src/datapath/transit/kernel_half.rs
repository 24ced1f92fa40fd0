//! The transit hop's kernel half: each interface has two programs of its own, and all share the same maps.

use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, OwnedFd};

use libbpf_rs::skel::{OpenSkel, SkelBuilder};

use super::transit_links::{ROLES, clsact_filters};
use super::transit_settings::{carrier_bits, cuts_tunnels, info_of, md_mark, md_port};
use super::{transit_gauges, transit_links};
use crate::config::TransitConfig;
use crate::datapath::abi::transit_object::TransitSkelBuilder;
use crate::datapath::abi::transit_object::types::rodata;
use crate::datapath::abi::{prefix_key, transit_asker, transit_info, transit_limit};
use crate::datapath::host::shared_settings::SharedSettings;
use crate::datapath::kernel::clsact;
use crate::datapath::kernel::handover;
use crate::datapath::kernel::links::{AttachedBy, Hook, Link, remove_link};
use crate::datapath::kernel::load::{load_object, pin_maps, program_fd};
use crate::datapath::kernel::map_names::{
    HOST_MAPS, TRANSIT_ALLOW, TRANSIT_ARRIVALS, TRANSIT_ASKERS, TRANSIT_INFO, TRANSIT_MAPS,
};
use crate::datapath::kernel::maps::Map;
use crate::datapath::kernel::pins::Pins;
use crate::datapath::kernel::probe::Features;
use crate::datapath::lease::grants;
use crate::datapath::source::kernel_half::fixed_mtu;
use crate::model::Prefix;
use crate::os::{clock, netdev};

/// A loaded transit hop.
pub struct Transit {
    arrives: OwnedFd,
    leaves: OwnedFd,
    pub host: SharedSettings,
    info: Map<u32, transit_info>,
    allow: Map<prefix_key, u32>,
    /// The number of arrivals that are remembered.
    arrivals: u32,
}

impl Transit {
    /// Loads programs with this configuration for this interface, onto the pinned maps, or pins new ones.
    pub fn load(pins: &Pins, dev: &str, config: &TransitConfig) -> io::Result<Self> {
        let features = Features::probe();
        let arrivals = arrival_capacity(pins, config)?;
        let mut object = MaybeUninit::uninit();
        let mut open = TransitSkelBuilder::default()
            .open(&mut object)
            .map_err(io::Error::other)?;
        if let Some(constants) = open.maps.rodata_data.as_deref_mut() {
            set_constants(constants, features, dev, config)?;
            constants.arrival_slots = arrivals;
        }
        open.maps
            .transit_arrivals
            .set_max_entries(arrivals)
            .map_err(io::Error::other)?;
        open.maps
            .transit_departures
            .set_max_entries(arrivals)
            .map_err(io::Error::other)?;
        if config.carriers.tcp_int.is_none() {
            let askers = Map::<transit_asker, u64>::open(&pins.map(TRANSIT_ASKERS))?;
            let unused = askers.map_or(1, |askers| askers.capacity());
            let sized = open.maps.transit_askers.set_max_entries(unused);
            sized.map_err(io::Error::other)?;
        }
        let fresh = !pins.map(TRANSIT_INFO).exists();
        pin_maps(open.open_object_mut(), pins, &HOST_MAPS)?;
        pin_maps(open.open_object_mut(), pins, &TRANSIT_MAPS)?;
        let skel = load_object(open)?;
        if fresh {
            handover::copy(pins, TRANSIT_INFO)?;
            handover::copy(pins, TRANSIT_ALLOW)?;
        }
        Ok(Self {
            arrives: program_fd(&skel.progs.transit_in)?,
            leaves: program_fd(&skel.progs.transit_out)?,
            host: SharedSettings::new(Map::of(&skel.maps.host_settings)?, features),
            info: Map::of(&skel.maps.transit_info)?,
            allow: Map::of(&skel.maps.transit_allow)?,
            arrivals,
        })
    }

    /// Lets the packets of these sources have entries, and of no others, where interfaces have such a list.
    pub fn allow(&self, prefixes: &[Prefix]) -> io::Result<()> {
        grants::allow(&self.allow, prefixes)
    }

    /// Attaches to an interface, or replaces the programs that are attached there. If that fails where none were, none
    /// are left.
    pub fn attach(&self, pins: &Pins, dev: &str, config: &TransitConfig) -> io::Result<AttachedBy> {
        let ifindex = netdev::index_of(dev)?;
        let before = self.info.get(&ifindex)?;
        let attached = self.attach_both(pins, dev, ifindex, config);
        if attached.is_err() && before.is_none() {
            let _ = transit_links::detach_one(pins, &self.info, ifindex, dev);
        }
        attached
    }

    fn attach_both(
        &self,
        pins: &Pins,
        dev: &str,
        ifindex: u32,
        config: &TransitConfig,
    ) -> io::Result<AttachedBy> {
        let before = self.info.get(&ifindex)?.unwrap_or_default();
        transit_gauges::begin(pins, ifindex, dev, config)?;
        let mut info = transit_info {
            attached_ns: clock::realtime_ns(),
            arrivals: self.arrivals,
            clsact_made: before.clsact_made,
            ..info_of(dev, config)
        };
        let filters = clsact_filters(ifindex);
        let paths = ROLES.map(|role| pins.link(role, dev));
        let programs = [self.arrives.as_fd(), self.leaves.as_fd()];
        // Arrivals are noted before any other program sees the packet.
        let hooks = [Hook::TcxIngressFirst, Hook::TcxEgress];
        let mut by_link = !config.no_tcx;
        for ((path, program), hook) in paths.iter().zip(programs).zip(hooks) {
            by_link = by_link && Link::attach_tcx(path, program, ifindex, hook)?;
        }
        if by_link {
            if before.clsact != 0 {
                for filter in filters {
                    filter.detach(pins)?;
                }
            }
            self.info.set(&ifindex, &info)?;
            return Ok(AttachedBy::Link);
        }
        info.clsact_made |= u32::from(clsact::make_qdisc(ifindex)?);
        info.clsact = 1;
        // No pin tells of filters. With the settings written first, a filter is found and removed after a crash.
        self.info.set(&ifindex, &info)?;
        for (filter, program) in filters.into_iter().zip(programs) {
            filter.attach(program)?;
        }
        for path in &paths {
            remove_link(path)?;
        }
        Ok(AttachedBy::Clsact)
    }
}

fn set_constants(
    constants: &mut rodata,
    features: Features,
    dev: &str,
    config: &TransitConfig,
) -> io::Result<()> {
    constants.have_tai_clock = features.tai_clock;
    constants.have_check_mtu = features.check_mtu;
    constants.have_kernel_ctx = features.kernel_ctx;
    constants.have_kernel_reads = features.kernel_reads;
    constants.tos_value = config.mark.tos_value();
    constants.tos_mask = config.mark.tos_mask();
    constants.extension_port = config.extension_port.to_be();
    constants.fixed_mtu = fixed_mtu(features, dev, config.mtu)?;
    constants.only_allowed = config.allow.is_some();
    constants.cuts_tunnels = cuts_tunnels(dev);
    constants.notes_departures = config.waits;
    constants.carriers = carrier_bits(config.carriers);
    constants.md_port = md_port(config.carriers);
    if let Some(mark) = md_mark(config.carriers) {
        constants.md_tos_value = mark.tos_value();
        constants.md_tos_mask = mark.tos_mask();
    }
    Ok(())
}

/// How many arrivals the table holds: as configured, or as the hop on another interface made it.
///
/// # Errors
/// If another number is configured while the table is in use: packets arrive by one interface and leave by another.
fn arrival_capacity(pins: &Pins, config: &TransitConfig) -> io::Result<u32> {
    let known = Map::<u32, u64>::open(&pins.map(TRANSIT_ARRIVALS))?.map(|map| map.capacity());
    match (config.max_arrivals, known) {
        (Some(wanted), Some(known)) if wanted != known => Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            format!(
                "the table has room for {known} arrivals while the transit hop is attached, and cannot grow or shrink \
                 (try hostint transit detach, then attach it again)"
            ),
        )),
        (Some(wanted), _) => Ok(wanted),
        (None, Some(known)) => Ok(known),
        (None, None) => Ok(transit_limit::TRANSIT_ARRIVALS.0),
    }
}
