//! The sink's kernel half: how it is loaded onto this host's maps, attached and given its settings.

use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;

use libbpf_rs::MapHandle;
use libbpf_rs::skel::OpenSkel;

use super::bound_program;
use super::event_ring::EventRing;
use super::fine_slots::{self, FineSlots};
use super::minima::MinimaTable;
use super::paths::PathTables;
use super::sink_links::{self, attached_devs, other_role, role};
use super::sink_programs::{self, HookPrograms};
use super::sink_settings::{kept_since, settings_of};
use crate::config::{HookChoice, SinkConfig, SinkHook, XdpMode};
use crate::datapath::abi::{
    address_key, counter, flow_key, path_time, path_time_key, prefix_key, sink_counter, sink_flag,
    sink_flow, sink_grant, sink_path, sink_settings,
};
use crate::datapath::host::collectors::CollectorTable;
use crate::datapath::host::counters::packets;
use crate::datapath::host::serial::Serial;
use crate::datapath::host::shared_settings::SharedSettings;
use crate::datapath::kernel::handover;
use crate::datapath::kernel::hook_choice::{HookFacts, WhyHook};
use crate::datapath::kernel::links::{
    Hook, Link, LinkState, RunningXdpMode, program_name, remove_link, xdp_mode, xdp_occupant,
};
use crate::datapath::kernel::load::{load_object, pin_maps};
use crate::datapath::kernel::map_names::{
    DAEMON_COUNTERS, HOST_MAPS, SINK_FLOWS, SINK_GRANTS, SINK_MAPS, SINK_SETTINGS,
};
use crate::datapath::kernel::maps::Map;
use crate::datapath::kernel::pins::Pins;
use crate::datapath::kernel::probe::Features;
use crate::datapath::lease::grants;
use crate::os::{clock, ethtool, log, netdev};

/// A start later than any packet: it means that no flow was seen from its first packet on.
const NOT_STARTED: u64 = i64::MAX as u64;

/// The loaded sink.
pub struct Sink {
    programs: HookPrograms,
    /// The program that ends loss periods of silent flows.
    pub sweep: OwnedFd,
    pub host: SharedSettings,
    pub settings: Map<u32, sink_settings>,
    pub flows: Map<flow_key, sink_flow>,
    pub fine: FineSlots,
    pub counters: Map<u32, counter>,
    pub daemon: Map<u32, u64>,
    pub grants: Map<address_key, sink_grant>,
    pub grants_serial: Serial,
    pub minima: MinimaTable,
    paths: Map<u64, sink_path>,
    path_times: Map<path_time_key, path_time>,
    pub collectors: CollectorTable,
    allow: Map<prefix_key, u32>,
    /// The flow table was made by this load, so that flows in it were not seen from their first packet on.
    new_flows: bool,
    events: MapHandle,
    features: Features,
}

impl Sink {
    /// Loads the programs onto the pinned maps, or pins new ones. Programs of other hooks than these are loaded when
    /// they are attached.
    pub fn load(
        pins: &Pins,
        hooks: &[SinkHook],
        max_flows: u32,
        max_fine_flows: u32,
    ) -> io::Result<Self> {
        let features = Features::probe();
        let mut object = MaybeUninit::uninit();
        let mut open = sink_programs::open(&mut object, features, hooks)?;
        sink_programs::size_tables(&mut open, max_flows, max_fine_flows)?;
        let fresh = !pins.map(DAEMON_COUNTERS).exists();
        pin_maps(open.open_object_mut(), pins, &HOST_MAPS)?;
        pin_maps(open.open_object_mut(), pins, &SINK_MAPS)?;
        let new_slots = fine_slots::match_pins(pins)?;
        let new_flows = !pins.map(SINK_FLOWS).exists();
        let skel = load_object(open)?;
        let fine = FineSlots::of(pins, &skel.maps.sink_fine_slots, &skel.maps.sink_fine_free)?;
        if new_slots {
            fine.add_chunk()?;
        }
        if fresh {
            handover::copy(pins, DAEMON_COUNTERS)?;
            handover::copy(pins, SINK_SETTINGS)?;
            handover::copy(pins, SINK_GRANTS)?;
        }
        Ok(Self {
            programs: HookPrograms::of(&skel.progs, features, hooks)?,
            sweep: sink_programs::sweep_fd(&skel.progs, features)?,
            host: SharedSettings::new(Map::of(&skel.maps.host_settings)?, features),
            settings: Map::of(&skel.maps.sink_settings)?,
            flows: Map::of(&skel.maps.sink_flows)?,
            fine,
            counters: Map::of(&skel.maps.sink_counters)?,
            daemon: Map::of(&skel.maps.daemon_counters)?,
            grants: Map::of(&skel.maps.sink_grants)?,
            grants_serial: Serial::of(Map::of(&skel.maps.sink_grants_serial)?),
            minima: MinimaTable::of(Map::of(&skel.maps.sink_minima)?),
            paths: Map::of(&skel.maps.sink_paths)?,
            path_times: Map::of(&skel.maps.sink_path_times)?,
            collectors: CollectorTable::open_or_create(pins)?,
            allow: Map::of(&skel.maps.sink_allow)?,
            new_flows,
            events: MapHandle::try_from(&skel.maps.sink_events).map_err(io::Error::other)?,
            features,
        })
    }

    /// The times of all packets over transit hops.
    pub fn paths(&self) -> PathTables {
        PathTables::of(self.paths.share(), self.path_times.share())
    }

    /// Gives the programs these settings, attached ones included.
    pub fn apply(&self, config: &SinkConfig) -> io::Result<()> {
        let before = self.settings.get(&0)?.unwrap_or_default();
        let started_ns = if self.new_flows {
            NOT_STARTED
        } else {
            before.started_ns
        };
        grants::change(&self.allow, &self.grants_serial, &config.allow)?;
        self.write_settings(&settings_of(
            config,
            started_ns,
            kept_since(&before, config),
            0,
        ))
    }

    /// Changes the settings of a running sink.
    ///
    /// The prefixes are changed first: new ones are allowed, others removed. Then one update of the map changes all
    /// else, and a packet that is processed meanwhile sees each field either as it was or as it is.
    pub fn change(&self, config: &SinkConfig) -> io::Result<()> {
        grants::change(&self.allow, &self.grants_serial, &config.allow)?;
        let before = self.settings.get(&0)?.unwrap_or_default();
        // A detach that has begun goes on, and so does what the watchers of other interfaces saw. Hooks stay.
        let kept = [
            sink_flag::SINK_CLOSING,
            sink_flag::SINK_ASTRAY,
            sink_flag::SINK_SEGMENTS,
        ];
        let state = before.flags & kept.iter().fold(0, |all, flag| all | flag.0);
        let settings = settings_of(
            config,
            before.started_ns,
            kept_since(&before, config),
            state,
        );
        self.write_settings(&settings)
    }

    /// Sets whether the sink grants no leases because tagged packets come in where no sink strips them.
    pub fn set_astray(&self, astray: bool) -> io::Result<()> {
        self.set_flag(sink_flag::SINK_ASTRAY, astray)
    }

    fn set_flag(&self, flag: sink_flag, is_set: bool) -> io::Result<()> {
        let mut settings = self.settings.get(&0)?.unwrap_or_default();
        let before = settings.flags;
        match is_set {
            true => settings.flags |= flag.0,
            false => settings.flags &= !flag.0,
        }
        if settings.flags == before {
            return Ok(());
        }
        self.write_settings(&settings)
    }

    fn write_settings(&self, settings: &sink_settings) -> io::Result<()> {
        log::debug(|| {
            format!(
                "writing the sink's settings: flags {:#x}, report period {} ns, loss timeout {} ns",
                settings.flags, settings.report_period_ns, settings.loss_timeout_ns
            )
        });
        self.settings.set(&0, settings)
    }

    /// Checks that the XDP hook of an interface is free or holds this host's sink.
    ///
    /// # Errors
    /// Another program holds the hook. The error names it if this process has the privilege to read names.
    pub fn check_free(pins: &Pins, dev: &str) -> io::Result<()> {
        let ifindex = netdev::index_of(dev)?;
        let ours = Link::open(&pins.link(role(SinkHook::Xdp), dev))?;
        if ours.is_some_and(|link| link.state().is_ok_and(|at| at.ifindex == ifindex)) {
            return Ok(());
        }
        xdp_occupant(ifindex).map_or(Ok(()), Err)
    }

    /// Attaches to an interface, or replaces the program that is attached there.
    pub fn attach(&self, pins: &Pins, dev: &str, config: &SinkConfig) -> io::Result<AttachedSink> {
        let fresh = !attached_devs(pins)?.iter().any(|(at, _)| at == dev);
        let attached = match config.hook {
            HookChoice::Auto => self.attach_at_best(pins, dev, config)?,
            HookChoice::Xdp => self.attach_xdp(pins, dev, config)?.into(),
            HookChoice::Tc => self.attach_tc(pins, dev)?.into(),
        };
        // If the sink was attached at its other hook, both programs stripped until here.
        remove_link(&pins.link(other_role(attached.mode.hook()), dev))?;
        if fresh || self.new_flows {
            // Flows that are older were not seen from their first packet on.
            let mut settings = self.settings.get(&0)?.unwrap_or_default();
            settings.started_ns = clock::realtime_ns();
            self.write_settings(&settings)?;
        }
        let gets_segments = sink_links::get_segments(pins)?;
        self.set_flag(sink_flag::SINK_SEGMENTS, gets_segments)?;
        Ok(attached)
    }

    /// Attaches at the hook that suits the interface best.
    fn attach_at_best(
        &self,
        pins: &Pins,
        dev: &str,
        config: &SinkConfig,
    ) -> io::Result<AttachedSink> {
        let facts = HookFacts::of(Some(pins), dev)?;
        let (hook, why) = facts.choose();
        let mode = match (hook, why) {
            (SinkHook::Tc, _) => self.attach_tc(pins, dev)?,
            (SinkHook::Xdp, WhyHook::NetworkCard) => {
                let native = SinkConfig {
                    xdp_mode: XdpMode::Native,
                    ..config.clone()
                };
                match self.attach_xdp(pins, dev, &native) {
                    Ok(mode) => mode,
                    Err(err) => {
                        let mode = self.attach_tc(pins, dev)?;
                        let why = format!("the driver refuses native XDP: {err}");
                        return Ok(AttachedSink {
                            mode,
                            why: Some(why),
                        });
                    }
                }
            }
            (SinkHook::Xdp, _) => self.attach_xdp(pins, dev, config)?,
        };
        Ok(AttachedSink {
            mode,
            why: Some(facts.sentence(dev, why)),
        })
    }

    fn attach_xdp(&self, pins: &Pins, dev: &str, config: &SinkConfig) -> io::Result<SinkMode> {
        let wanted = config.xdp_mode;
        let ifindex = netdev::index_of(dev)?;
        let hooks: &[Hook] = match wanted {
            XdpMode::Auto => &[Hook::XdpNative, Hook::XdpGeneric],
            XdpMode::Native => &[Hook::XdpNative],
            XdpMode::Generic => &[Hook::XdpGeneric],
        };
        let path = pins.link(role(SinkHook::Xdp), dev);
        let before = Link::open(&path)?
            .is_some_and(|link| link.state().is_ok_and(|state| state.ifindex == ifindex));
        let mode = xdp_mode(ifindex).filter(|_| before);
        if let Some(mode) = mode
            && matches!(
                (wanted, mode),
                (XdpMode::Native, RunningXdpMode::Generic)
                    | (XdpMode::Generic, RunningXdpMode::Native)
            )
        {
            return Err(io::Error::new(
                io::ErrorKind::InvalidInput,
                "the sink is attached in the other XDP mode (try hostint sink detach first)",
            ));
        }
        if config.nic_timestamps {
            let native = hooks.contains(&Hook::XdpNative) && mode != Some(RunningXdpMode::Generic);
            match self.attach_bound(pins, &path, ifindex, native) {
                Ok(()) => return Ok(SinkMode::XdpNic),
                Err(why) => log::warning(format_args!(
                    "{dev}: the kernel stamps packets, not the network card: {why}"
                )),
            }
        }
        let program = self.programs.get(pins, SinkHook::Xdp)?;
        Link::attach(&path, program, ifindex, hooks)?;
        match xdp_mode(ifindex) {
            Some(RunningXdpMode::Native) => Ok(SinkMode::XdpNative),
            Some(RunningXdpMode::Generic) => Ok(SinkMode::XdpGeneric),
            None => Err(io::Error::other("the program is attached but not active")),
        }
    }

    /// Attaches the program that reads the network card's timestamps. It may only run in native XDP of its own
    /// interface, and the kernel does not check that when it replaces another program.
    fn attach_bound(&self, pins: &Pins, path: &Path, ifindex: u32, native: bool) -> io::Result<()> {
        if !native {
            return Err(io::Error::new(
                io::ErrorKind::Unsupported,
                "only native XDP can ask the driver for timestamps",
            ));
        }
        let program = bound_program::load(pins, ifindex, self.features)?;
        Link::attach(path, program.as_fd(), ifindex, &[Hook::XdpNative])
    }

    /// Attaches before all other programs, so that they see packets as they were sent.
    fn attach_tc(&self, pins: &Pins, dev: &str) -> io::Result<SinkMode> {
        let path = pins.link(role(SinkHook::Tc), dev);
        let ifindex = netdev::index_of(dev)?;
        let program = self.programs.get(pins, SinkHook::Tc)?;
        if !Link::attach_tcx(&path, program, ifindex, Hook::TcxIngressFirst)? {
            return Err(io::Error::new(
                io::ErrorKind::Unsupported,
                "the kernel has no tcx, which --hook tc needs (6.6 or newer; try --hook xdp)",
            ));
        }
        Ok(SinkMode::Tcx)
    }

    /// The number of packets with INT that were received.
    pub fn received(&self) -> io::Result<u64> {
        packets(&self.counters, sink_counter::COUNT_SINK_RECEIVED.0)
    }

    /// The number of flows that began.
    pub fn begun_flows(&self) -> io::Result<u64> {
        packets(&self.counters, sink_counter::COUNT_SINK_FLOW_NEW.0)
    }

    /// The ring of events.
    pub fn event_ring(&self) -> io::Result<EventRing> {
        EventRing::new(MapHandle::try_from(&self.events).map_err(io::Error::other)?)
    }
}

/// The way in which a sink is attached.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum SinkMode {
    XdpNative,
    /// In native XDP, by the program that reads the network card's timestamps.
    XdpNic,
    XdpGeneric,
    Tcx,
}

impl SinkMode {
    pub fn hook(self) -> SinkHook {
        match self {
            Self::XdpNative | Self::XdpNic | Self::XdpGeneric => SinkHook::Xdp,
            Self::Tcx => SinkHook::Tc,
        }
    }
}

/// How a sink was attached.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct AttachedSink {
    pub mode: SinkMode,
    /// The reason for its hook, if hostint chose it.
    pub why: Option<String>,
}

impl From<SinkMode> for AttachedSink {
    fn from(mode: SinkMode) -> Self {
        Self { mode, why: None }
    }
}

/// True if a veth with a sink in native XDP merges received packets; `None` for other interfaces.
pub fn veth_gro(hook: SinkHook, ifindex: u32) -> Option<bool> {
    let dev = netdev::name_of(ifindex)?;
    let native = hook == SinkHook::Xdp && xdp_mode(ifindex) == Some(RunningXdpMode::Native);
    if !native || !ethtool::is_veth(&dev).ok()? {
        return None;
    }
    ethtool::feature(&dev, ethtool::GRO).ok()
}

/// Returns `Some(true)` if a sink's program reads the network card's timestamps, and this process has the privilege to
/// know.
pub fn asks_nic(hook: SinkHook, link: LinkState) -> Option<bool> {
    let native = hook == SinkHook::Xdp && xdp_mode(link.ifindex) == Some(RunningXdpMode::Native);
    let name = program_name(link.program).filter(|_| native)?;
    (name == "sink_nic").then_some(true)
}
