//! While a record is marked busy, no CPU takes numbers without the lock. A CPU that holds the lock moves the newest number,
//! and awaits those that it skips, while another CPU has one of these.

use std::ops::Range;

use loom::sync::atomic::AtomicU64;
use loom::sync::atomic::Ordering::{Relaxed, SeqCst};
use loom::sync::{Arc, Mutex};
use loom::thread::{self, JoinHandle};

use super::{Atomic, breaks};

/// The newest number when both CPUs begin, and the number of the packet that the other CPU has.
const HEAD: u64 = 10;
const NEXT: u64 = HEAD + 1;

/// Of the word with both: the newest number is below, the count of awaited ones and the mark above.
const NUMBER: u64 = u32::MAX as u64;
const AWAITED: u64 = 1 << 32;
const BUSY: u64 = 1 << 63;

/// The record of a flow: `sink_flow`, as far as the mark is about it.
struct Record {
    lock: Mutex<()>,
    numbers: AtomicU64,
    /// A bit for each number that is awaited.
    fresh: AtomicU64,
    duplicates: AtomicU64,
}

impl Record {
    fn head(&self) -> u64 {
        self.numbers.load(Relaxed) & NUMBER
    }

    /// A store into the lower half leaves the upper one as it is.
    fn move_head(&self, to: u64) {
        let mut old = self.numbers.load(Relaxed);
        while let Err(now) =
            self.numbers
                .compare_exchange(old, old & !NUMBER | to, Relaxed, Relaxed)
        {
            old = now;
        }
    }

    /// `take_in_order()`: whether the number could be taken without the lock.
    fn take_in_order(&self, number: u64) -> bool {
        let old = self.numbers.load(Relaxed);
        let has_place = || old & BUSY == 0 && self.fresh.load(Relaxed) >> number & 1 == 0;
        let next = old & !NUMBER | number;
        old & NUMBER == number - 1
            && (old < AWAITED || has_place())
            && Atomic::Fetching.change(|| {
                self.numbers
                    .compare_exchange(old, next, SeqCst, SeqCst)
                    .is_ok()
            })
    }

    /// Takes a number under the lock, which the other CPU always takes, too.
    fn take_late(&self, number: u64) {
        let held = self.lock.lock().unwrap();
        let fresh = self.fresh.load(Relaxed);
        if fresh >> number & 1 == 1 {
            self.fresh.store(fresh & !(1 << number), Relaxed);
            self.numbers.fetch_sub(AWAITED, Relaxed);
        } else if self.head() < number {
            self.move_head(number);
        } else {
            self.duplicates.fetch_add(1, Relaxed);
        }
        drop(held);
    }
}

/// Begins what the CPU may do after accesses that follow, because these are to the other half of the word.
fn begin(record: &Arc<Record>, act: impl Fn(&Record) + 'static) -> JoinHandle<()> {
    let record = Arc::clone(record);
    thread::spawn(move || act(&record))
}

fn mark(record: &Record) {
    record.numbers.fetch_or(BUSY, Relaxed);
}

fn unmark(record: &Record) {
    record.numbers.fetch_and(!BUSY, Relaxed);
}

/// The bits of numbers that are missing.
fn bits(missing: Range<u64>) -> u64 {
    missing.fold(0, |bits, number| bits | 1 << number)
}

/// `take_locked()` for the number `to`, or `sweep_flow()` that believes in it: numbers between are missing.
fn leap(record: &Arc<Record>, to: u64, set: Atomic, clear: Atomic) {
    let held = record.lock.lock().unwrap();
    let marked = match set {
        Atomic::Unordered => Some(begin(record, mark)),
        Atomic::Fetching => {
            set.change(|| mark(record));
            None
        }
    };
    let missing = (record.head() + 1)..to;
    let moved = begin(record, move |record| record.move_head(to));
    record.fresh.store(bits(missing.clone()), Relaxed);
    // The count is in the same half as the mark: these two stay in order.
    if let Some(marked) = marked {
        marked.join().unwrap();
    }
    let count = missing.count() as u64;
    record.numbers.fetch_add(count * AWAITED, Relaxed);
    match clear {
        Atomic::Unordered => {
            unmark(record);
            moved.join().unwrap();
        }
        Atomic::Fetching => {
            moved.join().unwrap();
            clear.change(|| unmark(record));
        }
    }
    drop(held);
}

/// The number arrived, and is awaited all the same: it will be declared lost.
fn is_awaited(record: &Record, _to: u64) -> bool {
    record.fresh.load(Relaxed) & bits(NEXT..NEXT + 1) != 0
}

/// The record is not what it would be if one CPU had come after the other.
fn is_wrong(record: &Record, to: u64) -> bool {
    let missing = (NEXT + 1)..to;
    let count = missing.clone().count() as u64;
    record.numbers.load(Relaxed) != count * AWAITED + to
        || record.fresh.load(Relaxed) != bits(missing)
        || record.duplicates.load(Relaxed) != 0
}

/// Whether a leap to this number, while the other CPU has the next one, ends in such a record.
fn ends(to: u64, set: Atomic, clear: Atomic, in_such: fn(&Record, u64) -> bool) -> bool {
    breaks(move || {
        let record = Arc::new(Record {
            lock: Mutex::new(()),
            numbers: AtomicU64::new(HEAD),
            fresh: AtomicU64::new(0),
            duplicates: AtomicU64::new(0),
        });
        let other = Arc::clone(&record);
        let leaps = thread::spawn(move || leap(&other, to, set, clear));
        if !record.take_in_order(NEXT) {
            record.take_late(NEXT);
        }
        leaps.join().unwrap();
        in_such(&record, to)
    })
}

#[test]
fn a_packet_that_arrived_is_lost_unless_the_mark_is_ordered() {
    use Atomic::{Fetching, Unordered};
    for (who, to) in [("a packet", NEXT + 1), ("a sweep", NEXT + 2)] {
        for (sentence, set, clear) in [
            ("as it was: neither change is ordered", Unordered, Unordered),
            ("setting the mark alone is ordered", Fetching, Unordered),
            ("clearing it alone is ordered", Unordered, Fetching),
        ] {
            assert!(ends(to, set, clear, is_awaited), "{who} leaps, {sentence}");
        }
        let is_found = ends(to, Fetching, Fetching, is_wrong);
        assert!(!is_found, "{who} leaps, as it is: both are ordered");
    }
}
