//! Counts that go on from block to block become the counts of each block.

use std::collections::HashMap;
use std::hash::Hash;

use crate::model::crossings::BLOCK_NS;

/// The number of counts in a record. A block shares its count with the blocks that are a multiple of this away from it.
pub const BLOCKS: u64 = 16;

/// The least and the greatest age of blocks that are reported, in blocks.
const YOUNGEST: u64 = 3;
const OLDEST: u64 = 10;

/// The number of blocks that are reported at once.
pub const BLOCKS_TOLD: u8 = (OLDEST - YOUNGEST + 1) as u8;

/// The age at which a block gets no more packets, in blocks.
const OVER: u64 = 4;

/// If the counts were not looked at for more blocks than this, those of two blocks may have become one: a host whose clock
/// is ahead begins the later one 2 blocks early.
const MOST_BETWEEN: u64 = BLOCKS - 2 - OVER - 1;

/// The number of blocks that a source whose clock is ahead may have begun.
const AHEAD: u64 = 2;

/// The number of blocks without growth after which a record is no longer told, and after which it is forgotten. Collectors
/// know paths for 120 s after their last packets, and need to know that a path has no more.
const SILENT: u64 = 130;
const IDLE: u64 = 600;

#[derive(Debug)]
struct TalliedPlace {
    /// The counts at the end of the last block that each of them is of.
    base: [u64; BLOCKS as usize],
    last: [u64; BLOCKS as usize],
    grew: u64,
    /// The first block that was counted whole.
    whole_from: u64,
}

/// What was read of records before.
#[derive(Debug)]
pub struct CrossingTally<K> {
    records: HashMap<K, TalliedPlace>,
    /// The block of the last look.
    looked: Option<u64>,
    /// There was no room for other records then.
    was_full: bool,
}

/// What a look finds.
#[derive(Debug, Eq, PartialEq)]
pub struct CrossingNews<K> {
    pub first_block: u64,
    /// The counts of [`BLOCKS_TOLD`] blocks.
    pub counts: Vec<(K, Vec<Option<u32>>)>,
    /// Records that may be removed.
    pub idle: Vec<K>,
}

impl<K> Default for CrossingTally<K> {
    fn default() -> Self {
        Self {
            records: HashMap::new(),
            looked: None,
            was_full: false,
        }
    }
}

/// The first block of which a place has all packets, if it began to count in this one.
fn whole_after(block: u64) -> u64 {
    block + 1 + AHEAD
}

fn slot(block: u64) -> usize {
    (block % BLOCKS) as usize
}

impl TalliedPlace {
    /// There was no look shortly before: what was counted since the last one belongs to no block.
    fn begin_again(&mut self, counts: &[u64; BLOCKS as usize], now: u64) {
        (self.base, self.last) = (*counts, *counts);
        self.whole_from = whole_after(now);
        self.grew = now;
    }

    /// Takes counts, after those of a look in the block `looked`.
    fn go_on(&mut self, counts: &[u64; BLOCKS as usize], looked: u64, now: u64) {
        // Blocks that are reported no more, since the last look.
        for block in looked.saturating_sub(OLDEST)..now.saturating_sub(OLDEST) {
            let is_over = block + OVER <= looked;
            let counts = if is_over { &self.last } else { counts };
            self.base[slot(block)] = counts[slot(block)];
        }
        if self.last != *counts {
            self.last = *counts;
            self.grew = now;
        }
    }

    /// The packets of a block, unless some of them may not have been counted.
    fn packets_of(&self, block: u64, counts: &[u64; BLOCKS as usize]) -> Option<u32> {
        let packets = counts[slot(block)].checked_sub(self.base[slot(block)])?;
        let packets = u32::try_from(packets).ok()?;
        // The greatest number stands for none.
        (block >= self.whole_from && packets < u32::MAX).then_some(packets)
    }
}

impl<K: Copy + Eq + Hash> CrossingTally<K> {
    /// Returns what is to be reported. `counting_since` tells since when a record's place counts; `None`: it does not.
    pub fn look(
        &mut self,
        now_ns: u64,
        records: &[(K, [u64; BLOCKS as usize])],
        is_full: bool,
        counting_since: impl Fn(&K) -> Option<u64>,
    ) -> CrossingNews<K> {
        let now = now_ns / BLOCK_NS;
        let before = self.looked.replace(now);
        let is_regular = before.is_some_and(|before| now >= before && now - before <= MOST_BETWEEN);
        let was_full = std::mem::replace(&mut self.was_full, is_full);
        let new_from = if is_regular && !was_full {
            0
        } else {
            whole_after(now)
        };
        let first_block = now.saturating_sub(OLDEST);
        let mut news = CrossingNews {
            first_block,
            counts: Vec::new(),
            idle: Vec::new(),
        };
        for (key, counts) in records {
            let known = self.records.entry(*key).or_insert_with(|| TalliedPlace {
                base: [0; BLOCKS as usize],
                last: [0; BLOCKS as usize],
                grew: now,
                whole_from: new_from,
            });
            if !is_regular {
                known.begin_again(counts, now);
            }
            match counting_since(key) {
                Some(since_ns) => {
                    known.whole_from = known.whole_from.max(whole_after(since_ns / BLOCK_NS))
                }
                None => known.whole_from = whole_after(now),
            }
            let looked = before.filter(|_| is_regular).unwrap_or(now);
            known.go_on(counts, looked, now);
            if now.saturating_sub(known.grew) > IDLE {
                news.idle.push(*key);
            }
            if now.saturating_sub(known.grew) > SILENT {
                continue;
            }
            let counted = (first_block..=now.saturating_sub(YOUNGEST))
                .map(|block| known.packets_of(block, counts));
            let counted: Vec<_> = counted.collect();
            if counted.iter().any(Option::is_some) {
                news.counts.push((*key, counted));
            }
        }
        self.forget(&news.idle, records);
        news
    }

    /// Forgets places that are idle, and those that are not among the records any more.
    fn forget(&mut self, idle: &[K], records: &[(K, [u64; BLOCKS as usize])]) {
        for key in idle {
            self.records.remove(key);
        }
        // Whoever removed others did so because they were idle; their counts begin at 0 again.
        if self.records.len() > records.len() {
            let present: std::collections::HashSet<&K> =
                records.iter().map(|(key, _)| key).collect();
            self.records.retain(|key, _| present.contains(key));
        }
    }
}
