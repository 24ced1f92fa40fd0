//! The program that sees dropped packets: loaded, attached, set, and its counts and flows read.
//!
//! Nothing of it is pinned. No packet depends on the program, so it lives as long as its daemon: a daemon that ends
//! leaves nothing behind, one of another version shares nothing with it, and its counts begin with it.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;

use libbpf_rs::skel::SkelBuilder;
use libbpf_rs::{Link, MapHandle, OpenObject, OpenProgramMut, libbpf_sys};

use super::drop_reasons::{DropReasonNames, number_of, reported_by_tracepoint, slot_of};
use crate::config::DscpMark;
use crate::datapath::abi::drop_object::{DropSkel, DropSkelBuilder};
use crate::datapath::abi::{
    Abi, bytes_of, counter, drop_count, drop_counter, drop_event, drop_event_kind, drop_flow,
    drop_flow_flag, drop_key, drop_limit, drop_place_key, drop_settings, flow_key, read_from,
};
use crate::datapath::host::counters::packets;
use crate::datapath::host::tunnel;
use crate::datapath::kernel::load::{
    attach, load_object, program_fd, recursion_misses, size_flow_table,
};
use crate::datapath::kernel::maps::Map;
use crate::datapath::kernel::probe::Features;
use crate::datapath::kernel::token_rate::token_rate_of;
use crate::datapath::sink::event_ring::EventRing;
use crate::model::{
    DropCount, DropPosition, DropTotals, DroppedInt, FlowKey, HostDrop, KernelReason, NodeId,
    PacketPods, PlaceDrops, ReasonDrops, TunnelKind,
};
use crate::os::clock;

/// What the program is to do.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct DropPlan {
    /// The inode of the network namespace whose drops count; `None`: all.
    pub netns: Option<u32>,
    /// The reasons that are counted and not told.
    pub ignored: BTreeSet<u32>,
    /// The same, of packets to multicast and broadcast addresses.
    pub ignored_groups: BTreeSet<u32>,
    /// The same, of TCP segments that only acknowledge.
    pub ignored_acks: BTreeSet<u32>,
    /// The same, of ICMP packets, of which sockets get copies.
    pub ignored_copies: BTreeSet<u32>,
    /// The most new flows in a second; 0: no limit.
    pub max_new_flows: u64,
    /// The tunnels whose packets are known by the flow inside.
    pub tunnels: BTreeSet<TunnelKind>,
    /// Marks packets with INT over TCP or UDP.
    pub mark: DscpMark,
    /// UDP destination port of packets with INT behind an extra header.
    pub extension_port: u16,
}

/// The program, attached.
pub struct DropProgram {
    settings: Map<u32, drop_settings>,
    counters: Map<u32, counter>,
    reasons: Map<u32, drop_count>,
    places: Map<drop_place_key, drop_count>,
    flows: Map<drop_key, drop_flow>,
    events: MapHandle,
    program: OwnedFd,
    /// The program sees drops for as long as this lives.
    _link: Link,
}

/// An address in the kernel's code, with the drops there.
pub struct CountedPlace {
    pub address: u64,
    pub ifindex: u32,
    pub drops: PlaceDrops,
}

impl DropProgram {
    /// Loads the program that fits the kernel, sets it, and attaches it.
    ///
    /// # Errors
    /// If the kernel has no such tracepoint, does not describe its types, or refuses the program.
    pub fn attach(max_flows: u32, plan: &DropPlan) -> io::Result<Self> {
        let mut object = MaybeUninit::uninit();
        let (skel, kind) = load(&mut object, max_flows)?;
        let maps = &skel.maps;
        let settings = Map::of(&maps.drop_settings)?;
        settings.set(&0, &settings_of(plan)?)?;
        let program = match kind {
            2 => &skel.progs.see_drop_without_reason,
            3 => &skel.progs.see_drop_with_reason,
            _ => &skel.progs.see_drop_with_socket,
        };
        Ok(Self {
            settings,
            counters: Map::of(&maps.drop_counters)?,
            reasons: Map::of(&maps.drop_reasons)?,
            places: Map::of(&maps.drop_places)?,
            flows: Map::of(&maps.drop_flows)?,
            events: MapHandle::try_from(&maps.drop_events).map_err(io::Error::other)?,
            program: program_fd(program)?,
            _link: attach(program)?,
        })
    }

    /// Changes what the program does, at once.
    pub fn set(&self, plan: &DropPlan) -> io::Result<()> {
        self.settings.set(&0, &settings_of(plan)?)
    }

    /// The ring of new flows.
    pub fn events(&self) -> io::Result<EventRing> {
        EventRing::new(MapHandle::try_from(&self.events).map_err(io::Error::other)?)
    }

    /// Visits all flows, and removes those that had no drop for this time.
    pub fn sweep(&self, idle_ns: u64, mut visit: impl FnMut(HostDrop)) -> io::Result<()> {
        let offset = clock::wall_offset();
        let visit = |key: &drop_key, flow: &drop_flow| visit(host_drop(key, flow, offset));
        self.flows.sweep_flows(idle_ns, |flow| flow.last_ns, visit)
    }

    fn count(&self, index: drop_counter) -> io::Result<u64> {
        packets(&self.counters, index.0)
    }

    /// All counts since the program was attached, with those of these places, whose names are the caller's to add.
    pub fn totals(
        &self,
        names: &DropReasonNames,
        plan: &DropPlan,
        places: &[CountedPlace],
    ) -> io::Result<DropTotals> {
        use drop_counter as C;
        let mut totals = DropTotals {
            ignored: self.count(C::COUNT_DROP_IGNORED)?,
            no_flow: self.count(C::COUNT_DROP_NO_FLOW)?,
            flow_limited: self.count(C::COUNT_DROP_FLOW_LIMITED)?,
            places_full: self.count(C::COUNT_DROP_PLACES_FULL)?,
            events_lost: self.count(C::COUNT_DROP_EVENT_LOST)?,
            missed: recursion_misses(&self.program)?,
            ..DropTotals::default()
        };
        // Packets of the same reason may be a loss or none.
        let mut sums: BTreeMap<(u32, bool), DropCount> = BTreeMap::new();
        for PlaceDrops {
            reason,
            ignored,
            count,
            ..
        } in places.iter().map(|place| &place.drops)
        {
            let id = (reason.number, *ignored);
            sums.entry(id).or_default().add(*count);
        }
        // What had no room by place.
        if totals.places_full > 0 {
            for slot in 0..drop_limit::DROP_REASON_SLOTS.0 {
                let count = sum(&self.reasons, &slot)?;
                let number = number_of(slot);
                let id = (number, plan.ignored.contains(&number));
                sums.entry(id).or_default().add(count);
            }
        }
        for ((number, ignored), count) in sums.into_iter().filter(|(_, count)| count.packets > 0) {
            totals.seen += count.packets;
            totals.reasons.push(ReasonDrops {
                reason: names.reason(number),
                ignored,
                count,
            });
        }
        totals
            .reasons
            .sort_by_key(|one| std::cmp::Reverse(one.count.packets));
        Ok(totals)
    }

    /// The counts of each place, most packets first.
    pub fn places(&self, names: &DropReasonNames) -> io::Result<Vec<CountedPlace>> {
        let mut found = Vec::new();
        let keys: Vec<drop_place_key> = self.places.keys().collect();
        for key in keys {
            found.push(CountedPlace {
                address: key.place,
                ifindex: key.ifindex,
                drops: PlaceDrops {
                    reason: names.reason(key.reason),
                    place: None,
                    interface: None,
                    netns: key.netns,
                    tagged_by: (key.tagged != 0).then_some(NodeId(key.source_node)),
                    ignored: key.ignored != 0,
                    count: sum(&self.places, &key)?,
                },
            });
        }
        found.sort_by_key(|one| std::cmp::Reverse(one.drops.count.packets));
        Ok(found)
    }
}

/// Loads the program and releases it, to find out whether this kernel takes it.
pub fn try_to_load() -> io::Result<()> {
    load(&mut MaybeUninit::uninit(), 1).map(drop)
}

/// Loads the program that fits the kernel. Returns how many values the kernel's tracepoint tells it.
fn load(object: &mut MaybeUninit<OpenObject>, max_flows: u32) -> io::Result<(DropSkel<'_>, u32)> {
    let kind = reported_by_tracepoint().ok_or_else(|| {
        io::Error::new(
            io::ErrorKind::Unsupported,
            "the kernel does not describe its tracepoint of drops: that takes Linux 5.5 with BTF \
             (CONFIG_DEBUG_INFO_BTF)",
        )
    })?;
    let mut open = DropSkelBuilder::default()
        .open(object)
        .map_err(io::Error::other)?;
    let programs = &mut open.progs;
    let choose = |program: &mut OpenProgramMut<'_>, fits: bool| program.set_autoload(fits);
    choose(&mut programs.see_drop_without_reason, kind == 2);
    choose(&mut programs.see_drop_with_reason, kind == 3);
    choose(&mut programs.see_drop_with_socket, kind >= 4);
    size_flow_table(&mut open.maps.drop_flows, max_flows)?;
    // From 6.1 on memory for a place can be taken wherever packets are dropped.
    if Features::probe().tai_clock {
        let places = &mut open.maps.drop_places;
        let flags = places.map_flags() | libbpf_sys::BPF_F_NO_PREALLOC;
        places.set_map_flags(flags).map_err(io::Error::other)?;
    }
    Ok((load_object(open)?, kind))
}

/// Reads an event of the ring. Returns `None` for bytes that are none.
pub fn read_event(bytes: &[u8]) -> Option<HostDrop> {
    let event = read_from::<drop_event>(bytes)?;
    (event.kind == drop_event_kind::EVENT_DROP.0)
        .then(|| host_drop(&event.key, &event.flow, clock::wall_offset()))
}

fn settings_of(plan: &DropPlan) -> io::Result<drop_settings> {
    let mut settings = drop_settings {
        netns: plan.netns.unwrap_or_default(),
        extension_port: plan.extension_port.to_be(),
        tos_value: plan.mark.tos_value(),
        tos_mask: plan.mark.tos_mask(),
        tunnels: tunnel::bits(&plan.tunnels),
        ..Default::default()
    };
    set_slots(&mut settings.ignored, &plan.ignored);
    set_slots(&mut settings.ignored_groups, &plan.ignored_groups);
    set_slots(&mut settings.ignored_acks, &plan.ignored_acks);
    set_slots(&mut settings.ignored_copies, &plan.ignored_copies);
    (settings.new_flow_interval_ns, settings.new_flow_burst_ns) =
        token_rate_of(plan.max_new_flows)?;
    Ok(settings)
}

fn set_slots(words: &mut [u64], reasons: &BTreeSet<u32>) {
    for slot in reasons.iter().map(|reason| slot_of(*reason)) {
        if let Some(word) = words.get_mut(slot as usize / 64) {
            *word |= 1 << (slot % 64);
        }
    }
}

fn sum<K: Abi>(map: &Map<K, drop_count>, key: &K) -> io::Result<DropCount> {
    let mut all = DropCount::default();
    for cpu in map.get_per_cpu(key)? {
        all.add(DropCount {
            packets: cpu.packets,
            segments: cpu.segments,
            bytes: cpu.bytes,
        });
    }
    Ok(all)
}

fn host_drop(key: &drop_key, flow: &drop_flow, wall_offset: u64) -> HostDrop {
    let no_key = flow_key::default();
    let is_known = bytes_of(&flow.before_nat) != bytes_of(&no_key);
    let other = is_known.then(|| FlowKey::from(&flow.before_nat));
    let (flow_before_nat, tunnel) = tunnel::known_by(key.tunnel, key.tunnel_id, other);
    HostDrop {
        flow: FlowKey::from(&key.flow),
        flow_before_nat,
        tunnel,
        reason: KernelReason {
            number: key.reason,
            name: None,
        },
        place: None,
        in_interface: None,
        out_interface: None,
        in_ifindex: flow.in_ifindex,
        out_ifindex: flow.out_ifindex,
        pods: PacketPods::default(),
        count: DropCount {
            packets: flow.packets,
            segments: flow.segments,
            bytes: flow.bytes,
        },
        first_ns: flow.first_ns.wrapping_add(wall_offset),
        last_ns: flow.last_ns.wrapping_add(wall_offset),
        age_ns: (flow.age_ns != drop_limit::DROP_AGE_UNKNOWN.0).then_some(flow.age_ns),
        queue_packets: flow.queue_packets,
        queue_bytes: flow.queue_bytes,
        superpacket: flow.flags & drop_flow_flag::DROP_SUPERPACKET.0 != 0,
        netns: key.netns,
        cgroup: (flow.cgroup != 0).then_some(flow.cgroup),
        position: DropPosition::Apart,
        int: (key.tagged != 0).then_some(DroppedInt {
            source: NodeId(key.source_node),
            sequence: flow.sequence,
        }),
        ifindex: key.ifindex,
        place_address: flow.place,
    }
}
