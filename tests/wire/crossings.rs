//! Counts of the packets that came by are told in datagrams and read back, and nothing else is taken for them.

use hostint::model::NodeId;
use hostint::model::crossings::*;
use hostint::wire::report::{NodeNotice, decode};
use hostint::wire::report_crossings::{emit, parts};

const FIRST_BLOCK: u64 = 1_583_000_000;

/// Bytes of a datagram that every path carries.
const MOST_BYTES: usize = 1232;

fn counts(source: u32, dest: u32, place: CrossingPlace, port: u16) -> CrossingCounts {
    CrossingCounts {
        flow: CrossingFlow {
            source: NodeId(source),
            dest,
        },
        place,
        port,
        packets: vec![Some(port.into()), None, Some(0), Some(u32::MAX - 1)],
        ttl: port.is_multiple_of(2).then_some(SteadyTtl {
            ttl: 62,
            from_block: FIRST_BLOCK + 2,
        }),
    }
}

fn report(counts: Vec<CrossingCounts>) -> CrossingReport {
    CrossingReport {
        node: NodeId(9),
        told_ns: 1_700_000_000_123_456_789,
        first_block: FIRST_BLOCK,
        blocks: 4,
        counts,
        covered: Some(CoveredFlows::ALL),
    }
}

fn datagram(report: &CrossingReport) -> Vec<u8> {
    let mut bytes = Vec::new();
    emit(report, &mut bytes);
    bytes
}

fn read_crossings(datagram: &[u8]) -> CrossingReport {
    match decode(datagram).unwrap().notice {
        Some(NodeNotice::Crossings(read)) => read,
        other => panic!("{other:?}"),
    }
}

#[test]
fn counts_that_are_told_are_those_that_are_read() {
    use CrossingPlace::*;
    let places = [Tagged, Arrived, Departed, Sent, Received];
    let told = report(places.map(|place| counts(1, 7, place, 3)).into());
    let group = decode(&datagram(&told)).unwrap();
    assert_eq!(group.node, Some(NodeId(9)));
    assert!(group.reports.is_empty(), "it is none of the reports");
    assert_eq!(group.notice, Some(NodeNotice::Crossings(told)));
}

#[test]
fn the_counts_of_a_flow_are_in_one_datagram() {
    let of_flow = |flow: u32| {
        let places = 1 + flow % 7;
        (0..places).map(move |port| counts(flow, 2 * flow, CrossingPlace::Arrived, port as u16))
    };
    let told = report((0..200).flat_map(of_flow).collect());
    let parts = parts(&told);
    assert!(parts.len() > 10, "{} parts", parts.len());
    let mut seen = Vec::new();
    for part in &parts {
        assert!(datagram(part).len() <= MOST_BYTES);
        let mut flows: Vec<_> = part.counts.iter().map(|one| one.flow).collect();
        flows.dedup();
        for flow in flows {
            assert!(
                !seen.contains(&flow),
                "a second part has counts of {flow:?}"
            );
            seen.push(flow);
        }
    }
    let all: Vec<_> = parts.into_iter().flat_map(|part| part.counts).collect();
    assert_eq!(all, told.counts);
}

#[test]
fn parts_cover_all_flows_but_those_between_two_of_them() {
    let flows = |from, to| (from..to).map(|flow| counts(flow, 0, CrossingPlace::Arrived, 1));
    let told = report(flows(0, 60).collect());
    let parts = parts(&told);
    assert!(parts.len() > 1);
    for flow in 0..70 {
        let flow = CrossingFlow {
            source: NodeId(flow),
            dest: 0,
        };
        let covering = parts
            .iter()
            .filter(|part| part.covered.is_some_and(|all| all.has(flow)));
        assert_eq!(covering.count(), 1, "{flow:?}");
    }
    let full = CrossingReport {
        covered: None,
        ..told
    };
    let covered = |parts: Vec<CrossingReport>| parts.iter().any(|part| part.covered.is_some());
    assert!(
        !covered(self::parts(&full)),
        "the host has no room for others"
    );
    let many = (0..100).map(|port| counts(100, 2, CrossingPlace::Arrived, port));
    let untold = report(flows(0, 60).chain(many).collect());
    assert!(!covered(self::parts(&untold)), "a flow is left out");
    let read = read_crossings(&datagram(&full));
    assert_eq!(read.covered, None);
}

#[test]
fn a_flow_with_more_places_than_a_datagram_has_is_not_told() {
    let many = |port| counts(1, 2, CrossingPlace::Arrived, port);
    let told = report(
        (0..100)
            .map(many)
            .chain([counts(3, 4, CrossingPlace::Sent, 1)])
            .collect(),
    );
    let parts = parts(&told);
    let [part] = &parts[..] else {
        panic!("{} parts", parts.len());
    };
    assert_eq!(part.counts, [counts(3, 4, CrossingPlace::Sent, 1)]);
}

#[test]
fn other_bytes_are_refused() {
    let whole = datagram(&report(vec![counts(1, 2, CrossingPlace::Sent, 3)]));
    for len in 0..whole.len() {
        assert!(decode(&whole[..len]).is_err(), "the first {len} bytes");
    }
    for (at, byte, what) in [
        (40 + 8, 6, "a place that there is not"),
        (40 + 8, 0, "no place"),
        (40 + 9, 1, "a reserved byte"),
        (37, 1, "another reserved byte"),
        (36, 5, "more blocks than there are"),
    ] {
        let mut changed = whole.clone();
        changed[at] = byte;
        assert!(decode(&changed).is_err(), "{what}");
    }
}
