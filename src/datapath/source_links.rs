//! Where the source is attached, or should be.

use std::io;

use super::abi::{source_info, source_key};
use super::links::{Link, remove_link};
use super::map_names::{HOST_SETTINGS, SINK_SETTINGS, SOURCE_INFO, SOURCE_MAPS};
use super::maps::Map;
use super::pins::Pins;
use super::source::{clsact_filter, hook_of, leave_behind, role};
use super::source_settings::{dev_of, name_bytes};
use super::{clsact, handover, peer, stage};
use crate::config::SourceHook;
use crate::os::netdev;

/// True if a source is or was set up on this host.
pub fn is_loaded(pins: &Pins) -> bool {
    pins.map(SOURCE_INFO).exists()
}

/// What tells one set of a source's maps from the next, while there is one: with the last attachment they go.
pub fn instance(pins: &Pins) -> io::Result<Option<u32>> {
    let info = Map::<source_key, source_info>::open(&pins.map(SOURCE_INFO))?;
    info.map(|info| info.id()).transpose()
}

/// True if a source of another version is or was set up on this host.
pub fn is_loaded_by_others(pins: &Pins) -> io::Result<bool> {
    let folders = pins.other_versions()?;
    Ok(folders
        .iter()
        .any(|folder| folder.join(SOURCE_INFO).exists()))
}

/// Once no source of another version is attached: its counts go on, its pins go.
pub fn take_over(pins: &Pins) -> io::Result<()> {
    handover::take_over(pins, &SOURCE_MAPS)?;
    let sinks = pins.other_versions()?;
    if !sinks
        .iter()
        .any(|folder| folder.join(SINK_SETTINGS).exists())
    {
        handover::take_over(pins, &[HOST_SETTINGS])?;
    }
    Ok(())
}

/// What is attached: interface index and name, hook, settings. Interfaces that are gone are left out.
pub fn attachments(pins: &Pins) -> io::Result<Vec<(String, SourceHook, source_info)>> {
    let Some(info) = Map::<source_key, source_info>::open(&pins.map(SOURCE_INFO))? else {
        return Ok(Vec::new());
    };
    let mut found = Vec::new();
    for key in info.keys() {
        let (Some(dev), Some(hook), Some(settings)) = (
            netdev::name_of(key.ifindex),
            hook_of(key.hook),
            info.get(&key)?,
        ) else {
            continue;
        };
        let alive = settings.clsact != 0
            || Link::open(&pins.link(role(hook).0, &dev))?
                .is_some_and(|link| link.state().is_ok_and(|state| state.ifindex == key.ifindex));
        if alive {
            found.push((dev, hook, settings));
        }
    }
    found.sort_by(|a, b| a.0.cmp(&b.0));
    Ok(found)
}

/// The shortest time after which a flow of any attachment is to be forgotten.
pub fn idle_timeout_ns(pins: &Pins) -> io::Result<Option<u64>> {
    let attached = attachments(pins)?;
    Ok(attached
        .iter()
        .map(|(_, _, info)| info.idle_timeout_ns)
        .min())
}

/// An attachment as it should be, and whether it is.
#[derive(Clone)]
pub struct SourceAttachment {
    pub key: source_key,
    pub hook: SourceHook,
    pub info: source_info,
    /// The interface's name when it was attached,
    pub dev: String,
    /// and now, if it is there.
    pub name: Option<String>,
    pub alive: bool,
}

/// All attachments that nobody ended by a command.
pub fn inspect(pins: &Pins) -> io::Result<Vec<SourceAttachment>> {
    let mut found = Vec::new();
    let Some(map) = Map::<source_key, source_info>::open(&pins.map(SOURCE_INFO))? else {
        return Ok(found);
    };
    for key in map.keys() {
        let (Some(hook), Some(info)) = (hook_of(key.hook), map.get(&key)?) else {
            continue;
        };
        let name = netdev::name_of(key.ifindex);
        let mut dev = dev_of(&info);
        if dev.is_empty() {
            // Of a version that did not note it.
            dev = name.clone().unwrap_or_default();
        }
        let alive = name.is_some()
            && match info.clsact {
                0 => Link::open(&pins.link(role(hook).0, &dev))?
                    .is_some_and(|link| link.state().is_ok_and(|at| at.ifindex == key.ifindex)),
                _ => clsact_filter(key.ifindex, hook).is_attached(pins)?,
            }
            && (hook != SourceHook::Tc
                || info.mss_clamp == 0
                || peer::is_attached(pins, &dev, key.ifindex, info.clsact != 0)?);
        found.push(SourceAttachment {
            key,
            hook,
            info,
            dev,
            name,
            alive,
        });
    }
    Ok(found)
}

/// An attachment's interface has another name now.
pub fn rename(pins: &Pins, seen: &SourceAttachment, name: &str) -> io::Result<()> {
    for role in [role(seen.hook).0, peer::ROLE, stage::ROLE] {
        pins.rename_link(role, &seen.dev, name)?;
    }
    let mut info = seen.info;
    info.dev = name_bytes(name);
    if let Some(map) = Map::<source_key, source_info>::open(&pins.map(SOURCE_INFO))? {
        map.set(&seen.key, &info)?;
    }
    Ok(())
}

/// Forgets an attachment whose interface is gone for good.
pub fn forget(pins: &Pins, key: &source_key) -> io::Result<()> {
    if let Some(map) = Map::<source_key, source_info>::open(&pins.map(SOURCE_INFO))? {
        map.remove(key)?;
    }
    Ok(())
}

/// The attachments of another version of hostint, which runs here still.
pub fn of_others(pins: &Pins) -> io::Result<Vec<(String, SourceHook, source_info)>> {
    let entries = handover::entries::<source_key, source_info>(pins, SOURCE_INFO)?;
    Ok(entries
        .into_iter()
        .filter_map(|(key, info)| Some((netdev::name_of(key.ifindex)?, hook_of(key.hook)?, info)))
        .collect())
}

/// Removes what a crash left behind where no source is set up.
pub fn clean_up() -> io::Result<()> {
    stage::remove_orphans(&[])
}

/// Detaches the source from these interfaces, all if none is named, and returns which. With the last one its
/// maps, the list of destinations included, go.
pub fn detach(pins: &Pins, devs: &[String]) -> io::Result<Vec<String>> {
    let wanted = |dev: &String| devs.is_empty() || devs.contains(dev);
    let mut detached = Vec::new();
    if let Some(info) = Map::<source_key, source_info>::open(&pins.map(SOURCE_INFO))? {
        let mut before = Vec::new();
        for key in info.keys() {
            // Of interfaces that are gone, too.
            if netdev::name_of(key.ifindex).as_ref().is_none_or(wanted)
                && let Some(settings) = info.get(&key)?
            {
                before.push((key, settings));
            }
        }
        for seen in inspect(pins)? {
            let Some(dev) = seen.name.filter(wanted) else {
                continue;
            };
            if seen.hook != SourceHook::Xdp {
                clsact_filter(seen.key.ifindex, seen.hook).detach(pins)?;
            }
            if seen.info.clsact != 0 {
                detached.push(dev);
            }
        }
        for (name, dev) in pins.links()? {
            let ours = [SourceHook::Tc, SourceHook::TcIngress, SourceHook::Xdp]
                .into_iter()
                .any(|hook| role(hook).0 == name);
            if ours && wanted(&dev) {
                remove_link(&pins.link(&name, &dev))?;
                detached.push(dev);
            }
        }
        for (key, settings) in before {
            leave_behind(key.ifindex, &settings, &source_info::default())?;
            info.remove(&key)?;
            if settings.clsact_made != 0 && netdev::name_of(key.ifindex).is_some() {
                clsact::remove_unused_qdisc(key.ifindex)?;
            }
        }
        stage::remove_dead_links(pins)?;
    }
    if devs.is_empty() {
        let used = attachments(pins)?;
        let used: Vec<u32> = used.iter().map(|(_, _, at)| at.stage_ifindex).collect();
        stage::remove_orphans(&used)?;
        stage::remove_dead_links(pins)?;
    }
    detached.sort();
    detached.dedup();
    let left = pins
        .links()?
        .iter()
        .any(|(name, _)| name.starts_with("source"))
        || !attachments(pins)?.is_empty();
    if !left && (devs.is_empty() || !detached.is_empty()) {
        pins.remove_maps(&SOURCE_MAPS)?;
        handover::forget_if_unused(pins)?;
        if !pins.map(SINK_SETTINGS).exists() {
            pins.remove_maps(&[HOST_SETTINGS])?;
        }
    }
    Ok(detached)
}
