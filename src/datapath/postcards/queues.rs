//! The programs that watch queues: loaded, attached, given rules, and their states and events read.
//!
//! Nothing of them is pinned: they live as long as their daemon, and their counts begin with it.

use std::collections::BTreeMap;
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;

use libbpf_rs::skel::SkelBuilder;
use libbpf_rs::{Link, MapHandle, OpenObject};

use crate::datapath::abi::queue_object::{QueueSkel, QueueSkelBuilder};
use crate::datapath::abi::{
    bytes_of_all, counter, flow_key, queue_counter, queue_episode, queue_event, queue_event_kind,
    queue_key, queue_limit, queue_measure, queue_rule, queue_state, queue_what, read_from,
};
use crate::datapath::host::counters::packets;
use crate::datapath::kernel::load::{
    attach, load_object, program_fd, recursion_misses, without_refused,
};
use crate::datapath::kernel::maps::Map;
use crate::datapath::sink::event_ring::EventRing;
use crate::model::{
    FlowKey, KernelPart, KernelParts, PartsFound, QueueEpisode, QueueFigures, QueueFlow,
    QueueLimits, QueueMeasure, QueuePacket, QueueTotals,
};
use crate::os::clock;

/// The most rules: one for each interface and for each queue with a rule of its own.
pub const MOST_RULES: usize = queue_limit::QUEUE_RULES.0 as usize;

/// What is asked of the queues of interfaces, by index and by queue; `None` stands for all other queues of the interface.
pub type QueueRules = BTreeMap<(u32, Option<u32>), QueueLimits>;

/// The programs, attached.
pub struct QueuePrograms {
    rules: Map<queue_key, queue_rule>,
    states: Map<queue_key, queue_state>,
    counters: Map<u32, counter>,
    events: MapHandle,
    /// The inode of the network namespace of the interfaces.
    netns: u32,
    /// The rules as the programs have them.
    ruled: QueueRules,
    /// The programs at both ends of a queue; without rules by time there is one.
    programs: Vec<OwnedFd>,
    /// Packets are seen for as long as these live.
    links: Vec<Link>,
    found: PartsFound,
}

/// An event: what happened, with the packet's flow if it is reported, and the episode as it was then.
pub struct QueueNews {
    /// The flow of the packet that is reported, with its bytes; packets that are not IP have none.
    pub flow: Option<QueueFlow>,
    /// That packet.
    pub packet: Option<QueuePacket>,
    pub episode: QueueEpisode,
}

impl QueuePrograms {
    /// Loads the programs and attaches them. They watch nothing without rules.
    ///
    /// # Errors
    /// If the kernel has no such tracepoint, or refuses a program.
    pub fn start(netns: u32, by_time: bool) -> io::Result<Self> {
        let tried: KernelParts = by_time
            .then_some(KernelPart::QueueEntries)
            .into_iter()
            .collect();
        let (mut programs, refused) = without_refused(&OPTIONAL, |refused| {
            Self::start_parts(netns, tried.without(refused))
        })?;
        programs.found = PartsFound { tried, refused };
        Ok(programs)
    }

    fn start_parts(netns: u32, parts: KernelParts) -> io::Result<Self> {
        let by_time = parts.contains(KernelPart::QueueEntries);
        let mut object = MaybeUninit::uninit();
        let skel = load(&mut object, by_time)?;
        let maps = &skel.maps;
        let mut programs = Self {
            rules: Map::of(&maps.queue_rules)?,
            states: Map::of(&maps.queue_states)?,
            counters: Map::of(&maps.queue_counters)?,
            events: MapHandle::try_from(&maps.queue_events).map_err(io::Error::other)?,
            netns,
            ruled: QueueRules::new(),
            programs: Vec::new(),
            links: Vec::new(),
            found: PartsFound::default(),
        };
        if by_time {
            let enters = &skel.progs.queue_in;
            programs.programs.push(program_fd(enters)?);
            programs.links.push(attach(enters)?);
        }
        let leaves = &skel.progs.queue_out;
        programs.programs.push(program_fd(leaves)?);
        programs.links.push(attach(leaves)?);
        Ok(programs)
    }

    /// What the kernel gives besides.
    pub fn found(&self) -> PartsFound {
        self.found
    }

    /// True if packets are timed.
    pub fn sees_times(&self) -> bool {
        self.links.len() > 1
    }

    /// Goes on with these rules. Queues without one are forgotten.
    pub fn set(&mut self, rules: QueueRules) -> io::Result<()> {
        if rules == self.ruled {
            return Ok(());
        }
        for ((ifindex, queue), limits) in &rules {
            if self.ruled.get(&(*ifindex, *queue)) != Some(limits) {
                let rule = rule_of(limits, self.netns);
                self.rules.set(&key_of(*ifindex, *queue), &rule)?;
            }
        }
        let gone = self.ruled.keys().filter(|key| !rules.contains_key(key));
        for (ifindex, queue) in gone {
            self.rules.remove(&key_of(*ifindex, *queue))?;
        }
        self.ruled = rules;
        let ruled = &self.ruled;
        self.states
            .remove_where(|key| limits_of(ruled, key).is_none())
    }

    /// The ring of packets over the trigger.
    pub fn events(&self) -> io::Result<EventRing> {
        EventRing::new(MapHandle::try_from(&self.events).map_err(io::Error::other)?)
    }

    /// Reads an event of the ring. Returns `None` for bytes that are none, and for queues that are not watched any more.
    pub fn read_event(&self, bytes: &[u8], wall_offset: u64) -> Option<QueueNews> {
        let event = read_from::<queue_event>(bytes)?;
        if event.kind != queue_event_kind::EVENT_QUEUE.0 {
            return None;
        }
        let limits = limits_of(&self.ruled, &event.key)?;
        let told = [queue_what::QUEUE_OVER.0, queue_what::QUEUE_SAMPLE.0];
        let has_flow = told.contains(&event.what) && event.flow.iter().any(|word| *word != 0);
        let key = read_from::<flow_key>(bytes_of_all(&event.flow)).filter(|_| has_flow);
        let flow = key.map(|key| FlowKey::from(&key));
        let episode = episode_of(&event.key, &event.episode, limits, wall_offset);
        Some(QueueNews {
            flow: flow.map(|flow| QueueFlow {
                flow,
                packets: 1,
                bytes: event.bytes.into(),
            }),
            packet: flow.map(|flow| QueuePacket {
                flow,
                ifindex: event.key.ifindex,
                queue: event.key.queue,
                left_ns: episode.last_ns,
                wait_ns: episode.max_time_ns.map(|_| event.time_ns),
                queue_packets: event.queue_packets,
                queue_bytes: event.queue_bytes,
                episode: episode.episode,
                suppressed: episode.suppressed,
                drops: episode.drops,
            }),
            episode,
        })
    }

    /// All queues, each with its newest episode if it had one.
    pub fn queues(&self) -> io::Result<Vec<(QueueFigures, Option<QueueEpisode>)>> {
        let offset = clock::wall_offset();
        let mut found = Vec::new();
        self.states.for_each(|key, state| {
            let Some(limits) = limits_of(&self.ruled, &key) else {
                return;
            };
            let newest = &state.episode;
            let episode = (newest.begin_ns > 0).then(|| episode_of(&key, newest, limits, offset));
            found.push((figures_of(&key, &state, limits), episode));
        })?;
        Ok(found)
    }

    /// All counts since the programs were attached. Names are the caller's to add.
    pub fn totals(&self) -> io::Result<QueueTotals> {
        use queue_counter as C;
        let count = |index: C| packets(&self.counters, index.0);
        let mut queues: Vec<QueueFigures> = Vec::new();
        queues.extend(self.queues()?.into_iter().map(|(figures, _)| figures));
        queues.sort_by_key(|one| (std::cmp::Reverse(one.over_ns), one.ifindex, one.queue));
        let missed = self.programs.iter().map(recursion_misses);
        Ok(QueueTotals {
            queues,
            events_lost: count(C::COUNT_QUEUE_EVENT_LOST)?,
            no_room: count(C::COUNT_QUEUE_NO_STATE)?,
            untimed: count(C::COUNT_QUEUE_UNTIMED)?,
            no_backlog: count(C::COUNT_QUEUE_NO_BACKLOG)?,
            beyond_bulk: count(C::COUNT_QUEUE_BEYOND)?,
            missed: missed.sum::<io::Result<u64>>()?,
            ..QueueTotals::default()
        })
    }
}

/// Loads the programs and releases them, to find out whether this kernel takes them.
pub fn try_to_load() -> io::Result<PartsFound> {
    let tried = KernelParts::from_iter([KernelPart::QueueEntries]);
    let ((), refused) = without_refused(&OPTIONAL, |refused| {
        let found = PartsFound { tried, refused };
        let by_time = found.gives(KernelPart::QueueEntries);
        load(&mut MaybeUninit::uninit(), by_time).map(drop)
    })?;
    Ok(PartsFound { tried, refused })
}

/// The program that can be left out: rules by time are of no effect then.
const OPTIONAL: [(&str, KernelPart); 1] = [("queue_in", KernelPart::QueueEntries)];

fn load(object: &mut MaybeUninit<OpenObject>, by_time: bool) -> io::Result<QueueSkel<'_>> {
    let mut open = QueueSkelBuilder::default()
        .open(object)
        .map_err(io::Error::other)?;
    open.progs.queue_in.set_autoload(by_time);
    load_object(open)
}

fn key_of(ifindex: u32, queue: Option<u32>) -> queue_key {
    queue_key {
        ifindex,
        queue: queue.unwrap_or(queue_limit::QUEUE_ALL.0),
    }
}

/// What is asked of a queue: its own rule comes before that of its interface.
fn limits_of(rules: &QueueRules, key: &queue_key) -> Option<QueueLimits> {
    let own = rules.get(&(key.ifindex, Some(key.queue)));
    own.or_else(|| rules.get(&(key.ifindex, None))).copied()
}

fn rule_of(limits: &QueueLimits, netns: u32) -> queue_rule {
    queue_rule {
        trigger: limits.trigger,
        reset: limits.reset,
        quota: limits.quota,
        netns,
        measure: match limits.measure {
            QueueMeasure::Time => queue_measure::QUEUE_BY_TIME.0,
            QueueMeasure::Bytes => queue_measure::QUEUE_BY_BYTES.0,
        },
        zero: 0,
    }
}

fn episode_of(
    key: &queue_key,
    told: &queue_episode,
    limits: QueueLimits,
    offset: u64,
) -> QueueEpisode {
    QueueEpisode {
        interface: None,
        ifindex: key.ifindex,
        queue: key.queue,
        handle: told.handle,
        limits,
        episode: told.number,
        begin_ns: told.begin_ns.wrapping_add(offset),
        last_ns: told.last_ns.wrapping_add(offset),
        end_ns: (told.end_ns > 0).then(|| told.end_ns.wrapping_add(offset)),
        packets: told.packets,
        bytes: told.bytes,
        told: told.told,
        suppressed: told.suppressed,
        drops: told.drops,
        max_bytes: told.max_bytes,
        max_packets: told.max_packets,
        max_time_ns: (limits.measure == QueueMeasure::Time).then_some(told.max_time_ns),
        flows: Vec::new(),
    }
}

fn figures_of(key: &queue_key, state: &queue_state, limits: QueueLimits) -> QueueFigures {
    let newest = &state.episode;
    let is_over = newest.begin_ns > 0 && newest.end_ns == 0;
    // Up to the last packet over the trigger, so that the sum never falls: the end may be shortly behind it.
    let present_ns = match is_over {
        true => newest.last_ns.saturating_sub(newest.begin_ns),
        false => 0,
    };
    QueueFigures {
        interface: None,
        ifindex: key.ifindex,
        queue: key.queue,
        limits,
        packets: state.packets,
        bytes: state.bytes,
        episodes: state.episodes,
        is_over,
        over_ns: state.ended_ns + present_ns,
        packets_over: state.over,
        packets_told: state.told,
        packets_suppressed: state.suppressed,
        drops: state.drops + if is_over { newest.drops } else { 0 },
        max_bytes: state.max_bytes,
        max_time_ns: state.max_time_ns,
    }
}
