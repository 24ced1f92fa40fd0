//! The transit hop's attachments: which there are, whether each is alive, and how they are removed.

use std::io;

use super::transit_gauges;
use super::transit_settings::config_of;
use crate::config::TransitConfig;
use crate::datapath::abi::transit_info;
use crate::datapath::host::shared_settings;
use crate::datapath::kernel::clsact::ClsactFilter;
use crate::datapath::kernel::links::{Link, remove_link};
use crate::datapath::kernel::map_names::{
    HOST_MAPS, SINK_SETTINGS, SOURCE_INFO, TRANSIT_INFO, TRANSIT_MAPS,
};
use crate::datapath::kernel::maps::Map;
use crate::datapath::kernel::pins::Pins;
use crate::datapath::kernel::{clsact, handover};
use crate::datapath::source::source_settings::{name_bytes, name_of};
use crate::os::netdev;

/// The names of the programs in pins: the one that notes arrivals, and the one that pushes entries.
pub const ROLES: [&str; 2] = ["transit-in", "transit-out"];

/// The handle of the hop's clsact filters, where the kernel has no tcx.
const CLSACT_HANDLE: u32 = 3;

/// An attachment that a command asked for.
#[derive(Clone)]
pub struct TransitAttachment {
    pub ifindex: u32,
    pub(in crate::datapath) info: transit_info,
    /// The interface's name when it was attached.
    pub dev: String,
    /// The interface's present name; `None` if the interface is gone.
    pub name: Option<String>,
    /// Both programs are attached.
    pub alive: bool,
}

impl TransitAttachment {
    /// The settings that it was made with.
    pub fn config(&self) -> TransitConfig {
        config_of(&self.info)
    }

    /// When it was attached or changed last.
    pub fn attached_ns(&self) -> u64 {
        self.info.attached_ns
    }

    /// True if its program leaves the MTU of packets to the kernel.
    pub fn follows_mtu(&self) -> bool {
        self.info.mtu == 0
    }
}

/// The filters of an interface: at ingress and at egress.
pub(in crate::datapath) fn clsact_filters(ifindex: u32) -> [ClsactFilter; 2] {
    [true, false].map(|ingress| ClsactFilter {
        ifindex,
        ingress,
        handle: CLSACT_HANDLE,
    })
}

/// True if a transit hop of this version is set up on this host, even if none of its programs is attached any more.
pub fn is_loaded(pins: &Pins) -> bool {
    pins.map(TRANSIT_INFO).exists()
}

fn open_info(pins: &Pins) -> io::Result<Option<Map<u32, transit_info>>> {
    Map::open(&pins.map(TRANSIT_INFO))
}

/// Returns all attachments that no command has ended, sorted by interface.
pub fn inspect(pins: &Pins) -> io::Result<Vec<TransitAttachment>> {
    let mut found = Vec::new();
    let Some(map) = open_info(pins)? else {
        return Ok(found);
    };
    for ifindex in map.keys() {
        let Some(info) = map.get(&ifindex)? else {
            continue;
        };
        let dev = name_of(&info.dev);
        let name = netdev::name_of(ifindex);
        let alive = name.is_some() && is_alive(pins, &dev, ifindex, &info)?;
        found.push(TransitAttachment {
            ifindex,
            info,
            dev,
            name,
            alive,
        });
    }
    found.sort_by(|a, b| a.dev.cmp(&b.dev));
    Ok(found)
}

fn is_alive(pins: &Pins, dev: &str, ifindex: u32, info: &transit_info) -> io::Result<bool> {
    if info.clsact != 0 {
        for filter in clsact_filters(ifindex) {
            if !filter.is_attached(pins)? {
                return Ok(false);
            }
        }
        return Ok(true);
    }
    for role in ROLES {
        let link = Link::open(&pins.link(role, dev))?;
        if !link.is_some_and(|link| link.state().is_ok_and(|at| at.ifindex == ifindex)) {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Records the new name of an attachment's interface.
pub fn rename(pins: &Pins, seen: &TransitAttachment, name: &str) -> io::Result<()> {
    for role in ROLES {
        pins.rename_link(role, &seen.dev, name)?;
    }
    let mut info = seen.info;
    info.dev = name_bytes(name);
    match open_info(pins)? {
        Some(map) => map.set(&seen.ifindex, &info),
        None => Ok(()),
    }
}

/// Forgets an attachment whose interface is gone for good.
pub fn forget(pins: &Pins, seen: &TransitAttachment) -> io::Result<()> {
    if let Some(map) = open_info(pins)? {
        map.remove(&seen.ifindex)?;
    }
    transit_gauges::end(pins, seen.ifindex)
}

/// Adds the counts of another version to this one's and removes its pins. No hop of that version may be attached any
/// more.
pub fn take_over(pins: &Pins) -> io::Result<()> {
    handover::take_over(pins, &TRANSIT_MAPS)?;
    let folders = pins.other_versions()?;
    let mut used = folders
        .iter()
        .flat_map(|folder| [SINK_SETTINGS, SOURCE_INFO].map(|map| folder.join(map)));
    if !used.any(|map| map.exists()) {
        handover::take_over(pins, &HOST_MAPS)?;
    }
    Ok(())
}

/// Detaches the programs of an interface, and forgets that they were there.
pub(in crate::datapath) fn detach_one(
    pins: &Pins,
    info: &Map<u32, transit_info>,
    ifindex: u32,
    dev: &str,
) -> io::Result<()> {
    for role in ROLES {
        remove_link(&pins.link(role, dev))?;
    }
    let settings = info.get(&ifindex)?.unwrap_or_default();
    if netdev::name_of(ifindex).is_some() && settings.clsact != 0 {
        for filter in clsact_filters(ifindex) {
            filter.detach(pins)?;
        }
        if settings.clsact_made != 0 {
            clsact::remove_unused_qdisc(ifindex)?;
        }
    }
    transit_gauges::end(pins, ifindex)?;
    info.remove(&ifindex).map(drop)
}

/// Detaches the transit hop from these interfaces, or from all if none is named, and returns their names. With the last
/// one its maps are removed.
pub fn detach(pins: &Pins, devs: &[String]) -> io::Result<Vec<String>> {
    let wanted = |dev: &String| devs.is_empty() || devs.contains(dev);
    let mut detached = Vec::new();
    if let Some(info) = open_info(pins)? {
        for seen in inspect(pins)? {
            let name = seen.name.clone().unwrap_or_else(|| seen.dev.clone());
            if wanted(&name) {
                detach_one(pins, &info, seen.ifindex, &seen.dev)?;
                detached.push(name);
            }
        }
    }
    // A crash between two steps leaves links that no settings tell of.
    for (role, dev) in pins.links()? {
        if ROLES.contains(&&*role) && wanted(&dev) {
            remove_link(&pins.link(&role, &dev))?;
            detached.push(dev);
        }
    }
    detached.sort();
    detached.dedup();
    let left = open_info(pins)?.is_some_and(|info| info.keys().next().is_some());
    if !left {
        pins.remove_maps(&TRANSIT_MAPS)?;
        handover::forget_if_unused(pins)?;
        shared_settings::forget_if_unused(pins)?;
    }
    Ok(detached)
}
