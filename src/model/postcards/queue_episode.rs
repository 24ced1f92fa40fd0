//! Episodes of queues: the time from the first packet over the trigger to the reset, and whose packets were in it.

use serde::{Deserialize, Serialize};

use crate::model::{FlowKey, NodeId, QueueLimits};

/// The most flows of an episode in a report, those with most bytes.
pub const MOST_QUEUE_FLOWS: usize = 16;

/// What is known of an episode's packets of a flow: those that were reported.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Deserialize, Serialize)]
pub struct QueueFlow {
    pub flow: FlowKey,
    /// A superpacket is one.
    pub packets: u64,
    pub bytes: u64,
}

/// Identifies an episode while its host's programs run.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct EpisodeId {
    pub ifindex: u32,
    pub queue: u32,
    pub episode: u64,
}

/// An episode of a queue. All counts are those since it began; times are nanoseconds since the Unix epoch.
#[derive(Clone, Debug, Default, Eq, PartialEq, Deserialize, Serialize)]
pub struct QueueEpisode {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interface: Option<String>,
    pub ifindex: u32,
    /// The number of the interface's tx queue.
    pub queue: u32,
    /// Of the queue's root, as tc numbers it.
    pub handle: u32,
    #[serde(flatten)]
    pub limits: QueueLimits,
    /// The first episode that the host saw of the queue is number 1.
    pub episode: u64,
    pub begin_ns: u64,
    /// When the last packet left that was over the trigger.
    pub last_ns: u64,
    /// `None`: it goes on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end_ns: Option<u64>,
    /// The packets over the trigger.
    pub packets: u64,
    pub bytes: u64,
    /// Of these, those whose flow was reported, and those beyond the quota.
    pub told: u64,
    pub suppressed: u64,
    /// Packets that the queue dropped meanwhile.
    pub drops: u64,
    /// The most bytes and packets in the queue; 0: the queue does not tell them.
    pub max_bytes: u32,
    pub max_packets: u32,
    /// The longest time of a packet in the queue; `None`: packets are not timed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_time_ns: Option<u32>,
    /// The flows of the packets that were reported, most bytes first, and no more than a report has room for.
    pub flows: Vec<QueueFlow>,
}

impl QueueEpisode {
    pub fn id(&self) -> EpisodeId {
        EpisodeId {
            ifindex: self.ifindex,
            queue: self.queue,
            episode: self.episode,
        }
    }

    /// Grows with all that can be news of the episode.
    pub fn progress(&self) -> u64 {
        let ended = u64::from(self.end_ns.is_some());
        self.packets.saturating_mul(2).saturating_add(ended)
    }

    /// The time of the newest thing that is known of it.
    pub fn newest_ns(&self) -> u64 {
        self.end_ns.unwrap_or(self.last_ns).max(self.last_ns)
    }

    /// The length of what is known of it.
    pub fn length_ns(&self) -> u64 {
        let end = self.end_ns.unwrap_or(self.last_ns);
        end.saturating_sub(self.begin_ns)
    }

    /// The flow's share of the packets that were reported, in percent.
    pub fn share(&self, flow: &QueueFlow) -> f64 {
        match self.told {
            0 => 0.0,
            told => flow.packets as f64 * 100.0 / told as f64,
        }
    }
}

/// What a host told of an episode.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct QueueReport {
    /// When the report was made, in whole seconds since the Unix epoch.
    pub time_s: u32,
    pub node: NodeId,
    pub episode: QueueEpisode,
}

/// All that is known of a queue since its first packet.
#[derive(Clone, Debug, Default, Eq, PartialEq, Deserialize, Serialize)]
pub struct QueueFigures {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interface: Option<String>,
    pub ifindex: u32,
    pub queue: u32,
    #[serde(flatten)]
    pub limits: QueueLimits,
    /// Packets that left the queue. A superpacket is one.
    pub packets: u64,
    pub bytes: u64,
    pub episodes: u64,
    /// An episode goes on.
    pub is_over: bool,
    /// The length of all episodes.
    pub over_ns: u64,
    /// Packets over the trigger, those of them that were reported, and those beyond the quota.
    pub packets_over: u64,
    pub packets_told: u64,
    pub packets_suppressed: u64,
    /// Packets that the queue dropped in episodes.
    pub drops: u64,
    /// Of all episodes.
    pub max_bytes: u32,
    pub max_time_ns: u32,
}

/// All counts since the programs were attached.
#[derive(Clone, Debug, Default, Eq, PartialEq, Deserialize, Serialize)]
pub struct QueueTotals {
    /// The queues that packets left, those that were over for longest first.
    pub queues: Vec<QueueFigures>,
    /// Packets of episodes, and ends of episodes, that found no room in the ring.
    pub events_lost: u64,
    /// Packets of further queues than there is room for.
    pub no_room: u64,
    /// Packets of which it is not known how long they were in the queue: the queue cut them out of superpackets.
    pub untimed: u64,
    /// Packets of queues that do not count their bytes.
    pub no_backlog: u64,
    /// Packets that left together with more packets than are judged.
    pub beyond_bulk: u64,
    /// Packets that the kernel hid from the programs.
    pub missed: u64,
    /// Lines about episodes.
    pub told: u64,
    /// The number of times that the limit put off an episode, and those that were never reported.
    pub put_off: u64,
    pub untold: u64,
}

impl QueueTotals {
    pub fn episodes(&self) -> u64 {
        self.queues.iter().map(|one| one.episodes).sum()
    }
}

/// A packet that was over the trigger of its queue, and the queue as it left.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct QueuePacket {
    pub flow: FlowKey,
    pub ifindex: u32,
    pub queue: u32,
    /// Nanoseconds since the Unix epoch.
    pub left_ns: u64,
    /// Its time in the queue; `None`: packets are not timed.
    pub wait_ns: Option<u32>,
    /// With the packet; 0: the queue does not tell them.
    pub queue_packets: u32,
    pub queue_bytes: u32,
    /// The episode's number, and its packets so far that the quota had no room for, and that the queue dropped.
    pub episode: u64,
    pub suppressed: u64,
    pub drops: u64,
}
