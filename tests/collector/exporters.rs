//! The collector counts each exporter's losses, duplicates, restarts and undecodable datagrams.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use hostint::collector::{
    Continuity, Exporters, GONE_NS, NodeNotice, Numbering, NumberingCounts, ReportGroup, decode,
};
use hostint::model::crossings::CrossingReport;
use hostint::model::option_hops::OptionHopsReport;
use hostint::model::{
    Arrival, Body, ClockSource, ClockState, ExporterHealth, Flags, HwId, NodeId, NodePort,
    Observation, PacketReport, Path, PathTotals, PathTotalsReport, Report,
};
use hostint_testing::{exporting, golden};

/// `received, lost, duplicates, late, stale, restarts`.
fn counts(numbers: [u64; 6]) -> NumberingCounts {
    let [received, lost, duplicates, late, stale, restarts] = numbers;
    NumberingCounts {
        received,
        lost,
        duplicates,
        late,
        stale,
        restarts,
        unnumbered: 0,
    }
}

fn arrivals(numbers: &[u32]) -> (Numbering, Vec<Continuity>) {
    let mut numbering = Numbering::default();
    let seen = numbers.iter().map(|n| numbering.arrived(*n)).collect();
    (numbering, seen)
}

#[test]
fn numbers_tell_what_was_lost() {
    struct Case {
        name: &'static str,
        numbers: Vec<u32>,
        counts: [u64; 6],
    }
    let case = |name, numbers: &[u32], counts| Case {
        name,
        numbers: numbers.to_vec(),
        counts,
    };
    let range = |first: u32, last: u32| first..=last;
    let burst = |parts: &[&[u32]]| parts.concat();
    let hundred: Vec<u32> = range(1, 100).collect();
    let cases = [
        case("nothing is lost in order", &hundred, [100, 0, 0, 0, 0, 0]),
        case("a hole is a loss", &[1, 2, 5], [3, 2, 0, 0, 0, 0]),
        case(
            "a collector that came later does not count what was before it",
            &[500, 501],
            [2, 0, 0, 0, 0, 0],
        ),
        case(
            "a late arrival is no loss any more",
            &[1, 3, 2, 4],
            [4, 0, 0, 1, 0, 0],
        ),
        case(
            "late by the whole window",
            &burst(&[&[1], &range(3, 65).collect::<Vec<_>>(), &[2]]),
            [65, 0, 0, 1, 0, 0],
        ),
        case(
            "later than the window cannot be told from a duplicate",
            &burst(&[
                &range(200, 300).collect::<Vec<_>>(),
                &range(302, 400).collect::<Vec<_>>(),
                &[301],
            ]),
            [201, 1, 0, 0, 1, 0],
        ),
        case(
            "older than the first is late, and no loss is taken back for it",
            &[10, 12, 9],
            [3, 1, 0, 1, 0, 0],
        ),
        case("a duplicate is one", &[1, 2, 2, 3], [4, 0, 1, 0, 0, 0]),
        case(
            "each packet twice is no restart",
            &[1, 1, 2, 2, 3, 3, 4, 4],
            [8, 0, 4, 0, 0, 0],
        ),
        case(
            "a duplicate of a late arrival is a duplicate",
            &[1, 3, 2, 2],
            [4, 0, 1, 1, 0, 0],
        ),
        case(
            "numbers wrap from 2^32-1 to 0",
            &[u32::MAX - 1, u32::MAX, 0, 1],
            [4, 0, 0, 0, 0, 0],
        ),
        case("a loss across the wrap", &[u32::MAX, 2], [2, 2, 0, 0, 0, 0]),
        case(
            "late across the wrap",
            &[u32::MAX - 1, 0, u32::MAX, 1],
            [4, 0, 0, 1, 0, 0],
        ),
        case(
            "a restart shows at the third number",
            &burst(&[&hundred, &[1, 2, 3, 4]]),
            [104, 0, 0, 0, 0, 1],
        ),
        case(
            "what is missing at the beginning of a restart was lost",
            &burst(&[&hundred, &[4, 5, 8, 9]]),
            [104, 5, 0, 0, 0, 1],
        ),
        case(
            "and may come late",
            &burst(&[&hundred, &[4, 5, 8, 2, 9]]),
            [105, 4, 0, 1, 0, 1],
        ),
        case(
            "one very late packet is no restart",
            &burst(&[&hundred, &[1, 101, 102]]),
            [103, 0, 0, 0, 1, 0],
        ),
        case(
            "a restart after few reports shows at the third number as well",
            &[1, 2, 3, 4, 5, 1, 2, 3, 4, 5, 6],
            [11, 0, 0, 0, 0, 1],
        ),
        case(
            "with its first report missing",
            &[1, 2, 3, 4, 5, 2, 3, 4],
            [8, 1, 0, 0, 0, 1],
        ),
        case(
            "a restart somewhere else shows at the third number",
            &[100_000, 5_000, 5_001, 5_002, 5_003],
            [5, 0, 0, 0, 0, 1],
        ),
        case(
            "two strays are none",
            &[100_000, 5_000, 5_001, 100_001],
            [4, 0, 0, 0, 2, 0],
        ),
        case(
            "a jump ahead is a loss as long as that many can have been sent",
            &[1, 1 << 24],
            [2, (1 << 24) - 2, 0, 0, 0, 0],
        ),
        case(
            "a jump from nowhere to nowhere is a restart, not four billion losses",
            &[1, 1 << 31, (1 << 31) + 1, (1 << 31) + 2, (1 << 31) + 3],
            [5, 0, 0, 0, 0, 1],
        ),
    ];
    for Case {
        name,
        numbers,
        counts: expected,
    } in cases
    {
        let (numbering, seen) = arrivals(&numbers);
        assert_eq!(numbering.counts(), counts(expected), "{name}: {seen:?}");
    }
}

#[test]
fn each_arrival_is_called_what_it_is() {
    use Continuity::*;
    let (_, seen) = arrivals(&[1, 2, 2, 5, 4, 200, 30, 201, 30, 31, 32, 33]);
    assert_eq!(
        seen,
        [
            First,
            InOrder,
            Duplicate,
            Gap(2),
            Late,
            Gap(194),
            Stale,
            InOrder,
            Stale,
            Stale,
            Restart,
            InOrder
        ]
    );
}

#[test]
fn any_order_within_the_window_adds_up() {
    let mut random = 0x2545_f491_4f6c_dd1d_u64;
    let mut next = move || {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        random
    };
    for round in 0..200 {
        let first = next() as u32;
        let mut lost = 0;
        let mut numbers = vec![first, first.wrapping_add(1)];
        for block in 0..50_u32 {
            let mut shuffled: Vec<u32> = Vec::new();
            for n in 0..32 {
                if next() % 10 == 0 {
                    lost += 1;
                } else {
                    shuffled.push(first.wrapping_add(2 + block * 32 + n));
                }
            }
            for last in (1..shuffled.len()).rev() {
                shuffled.swap(last, next() as usize % (last + 1));
            }
            numbers.extend(shuffled);
        }
        numbers.push(first.wrapping_add(2 + 50 * 32));
        let (numbering, _) = arrivals(&numbers);
        let seen = numbering.counts();
        assert_eq!(
            (seen.received, seen.lost, seen.duplicates, seen.restarts),
            (numbers.len() as u64, lost, 0, 0),
            "round {round}"
        );
    }
}

#[test]
fn shorter_numbers_wrap_where_they_end() {
    const LAST: u32 = (1 << 22) - 1;
    for (sentence, numbers, expected) in [
        (
            "in order across the wrap",
            vec![LAST - 1, LAST, 0, 1],
            [4, 0, 0, 0, 0, 0],
        ),
        ("a loss across the wrap", vec![LAST, 2], [2, 2, 0, 0, 0, 0]),
        (
            "late across the wrap",
            vec![LAST - 1, 0, LAST, 1],
            [4, 0, 0, 1, 0, 0],
        ),
        (
            "a sixteenth of all numbers is a loss, more is not",
            vec![1, 1 + LAST / 16, 2 + LAST / 8],
            [3, 262_142, 0, 0, 1, 0],
        ),
        ("a restart", vec![3_000_000, 1, 2, 3, 4], [5, 0, 0, 0, 0, 1]),
    ] {
        let mut numbering = Numbering::of_bits(22);
        for number in numbers {
            numbering.arrived(number);
        }
        assert_eq!(numbering.counts(), counts(expected), "{sentence}");
    }
}

#[test]
fn a_group_counts_once_whatever_it_holds() {
    let datagram = |sequence: u8, node: u8, reports: &[[u8; 4]]| {
        [
            &[0x20, 0, 0, sequence, 0, 0, 0, node][..],
            &reports.concat(),
        ]
        .concat()
    };
    const GOOD: [u8; 4] = [0x00, 0, 0, 0x20];
    const BAD: [u8; 4] = [0x20, 0, 0, 0];
    let mut exporters = Exporters::default();
    for datagram in [
        datagram(1, 1, &[GOOD, GOOD, GOOD]),
        datagram(2, 1, &[GOOD, BAD, GOOD, BAD]),
        datagram(5, 1, &[BAD]),
        datagram(1, 2, &[GOOD]),
    ] {
        exporters.received(from(host(1)), &decode(&datagram).unwrap());
    }
    let each: Vec<_> = exporters
        .each()
        .iter()
        .map(|e| {
            (
                e.node.map(|node| node.0),
                e.reports,
                e.numbers.received,
                e.numbers.lost,
            )
        })
        .collect();
    assert_eq!(each, [(Some(1), 5, 3, 2), (Some(2), 1, 1, 0)]);
    let sums = exporters.counts();
    assert_eq!(
        (sums.reports, sums.numbers.received, sums.numbers.lost),
        (6, 4, 2)
    );
    assert_eq!((sums.undecodable.kind, sums.undecodable.total()), (3, 3));
    assert_eq!(
        (sums.decoded, sums.not_decoded, sums.refused),
        (3, 1, 2),
        "a datagram counts as decoded if any report of it was"
    );
    assert_eq!(sums.undecodable.to_string(), "kind 3");
}

#[test]
fn what_is_told_beside_reports_is_readable_and_has_no_number() {
    const NODE: NodeId = NodeId(7);
    let crossings = || CrossingReport {
        node: NODE,
        told_ns: 1,
        first_block: 1,
        blocks: 1,
        counts: Vec::new(),
        covered: None,
    };
    let hops = || OptionHopsReport {
        node: NODE,
        told_ns: 1,
        pairs: Vec::new(),
    };
    let path = || {
        let end = |node| NodePort { node, port: 1 };
        PathTotalsReport {
            time_s: 1,
            period_ns: 10_000_000_000,
            totals: PathTotals {
                path: Path {
                    source: end(NodeId(1)),
                    hops: Vec::new(),
                    sink: end(NODE),
                },
                times: Vec::new(),
            },
        }
    };
    for (name, told) in [
        ("packets that came by", NodeNotice::Crossings(crossings())),
        ("pairs of option 114", NodeNotice::OptionHops(hops())),
        ("times of a path", NodeNotice::Path(path())),
    ] {
        let told = told.into();
        let mut exporters = Exporters::default();
        // The node's reports have numbers of their own.
        for sequence in 100..110 {
            let mut numbered = report(sequence, 0);
            numbered.node = Some(NODE);
            exporters.received(from(host(1)), &numbered);
            exporters.received(from(host(1)), &told);
        }
        let sums = exporters.counts();
        let readable = (sums.decoded, sums.not_decoded, sums.reports);
        assert_eq!(readable, (20, 0, 10), "{name}");
        assert_eq!(sums.numbers, counts([10, 0, 0, 0, 0, 0]), "{name}");
    }
}

fn report(sequence: u32, hw_id: u8) -> ReportGroup {
    ReportGroup::from(Report {
        sequence,
        observation: Observation {
            hw_id: HwId::new(hw_id).unwrap(),
            flags: Flags::default(),
            clock: None,
            body: Body::Packet(Box::default()),
        },
    })
}

/// At a time that does not matter.
fn from(exporter: IpAddr) -> Arrival {
    at(exporter, 1)
}

fn at(exporter: IpAddr, received_ns: u64) -> Arrival {
    Arrival {
        exporter: SocketAddr::new(exporter, 5000),
        received_ns,
    }
}

fn host(last: u8) -> IpAddr {
    Ipv4Addr::new(10, 0, 0, last).into()
}

#[test]
fn each_address_and_subsystem_has_its_own_numbers() {
    let mut exporters = Exporters::default();
    for (address, hw_id, sequence) in [
        (2, 0, 1),
        (1, 0, 1),
        (1, 1, 900),
        (1, 0, 4),
        (1, 1, 901),
        (2, 0, 2),
    ] {
        exporters.received(from(host(address)), &report(sequence, hw_id));
    }
    let lost: Vec<_> = exporters
        .each()
        .iter()
        .map(|e| (e.exporter, e.hw_id, e.numbers.received, e.numbers.lost))
        .collect();
    assert_eq!(
        lost,
        [(host(1), 0, 2, 2), (host(1), 1, 2, 0), (host(2), 0, 2, 0)]
    );
    let sum = exporters.counts();
    assert_eq!((sum.exporters, sum.numbers.received), (3, 6));
    assert_eq!((sum.numbers.lost, sum.untracked), (2, 0));
}

#[test]
fn a_full_table_counts_what_it_does_not_follow() {
    let mut exporters = Exporters::with_limits(2, 2);
    for address in 1..=4 {
        for sequence in 1..=10 {
            exporters.received(from(host(address)), &report(sequence, 0));
        }
    }
    let counts = exporters.counts();
    assert_eq!(counts.exporters, 2);
    assert_eq!((counts.numbers.received, counts.untracked), (20, 20));
    let error = decode(&[]).expect_err("empty");
    for address in 1..=4 {
        exporters.undecodable(from(host(address)), &error);
    }
    assert_eq!(exporters.counts().undecodable.truncated, 4);
    assert_eq!(exporters.undecodable_by_address().count(), 2);
}

#[test]
fn undecodable_datagrams_are_counted_by_cause() {
    let mut exporters = Exporters::default();
    let mut latency_of_another_type = vec![0; 92];
    latency_of_another_type[0] = 4;
    for datagram in [
        &[][..],
        &[0; 11],
        &[0x30; 40],
        &[0xf0; 40],
        &[0x09; 40],
        &[0x04; 40],
        &latency_of_another_type,
    ] {
        let error = decode(datagram).expect_err("no report");
        exporters.undecodable(from(host(1)), &error);
    }
    let seen = exporters.counts().undecodable;
    assert_eq!((seen.truncated, seen.version, seen.kind), (2, 2, 1));
    assert_eq!((seen.length, seen.field, seen.total()), (1, 1, 7));
    let by_address = exporters.undecodable_by_address();
    let by_address: Vec<_> = by_address.map(|(at, from)| (at, from.counts)).collect();
    assert_eq!(by_address, [(host(1), seen)]);
    assert_eq!(
        exporters.last_undecodable().unwrap(),
        "10.0.0.1: IPv4 version and header length at offset 16 is 0x0, expected 0x45"
    );
    // Telemetry Report v1.0 with a header of two words.
    let mut short = vec![0; 40];
    short[0] = 0x12;
    exporters.undecodable(from(host(2)), &decode(&short).expect_err("no report"));
    assert_eq!(
        exporters.last_undecodable().unwrap(),
        "10.0.0.2: report header length in words, by its metadata bits, at offset 0 is 0x2, expected 0x4"
    );
}

const SECOND: u64 = 1_000_000_000;

/// Addresses that have a place, and how many made room.
fn followed(exporters: &Exporters) -> (Vec<IpAddr>, u64) {
    let mut addresses: Vec<_> = exporters.each().iter().map(|one| one.exporter).collect();
    addresses.dedup();
    (addresses, exporters.counts().forgotten)
}

#[test]
fn the_idle_make_room_and_nobody_else_does() {
    let mut exporters = Exporters::with_limits(3, 3);
    let mut send = |address, second, sequence| {
        exporters.received(at(host(address), second * SECOND), &report(sequence, 0));
        followed(&exporters)
    };
    send(1, 0, 1);
    send(1, 0, 5);
    send(2, 0, 1);
    let full = vec![host(1), host(2), host(3)];
    assert_eq!(send(3, 0, 1), (full.clone(), 0), "the table is full");
    assert_eq!(send(4, 59, 1), (full, 0), "nobody is idle yet");
    send(1, 60, 6);
    let expected = (vec![host(1), host(4)], 2);
    assert_eq!(send(4, 61, 1), expected, "who was silent for a minute is");
    let expected = (vec![host(1), host(2), host(4)], 2);
    assert_eq!(send(2, 62, 2), expected, "and may come again");
    assert_eq!(
        send(5, 0, 1).1,
        2,
        "a clock that goes back makes nobody idle"
    );
    let sums = exporters.counts();
    assert_eq!((sums.exporters, sums.untracked, sums.reports), (3, 2, 9));
    assert_eq!(
        (sums.numbers.received, sums.numbers.lost),
        (7, 3),
        "what the forgotten brought and lost stays counted"
    );
}

#[test]
fn one_address_has_its_share_and_no_more() {
    let mut exporters = Exporters::with_limits(100, 8);
    let mut hw_ids = (0..64).cycle();
    exporters.received(at(host(2), 0), &report(1, 0));
    for second in 0..1000 {
        let hw_id = hw_ids.next().unwrap();
        exporters.received(at(host(1), second * SECOND / 50), &report(1, hw_id));
    }
    exporters.received(at(host(2), 20 * SECOND), &report(4, 0));
    let sums = exporters.counts();
    assert_eq!((sums.exporters, sums.forgotten), (9, 0));
    assert_eq!(sums.untracked, 1000 - sums.numbers.received + 2);
    exporters.received(at(host(1), 100 * SECOND), &report(1, 63));
    let sums = exporters.counts();
    assert_eq!(
        (sums.exporters, sums.forgotten),
        (2, 8),
        "its own idle ones make room, and no others"
    );
    assert_eq!(exporters.each()[1].numbers.lost, 2);
}

fn loss_at(sink: u32, sequence: u32) -> ReportGroup {
    decode(&exporting::loss_at(sink, sequence)).unwrap()
}

/// A packet that a device of v0.5 reports, naming itself or not.
fn packet_at(node: Option<u32>, sequence: u32) -> ReportGroup {
    let mut packet = report(sequence, 0).reports.remove(0);
    packet.observation.body = Body::Packet(Box::new(PacketReport {
        node: node.map(NodeId),
        ..PacketReport::default()
    }));
    ReportGroup::from(packet)
}

#[test]
fn equal_numbers_with_different_contents_are_no_duplicates() {
    let from_switch = |arrival_ns: u8| {
        let mut datagram = golden::udp_payload("switch_int_version_zero");
        datagram[15] = arrival_ns;
        decode(&datagram).unwrap()
    };
    let numbered = |number: u32, arrival_ns: u8| {
        let mut group = from_switch(arrival_ns);
        group.sequence = number;
        group.reports[0].sequence = number;
        group
    };
    struct Case {
        name: &'static str,
        groups: Vec<ReportGroup>,
        /// Lost, duplicates, without a number.
        counts: [u64; 3],
    }
    let cases = [
        Case {
            name: "a switch that always says 0 sends no duplicates",
            groups: (0..100).map(from_switch).collect(),
            counts: [0, 0, 99],
        },
        Case {
            name: "a datagram that arrives twice in a row is a duplicate, numbered or not",
            groups: [1, 2, 2, 3].map(from_switch).to_vec(),
            counts: [0, 1, 2],
        },
        Case {
            name: "a switch that numbers its reports loses and doubles them",
            groups: vec![
                numbered(1, 1),
                numbered(2, 2),
                numbered(2, 2),
                numbered(5, 5),
            ],
            counts: [2, 1, 0],
        },
    ];
    for case in cases {
        let mut exporters = Exporters::default();
        for group in &case.groups {
            exporters.received(from(host(1)), group);
        }
        let sums = exporters.counts();
        let numbers = sums.numbers;
        assert_eq!(
            [numbers.lost, numbers.duplicates, numbers.unnumbered],
            case.counts,
            "{}",
            case.name
        );
        assert_eq!(numbers.received, case.groups.len() as u64, "{}", case.name);
        let health = exporters.health(1, 0);
        assert_eq!(health[0].unnumbered, case.counts[2], "{}", case.name);
    }
}

#[test]
fn the_node_of_an_exporter_is_learned_from_its_reports() {
    struct Case {
        name: &'static str,
        groups: Vec<ReportGroup>,
        /// Node and lost reports of each exporter.
        exporters: &'static [(Option<u32>, u64)],
    }
    let cases = [
        Case {
            name: "a sink names itself in each report",
            groups: vec![loss_at(5, 1), loss_at(5, 3)],
            exporters: &[(Some(5), 1)],
        },
        Case {
            name: "two sinks behind one address have numberings of their own",
            groups: vec![loss_at(5, 1), loss_at(6, 70), loss_at(5, 2), loss_at(6, 72)],
            exporters: &[(Some(5), 0), (Some(6), 1)],
        },
        Case {
            name: "a device that names itself in some reports has one numbering",
            groups: vec![
                packet_at(None, 1),
                packet_at(Some(9), 2),
                packet_at(None, 4),
            ],
            exporters: &[(Some(9), 1)],
        },
        Case {
            name: "devices that share a numbering are no single node",
            groups: vec![
                packet_at(Some(8), 1),
                packet_at(Some(9), 2),
                packet_at(Some(9), 3),
            ],
            exporters: &[(None, 0)],
        },
    ];
    for case in cases {
        let mut exporters = Exporters::default();
        for group in &case.groups {
            exporters.received(from(host(1)), group);
        }
        let mut found: Vec<_> = exporters
            .health(10, 1)
            .iter()
            .map(|one| (one.node, one.lost))
            .collect();
        found.sort();
        let wanted = case
            .exporters
            .iter()
            .map(|(node, lost)| (node.map(NodeId), *lost));
        assert_eq!(found, wanted.collect::<Vec<_>>(), "{}", case.name);
    }
}

#[test]
fn a_host_is_silent_after_a_minute_and_gone_after_a_day() {
    let mut exporters = Exporters::default();
    // Node 3 has two addresses.
    for (address, node, second) in [(1, 1, 100), (2, 2, 0), (3, 3, 0), (4, 3, 100)] {
        exporters.received(at(host(address), second * SECOND), &loss_at(node, 1));
    }
    exporters.received(at(host(5), 0), &report(1, 0));
    let day = GONE_NS / SECOND;
    for (second, known, reporting) in [
        (0, 4, 4),
        (60, 4, 4),
        (61, 4, 2),
        (160, 4, 2),
        (161, 4, 0),
        (day, 4, 0),
        (day + 1, 2, 0),
        (day + 101, 0, 0),
    ] {
        let hosts = exporters.hosts(second * SECOND);
        let found = (hosts.known, hosts.reporting, hosts.last_report_ns);
        assert_eq!(found, (known, reporting, 100 * SECOND), "after {second} s");
    }
    let health = exporters.health(10, 161 * SECOND);
    assert!(health.iter().all(|one| !one.reporting));
    let first: Vec<_> = exporters
        .health(3, 150 * SECOND)
        .iter()
        .map(|one| one.exporter)
        .collect();
    assert_eq!(
        first,
        [2, 3, 5].map(host),
        "the silent ones are not cut off"
    );
}

#[test]
fn health_shows_the_most_troubled_first() {
    let mut exporters = Exporters::default();
    for (address, numbers) in [
        (1, &[1, 2, 3][..]),
        (2, &[1, 5]),
        (3, &[1, 1]),
        (4, &[1, 9]),
        (5, &[1, 9, 9]),
        (6, &[1]),
    ] {
        for number in numbers {
            let time = u64::from(address) * SECOND;
            exporters.received(at(host(address), time), &report(*number, 7));
        }
    }
    let health = exporters.health(5, 6 * SECOND);
    let order: Vec<_> = health.iter().map(|one| one.exporter).collect();
    assert_eq!(order, [5, 4, 2, 3, 1].map(host));
    assert_eq!(
        health[0],
        ExporterHealth {
            exporter: host(5),
            node: None,
            hw_id: 7,
            reports: 3,
            lost: 7,
            duplicates: 1,
            restarts: 0,
            unnumbered: 0,
            last_seen_ns: 5 * SECOND,
            reporting: true,
            silent_after_ns: 60 * SECOND,
            clock: None,
            clock_synchronised: None,
            name: None,
            name_origin: None,
            name_contested: false,
            version: None,
            labels: [].into(),
            interfaces: [].into(),
            lacks: Vec::new(),
        }
    );
    assert_eq!(exporters.health(100, 6 * SECOND).len(), 6);
    assert_eq!(exporters.health(0, 6 * SECOND), []);
}

#[test]
fn an_exporters_clock_is_what_it_told_last() {
    let mut exporters = Exporters::default();
    let told = |source, synchronised| {
        let mut group = report(1, 0);
        group.reports[0].observation.clock = Some(ClockState {
            source,
            synchronised,
        });
        group
    };
    let groups = [
        told(ClockSource::Tai, true),
        told(ClockSource::Realtime, false),
        report(2, 0),
    ];
    for group in groups {
        exporters.received(from(host(1)), &group);
    }
    let health = &exporters.health(1, 1)[0];
    assert_eq!(health.clock, Some("realtime"));
    assert_eq!(health.clock_synchronised, Some(false));
}
