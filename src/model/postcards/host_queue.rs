//! The episodes of a host's queue, as a collector adds them up.

use crate::model::{NodeId, QueueEpisode};

/// What was told of episodes.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct EpisodeCounts {
    pub episodes: u64,
    /// The time over the trigger, and not yet below the reset.
    pub over_ns: u64,
    /// Packets over the trigger, those of them whose flow was reported, and those beyond the quota.
    pub packets: u64,
    pub told: u64,
    pub suppressed: u64,
    /// Packets that the queue dropped meanwhile.
    pub drops: u64,
}

impl EpisodeCounts {
    /// All that is known of one episode.
    pub fn of(episode: &QueueEpisode) -> Self {
        Self {
            episodes: 1,
            over_ns: episode.length_ns(),
            packets: episode.packets,
            told: episode.told,
            suppressed: episode.suppressed,
            drops: episode.drops,
        }
    }

    /// Numbers of other hosts may be anything, so sums end at the greatest one.
    pub fn add(&mut self, other: Self) {
        *self = self.with(other, u64::saturating_add);
    }

    /// Returns the counts since `before`, which is an earlier state of the same episode.
    #[must_use]
    pub fn since(self, before: Self) -> Self {
        self.with(before, u64::saturating_sub)
    }

    fn with(self, other: Self, of: fn(u64, u64) -> u64) -> Self {
        Self {
            episodes: of(self.episodes, other.episodes),
            over_ns: of(self.over_ns, other.over_ns),
            packets: of(self.packets, other.packets),
            told: of(self.told, other.told),
            suppressed: of(self.suppressed, other.suppressed),
            drops: of(self.drops, other.drops),
        }
    }
}

/// The sums of a queue's episodes.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct HostQueueRow {
    pub node: NodeId,
    /// The interface's name, or its index if the host reported none.
    pub dev: String,
    pub queue: u32,
    pub counts: EpisodeCounts,
}
