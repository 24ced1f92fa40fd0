//! The sink's links: the interfaces to which it is attached, and how it is detached from them.

use std::io;
use std::mem::offset_of;

use libbpf_rs::{MapCore, MapFlags, MapHandle};

use super::fine_slots;
use crate::config::SinkHook;
use crate::datapath::abi::{sink_flag, sink_settings};
use crate::datapath::host::shared_settings;
use crate::datapath::kernel::handover;
use crate::datapath::kernel::links::{Link, RunningXdpMode, remove_link, xdp_mode};
use crate::datapath::kernel::map_names::{HOST_MAPS, SINK_MAPS, SINK_SETTINGS};
use crate::datapath::kernel::pins::Pins;
use crate::datapath::source::source_links;

/// Returns a hook's name in pins.
pub fn role(hook: SinkHook) -> &'static str {
    match hook {
        SinkHook::Xdp => "sink",
        SinkHook::Tc => "sink-tc",
    }
}

pub(in crate::datapath) fn other_role(hook: SinkHook) -> &'static str {
    match hook {
        SinkHook::Xdp => role(SinkHook::Tc),
        SinkHook::Tc => role(SinkHook::Xdp),
    }
}

/// Returns the hook that has this name in pins, if it is a sink's.
pub fn hook_of(name: &str) -> Option<SinkHook> {
    [SinkHook::Xdp, SinkHook::Tc]
        .into_iter()
        .find(|hook| role(*hook) == name)
}

/// Returns the hook and the interface of each of the sink's links, and the interface's index: 0 if the interface is
/// gone.
pub fn links(pins: &Pins) -> io::Result<Vec<(SinkHook, String, u32)>> {
    let mut found = Vec::new();
    for (name, dev) in pins.links()? {
        if let Some(hook) = hook_of(&name)
            && let Some(link) = Link::open(&pins.link(&name, &dev))?
        {
            found.push((hook, dev, link.state()?.ifindex));
        }
    }
    Ok(found)
}

/// Returns the interfaces to which a sink is attached.
pub fn attached_devs(pins: &Pins) -> io::Result<Vec<(String, SinkHook)>> {
    Ok(links(pins)?
        .into_iter()
        .filter(|(_, _, ifindex)| *ifindex != 0)
        .map(|(hook, dev, _)| (dev, hook))
        .collect())
}

/// True if superpackets in a tunnel reach every program of the sink segment by segment: all of them are in native XDP.
pub(in crate::datapath) fn get_segments(pins: &Pins) -> io::Result<bool> {
    let is_native = |(hook, _, ifindex): &(SinkHook, String, u32)| {
        *hook == SinkHook::Xdp && xdp_mode(*ifindex) == Some(RunningXdpMode::Native)
    };
    let attached = links(pins)?;
    Ok(attached.iter().filter(|link| link.2 != 0).all(is_native))
}

/// True if a sink is attached to any interface of this host.
pub fn is_attached(pins: &Pins) -> io::Result<bool> {
    Ok(!attached_devs(pins)?.is_empty())
}

/// Sets whether the sink leaves lease questions unanswered, so that sources stop tagging.
pub fn set_closing(pins: &Pins, closing: bool) -> io::Result<()> {
    let Some(path) = handover::find(pins, SINK_SETTINGS)? else {
        return Ok(());
    };
    // Another version's settings have another length, but the same flags at the same place.
    let map = MapHandle::from_pinned_path(path).map_err(io::Error::other)?;
    let zero = 0u32.to_ne_bytes();
    let value = map.lookup(&zero, MapFlags::ANY).map_err(io::Error::other)?;
    let mut value = value.unwrap_or_default();
    let place = offset_of!(sink_settings, flags);
    if let Some(bytes) = value.get_mut(place..place + 4) {
        let flags = u32::from_ne_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
        let flag = sink_flag::SINK_CLOSING.0;
        let flags = if closing { flags | flag } else { flags & !flag };
        bytes.copy_from_slice(&flags.to_ne_bytes());
        map.update(&zero, &value, MapFlags::ANY)
            .map_err(io::Error::other)?;
    }
    Ok(())
}

/// Adds the counts of another version to this one's and removes its pins. No sink of that version may be attached any
/// more.
pub fn take_over(pins: &Pins) -> io::Result<()> {
    handover::take_over(pins, &SINK_MAPS)?;
    if !source_links::is_loaded_by_others(pins)? {
        handover::take_over(pins, &HOST_MAPS)?;
    }
    Ok(())
}

/// Detaches the sink from these interfaces, or from all if none is named, and returns their names. With the last one
/// the sink's maps are removed.
pub fn detach(pins: &Pins, devs: &[String]) -> io::Result<Vec<String>> {
    let mut detached = Vec::new();
    let mut left = false;
    for (name, dev) in pins.links()? {
        if hook_of(&name).is_none() {
            continue;
        }
        if !devs.is_empty() && !devs.contains(&dev) {
            left = true;
            continue;
        }
        remove_link(&pins.link(&name, &dev))?;
        if !detached.contains(&dev) {
            detached.push(dev);
        }
    }
    if !left {
        fine_slots::remove_chunks(pins)?;
        pins.remove_maps(&SINK_MAPS)?;
        handover::forget_if_unused(pins)?;
        shared_settings::forget_if_unused(pins)?;
    }
    Ok(detached)
}
