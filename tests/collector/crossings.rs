//! Losses by segment are differences of what hosts counted of the same packets; what hosts do not tell stays unknown.

use std::collections::BTreeMap;

use hostint::collector::{CrossingLedger, SETTLED_NS};
use hostint::model::crossings::*;
use hostint::model::*;

use CrossingPlace::*;

/// The block of the packets, and when hosts tell of it.
const BLOCK: u64 = 1_600_000_000;
const TOLD_NS: u64 = (BLOCK + 5) * BLOCK_NS;

const FLOW: CrossingFlow = CrossingFlow {
    source: NodeId(1),
    dest: 77,
};

fn arrival(received_ns: u64) -> Arrival {
    Arrival {
        exporter: "192.0.2.1:4000".parse().unwrap(),
        received_ns,
    }
}

fn port(node: u32, port: u16) -> NodePort {
    NodePort {
        node: NodeId(node),
        port,
    }
}

/// A path from port 1 of node 1 to port 1 of node 2, over these hops: node, ingress and egress port.
fn path(hops: &[(u32, u16, u16)]) -> Path {
    let hop = |(node, ingress_port, egress_port): &(u32, u16, u16)| PathHop {
        node: NodeId(*node),
        ingress_port: *ingress_port,
        egress_port: *egress_port,
    };
    Path {
        source: port(1, 1),
        hops: hops.iter().map(hop).collect(),
        sink: port(2, 1),
    }
}

/// What hosts counted: node, place, port and packets.
type Counts = [(u32, CrossingPlace, u16, u32)];

/// The reports of the hosts, one each, about the block.
fn reports(counts: &Counts, told_ns: u64) -> Vec<CrossingReport> {
    let mut by_node: BTreeMap<u32, Vec<CrossingCounts>> = BTreeMap::new();
    for (node, place, port, packets) in counts {
        by_node.entry(*node).or_default().push(CrossingCounts {
            flow: FLOW,
            place: *place,
            port: *port,
            packets: vec![Some(*packets)],
            ttl: None,
        });
    }
    let report = |(node, counts)| CrossingReport {
        node: NodeId(node),
        told_ns,
        first_block: BLOCK,
        blocks: 1,
        counts,
        covered: None,
    };
    by_node.into_iter().map(report).collect()
}

/// What a collector knows when the block is over.
fn known(paths: &[Path], reports: &[CrossingReport]) -> Vec<PathCrossed> {
    let mut crossings = CrossingLedger::default();
    for path in paths {
        crossings.see_path(path, arrival(TOLD_NS));
    }
    for report in reports {
        assert_eq!(
            crossings.add(report, arrival(TOLD_NS)),
            [],
            "the block is not over"
        );
    }
    let nothing = CrossingReport {
        node: NodeId(3),
        told_ns: 0,
        first_block: 0,
        blocks: 0,
        counts: Vec::new(),
        covered: None,
    };
    let over_ns = (BLOCK + 1) * BLOCK_NS + SETTLED_NS;
    crossings.add(&nothing, arrival(over_ns))
}

/// The losses of a path as text: `0` the whole, numbers the segments, `q` the queues behind hops.
fn text(known: &[PathCrossed], path: &Path) -> String {
    let Some(known) = known.iter().find(|known| known.path == *path) else {
        return "nothing".to_owned();
    };
    let place = |(place, crossed): &(CrossedPlace, Crossed)| {
        let name = match place {
            CrossedPlace::Segment(at) => format!("{at}"),
            CrossedPlace::Queue(behind) => format!("q{behind}"),
        };
        format!("{name}: {}/{}", crossed.lost, crossed.packets)
    };
    let mut places: Vec<_> = known.places.iter().map(place).collect();
    places.sort();
    places.join(", ")
}

/// A way over the hops 10 and 11, whose links and boxes lose nothing unless told otherwise.
fn two_hops() -> Vec<(u32, CrossingPlace, u16, u32)> {
    vec![
        (1, Tagged, 1, 100),
        (10, Arrived, 1, 100),
        (10, Departed, 2, 100),
        (10, Sent, 2, 100),
        (11, Arrived, 1, 100),
        (11, Departed, 2, 100),
        (2, Received, 1, 100),
    ]
}

#[test]
fn losses_are_told_where_they_happened() {
    let over = path(&[(10, 1, 2), (11, 1, 2)]);
    type Change = (usize, Option<u32>);
    let cases: [(&str, &[Change], &str); 11] = [
        (
            "no loss",
            &[],
            "0: 0/100, 1: 0/100, 2: 0/100, 3: 0/100, 4: 0/100, 5: 0/100, q0: 0/100",
        ),
        (
            "on the first link",
            &[
                (1, Some(90)),
                (2, Some(90)),
                (3, Some(90)),
                (4, Some(90)),
                (5, Some(90)),
                (6, Some(90)),
            ],
            "0: 10/100, 1: 10/100, 2: 0/90, 3: 0/90, 4: 0/90, 5: 0/90, q0: 0/90",
        ),
        (
            "in the first box",
            &[
                (2, Some(90)),
                (3, Some(90)),
                (4, Some(90)),
                (5, Some(90)),
                (6, Some(90)),
            ],
            "0: 10/100, 1: 0/100, 2: 10/100, 3: 0/90, 4: 0/90, 5: 0/90, q0: 0/90",
        ),
        (
            "in the queue, and on the link behind it",
            &[(3, Some(90)), (4, Some(85)), (5, Some(85)), (6, Some(85))],
            "0: 15/100, 1: 0/100, 2: 0/100, 3: 15/100, 4: 0/85, 5: 0/85, q0: 10/100",
        ),
        (
            "the program behind the queue did not see all that arrived",
            &[(3, Some(97))],
            "0: 0/100, 1: 0/100, 2: 0/100, 3: 0/100, 4: 0/100, 5: 0/100, q0: 0/100",
        ),
        (
            "no program is behind the queue",
            &[(3, None), (4, Some(99)), (5, Some(99)), (6, Some(99))],
            "0: 1/100, 1: 0/100, 2: 0/100, 3: 1/100, 4: 0/99, 5: 0/99",
        ),
        (
            "the second box does not tell what arrived",
            &[(4, None)],
            "0: 0/100, 1: 0/100, 2: 0/100, 5: 0/100, q0: 0/100",
        ),
        (
            "the sink tells nothing: packets that have no end are those of no pair",
            &[(6, None)],
            "nothing",
        ),
        (
            "the source tells nothing",
            &[(0, None)],
            "2: 0/100, 3: 0/100, 4: 0/100, 5: 0/100, q0: 0/100",
        ),
        (
            "the first link doubles packets",
            &[
                (1, Some(103)),
                (2, Some(103)),
                (3, Some(103)),
                (4, Some(103)),
                (5, Some(103)),
                (6, Some(103)),
            ],
            "0: -3/100, 1: -3/100, 2: 0/103, 3: 0/103, 4: 0/103, 5: 0/103, q0: 0/103",
        ),
        (
            "no packets",
            &[
                (0, Some(0)),
                (1, Some(0)),
                (2, Some(0)),
                (3, Some(0)),
                (4, Some(0)),
                (5, Some(0)),
                (6, Some(0)),
            ],
            "nothing",
        ),
    ];
    for (sentence, changes, expected) in cases {
        let mut counts = two_hops();
        for (at, packets) in changes {
            counts[*at].3 = packets.unwrap_or(u32::MAX);
        }
        counts.retain(|count| count.3 < u32::MAX);
        let known = known(std::slice::from_ref(&over), &reports(&counts, TOLD_NS));
        assert_eq!(text(&known, &over), expected, "{sentence}");
    }
}

#[test]
fn of_links_with_a_common_end_it_is_known_only_that_none_lost_packets() {
    // Node 10 sends some to 11 and some to 12; both send to the sink.
    let [left, right] = [
        path(&[(10, 1, 2), (11, 1, 2)]),
        path(&[(10, 1, 2), (12, 1, 2)]),
    ];
    let counts = |arrived_at_12| {
        vec![
            (1, Tagged, 1, 100),
            (10, Arrived, 1, 100),
            (10, Departed, 2, 100),
            (11, Arrived, 1, 60),
            (11, Departed, 2, 60),
            (12, Arrived, 1, arrived_at_12),
            (12, Departed, 2, arrived_at_12),
            (2, Received, 1, 60 + arrived_at_12),
        ]
    };
    let paths = [left.clone(), right.clone()];
    let all = known(&paths, &reports(&counts(40), TOLD_NS));
    assert_eq!(
        text(&all, &left),
        "0: 0/100, 1: 0/100, 2: 0/100, 3: 0/60, 4: 0/60, 5: 0/60"
    );
    assert_eq!(text(&all, &right), "3: 0/40, 4: 0/40, 5: 0/40");
    let lossy = known(&paths, &reports(&counts(37), TOLD_NS));
    assert_eq!(
        text(&lossy, &left),
        "0: 3/100, 1: 0/100, 2: 0/100, 4: 0/60, 5: 0/60"
    );
    assert_eq!(text(&lossy, &right), "4: 0/37, 5: 0/37");
}

#[test]
fn a_way_on_which_a_hop_pushed_no_entry_is_no_other_way() {
    let paths = [
        path(&[(10, 1, 2), (11, 1, 2)]),
        path(&[(11, 1, 2)]),
        path(&[(10, 1, 2)]),
    ];
    let mut counts = two_hops();
    counts[4].3 = 95;
    counts[5].3 = 95;
    counts[6].3 = 95;
    let known = known(&paths, &reports(&counts, TOLD_NS));
    assert_eq!(
        text(&known, &paths[0]),
        "0: 5/100, 1: 0/100, 2: 0/100, 3: 5/100, 4: 0/95, 5: 0/95, q0: 0/100"
    );
    assert_eq!(known.len(), 1, "{known:?}");
}

#[test]
fn reports_of_a_block_may_be_repeated_lost_and_late() {
    let over = path(&[(10, 1, 2), (11, 1, 2)]);
    let mut early = two_hops();
    for count in &mut early {
        count.3 -= 30;
    }
    let mut told = reports(&two_hops(), TOLD_NS);
    told.extend(reports(&early, TOLD_NS));
    told.extend(reports(&two_hops()[2..], TOLD_NS));
    let known = known(std::slice::from_ref(&over), &told);
    assert_eq!(
        text(&known, &over),
        "0: 0/100, 1: 0/100, 2: 0/100, 3: 0/100, 4: 0/100, 5: 0/100, q0: 0/100"
    );
}

#[test]
fn a_host_whose_clock_is_far_off_counts_for_nothing() {
    let over = path(&[(10, 1, 2), (11, 1, 2)]);
    let second = 1_000_000_000;
    for (off_ns, is_known, sentence) in [
        (0, true, "the same time"),
        (900_000_000, true, "a little ahead"),
        (2 * second, false, "ahead"),
        (-second, true, "a report that was on its way for a second"),
        (-3 * second, false, "behind"),
    ] {
        let mut told = reports(&two_hops(), TOLD_NS);
        for report in told.iter_mut().filter(|report| report.node == NodeId(10)) {
            report.told_ns = TOLD_NS.wrapping_add_signed(off_ns);
        }
        let known = known(std::slice::from_ref(&over), &told);
        let all = "0: 0/100, 1: 0/100, 2: 0/100, 3: 0/100, 4: 0/100, 5: 0/100, q0: 0/100";
        let expected = if is_known {
            all
        } else {
            "0: 0/100, 4: 0/100, 5: 0/100"
        };
        assert_eq!(text(&known, &over), expected, "{sentence}");
    }
}

/// Gives all packets at a place a TTL from this block on.
fn set_ttl(told: &mut [CrossingReport], node: u32, place: CrossingPlace, ttl: u8, from_block: u64) {
    let of_node = told.iter_mut().filter(|report| report.node == NodeId(node));
    for counts in of_node.flat_map(|report| &mut report.counts) {
        if counts.place == place {
            counts.ttl = Some(SteadyTtl { ttl, from_block });
        }
    }
}

#[test]
fn routers_that_say_nothing_are_told_by_the_ttl() {
    let over = path(&[(10, 1, 2), (11, 1, 2)]);
    let mut told = reports(&two_hops(), TOLD_NS);
    let places = [
        (1, Tagged, 64),
        (10, Arrived, 62),
        (10, Departed, 61),
        (11, Arrived, 61),
        (11, Departed, 60),
        (2, Received, 57),
    ];
    for (node, place, ttl) in places {
        set_ttl(&mut told, node, place, ttl, BLOCK);
    }
    let unseen = |told: &[CrossingReport]| {
        let known = known(std::slice::from_ref(&over), told);
        known[0].unseen.clone()
    };
    assert_eq!(unseen(&told), [(1, 2), (3, 0), (5, 3)]);
    let mut changed = told.clone();
    set_ttl(&mut changed, 10, Arrived, 62, BLOCK + 1);
    assert_eq!(
        unseen(&changed),
        [(3, 0), (5, 3)],
        "packets of the block have several TTLs"
    );
    set_ttl(&mut changed, 11, Arrived, 64, BLOCK);
    assert_eq!(unseen(&changed), [(5, 3)], "something raised the TTL");
    let none = reports(&two_hops(), TOLD_NS);
    assert_eq!(unseen(&none), [], "no host tells it");
}

#[test]
fn a_flow_has_none_of_its_pairs_paths_that_it_does_not_take() {
    let paths = [path(&[(10, 1, 2)]), path(&[(11, 1, 2)])];
    let other = CrossingFlow { dest: 78, ..FLOW };
    let over = |hop: u32, flow: CrossingFlow| {
        let counts = [
            (1, Tagged, 1, 100),
            (hop, Arrived, 1, 90),
            (hop, Departed, 2, 90),
            (2, Received, 1, 90),
        ];
        let mut told = reports(&counts, TOLD_NS);
        for counts in told.iter_mut().flat_map(|report| &mut report.counts) {
            counts.flow = flow;
        }
        told
    };
    let joined = |covered: Option<CoveredFlows>, told_ns: u64| {
        let mut told = over(10, FLOW);
        told.extend(over(11, other));
        for report in &mut told {
            report.covered = covered;
            report.told_ns = told_ns;
        }
        let known = known(&paths, &told);
        paths.each_ref().map(|path| text(&known, path))
    };
    let lossy = "0: 10/100, 1: 10/100, 2: 0/90, 3: 0/90".to_owned();
    assert_eq!(
        joined(Some(CoveredFlows::ALL), TOLD_NS),
        [lossy.clone(), lossy],
        "each flow has one path"
    );
    for (covered, told_ns, sentence) in [
        (None, TOLD_NS, "a hop may have no room for the flow"),
        (
            Some(CoveredFlows {
                from: other,
                to: other,
            }),
            TOLD_NS,
            "what a hop tells is of other flows",
        ),
        (
            Some(CoveredFlows::ALL),
            TOLD_NS - BLOCK_NS,
            "packets of the block may still come",
        ),
    ] {
        let [first, _] = joined(covered, told_ns);
        assert!(!first.contains("1: 10/100"), "{sentence}: {first}");
    }
}
