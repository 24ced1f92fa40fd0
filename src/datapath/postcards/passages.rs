//! The programs that time packets through the host: loaded, attached, set, and their times and flows read.
//!
//! Nothing of them is pinned, and a daemon that ends takes its programs with it. Where the kernel has no links for TC
//! programs (before 6.6), filters of a daemon that was killed stay until the next one; they stamp nothing by then.

use std::collections::BTreeSet;
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
use std::time::Duration;

use libbpf_rs::skel::SkelBuilder;
use libbpf_rs::{Link, MapHandle};

use super::interface_passages::Passages;
use super::passage_hooks::PassageHooks;
pub use super::passage_plan::PassagePlan;
use super::passage_plan::settings_of;
use crate::datapath::abi::passage_object::{PassageSkel, PassageSkelBuilder};
use crate::datapath::abi::{
    bytes_of_all, counter, flow_key, hop_counter, hop_device, hop_event, hop_event_kind, hop_flow,
    hop_flow_flag, hop_interface, hop_key, hop_news, hop_setting, hop_settings, read_from,
};
use crate::datapath::host::counters::packets;
use crate::datapath::host::tunnel;
use crate::datapath::kernel::load::{
    attach, attach_to_cgroup, load_object, program_fd, recursion_misses, size_flow_table,
    without_refused,
};
use crate::datapath::kernel::maps::Map;
use crate::datapath::kernel::probe::{Features, has_packet_stamps};
use crate::datapath::sink::event_ring::EventRing;
use crate::datapath::watch::{Watchlist, room_for, size_watchlist, watchlist_of};
use crate::model::{
    FlowKey, FlowPassage, KernelPart, KernelParts, PacketPods, PartsFound, PassageReason,
    PassageStart, PassageTotals, SOCKETS_IFINDEX, WatchRule,
};
use crate::os::{clock, log};

/// The programs stamp packets for this time after the daemon said last that it lives.
const STAMPED_FOR: Duration = Duration::from_secs(10);

const _: () = assert!(SOCKETS_IFINDEX == hop_interface::HOP_SOCKETS.0);

/// The size of a table that is not used.
const LEAST_ENTRIES: u32 = 64;

/// The programs, attached.
pub struct PassagePrograms {
    settings: Map<u32, hop_settings>,
    devices: Map<u32, u32>,
    /// Those that are stacked on others.
    stacked: BTreeSet<u32>,
    counters: Map<u32, counter>,
    passages: Passages,
    flows: Map<hop_key, hop_flow>,
    list: Watchlist,
    events: MapHandle,
    set: hop_settings,
    /// The program behind the queue.
    program: OwnedFd,
    hooks: PassageHooks,
    found: PartsFound,
    /// Packets that leave are timed for as long as this lives, and those that sockets take.
    _links: Vec<Link>,
}

impl PassagePrograms {
    /// Loads the programs, and sets them. They time nothing without interfaces.
    ///
    /// # Errors
    /// If the kernel cannot let packets carry a stamp, or refuses a program.
    pub fn start(max_flows: u32, plan: &PassagePlan) -> io::Result<Self> {
        let sockets = plan.sockets.as_ref().map(|_| KernelPart::SocketPassages);
        let tried: KernelParts = sockets.into_iter().collect();
        let (programs, _) = without_refused(&OPTIONAL, |refused| {
            Self::start_parts(max_flows, plan, PartsFound { tried, refused })
        })?;
        Ok(programs)
    }

    /// What the kernel gives besides.
    pub fn found(&self) -> PartsFound {
        self.found
    }

    fn start_parts(max_flows: u32, plan: &PassagePlan, found: PartsFound) -> io::Result<Self> {
        let times_local = found.gives(KernelPart::SocketPassages);
        let mut object = MaybeUninit::uninit();
        let rules = plan.rules.as_deref().unwrap_or_default();
        let skel = load(&mut object, max_flows, rules, times_local)?;
        let maps = &skel.maps;
        let [arrives, queued, sent] = [
            program_fd(&skel.progs.hop_in)?,
            program_fd(&skel.progs.hop_queue)?,
            program_fd(&skel.progs.hop_out)?,
        ];
        let mut links = vec![attach(&skel.progs.hop_out)?];
        if let Some(folder) = plan.sockets.as_ref().filter(|_| times_local) {
            links.push(attach_to_cgroup(&skel.progs.hop_socket, folder)?);
        }
        let mut programs = Self {
            settings: Map::of(&maps.hop_settings)?,
            devices: Map::of(&maps.hop_devices)?,
            stacked: BTreeSet::new(),
            counters: Map::of(&maps.hop_counters)?,
            passages: Passages::new(Map::of(&maps.hop_times)?),
            flows: Map::of(&maps.hop_flows)?,
            list: watchlist_of!(maps),
            events: MapHandle::try_from(&maps.hop_events).map_err(io::Error::other)?,
            set: hop_settings::default(),
            program: sent,
            hooks: PassageHooks::new(arrives, queued),
            found,
            _links: links,
        };
        programs.set(plan)?;
        Ok(programs)
    }

    /// Times the packets of an interface, too.
    ///
    /// # Errors
    /// If the interface is gone, or there is no room for it. It is as if it had not been asked for then.
    pub fn add(&mut self, ifindex: u32) -> io::Result<()> {
        self.devices.set(&ifindex, &hop_device::HOP_DEVICE.0)?;
        self.stacked.remove(&ifindex);
        self.hooks
            .attach(ifindex)
            .inspect_err(|_| self.devices_without(ifindex))
    }

    /// Times the packets of an interface no more. It may be gone.
    pub fn remove(&mut self, ifindex: u32) {
        self.devices_without(ifindex);
        self.stacked.remove(&ifindex);
        self.hooks.detach(ifindex);
        self.passages.note_gone(ifindex);
    }

    /// Says whether an interface is stacked on another one whose packets are timed, where its own are counted then.
    pub fn set_stacked(&mut self, ifindex: u32, is_stacked: bool) -> io::Result<()> {
        if self.stacked.contains(&ifindex) == is_stacked {
            return Ok(());
        }
        let device = match is_stacked {
            true => hop_device::HOP_STACKED,
            false => hop_device::HOP_DEVICE,
        };
        self.devices.set(&ifindex, &device.0)?;
        match is_stacked {
            true => self.stacked.insert(ifindex),
            false => self.stacked.remove(&ifindex),
        };
        Ok(())
    }

    fn devices_without(&self, ifindex: u32) {
        if let Err(err) = self.devices.remove(&ifindex) {
            log::debug(|| format!("interface {ifindex} stays in the table: {err}"));
        }
    }

    pub fn has(&self, ifindex: u32) -> bool {
        self.hooks.has(ifindex)
    }

    /// The number of interfaces whose packets are timed.
    pub fn interfaces(&self) -> usize {
        self.hooks.len()
    }

    /// The interfaces that lack a program, because something else took it off.
    pub fn wiped(&self) -> io::Result<Vec<u32>> {
        let mut found = Vec::new();
        for ifindex in self.hooks.interfaces() {
            if !self.hooks.is_whole(ifindex)? {
                found.push(ifindex);
            }
        }
        Ok(found)
    }

    /// Makes room for the times of other interfaces than those that are gone.
    pub fn forget_gone(&mut self) -> io::Result<()> {
        let hooks = &self.hooks;
        self.passages.fold(|ifindex| is_here(hooks, ifindex))
    }

    /// Changes what the programs do.
    ///
    /// # Errors
    /// There is no room for the rules. Those in use stay.
    pub fn set(&mut self, plan: &PassagePlan) -> io::Result<()> {
        self.list
            .replace(plan.rules.as_deref().unwrap_or_default())?;
        self.set = settings_of(plan)?;
        if self.found.refused.contains(KernelPart::SocketPassages) {
            self.set.flags &= !hop_setting::HOP_LOCAL.0;
        }
        self.live()
    }

    /// Says that the daemon lives, without which the programs stop stamping after a while.
    pub fn live(&mut self) -> io::Result<()> {
        self.set.until_ns = clock::monotonic_ns() + STAMPED_FOR.as_nanos() as u64;
        self.settings.set(&0, &self.set)
    }

    /// The ring of flows with news.
    pub fn events(&self) -> io::Result<EventRing> {
        EventRing::new(MapHandle::try_from(&self.events).map_err(io::Error::other)?)
    }

    /// Visits all flows, and removes those that had no packet for this time.
    pub fn sweep(&self, idle_ns: u64, mut visit: impl FnMut(FlowPassage)) -> io::Result<()> {
        let offset = clock::wall_offset();
        let visit = |key: &hop_key, flow: &hop_flow| {
            visit(host_hop(key, flow, vec![PassageReason::Period], offset));
        };
        self.flows.sweep_flows(idle_ns, |flow| flow.last_ns, visit)
    }

    /// All counts since the programs were attached. Names are the caller's to add.
    pub fn totals(&self) -> io::Result<PassageTotals> {
        use hop_counter as C;
        let count = |index: C| packets(&self.counters, index.0);
        Ok(PassageTotals {
            passages: self
                .passages
                .read(|ifindex| is_here(&self.hooks, ifindex))?,
            stamped: count(C::COUNT_HOP_STAMPED)?,
            has_departure: count(C::COUNT_HOP_HAS_DEPARTURE)?,
            other_clock: count(C::COUNT_HOP_OTHER_CLOCK)?,
            not_forwarded: count(C::COUNT_HOP_NOT_FORWARDED)?,
            unwatched: count(C::COUNT_HOP_UNWATCHED)?,
            clock: count(C::COUNT_HOP_CLOCK)?,
            unread: count(C::COUNT_HOP_UNREAD)?,
            refused: count(C::COUNT_HOP_REFUSED)?,
            flow_limited: count(C::COUNT_HOP_FLOW_LIMITED)?,
            times_full: count(C::COUNT_HOP_TIMES_FULL)?,
            events_lost: count(C::COUNT_HOP_EVENT_LOST)?,
            local: count(C::COUNT_HOP_LOCAL)?,
            missed: recursion_misses(&self.program)?,
            ..PassageTotals::default()
        })
    }
}

/// Sockets do not go.
fn is_here(hooks: &PassageHooks, ifindex: u32) -> bool {
    ifindex == SOCKETS_IFINDEX || hooks.has(ifindex)
}

/// Loads the programs and releases them, to find out whether this kernel takes them.
pub fn try_to_load() -> io::Result<PartsFound> {
    let tried = KernelParts::from_iter([KernelPart::SocketPassages]);
    let ((), refused) = without_refused(&OPTIONAL, |refused| {
        let found = PartsFound { tried, refused };
        let times_local = found.gives(KernelPart::SocketPassages);
        load(&mut MaybeUninit::uninit(), 1, &[], times_local).map(drop)
    })?;
    Ok(PartsFound { tried, refused })
}

/// The program that can be left out.
const OPTIONAL: [(&str, KernelPart); 1] = [("hop_socket", KernelPart::SocketPassages)];

fn load<'o>(
    object: &'o mut MaybeUninit<libbpf_rs::OpenObject>,
    max_flows: u32,
    rules: &[WatchRule],
    times_local: bool,
) -> io::Result<PassageSkel<'o>> {
    let features = Features::probe();
    if !has_packet_stamps() {
        return Err(io::Error::new(
            io::ErrorKind::Unsupported,
            "packets cannot carry the time of their arrival through this kernel: that takes Linux 5.18",
        ));
    }
    let mut open = PassageSkelBuilder::default()
        .open(object)
        .map_err(io::Error::other)?;
    if let Some(constants) = open.maps.rodata_data.as_deref_mut() {
        constants.have_kernel_ctx = features.kernel_ctx;
        constants.have_kernel_reads = features.kernel_reads;
    }
    size_flow_table(&mut open.maps.hop_flows, max_flows)?;
    size_watchlist!(open.maps, rules);
    open.progs.hop_socket.set_autoload(times_local);
    if !times_local {
        let least = open.maps.hop_local.set_max_entries(LEAST_ENTRIES);
        least.map_err(io::Error::other)?;
    }
    load_object(open)
}

/// Reads an event of the ring. Returns `None` for bytes that are none.
pub fn read_event(bytes: &[u8]) -> Option<FlowPassage> {
    let event = read_from::<hop_event>(bytes)?;
    if event.kind != hop_event_kind::EVENT_HOP.0 {
        return None;
    }
    let reasons = [
        (hop_news::HOP_NEW, PassageReason::New),
        (hop_news::HOP_OTHER_PORTS, PassageReason::Ports),
        (hop_news::HOP_STEP, PassageReason::Latency),
    ];
    let reasons = reasons
        .into_iter()
        .filter(|(bit, _)| event.news & bit.0 != 0);
    let reasons = reasons.map(|(_, reason)| reason).collect();
    let offset = clock::wall_offset();
    Some(host_hop(&event.key, &event.flow, reasons, offset))
}

/// There are as many words as the key has.
fn flow_of_words(words: &[u32]) -> flow_key {
    read_from(bytes_of_all(words)).unwrap_or_default()
}

fn host_hop(
    key: &hop_key,
    flow: &hop_flow,
    reasons: Vec<PassageReason>,
    offset: u64,
) -> FlowPassage {
    let is_known = flow.before_nat.iter().any(|word| *word != 0);
    let other = is_known.then(|| FlowKey::from(&flow_of_words(&flow.before_nat)));
    let (flow_before_nat, tunnel) = tunnel::known_by(key.tunnel, key.tunnel_id, other);
    FlowPassage {
        flow: FlowKey::from(&flow_of_words(&key.flow)),
        flow_before_nat,
        tunnel,
        reasons,
        start: match flow.flags & hop_flow_flag::HOP_FROM_SENDER.0 {
            0 => PassageStart::Interface,
            _ => PassageStart::Sender,
        },
        in_interface: None,
        out_interface: None,
        in_ifindex: flow.in_ifindex,
        out_ifindex: flow.out_ifindex,
        pods: PacketPods::default(),
        packets: flow.packets,
        bytes: flow.bytes,
        first_ns: flow.first_ns.wrapping_add(offset),
        last_ns: flow.last_ns.wrapping_add(offset),
        hop_ns: flow.last_hop_ns,
        mean_hop_ns: u32::try_from(flow.sum_ns / flow.packets.max(1)).unwrap_or(u32::MAX),
        max_hop_ns: flow.max_hop_ns,
    }
}
