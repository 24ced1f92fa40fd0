//! The episodes of queues that go on, or whose end is to be reported, with the flows of their packets.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use super::reported_flows::ReportedFlows;
use crate::model::{EpisodeId, FlowKey, MOST_QUEUE_FLOWS, QueueEpisode, QueueFlow, QueuePacket};

/// The most episodes that are known at a time. There is one for each queue, and those that ended lately.
const MOST: usize = 4096;

/// A queue of an interface.
type Queue = (u32, u32);

/// What is known of an episode.
struct KnownEpisode {
    episode: QueueEpisode,
    /// Packets and bytes of each flow that was reported.
    flows: HashMap<FlowKey, (u64, u64)>,
}

impl KnownEpisode {
    /// Takes over what is newer. The times of an episode stay where its begin was first seen, whatever is done to the
    /// host's clock meanwhile.
    fn update(&mut self, mut newer: QueueEpisode) {
        let shift = self.episode.begin_ns.wrapping_sub(newer.begin_ns);
        if newer.progress() < self.episode.progress() {
            return;
        }
        newer.begin_ns = self.episode.begin_ns;
        newer.last_ns = newer.last_ns.wrapping_add(shift);
        newer.end_ns = newer.end_ns.map(|ns| ns.wrapping_add(shift));
        self.episode = newer;
    }

    /// The episode with its flows, those with most bytes.
    fn reported(&self) -> QueueEpisode {
        let flows = self.flows.iter();
        let mut flows: Vec<QueueFlow> = flows
            .map(|(flow, (packets, bytes))| QueueFlow {
                flow: *flow,
                packets: *packets,
                bytes: *bytes,
            })
            .collect();
        flows.sort_by_key(|one| (std::cmp::Reverse((one.bytes, one.packets)), one.flow));
        flows.truncate(MOST_QUEUE_FLOWS);
        QueueEpisode {
            flows,
            ..self.episode.clone()
        }
    }
}

/// Episodes to tell: those with news, and those whose end is told to collectors once more.
#[derive(Default)]
pub struct DueEpisodes {
    pub news: Vec<QueueEpisode>,
    pub again: Vec<QueueEpisode>,
    /// Packets of episodes, for standard reports.
    pub packets: Vec<QueuePacket>,
}

/// The table of episodes.
pub struct Episodes {
    known: HashMap<EpisodeId, KnownEpisode>,
    /// The newest episode of each queue that was told to its end.
    done: HashMap<Queue, u64>,
    reported: ReportedFlows<EpisodeId>,
    /// Episodes that found no room here.
    pub untold: u64,
    /// Some have news that may only be told later.
    pub waits: bool,
}

impl Episodes {
    /// `most` is the number of lines in a second; 0: no limit.
    pub fn new(most: u64) -> Self {
        Self {
            known: HashMap::new(),
            done: HashMap::new(),
            reported: ReportedFlows::new(most),
            untold: 0,
            waits: false,
        }
    }

    pub fn set_most(&mut self, most: u64) {
        self.reported.set_most(most);
    }

    pub fn reports(&self) -> u64 {
        self.reported.reports
    }

    pub fn put_off(&self) -> u64 {
        self.reported.put_off
    }

    /// Adds an event: the state of an episode, and the flow of a packet of it.
    pub fn add(&mut self, episode: QueueEpisode, flow: Option<QueueFlow>) {
        let id = episode.id();
        if !self.known.contains_key(&id) && self.known.len() >= MOST {
            // Its further events come here, too.
            self.untold += u64::from(episode.packets == 1);
            return;
        }
        let known = self.known.entry(id).or_insert_with(|| KnownEpisode {
            episode: episode.clone(),
            flows: HashMap::new(),
        });
        known.update(episode);
        if let Some(flow) = flow {
            let (packets, bytes) = known.flows.entry(flow.flow).or_default();
            *packets += flow.packets;
            *bytes += flow.bytes;
        }
    }

    /// Compares with the newest episode of each queue, in case that an event was lost: of one that gave way to another
    /// the end is not known, and is that of its last packet.
    pub fn compare(&mut self, newest: Vec<QueueEpisode>) {
        for one in newest {
            let (queue, number) = ((one.ifindex, one.queue), one.episode);
            for (id, known) in &mut self.known {
                let episode = &mut known.episode;
                let is_older = (id.ifindex, id.queue) == queue && id.episode < number;
                if is_older && episode.end_ns.is_none() {
                    episode.end_ns = Some(episode.last_ns);
                }
            }
            if self.done.get(&queue).is_none_or(|done| *done < number) {
                self.add(one, None);
            }
        }
    }

    /// The episodes that are to be reported now: at once when they begin and end, and between these once in a period.
    /// In each period, `repeats` is true once: ends are reported again then, and those that were repeated are
    /// forgotten.
    pub fn due(&mut self, period: Duration, repeats: bool, now: Instant) -> DueEpisodes {
        let mut due = DueEpisodes::default();
        let mut over = Vec::new();
        self.waits = false;
        for (id, known) in &self.known {
            let (progress, ended) = (known.episode.progress(), known.episode.end_ns.is_some());
            if self.reported.news(id, progress, None) > 0 {
                let is_due = ended || self.reported.is_due(id, period, now);
                match is_due && self.reported.take(*id, progress, None, now) {
                    true => due.news.push(known.reported()),
                    false => self.waits = true,
                }
            } else if ended && repeats {
                match self.reported.repeat(id, progress) {
                    true => due.again.push(known.reported()),
                    false => over.push(*id),
                }
            }
        }
        for id in over {
            self.known.remove(&id);
            let done = self.done.entry((id.ifindex, id.queue)).or_default();
            *done = id.episode.max(*done);
        }
        let known = &self.known;
        self.reported.keep(|id| known.contains_key(id));
        let order = |one: &QueueEpisode| (one.begin_ns, one.ifindex, one.queue);
        due.news.sort_by_key(order);
        due.again.sort_by_key(order);
        due
    }

    /// Forgets the queues of interfaces that are gone.
    pub fn keep(&mut self, is_there: impl Fn(u32) -> bool) {
        self.done.retain(|(ifindex, _), _| is_there(*ifindex));
    }
}
