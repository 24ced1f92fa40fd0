//! The collector turns totals of what sources did not tag, and sinks did not measure, into what each report adds, and no
//! packet counts twice.

use std::collections::BTreeMap;
use std::net::IpAddr;

use hostint::collector::Coverage;
use hostint::model::coverage::{CoverageReport, MissedPackets, MissedReason, PairEnd};
use hostint::model::{Arrival, NodeId, Volume};

const SECOND: u64 = 1_000_000_000;
const TOO_LONG: u8 = 8;
const STARTED: u64 = 1_000 * SECOND;

struct Told {
    at_s: u64,
    epoch_s: u64,
    too_long: u64,
}

/// Packets of 1,500 bytes.
fn volume(packets: u64) -> Volume {
    Volume::of(packets, 1_500 * packets)
}

fn collector() -> Coverage {
    let mut coverage = Coverage::default();
    coverage.start_at(STARTED);
    coverage
}

fn tell(coverage: &mut Coverage, from: u8, told: &Told) {
    let report = CoverageReport {
        node: NodeId(7),
        period_s: 10,
        epoch_ns: told.epoch_s * SECOND,
        missed: vec![MissedPackets {
            other: PairEnd::ToSink(Some(NodeId(2))),
            class: Some("storage".to_owned()),
            by_reason: [(MissedReason::Source(TOO_LONG), volume(told.too_long))].into(),
        }],
    };
    let exporter: IpAddr = [192, 0, 2, from].into();
    let arrival = Arrival {
        exporter: (exporter, 5000).into(),
        received_ns: told.at_s * SECOND,
    };
    coverage.missed(&report, arrival);
}

#[test]
fn totals_count_once() {
    struct Case {
        name: &'static str,
        told: &'static [(u64, u64, u64)],
        expected: Option<u64>,
    }
    let cases = [
        Case {
            name: "totals of an epoch are subtracted",
            told: &[(1010, 1005, 3), (1020, 1005, 10)],
            expected: Some(10),
        },
        Case {
            name: "told again, they add nothing",
            told: &[(1010, 1005, 3), (1020, 1005, 3), (1030, 1005, 3)],
            expected: Some(3),
        },
        Case {
            name: "a late datagram adds nothing, and the next one no more than is new",
            told: &[(1020, 1005, 10), (1021, 1005, 3), (1030, 1005, 11)],
            expected: Some(11),
        },
        Case {
            name: "a source that starts again counts from 0",
            told: &[(1010, 1005, 10), (1030, 1025, 4)],
            expected: Some(14),
        },
        Case {
            name: "late counts of the epoch before are left out",
            told: &[(1010, 1005, 10), (1030, 1025, 4), (1031, 1005, 12)],
            expected: Some(14),
        },
        Case {
            name: "what was counted before the collector started is a base",
            told: &[(1010, 500, 100), (1020, 500, 130)],
            expected: Some(30),
        },
    ];
    for Case {
        name,
        told,
        expected,
    } in cases
    {
        let mut coverage = collector();
        for (at_s, epoch_s, too_long) in told {
            let told = Told {
                at_s: *at_s,
                epoch_s: *epoch_s,
                too_long: *too_long,
            };
            tell(&mut coverage, 1, &told);
        }
        let rows = coverage.rows(10);
        let found = rows.first().map(|row| row.missed["too_long"]);
        assert_eq!(found, expected, "{name}");
    }
}

#[test]
fn counts_that_a_known_source_tells_for_the_first_time_are_new() {
    let mut coverage = collector();
    let old = |at_s, too_long| Told {
        at_s,
        epoch_s: 500,
        too_long,
    };
    let arrival = |at_s: u64| Arrival {
        exporter: ([192, 0, 2, 1], 5000).into(),
        received_ns: at_s * SECOND,
    };
    tell(&mut coverage, 1, &old(1010, 100));
    let mut report = CoverageReport {
        node: NodeId(7),
        period_s: 10,
        epoch_ns: 500 * SECOND,
        missed: vec![MissedPackets {
            other: PairEnd::ToSink(None),
            class: None,
            by_reason: BTreeMap::from([(MissedReason::Source(21), volume(5))]),
        }],
    };
    coverage.missed(&report, arrival(1020));
    assert!(coverage.rows(10).is_empty(), "it may be old");
    report.missed[0].class = Some("new".to_owned());
    coverage.missed(&report, arrival(1200));
    let rows = coverage.rows(10);
    assert_eq!((rows.len(), rows[0].missed["no_lease"]), (1, 5));
}

#[test]
fn two_addresses_of_a_node_are_counted_apart() {
    let mut coverage = collector();
    let told = Told {
        at_s: 1010,
        epoch_s: 1005,
        too_long: 3,
    };
    tell(&mut coverage, 1, &told);
    tell(&mut coverage, 2, &told);
    assert_eq!(coverage.rows(10)[0].missed["too_long"], 6);
}

#[test]
fn the_history_gets_each_packet_once_and_the_largest_sums_first() {
    let mut coverage = collector();
    tell(
        &mut coverage,
        1,
        &Told {
            at_s: 1010,
            epoch_s: 1005,
            too_long: 3,
        },
    );
    let growth = |coverage: &mut Coverage, most| {
        let grown = coverage.take_growth(most).into_iter();
        grown
            .map(|one| (one.reason, one.packets))
            .collect::<Vec<_>>()
    };
    assert_eq!(growth(&mut coverage, 10), [(Some("too_long"), 3)]);
    assert_eq!(growth(&mut coverage, 10), [], "it was taken");
    tell(
        &mut coverage,
        1,
        &Told {
            at_s: 1020,
            epoch_s: 1005,
            too_long: 10,
        },
    );
    tell(
        &mut coverage,
        2,
        &Told {
            at_s: 1020,
            epoch_s: 1005,
            too_long: 5,
        },
    );
    assert_eq!(growth(&mut coverage, 10), [(Some("too_long"), 12)]);
    assert_eq!(coverage.rows(10)[0].missed["too_long"], 15, "of all times");
    tell(
        &mut coverage,
        1,
        &Told {
            at_s: 1030,
            epoch_s: 1005,
            too_long: 11,
        },
    );
    assert_eq!(growth(&mut coverage, 0), [], "more than are kept");
}

#[test]
fn what_source_and_sink_tell_of_a_pair_is_one_row() {
    let mut coverage = collector();
    let told = |at_s, too_long| Told {
        at_s,
        epoch_s: 1005,
        too_long,
    };
    let by_sink = |untracked: u64| CoverageReport {
        node: NodeId(2),
        period_s: 10,
        epoch_ns: 1003 * SECOND,
        missed: vec![MissedPackets {
            other: PairEnd::FromSource(NodeId(7)),
            class: Some("storage".to_owned()),
            by_reason: [(MissedReason::Sink(14), volume(untracked))].into(),
        }],
    };
    // One host's address may stand for both, and its roles count since times of their own.
    let arrival = |at_s: u64| Arrival {
        exporter: ([192, 0, 2, 1], 5000).into(),
        received_ns: at_s * SECOND,
    };
    tell(&mut coverage, 1, &told(1010, 3));
    coverage.missed(&by_sink(100), arrival(1011));
    tell(&mut coverage, 1, &told(1020, 5));
    coverage.missed(&by_sink(140), arrival(1021));
    let rows = coverage.rows(10);
    assert_eq!(rows.len(), 1, "{rows:?}");
    assert_eq!((rows[0].source, rows[0].sink), (NodeId(7), Some(NodeId(2))));
    let missed = [("too_long", 5), ("untracked", 140)];
    let missed = missed.map(|(reason, packets)| (reason.to_owned(), packets));
    assert_eq!(rows[0].missed, BTreeMap::from(missed));
}

#[test]
fn a_full_table_makes_room_for_others_once_a_minute() {
    const MOST: u32 = 65_536;
    let mut coverage = collector();
    let pair = |sink| MissedPackets {
        other: PairEnd::ToSink(Some(NodeId(sink))),
        class: Some("storage".to_owned()),
        by_reason: [(MissedReason::Source(TOO_LONG), volume(1))].into(),
    };
    let report = CoverageReport {
        node: NodeId(7),
        period_s: 10,
        epoch_ns: 1005 * SECOND,
        missed: (0..MOST).map(pair).collect(),
    };
    let arrival = Arrival {
        exporter: ([192, 0, 2, 1], 5000).into(),
        received_ns: 1010 * SECOND,
    };
    coverage.missed(&report, arrival);
    // Another address of the node tells of one of these pairs.
    for (at_s, told, counted, sentence) in [
        (1020, 10, 1, "there is no room"),
        (1600, 20, 1, "those of the other address are not quiet yet"),
        (1620, 30, 1, "they are, but it was looked for them 20 s ago"),
        (1660, 40, 41, "they make room"),
        (1670, 50, 51, "what has room grows"),
    ] {
        let told = Told {
            at_s,
            epoch_s: 1005,
            too_long: told,
        };
        tell(&mut coverage, 2, &told);
        let row = coverage.rows(1).remove(0);
        assert_eq!(
            row.missed["too_long"], counted,
            "after {at_s} s: {sentence}"
        );
    }
}

/// Bytes are told by each version's hosts, or by none; the sink's are those of packets that arrived.
#[test]
fn bytes_add_up_where_every_host_tells_them() {
    const KNOWN: Option<u64> = Some(1_500);
    struct Case {
        name: &'static str,
        /// Time, epoch, packets, and bytes of each, if they are told.
        told: &'static [(u64, u64, u64, Option<u64>)],
        expected: (u64, Option<u64>),
    }
    let cases = [
        Case {
            name: "totals of an epoch are subtracted",
            told: &[(1010, 1005, 3, KNOWN), (1020, 1005, 10, KNOWN)],
            expected: (10, Some(15_000)),
        },
        Case {
            name: "a late datagram adds nothing",
            told: &[
                (1020, 1005, 10, KNOWN),
                (1021, 1005, 3, KNOWN),
                (1030, 1005, 11, KNOWN),
            ],
            expected: (11, Some(16_500)),
        },
        Case {
            name: "a host of the version before tells none",
            told: &[(1010, 1005, 3, None), (1020, 1005, 10, None)],
            expected: (10, None),
        },
        Case {
            name: "the sum lacks what the host did not tell before it was upgraded",
            told: &[(1010, 1005, 3, None), (1030, 1025, 4, KNOWN)],
            expected: (7, None),
        },
        Case {
            name: "or what it does not tell after it was downgraded",
            told: &[(1010, 1005, 3, KNOWN), (1030, 1025, 4, None)],
            expected: (7, None),
        },
    ];
    for Case {
        name,
        told,
        expected,
    } in cases
    {
        let mut coverage = collector();
        for (at_s, epoch_s, packets, each) in told {
            let volume = Volume {
                packets: *packets,
                bytes: each.map(|each| each * packets),
            };
            let report = CoverageReport {
                node: NodeId(7),
                period_s: 10,
                epoch_ns: epoch_s * SECOND,
                missed: vec![MissedPackets {
                    other: PairEnd::ToSink(Some(NodeId(2))),
                    class: None,
                    by_reason: [
                        (MissedReason::Source(TOO_LONG), volume),
                        (MissedReason::TAGGED, volume),
                    ]
                    .into(),
                }],
            };
            let arrival = Arrival {
                exporter: ([192, 0, 2, 1], 5000).into(),
                received_ns: at_s * SECOND,
            };
            coverage.missed(&report, arrival);
        }
        let row = coverage.rows(10).remove(0);
        let missed = (row.missed["too_long"], row.missed_bytes["too_long"]);
        assert_eq!(missed, expected, "{name}");
        assert_eq!(
            (row.tagged, row.tagged_bytes),
            (Some(expected.0), expected.1),
            "{name}"
        );
        let grown = coverage.take_growth(10);
        let bytes = expected.1.map(u64::cast_signed);
        assert!(
            grown.iter().all(|one| one.bytes == bytes),
            "{name}: {grown:?}"
        );
    }
}
