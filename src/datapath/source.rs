//! The source's kernel half: a program of its own for each attachment, all on the same maps.

use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, OwnedFd};

use libbpf_rs::skel::{OpenSkel, SkelBuilder};
use libbpf_rs::{TC_EGRESS, TC_INGRESS, TcAttachPoint, TcHookBuilder};

use super::abi::source_object::SourceSkelBuilder;
use super::abi::{
    counter, encapsulation, flow_key, source_flow, source_hook, source_info, source_key,
};
use super::host::{self, Host};
use super::links::{Hook, Link};
use super::load::{pin_map, program_fd, with_warnings};
use super::maps::Map;
use super::pins::Pins;
use super::probe::Features;
use super::sink::remove_link;
use crate::config::{SourceConfig, SourceHook};
use crate::model::Encapsulation;
use crate::os::{clock, netdev};

// Names of pinned maps.
pub const COUNTERS_MAP: &str = "source_counters";
pub const INFO_MAP: &str = "source_info";
pub const DESTS_MAP: &str = "source_dests";
pub const FLOWS_MAP: &str = "source_flows";

/// The source's own pinned maps.
pub const MAPS: [&str; 4] = [COUNTERS_MAP, INFO_MAP, DESTS_MAP, FLOWS_MAP];

/// Filter handle and priority on clsact, where the kernel has no tcx.
const CLSACT_HANDLE: u32 = 1;
const CLSACT_PRIORITY: u32 = 49_152;

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
    pub host: Host,
    pub info: Map<source_key, source_info>,
    pub flows: Map<flow_key, source_flow>,
    pub counters: Map<u32, counter>,
}

/// How a program came to its hook.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Attached {
    Link,
    Clsact,
}

impl Source {
    /// Loads programs with these constants, for this interface, onto the maps that are pinned, or pins new
    /// ones.
    pub fn load(pins: &Pins, dev: &str, config: &SourceConfig) -> io::Result<Self> {
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
            constants.encapsulation = encapsulation_number(config.encapsulation);
            constants.tos_value = config.mark.tos_value();
            constants.tos_mask = config.mark.tos_mask();
            constants.extension_port = config.extension_port.to_be();
            constants.fixed_mtu = mtu;
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
        pin_map(&mut open.maps.host_settings, pins, host::MAP)?;
        pin_map(&mut open.maps.source_counters, pins, COUNTERS_MAP)?;
        pin_map(&mut open.maps.source_info, pins, INFO_MAP)?;
        pin_map(&mut open.maps.source_dests, pins, DESTS_MAP)?;
        pin_map(&mut open.maps.source_flows, pins, FLOWS_MAP)?;
        let skel = with_warnings(|| open.load())?;
        Ok(Self {
            tc: program_fd(&skel.progs.source_tc)?,
            xdp: program_fd(&skel.progs.source_xdp)?,
            host: Host::new(Map::of(&skel.maps.host_settings)?, features),
            info: Map::of(&skel.maps.source_info)?,
            flows: Map::of(&skel.maps.source_flows)?,
            counters: Map::of(&skel.maps.source_counters)?,
        })
    }

    /// Attaches to an interface, or takes over what is attached there, in place.
    pub fn attach(&self, pins: &Pins, dev: &str, config: &SourceConfig) -> io::Result<Attached> {
        let ifindex = netdev::index_of(dev)?;
        let (name, number) = role(config.hook);
        let path = pins.link(name, dev);
        let (program, hooks): (_, &[Hook]) = match config.hook {
            SourceHook::Tc => (&self.tc, &[Hook::TcxEgress]),
            SourceHook::TcIngress => (&self.tc, &[Hook::TcxIngress]),
            SourceHook::Xdp => (&self.xdp, &[Hook::XdpNative, Hook::XdpGeneric]),
        };
        let mut info = source_info {
            attached_ns: clock::realtime_ns(),
            encapsulation: encapsulation_number(config.encapsulation),
            mtu: config.mtu.unwrap_or_default(),
            extension_port: config.extension_port.to_be(),
            tos_value: config.mark.tos_value(),
            tos_mask: config.mark.tos_mask(),
            clsact: 0,
            idle_timeout_ns: config.idle_flow_timeout.as_ns(),
        };
        let linked = if config.no_tcx && config.hook != SourceHook::Xdp {
            Err(io::Error::from_raw_os_error(nix::libc::EINVAL))
        } else {
            Link::attach(&path, program.as_fd(), ifindex, hooks)
        };
        let attached = match linked {
            Ok(()) => Attached::Link,
            // No tcx before 6.6: a clsact filter instead.
            Err(err)
                if err.raw_os_error() == Some(nix::libc::EINVAL)
                    && config.hook != SourceHook::Xdp =>
            {
                attach_clsact(program, ifindex, config.hook)?;
                info.clsact = CLSACT_HANDLE << 16 | CLSACT_PRIORITY;
                Attached::Clsact
            }
            Err(err) => return Err(err),
        };
        let key = source_key {
            ifindex,
            hook: number.0,
        };
        self.info.set(&key, &info)?;
        Ok(attached)
    }
}

/// The number of an encapsulation in kernel settings.
pub fn encapsulation_number(of: Encapsulation) -> u32 {
    match of {
        Encapsulation::OverTcpUdp => encapsulation::ENCAP_OVER_TCP_UDP.0,
        Encapsulation::ExtensionUdp => encapsulation::ENCAP_EXTENSION_UDP.0,
    }
}

fn attach_point(hook: SourceHook) -> TcAttachPoint {
    if hook == SourceHook::TcIngress {
        TC_INGRESS
    } else {
        TC_EGRESS
    }
}

fn attach_clsact(program: &OwnedFd, ifindex: u32, hook: SourceHook) -> io::Result<()> {
    let mut builder = TcHookBuilder::new(program.as_fd());
    builder
        .ifindex(i32::try_from(ifindex).map_err(io::Error::other)?)
        .replace(true)
        .handle(CLSACT_HANDLE)
        .priority(CLSACT_PRIORITY);
    let mut filter = builder.hook(attach_point(hook));
    filter.create().map_err(io::Error::other)?;
    filter.attach().map_err(io::Error::other)?;
    Ok(())
}

fn detach_clsact(pins: &Pins, ifindex: u32, hook: SourceHook) -> io::Result<()> {
    // The program's descriptor is not needed to name a filter, any will do.
    let any = std::fs::File::open(pins.folder())?;
    let mut builder = TcHookBuilder::new(any.as_fd());
    builder
        .ifindex(i32::try_from(ifindex).map_err(io::Error::other)?)
        .handle(CLSACT_HANDLE)
        .priority(CLSACT_PRIORITY);
    let mut filter = builder.hook(attach_point(hook));
    filter.detach().map_err(io::Error::other)
}

/// True if a source is or was set up on this host.
pub fn is_loaded(pins: &Pins) -> bool {
    pins.map(INFO_MAP).exists()
}

/// What is attached: interface index and name, hook, settings. Interfaces that are gone are left out.
pub fn attachments(pins: &Pins) -> io::Result<Vec<(String, SourceHook, source_info)>> {
    let Some(info) = Map::<source_key, source_info>::open(&pins.map(INFO_MAP))? else {
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

/// Detaches the source from these interfaces, all if none is named, and returns which. With the last one its
/// maps, the list of destinations included, go.
pub fn detach(pins: &Pins, devs: &[String]) -> io::Result<Vec<String>> {
    let wanted = |dev: &String| devs.is_empty() || devs.contains(dev);
    let mut detached = Vec::new();
    if let Some(info) = Map::<source_key, source_info>::open(&pins.map(INFO_MAP))? {
        for (dev, hook, settings) in attachments(pins)? {
            if settings.clsact == 0 || !wanted(&dev) {
                continue;
            }
            let ifindex = netdev::index_of(&dev)?;
            detach_clsact(pins, ifindex, hook)?;
            info.remove(&source_key {
                ifindex,
                hook: role(hook).1.0,
            })?;
            detached.push(dev);
        }
        for (name, dev) in pins.links()? {
            let Some(hook) = [SourceHook::Tc, SourceHook::TcIngress, SourceHook::Xdp]
                .into_iter()
                .find(|hook| role(*hook).0 == name)
            else {
                continue;
            };
            if !wanted(&dev) {
                continue;
            }
            remove_link(&pins.link(&name, &dev))?;
            if let Ok(ifindex) = netdev::index_of(&dev) {
                info.remove(&source_key {
                    ifindex,
                    hook: role(hook).1.0,
                })?;
            }
            detached.push(dev);
        }
    }
    detached.sort();
    detached.dedup();
    let left = pins
        .links()?
        .iter()
        .any(|(name, _)| name.starts_with("source"))
        || !attachments(pins)?.is_empty();
    if !left && (devs.is_empty() || !detached.is_empty()) {
        pins.remove_maps(&MAPS)?;
        if !pins.map(super::sink::SETTINGS_MAP).exists() {
            pins.remove_maps(&[host::MAP])?;
        }
    }
    Ok(detached)
}
