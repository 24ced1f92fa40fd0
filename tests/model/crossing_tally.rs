//! Counts that go on from block to block become the counts of each block, and blocks that were not counted whole are told
//! as unknown.

use std::collections::BTreeMap;

use hostint::model::crossing_tally::{BLOCKS, CrossingTally};
use hostint::model::crossings::BLOCK_NS;

/// A block, long after the epoch.
const FIRST: u64 = 1_600_000_000;

/// A host that counts packets, and its daemon, which tells what it counted.
#[derive(Default)]
struct Counting {
    counts: [u64; BLOCKS as usize],
    tally: CrossingTally<u8>,
    /// What was told last of each block.
    told: BTreeMap<i64, u32>,
}

impl Counting {
    fn count(&mut self, block: u64, packets: u64) {
        self.counts[((FIRST + block) % BLOCKS) as usize] += packets;
    }

    fn look_since(&mut self, block: u64, since_block: Option<u64>) {
        let now_ns = (FIRST + block) * BLOCK_NS + 1;
        let since_ns = since_block.map(|block| (FIRST + block) * BLOCK_NS);
        let records = [(1, self.counts)];
        let news = self.tally.look(now_ns, &records, false, |_| since_ns);
        for (_, counts) in news.counts {
            for (block, packets) in
                (news.first_block.cast_signed() - FIRST.cast_signed()..).zip(counts)
            {
                if let Some(packets) = packets {
                    let before = self.told.insert(block, packets).unwrap_or(0);
                    assert!(packets >= before, "block {block}: {packets} after {before}");
                }
            }
        }
    }

    fn look(&mut self, block: u64) {
        self.look_since(block, Some(0));
    }
}

#[test]
fn each_block_is_told_with_its_packets() {
    for between in 1..=6 {
        let mut host = Counting::default();
        for block in 0..200 {
            host.count(block, 10 + block % 7);
            // Some packets come by late.
            if block > 0 {
                host.count(block - 1, 1);
            }
            if block % between == 0 {
                host.look(block);
            }
        }
        for block in 10..180 {
            let packets = 11 + (block % 7) as u32;
            assert_eq!(
                host.told.get(&block),
                Some(&packets),
                "block {block}, a look each {between} blocks"
            );
        }
    }
}

#[test]
fn what_is_told_is_right_whenever_the_daemon_looks() {
    for pause in [7, 8, 9, 10, 12, 16, 17, 33, 1000] {
        let mut host = Counting::default();
        for block in 0..2000 {
            host.count(block, 5 + block % 3);
            if !(100..100 + pause).contains(&block) {
                host.look(block);
            }
        }
        for (block, packets) in &host.told {
            assert_eq!(
                *packets,
                5 + (block % 3) as u32,
                "block {block}, after a pause of {pause}"
            );
        }
        assert!(
            host.told.contains_key(&1900),
            "it tells again after a pause of {pause}"
        );
    }
}

#[test]
fn blocks_that_were_not_counted_whole_are_unknown() {
    for (since, what, first) in [
        (0, "a place that counted before the daemon began", 53),
        (60, "a place that counts from block 60 on", 63),
    ] {
        let mut host = Counting::default();
        for block in 0..100 {
            host.count(block, 3);
            if block >= 50 {
                host.look_since(block, Some(since));
            }
        }
        assert_eq!(host.told.keys().next(), Some(&first), "{what}");
    }
}

#[test]
fn a_place_that_counts_no_more_tells_nothing() {
    let mut host = Counting::default();
    for block in 0..60 {
        host.count(block, 3);
        host.look_since(block, (block < 40).then_some(0));
    }
    assert_eq!(host.told.keys().last(), Some(&36));
}

#[test]
fn a_record_that_appears_later_had_no_packets_before() {
    let mut tally = CrossingTally::<u8>::default();
    let at = |block: u64| (FIRST + block) * BLOCK_NS;
    for block in 0..20 {
        assert_eq!(tally.look(at(block), &[], false, |_| Some(0)).counts, []);
    }
    let mut counts = [0; BLOCKS as usize];
    counts[((FIRST + 20) % BLOCKS) as usize] = 4;
    for block in 20..23 {
        tally.look(at(block), &[(1, counts)], false, |_| Some(0));
    }
    let news = tally.look(at(23), &[(1, counts)], false, |_| Some(0));
    let (_, told) = &news.counts[0];
    assert_eq!(told.last(), Some(&Some(4)));
    assert!(
        told[..told.len() - 1].iter().all(|count| *count == Some(0)),
        "{told:?}"
    );
}

#[test]
fn a_record_that_may_have_found_no_room_before_tells_later_blocks_only() {
    let mut tally = CrossingTally::<u8>::default();
    let at = |block: u64| (FIRST + block) * BLOCK_NS;
    let counts = [1; BLOCKS as usize];
    for block in 0..20 {
        tally.look(at(block), &[], block == 19, |_| Some(0));
    }
    let news = tally.look(at(20), &[(1, counts)], false, |_| Some(0));
    assert_eq!(news.counts, []);
}

#[test]
fn idle_records_are_told_a_while_and_then_forgotten() {
    let mut tally = CrossingTally::<u8>::default();
    let at = |block: u64| (FIRST + block) * BLOCK_NS;
    let counts = [1; BLOCKS as usize];
    let mut told_last = 0;
    for block in 0..700 {
        let news = tally.look(at(block), &[(1, counts)], false, |_| Some(0));
        if !news.counts.is_empty() {
            told_last = block;
        }
        if !news.idle.is_empty() {
            assert_eq!((news.idle, told_last), (vec![1], 130));
            assert_eq!(block, 601);
            return;
        }
    }
    panic!("it is never idle");
}
