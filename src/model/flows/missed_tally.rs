//! The packets that a source tagged, or did not tag, or that a sink did not measure, since its daemon began, by the other's
//! node and class.

use std::collections::{BTreeMap, HashMap};
use std::hash::Hash;

use crate::model::Volume;
use crate::model::coverage::{BUDGET, MissedPackets, MissedReason, PairEnd};

/// The most nodes, with their classes, that are told apart. Others count without class, and as those of no known sink.
const MOST_SUBJECTS: usize = 4_096;

/// Counts that changed are reported this number of times, so that a lost datagram costs no packet.
const REPEATS: u8 = 3;

/// All counts are reported once in this number of turns, so that a collector that knows a host for a while knows them
/// all.
pub const ALL_TOLD_TURNS: u64 = 6;

/// An entry that did not grow for this number of turns may make room for others.
const IDLE_TURNS: u64 = 6;

/// The other node, and the class.
pub type MissedSubject = (PairEnd, Option<String>);

/// Sums of entries that only grow, each of which belongs to one subject at a time.
#[derive(Debug)]
pub struct MissedTally<K> {
    entries: HashMap<K, LastEntry>,
    subjects: BTreeMap<MissedSubject, SubjectSums>,
    turn: u64,
    /// The first turn is over. What was counted before it is in no sum.
    begun: bool,
}

#[derive(Debug)]
struct LastEntry {
    /// The counts that are not 0, and their places.
    counts: Vec<(u8, Volume)>,
    grew_in_turn: u64,
    seen_in_turn: u64,
}

#[derive(Debug, Default)]
struct SubjectSums {
    by_reason: BTreeMap<MissedReason, Volume>,
    to_report: u8,
}

impl<K> Default for MissedTally<K> {
    fn default() -> Self {
        Self {
            entries: HashMap::new(),
            subjects: BTreeMap::new(),
            turn: 0,
            begun: false,
        }
    }
}

impl<K: Copy + Eq + Hash> MissedTally<K> {
    /// Begins to read another table, whose entries begin with 0.
    pub fn change_table(&mut self) {
        self.entries.clear();
    }

    /// Adds what an entry counted since the last turn, of `flows` flows, one of which is counted: the others are estimated by
    /// it, as those that the budget leaves out. Both are asked only if there is something, and `reason` for the places of
    /// the counts.
    pub fn add(
        &mut self,
        key: K,
        now: &[Volume],
        flows: impl FnOnce() -> u64,
        reason: impl Fn(u8) -> MissedReason,
        subject: impl FnOnce() -> MissedSubject,
    ) {
        let turn = self.turn;
        let now = (0..).zip(now.iter().copied());
        let now: Vec<_> = now.filter(|(_, count)| !count.is_nothing()).collect();
        let last = self.entries.entry(key).or_insert_with(|| LastEntry {
            counts: Vec::new(),
            grew_in_turn: turn,
            seen_in_turn: turn,
        });
        last.seen_in_turn = turn;
        if last.counts == now {
            return;
        }
        last.grew_in_turn = turn;
        let before = std::mem::replace(&mut last.counts, now.clone());
        if !self.begun {
            return;
        }
        let Some(sums) = self.sums_of(subject()) else {
            return;
        };
        sums.to_report = REPEATS;
        let others = flows() - 1;
        let mut left_out = Volume::default();
        for (place, count) in now {
            let before = before.iter().find(|(of, _)| *of == place);
            let more = count.since(before.map_or(Volume::default(), |(_, count)| *count));
            if !more.is_nothing() {
                sums.by_reason.entry(reason(place)).or_default().add(more);
                left_out.add(more.times(others));
            }
        }
        if !left_out.is_nothing() {
            let estimated = sums.by_reason.entry(reason(BUDGET)).or_default();
            estimated.add(left_out);
        }
    }

    /// Returns `None` if there is no room, not even for all classes of the node.
    fn sums_of(&mut self, subject: MissedSubject) -> Option<&mut SubjectSums> {
        let is_known = self.subjects.contains_key(&subject);
        if is_known || self.subjects.len() < MOST_SUBJECTS {
            return Some(self.subjects.entry(subject).or_default());
        }
        let others = match subject.0 {
            PairEnd::ToSink(_) => PairEnd::ToSink(None),
            source => source,
        };
        let others = (others, None);
        let has_room = self.subjects.len() < 2 * MOST_SUBJECTS;
        (has_room || self.subjects.contains_key(&others))
            .then(|| self.subjects.entry(others).or_default())
    }

    /// Ends a turn, in which each entry was added once. Returns the sums that are to be reported.
    pub fn end_turn(&mut self) -> Vec<MissedPackets> {
        let turn = self.turn;
        self.entries.retain(|_, entry| entry.seen_in_turn == turn);
        self.turn += 1;
        self.begun = true;
        let mut reported = Vec::new();
        let all = self.turn.is_multiple_of(ALL_TOLD_TURNS);
        for ((other, class), sums) in &mut self.subjects {
            if sums.to_report > 0 || all {
                sums.to_report = sums.to_report.saturating_sub(1);
                reported.push(MissedPackets {
                    other: *other,
                    class: class.clone(),
                    by_reason: sums.by_reason.clone(),
                });
            }
        }
        reported
    }

    /// The number of entries in the last turn.
    pub fn entries(&self) -> usize {
        self.entries.len()
    }

    /// The entries that did not grow for some turns.
    pub fn idle(&self) -> Vec<K> {
        let idle = |last: &LastEntry| self.turn - last.grew_in_turn > IDLE_TURNS;
        let entries = self.entries.iter();
        entries
            .filter(|(_, last)| idle(last))
            .map(|(key, _)| *key)
            .collect()
    }
}
