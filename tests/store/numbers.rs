//! The sequence numbers of a flow's reports tell how many packets it had.

use hostint::store::SequenceNumbers;

use crate::disk::SECOND;

#[derive(Clone, Copy)]
enum SequenceEvidence {
    Number(u32),
    /// The last one missing, and how many.
    Missing(u32, u32),
}
use SequenceEvidence::{Missing, Number};

#[test]
fn numbers_tell_how_many_packets_there_were() {
    const LAST: u32 = u32::MAX;
    /// Milliseconds, and what a report shows.
    type Reports = &'static [(u64, SequenceEvidence)];
    let cases: [(&str, Reports, u64); 14] = [
        (
            "the first report tells of its packet",
            &[(0, Number(700))],
            1,
        ),
        (
            "the next one of those between",
            &[(0, Number(700)), (2000, Number(1700))],
            1001,
        ),
        (
            "a number again is no packet",
            &[(0, Number(7)), (1, Number(7))],
            1,
        ),
        ("across the wrap", &[(0, Number(LAST)), (10, Number(9))], 11),
        (
            "lost packets were sent, and are in the numbers",
            &[(0, Number(10)), (200, Missing(15, 5)), (300, Number(20))],
            11,
        ),
        (
            "a loss that is told after later packets",
            &[(0, Number(10)), (100, Number(20)), (300, Missing(15, 5))],
            11,
        ),
        (
            "only losses",
            &[(0, Missing(15, 5)), (100, Missing(25, 5))],
            15,
        ),
        (
            "late by some packets",
            &[(0, Number(10)), (1, Number(8)), (2, Number(12))],
            3,
        ),
        (
            "a new numbering begins with its first report",
            &[
                (0, Number(1_000_000)),
                (3000, Number(5)),
                (3001, Number(15)),
            ],
            12,
        ),
        (
            "also if it is ahead by more than can have been sent",
            &[
                (0, Number(5)),
                (2000, Number(2_000_000_000)),
                (2001, Number(2_000_000_010)),
            ],
            12,
        ),
        (
            "or soon, and far behind",
            &[(0, Number(1_000_000)), (10, Number(1)), (20, Number(3))],
            4,
        ),
        (
            "a fast flow is no new numbering",
            &[(0, Number(5)), (2000, Number(6_000_005))],
            6_000_001,
        ),
        (
            "a loss of an old numbering tells of itself only",
            &[
                (0, Number(1_000_000)),
                (3000, Number(5)),
                (3100, Missing(999_999, 3)),
                (3200, Number(6)),
            ],
            6,
        ),
        (
            "reports of another time are another numbering",
            &[
                (3_600_000, Number(500)),
                (0, Number(100)),
                (10, Number(110)),
            ],
            12,
        ),
    ];
    for (name, reports, expected) in cases {
        let mut numbers = SequenceNumbers::default();
        let packets: u64 = reports
            .iter()
            .map(|(ms, shown)| {
                let time_ns = 1_000 * SECOND + ms * 1_000_000;
                match *shown {
                    Number(number) => numbers.packet(number, time_ns),
                    Missing(last, count) => numbers.missing(last, count, time_ns),
                }
            })
            .sum();
        assert_eq!(packets, expected, "{name}");
    }
}
