//! What hosts told of drops is added up without counting a packet twice.

use hostint::collector::HostDrops;
use hostint::model::*;
use hostint_testing::report_samples;

const SECOND: u64 = 1_000_000_000;
const STARTED: u64 = 1_700_000_000 * SECOND;

fn arrival(after_s: u64) -> Arrival {
    Arrival {
        exporter: "192.0.2.1:4000".parse().unwrap(),
        received_ns: STARTED + after_s * SECOND,
    }
}

fn count(packets: u64) -> DropCount {
    DropCount {
        packets,
        segments: 2 * packets,
        bytes: 100 * packets,
    }
}

/// A flow's report; its record began that long after the collector, in seconds.
fn flow(begin_s: i64, packets: u64) -> HostDropReport {
    let [sample, _] = report_samples::host_drops();
    let Body::HostDrop(mut report) = sample.observation.body else {
        unreachable!()
    };
    report.drop.first_ns = STARTED.wrapping_add_signed(begin_s * SECOND as i64);
    report.drop.count = count(packets);
    *report
}

/// Sums of a host since an epoch.
fn sums(epoch_s: i64, packets: &[(&str, u64)]) -> DropTotalsReport {
    let sum = |(reason, packets): &(&str, u64)| DropSum {
        subject: DropSubject {
            reason: KernelReason {
                number: 2,
                name: Some((*reason).to_owned()),
            },
            ..DropSubject::default()
        },
        count: count(*packets),
    };
    DropTotalsReport {
        node: NodeId(7),
        period_s: 10,
        epoch_ns: STARTED.wrapping_add_signed(epoch_s * SECOND as i64),
        sums: packets.iter().map(sum).collect(),
    }
}

fn started() -> HostDrops {
    let mut drops = HostDrops::default();
    drops.start_at(STARTED);
    drops
}

/// A sentence; when the flow began and what it tells, report by report; and what each adds.
type Growing = (&'static str, &'static [(i64, u64)], &'static [Option<u64>]);

#[test]
fn a_flow_adds_what_it_did_not_tell_before() {
    let cases: [Growing; 6] = [
        (
            "counts that grow",
            &[(1, 1), (1, 5), (1, 9)],
            &[Some(1), Some(4), Some(4)],
        ),
        ("one that is repeated", &[(1, 5), (1, 5)], &[Some(5), None]),
        (
            "one that is late",
            &[(1, 5), (1, 3), (1, 6)],
            &[Some(5), None, Some(1)],
        ),
        (
            "a record that began anew",
            &[(1, 5), (9, 2)],
            &[Some(5), Some(2)],
        ),
        (
            "a late one of the record before",
            &[(9, 2), (1, 5)],
            &[Some(2), None],
        ),
        (
            "one that began before the collector, and may have been counted",
            &[(-60, 5), (-60, 7)],
            &[None, Some(2)],
        ),
    ];
    for (sentence, told, expected) in cases {
        let mut drops = started();
        let added: Vec<_> = told
            .iter()
            .map(|(begin_s, packets)| drops.flow(&flow(*begin_s, *packets), arrival(20)))
            .collect();
        let expected: Vec<_> = expected.iter().map(|one| one.map(count)).collect();
        assert_eq!(added, expected, "{sentence}");
    }
}

#[test]
fn a_beginning_that_is_told_some_nanoseconds_apart_is_one() {
    let mut drops = started();
    let told = [(0, 1, Some(1)), (700, 100, Some(99)), (-300, 101, Some(1))];
    for (apart_ns, packets, expected) in told {
        let mut report = flow(1, packets);
        report.drop.first_ns = report.drop.first_ns.wrapping_add_signed(apart_ns);
        let added = drops.flow(&report, arrival(20));
        assert_eq!(added, expected.map(count), "{apart_ns} ns apart");
    }
}

#[test]
fn sums_count_once_whatever_is_repeated_and_whenever_a_host_starts_again() {
    let mut drops = started();
    let shown = |drops: &HostDrops| -> Vec<(String, u64)> {
        let rows = drops.rows(10).into_iter();
        rows.map(|row| (row.subject.reason.label(), row.count.packets))
            .collect()
    };
    let rows = |rows: &[(&str, u64)]| -> Vec<(String, u64)> {
        let rows = rows.iter();
        rows.map(|(reason, packets)| ((*reason).to_owned(), *packets))
            .collect()
    };
    // The host began before the collector, so its first sums are a base.
    drops.sums(&sums(-60, &[("A", 100)]), arrival(1));
    assert_eq!(shown(&drops), []);
    drops.sums(&sums(-60, &[("A", 103)]), arrival(11));
    drops.sums(&sums(-60, &[("A", 103)]), arrival(21));
    assert_eq!(shown(&drops), rows(&[("A", 3)]));
    // Another reason may have been counted by an earlier run, until all were told for sure.
    drops.sums(&sums(-60, &[("B", 50)]), arrival(31));
    assert_eq!(shown(&drops), rows(&[("A", 3)]));
    drops.sums(&sums(-60, &[("C", 7)]), arrival(200));
    assert_eq!(shown(&drops), rows(&[("C", 7), ("A", 3)]));
    // A daemon that starts again counts from 0, since another epoch.
    drops.sums(&sums(210, &[("A", 2)]), arrival(215));
    assert_eq!(shown(&drops), rows(&[("C", 7), ("A", 5)]));
    // What the daemon before told is late.
    drops.sums(&sums(-60, &[("A", 104)]), arrival(216));
    assert_eq!(shown(&drops), rows(&[("C", 7), ("A", 5)]));
}

#[test]
fn sums_by_reason_are_of_all_packets_and_what_has_no_room_is_counted() {
    let mut drops = started();
    let names: Vec<String> = (0..2_000).map(|number| format!("R{number:04}")).collect();
    let told: Vec<_> = names.iter().map(|name| (name.as_str(), 3)).collect();
    drops.sums(&sums(1, &told), arrival(20));
    assert_eq!(drops.rows(1_000).len(), 1_000, "the view has some");
    assert_eq!(drops.by_reason().len(), 2_000, "the sums have all");
    // Packets that another node tagged are in the same sum.
    let mut tagged = sums(1, &told);
    for sum in &mut tagged.sums {
        sum.subject.tagged_by = Some(NodeId(7));
    }
    drops.sums(&tagged, arrival(21));
    let by_reason = drops.by_reason();
    assert_eq!(by_reason.len(), 2_000, "each reason once");
    let packets = by_reason.iter().map(|row| row.count.packets);
    assert_eq!(packets.sum::<u64>(), 2 * 3 * 2_000, "all packets");
    assert_eq!(drops.untracked(), 0);
    // There is room for 65,536 sums.
    for round in 0..40 {
        for sum in &mut tagged.sums {
            sum.subject.tagged_by = Some(NodeId(100 + round));
        }
        drops.sums(&tagged, arrival(22));
    }
    assert_eq!(drops.untracked(), 42 * 2_000 - 65_536, "the others");
    let packets = drops.by_reason();
    let packets = packets.iter().map(|row| row.count.packets).sum::<u64>();
    assert_eq!(packets, 3 * 65_536, "of all that have room");
}
