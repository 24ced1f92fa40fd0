//! What hosts reported last of each subject, from which follows what the next report adds.

use std::collections::HashMap;
use std::hash::Hash;
use std::net::IpAddr;

use crate::model::NodeId;

/// The most subjects that are followed.
pub(super) const MOST: usize = 65_536;

const NS_PER_S: u64 = 1_000_000_000;

/// When there is no room, what was not reported for this time makes some.
const QUIET_NS: u64 = 600 * NS_PER_S;

/// Beginnings that differ by less are one: hosts read two clocks for each, not at the same moment.
const SAME_NS: u64 = NS_PER_S / 10;

/// Room is made at most once in this time.
const SWEEP_NS: u64 = NS_PER_S;

pub(super) type Sender = (IpAddr, NodeId);

/// Counts since an epoch.
pub(super) trait EpochCounts: Copy {
    /// Never falls from one state of the same counts to the next.
    fn progress(self) -> u64;

    /// Returns the counts since `before`, which is an earlier state of the same counts.
    fn since(self, before: Self) -> Self;

    fn is_zero(self) -> bool;
}

#[derive(Debug)]
struct LastCount<C> {
    epoch_ns: u64,
    count: C,
    seen_ns: u64,
}

/// The last counts of each subject, in bounded memory.
#[derive(Debug)]
pub(super) struct LastCounts<K, C> {
    known: HashMap<(Sender, K), LastCount<C>>,
    swept_ns: u64,
    /// Counts of subjects for which there was no room.
    pub(super) refused: u64,
}

impl<K, C> Default for LastCounts<K, C> {
    fn default() -> Self {
        Self {
            known: HashMap::new(),
            swept_ns: 0,
            refused: 0,
        }
    }
}

impl<K: Eq + Hash, C: EpochCounts> LastCounts<K, C> {
    /// Returns what these counts add. The first ones of a subject are only a base unless all of them are new.
    pub(super) fn more(
        &mut self,
        key: (Sender, K),
        (epoch_ns, is_new): (u64, bool),
        count: C,
        now_ns: u64,
    ) -> Option<C> {
        let reported = LastCount {
            epoch_ns,
            count,
            seen_ns: now_ns,
        };
        if !self.known.contains_key(&key) && !self.has_room(now_ns) {
            self.refused += 1;
            return None;
        }
        let is_same = |last: &LastCount<C>| epoch_ns.abs_diff(last.epoch_ns) < SAME_NS;
        let more = match self.known.get(&key) {
            // A datagram may be late.
            Some(last) if is_same(last) && count.progress() < last.count.progress() => return None,
            Some(last) if is_same(last) => Some(count.since(last.count)),
            Some(last) if epoch_ns < last.epoch_ns => return None,
            Some(_) => Some(count),
            None => is_new.then_some(count),
        };
        self.known.insert(key, reported);
        more.filter(|more| !more.is_zero())
    }

    fn has_room(&mut self, now_ns: u64) -> bool {
        if self.known.len() >= MOST && now_ns.saturating_sub(self.swept_ns) >= SWEEP_NS {
            self.swept_ns = now_ns;
            self.known
                .retain(|_, last| last.seen_ns.saturating_add(QUIET_NS) >= now_ns);
        }
        self.known.len() < MOST
    }
}
