//! The settings that a host's source and sink share: node id, clock, lease key, ports whose traffic is never tagged.

use std::io;

use crate::datapath::abi::{
    MAX_REPORT_PORTS, clock_source, host_settings, node_origin, share_limit,
};
use crate::datapath::kernel::map_names::{
    HOST_MAPS, HOST_SETTINGS, SINK_SETTINGS, SOURCE_INFO, TRANSIT_INFO,
};
use crate::datapath::kernel::maps::Map;
use crate::datapath::kernel::pins::Pins;
use crate::datapath::kernel::probe::Features;
use crate::model::{
    BudgetStatus, ClockSource, ClockState, ClockSteering, HostNode, KernelParts, LeaseKey,
    MOST_SHIFT, NodeId, NodeOrigin, PartsFound,
};
use crate::os::clock::{self, ClockPair, Discipline};
use crate::os::{log, netns};

// The configuration refuses more ports.
const _: () = assert!(MAX_REPORT_PORTS == crate::config::MAX_REPORT_PORTS);
const _: () = assert!(share_limit::MOST_SHARE_SHIFT.0 == MOST_SHIFT);

/// Answers tell what a daemon said for this time.
const TOLD_NS: u64 = 3_000_000_000;

/// What answers to lease questions tell while a daemon runs.
#[derive(Clone, Copy, Debug, Default)]
pub struct ReportedByDaemon {
    pub steering: ClockSteering,
    pub sends_strays: bool,
}

/// The map of each role that shares the settings, which is there while the role is set up.
const ROLES: [&str; 3] = [SINK_SETTINGS, SOURCE_INFO, TRANSIT_INFO];

/// Removes the settings' pin once no role is left on this host.
pub fn forget_if_unused(pins: &Pins) -> io::Result<()> {
    if ROLES.iter().any(|map| pins.map(map).exists()) {
        return Ok(());
    }
    pins.remove_maps(&HOST_MAPS)
}

/// Returns the clock that stamps packets according to the settings.
pub fn clock_state(settings: &host_settings) -> ClockState {
    ClockState {
        source: match clock_source(settings.clock_source) {
            clock_source::CLOCK_TAI => ClockSource::Tai,
            clock_source::CLOCK_REALTIME_OFFSET => ClockSource::Realtime,
            _ => ClockSource::Unknown,
        },
        synchronised: settings.clock_synchronised != 0,
    }
}

/// Returns what daemons found out about the kernel.
pub fn parts_found(settings: &host_settings) -> PartsFound {
    PartsFound {
        tried: KernelParts::from_bits(settings.parts_tried),
        refused: KernelParts::from_bits(settings.parts_refused),
    }
}

/// Returns this host's node.
pub fn host_node(settings: &host_settings) -> HostNode {
    let id = NodeId(settings.node_id);
    match node_origin(settings.node_origin) {
        node_origin::NODE_DERIVED => HostNode::derived(id),
        _ => HostNode::given(id),
    }
}

/// The shared settings.
pub struct SharedSettings {
    map: Map<u32, host_settings>,
    features: Features,
}

impl SharedSettings {
    /// Wraps the map of programs that were just loaded.
    pub fn new(map: Map<u32, host_settings>, features: Features) -> Self {
        Self { map, features }
    }

    /// Returns the settings pinned on this host, if there are any.
    pub fn read_pinned(pins: &Pins) -> io::Result<Option<host_settings>> {
        match Map::<u32, host_settings>::open(&pins.map(HOST_SETTINGS))? {
            Some(map) => map.get(&0),
            None => Ok(None),
        }
    }

    fn change(&self, change: impl FnOnce(&mut host_settings)) -> io::Result<()> {
        let mut settings = self.map.get(&0)?.unwrap_or_default();
        change(&mut settings);
        log::debug(|| {
            format!(
                "writing the host's settings: node id {}, {} report ports, {} lease key, clock offset {} ns",
                settings.node_id,
                settings.report_port_count,
                if settings.has_lease_key == 0 {
                    "no"
                } else {
                    "a"
                },
                settings.clock_offset_ns
            )
        });
        self.map.set(&0, &settings)
    }

    /// Measures the offset between the clock that the programs read and the time since the Unix epoch, and stores it.
    pub fn refresh_clock(&self) -> io::Result<ClockState> {
        self.follow_clock(clock::discipline()?, None, None)
    }

    /// The same, given what a daemon lets answers to lease questions tell for a few seconds, and the error that is stated
    /// for the clock.
    pub fn follow_clock(
        &self,
        discipline: Discipline,
        told: Option<ReportedByDaemon>,
        stated_error_ns: Option<u32>,
    ) -> io::Result<ClockState> {
        let (offset, source) = if self.features.tai_clock {
            let offset = -i64::from(discipline.tai_offset_s) * 1_000_000_000;
            (offset, clock_source::CLOCK_TAI)
        } else {
            let offset = clock::monotonic_to_realtime_ns()?;
            (offset, clock_source::CLOCK_REALTIME_OFFSET)
        };
        let mut state = ClockState::default();
        self.change(|settings| {
            settings.clock_offset_ns = offset;
            settings.clock_source = source.0;
            settings.clock_synchronised = discipline.synchronised.into();
            settings.tai_offset_s = discipline.tai_offset_s;
            settings.clock_error_ns = stated_error_ns.unwrap_or(0).into();
            if let Some(told) = told {
                put_host_records(settings, told);
            }
            state = clock_state(settings);
        })?;
        Ok(state)
    }

    /// Lets answers to lease questions tell this for a few seconds.
    pub fn report(&self, found: ReportedByDaemon) -> io::Result<()> {
        self.change(|settings| put_host_records(settings, found))
    }

    /// What daemons of this host found out about the kernel.
    pub fn parts(&self) -> io::Result<PartsFound> {
        Ok(parts_found(&self.map.get(&0)?.unwrap_or_default()))
    }

    /// Keeps what a daemon found out about the kernel, for `hostint status`.
    pub fn note_parts(&self, found: PartsFound) -> io::Result<()> {
        self.change(|settings| {
            let mut all = parts_found(settings);
            all.add(found);
            settings.parts_tried = all.tried.bits();
            settings.parts_refused = all.refused.bits();
        })
    }

    /// This host's node, whose id packets are stamped with.
    pub fn node(&self) -> io::Result<HostNode> {
        Ok(host_node(&self.map.get(&0)?.unwrap_or_default()))
    }

    /// Reads the clock that stamps packets now, and the raw clock.
    pub fn read_clock(&self) -> io::Result<ClockPair> {
        let settings = self.map.get(&0)?.unwrap_or_default();
        match clock_source(settings.clock_source) {
            clock_source::CLOCK_TAI => clock::pair_of_tai(settings.clock_offset_ns),
            clock_source::CLOCK_REALTIME_OFFSET => {
                clock::pair_of_monotonic(settings.clock_offset_ns)
            }
            _ => clock::pair(),
        }
    }

    /// Sets this host's node id.
    pub fn set_node(&self, node: HostNode) -> io::Result<()> {
        self.change(|settings| put_node(settings, node))
    }

    /// Sets the key of lease messages, and the number that tells this host from others.
    pub fn set_lease_key(&self, key: Option<LeaseKey>) -> io::Result<()> {
        let instance = netns::instance()?;
        self.change(|settings| put_lease_key(settings, key, instance))
    }

    /// Sets the UDP destination ports of report traffic.
    pub fn set_report_ports(&self, ports: &[u16]) -> io::Result<()> {
        check_ports(ports)?;
        self.change(|settings| put_report_ports(settings, ports))
    }

    /// Sets the shares of flows, one in two to the power of these: those of this host that are tagged, and those to it that
    /// others are asked to tag; and what status tells of the budget.
    pub fn set_shares(&self, [own, asked]: [u32; 2], told: BudgetStatus) -> io::Result<()> {
        self.change(|settings| {
            settings.share_shift = own;
            settings.asked_shift = asked;
            settings.budget_ppm = told.allowed_ppm;
            settings.spent_ppm = told.spent_ppm;
            settings.step_ns = told.step_ns;
        })
    }

    /// The shares that were set last.
    pub fn shares(&self) -> io::Result<[u32; 2]> {
        let settings = self.map.get(&0)?.unwrap_or_default();
        Ok([settings.share_shift, settings.asked_shift])
    }

    /// The share of this host's flows.
    pub fn share_shift(&self) -> io::Result<u32> {
        Ok(self.shares()?[0])
    }

    /// Sets node id, report ports and lease key by one update of the map.
    pub fn apply(&self, node: HostNode, ports: &[u16], key: Option<LeaseKey>) -> io::Result<()> {
        let instance = netns::instance()?;
        check_ports(ports)?;
        self.change(|settings| {
            put_node(settings, node);
            put_report_ports(settings, ports);
            put_lease_key(settings, key, instance);
        })
    }
}

fn check_ports(ports: &[u16]) -> io::Result<()> {
    if ports.len() > MAX_REPORT_PORTS {
        return Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            format!("more than {MAX_REPORT_PORTS} different report ports"),
        ));
    }
    Ok(())
}

fn put_host_records(settings: &mut host_settings, told: ReportedByDaemon) {
    settings.clock_steering = told.steering.bits().into();
    settings.sends_strays = told.sends_strays.into();
    settings.told_until_ns = clock::monotonic_ns() + TOLD_NS;
}

fn put_node(settings: &mut host_settings, node: HostNode) {
    settings.node_id = node.id.0;
    settings.node_origin = match node.origin {
        NodeOrigin::Given => node_origin::NODE_GIVEN.0,
        NodeOrigin::Derived => node_origin::NODE_DERIVED.0,
    };
}

fn put_report_ports(settings: &mut host_settings, ports: &[u16]) {
    settings.report_port_count = ports.len() as u32;
    for (to, port) in settings.report_port.iter_mut().zip(ports) {
        *to = port.to_be();
    }
}

fn put_lease_key(settings: &mut host_settings, key: Option<LeaseKey>, instance: u64) {
    let bytes = key.unwrap_or_default().0;
    for (to, word) in settings.lease_key.iter_mut().zip(bytes.chunks_exact(8)) {
        *to = word
            .iter()
            .rev()
            .fold(0, |all, byte| all << 8 | u64::from(*byte));
    }
    settings.has_lease_key = key.is_some().into();
    settings.instance = instance;
}
