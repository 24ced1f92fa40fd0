//! A flow's record and its slots are read as they were at one time, whenever packets come in between.

use std::cell::Cell;
use std::io;

use hostint::datapath::kernel::whole_reading::read_whole;

/// What a packet adds to the sum of latencies.
const LATENCY: u64 = 10;

/// A record: packets, and the sum of their latencies.
type Record = (u64, u64);

/// When a packet is counted: in its slot first, then in the record.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Comes {
    /// Before the reading of this number.
    Before(usize),
    /// While the record is copied by it: the packet is in the copy, and its latency is not.
    Within(usize),
}

/// The kernel half, with packets that come at these times. Readings of records have even numbers, those of slots odd ones.
struct Kernel<'a> {
    packets: &'a [Comes],
    readings: Cell<usize>,
}

impl Kernel<'_> {
    fn count(&self, is_counted: impl Fn(Comes) -> bool) -> u64 {
        self.packets.iter().filter(|one| is_counted(**one)).count() as u64
    }

    fn record(&self) -> Record {
        let now = self.readings.replace(self.readings.get() + 1);
        let before = |one| match one {
            Comes::Before(at) => at <= now,
            Comes::Within(at) => at < now,
        };
        let whole = self.count(before);
        let torn = self.count(|one| one == Comes::Within(now));
        (whole + torn, whole * LATENCY)
    }

    fn slots(&self) -> u64 {
        let now = self.readings.replace(self.readings.get() + 1);
        self.count(|one| match one {
            Comes::Before(at) | Comes::Within(at) => at <= now,
        })
    }

    fn read(&self) -> (Record, u64) {
        let read = read_whole(
            self.record(),
            |one, other| one == other,
            |_| io::Result::Ok(self.slots()),
            || Ok(Some(self.record())),
        );
        read.unwrap()
    }
}

/// All times at which a packet can come, so that a flow rests after its readings of this number.
fn times(readings: usize) -> Vec<Comes> {
    let before = (0..readings).map(Comes::Before);
    let within = (0..readings).step_by(2).map(Comes::Within);
    before.chain(within).collect()
}

#[test]
fn whenever_packets_come_all_of_them_are_in_the_slots_and_in_the_sum_or_not_at_all() {
    let times = times(9);
    let mut between = 0;
    for first in &times {
        for second in &times {
            for third in &times {
                let packets = [*first, *second, *third];
                let kernel = Kernel {
                    packets: &packets,
                    readings: Cell::new(0),
                };
                let ((count, sum), slots) = kernel.read();
                assert_eq!(count, slots, "{packets:?}: packets and slots");
                assert_eq!(sum, count * LATENCY, "{packets:?}: the sum");
                between += usize::from(kernel.readings.get() > 3);
            }
        }
    }
    assert!(between > 1_000, "packets came in between: {between}");
}

#[test]
fn a_flow_that_is_gone_or_never_rests_is_returned_as_it_was_read() {
    let gone = read_whole(7, |one, other| one == other, |_| Ok(1), || Ok(None));
    assert_eq!(gone.unwrap(), (7, 1));
    let (mut record, mut reads) = (0, 0);
    let busy = read_whole(
        0,
        |one, other| one == other,
        |record| {
            reads += 1;
            Ok(*record)
        },
        || {
            record += 1;
            Ok(Some(record))
        },
    );
    let (record, rest) = busy.unwrap();
    assert_eq!(record, rest, "the rest is that of the record");
    assert!(reads < 20, "{reads} readings");
}
