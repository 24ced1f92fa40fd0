//! The source's attachments: which there are, whether each is alive, and how they are removed.

use std::io;
use std::time::{Duration, Instant};

use super::kernel_half::{clsact_filter, hook_of, leave_behind, role};
use super::source_settings::{config_of, name_bytes, name_of, tagging_of};
use super::{peer, stage};
use crate::config::{SourceConfig, SourceHook};
use crate::datapath::abi::{bytes_of, source_info, source_key};
use crate::datapath::host::shared_settings;
use crate::datapath::kernel::links::{Link, remove_link};
use crate::datapath::kernel::map_names::{HOST_MAPS, SINK_SETTINGS, SOURCE_INFO, SOURCE_MAPS};
use crate::datapath::kernel::maps::Map;
use crate::datapath::kernel::pins::Pins;
use crate::datapath::kernel::{clsact, handover};
use crate::datapath::sink::events::encapsulation_of;
use crate::model::{Encapsulation, Encapsulations, Marks};
use crate::os::{netdev, tick};

/// True if a source of this version is set up on this host, even if none of its programs is attached any more.
pub fn is_loaded(pins: &Pins) -> bool {
    pins.map(SOURCE_INFO).exists()
}

/// Returns a number that changes when the source's maps are removed and made anew, or `None` if there are none.
pub fn instance(pins: &Pins) -> io::Result<Option<u32>> {
    let info = Map::<source_key, source_info>::open(&pins.map(SOURCE_INFO))?;
    info.map(|info| info.id()).transpose()
}

/// The same of a source of another version.
pub fn is_loaded_by_others(pins: &Pins) -> io::Result<bool> {
    Ok(pins
        .other_versions()?
        .iter()
        .any(|folder| folder.join(SOURCE_INFO).exists()))
}

/// Adds the counts of another version to this one's and removes its pins. No source of that version may be attached any
/// more.
pub fn take_over(pins: &Pins) -> io::Result<()> {
    handover::take_over(pins, &SOURCE_MAPS)?;
    let other_sink = pins
        .other_versions()?
        .iter()
        .any(|folder| folder.join(SINK_SETTINGS).exists());
    if !other_sink {
        handover::take_over(pins, &HOST_MAPS)?;
    }
    Ok(())
}

/// The source's program on an interface.
#[derive(Clone, Debug)]
pub struct RunningSource {
    pub dev: String,
    pub ifindex: u32,
    pub hook: SourceHook,
    info: source_info,
}

impl RunningSource {
    /// The settings that it was made with.
    pub fn config(&self) -> SourceConfig {
        config_of(self.hook, &self.info)
    }

    /// The encapsulation that the user chose.
    pub fn explicit_encapsulation(&self) -> Option<Encapsulation> {
        encapsulation_of(self.info.encapsulation)
    }

    /// Transit hops for which packets have room.
    pub fn max_hops(&self) -> u8 {
        self.info.max_hops
    }

    /// How its packets may be tagged, and marked.
    pub fn tagging(&self) -> (Encapsulations, Marks) {
        tagging_of(&self.info)
    }
}

/// The programs that are attached, sorted by interface. Interfaces that are gone are left out.
pub fn attachments(pins: &Pins) -> io::Result<Vec<RunningSource>> {
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
            found.push(RunningSource {
                dev,
                ifindex: key.ifindex,
                hook,
                info: settings,
            });
        }
    }
    found.sort_by(|a, b| a.dev.cmp(&b.dev));
    Ok(found)
}

/// The attachments as they were seen last, for a look at them several times a second.
#[derive(Default)]
pub struct SeenSources {
    /// Their settings, which say when each was made.
    settings: Vec<u8>,
    next_look: Option<Instant>,
}

/// Interfaces and links that go are seen this late, changed settings at once.
const LOOK: Duration = Duration::from_secs(1);

impl SeenSources {
    /// Returns what is attached, unless that was seen a moment ago.
    pub fn news(&mut self, pins: &Pins) -> io::Result<Option<Vec<RunningSource>>> {
        let mut settings = Vec::new();
        if let Some(map) = Map::<source_key, source_info>::open(&pins.map(SOURCE_INFO))? {
            map.for_each(|key, info| {
                settings.extend_from_slice(bytes_of(&key));
                settings.extend_from_slice(bytes_of(&info));
            })?;
        }
        let now = Instant::now();
        if self.settings == settings && self.next_look.is_some_and(|next| now < next) {
            return Ok(None);
        }
        let found = attachments(pins)?;
        self.settings = settings;
        self.next_look = Some(tick::before(now) + LOOK);
        Ok(Some(found))
    }
}

/// Returns the shortest idle timeout of all attachments.
pub fn idle_timeout_ns(pins: &Pins) -> io::Result<Option<u64>> {
    let attached = attachments(pins)?;
    Ok(attached.iter().map(|at| at.info.idle_timeout_ns).min())
}

/// An attachment that a command asked for.
#[derive(Clone)]
pub struct SourceAttachment {
    pub(in crate::datapath) key: source_key,
    pub hook: SourceHook,
    pub(in crate::datapath) info: source_info,
    /// The interface's name when it was attached.
    pub dev: String,
    /// The interface's present name; `None` if the interface is gone.
    pub name: Option<String>,
    /// The programs are attached.
    pub alive: bool,
}

impl SourceAttachment {
    /// The settings that it was made with.
    pub fn config(&self) -> SourceConfig {
        config_of(self.hook, &self.info)
    }

    /// The number of the interface that it was made to.
    pub fn ifindex(&self) -> u32 {
        self.key.ifindex
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

/// Returns all attachments that no command has ended.
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
        let mut dev = name_of(&info.dev);
        if dev.is_empty() {
            // A version that did not record the name attached it.
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

/// Records the new name of an attachment's interface.
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
pub fn forget(pins: &Pins, seen: &SourceAttachment) -> io::Result<()> {
    if let Some(map) = Map::<source_key, source_info>::open(&pins.map(SOURCE_INFO))? {
        map.remove(&seen.key)?;
    }
    Ok(())
}

/// Returns the attachments of another version of hostint that still runs on this host.
pub fn of_others(pins: &Pins) -> io::Result<Vec<RunningSource>> {
    let entries = handover::entries::<source_key, source_info>(pins, SOURCE_INFO)?;
    Ok(entries
        .into_iter()
        .filter_map(|(key, info)| {
            Some(RunningSource {
                dev: netdev::name_of(key.ifindex)?,
                ifindex: key.ifindex,
                hook: hook_of(key.hook)?,
                info,
            })
        })
        .collect())
}

/// Removes interfaces that a crash left behind where no source is set up.
pub fn clean_up() -> io::Result<()> {
    stage::remove_orphans(&[])
}

/// The attachments of these interfaces, and those whose interface is gone, with their settings.
fn asked_for(
    info: &Map<source_key, source_info>,
    wanted: impl Fn(&String) -> bool,
) -> io::Result<Vec<(source_key, source_info)>> {
    let mut found = Vec::new();
    for key in info.keys() {
        if netdev::name_of(key.ifindex).as_ref().is_none_or(&wanted)
            && let Some(settings) = info.get(&key)?
        {
            found.push((key, settings));
        }
    }
    Ok(found)
}

/// Detaches the source from these interfaces, or from all if none is named, and returns their names. With the last
/// attachment the source's maps are removed, and the watchlist with them.
pub fn detach(pins: &Pins, devs: &[String]) -> io::Result<Vec<String>> {
    let wanted = |dev: &String| devs.is_empty() || devs.contains(dev);
    let mut detached = Vec::new();
    if let Some(info) = Map::<source_key, source_info>::open(&pins.map(SOURCE_INFO))? {
        let before = asked_for(&info, wanted)?;
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
        let used: Vec<u32> = used.iter().map(|at| at.info.stage_ifindex).collect();
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
        shared_settings::forget_if_unused(pins)?;
    }
    Ok(detached)
}
