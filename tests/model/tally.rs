//! The tally counts each packet once: in its source node, in its class, and in the group of both.

use std::collections::BTreeMap;

use hostint::model::*;
use hostint_testing::random::Random;

const BEGAN_NS: u64 = 1_000;

fn key(port: u16) -> FlowKey {
    FlowKey {
        src: "192.0.2.1".parse().unwrap(),
        dst: "198.51.100.2".parse().unwrap(),
        sport: 40000,
        dport: port,
        protocol: 17,
        vlans: Vlans::NONE,
    }
}

/// Ports above 6000 are of class `high`.
fn classes() -> Classes {
    Classes::new(&[WatchRule {
        class: Some("high".to_owned()),
        to_ports: vec![PortRange::new(6001, 65535).unwrap()],
        ..WatchRule::default()
    }])
}

fn tally() -> Tally {
    let mut tally = Tally::since(BEGAN_NS);
    tally.set_classes(classes());
    tally
}

/// A flow that began at this time, with packets of 1000 bytes and these latencies. Flows from node 1 have fine slots.
fn counts(node: u32, first_ns: u64, latencies: &[i32]) -> FlowCounts {
    let (mut coarse, mut fine) = ([0; LATENCY_SLOTS], [0; FINE_SLOTS]);
    for ns in latencies {
        coarse[power_of((*ns).into())] += 1;
        let mut one = LatencyHistogram::default();
        one.add((*ns).max(0).into());
        fine[one.numbered_slots()[0].0 as usize] += 1;
    }
    FlowCounts {
        node: NodeId(node),
        packets: latencies.len() as u64,
        bytes: 1000 * latencies.len() as u64,
        lost: latencies.len() as u64 / 5,
        first_ns,
        last_ns: first_ns + latencies.len() as u64,
        latency_min_ns: latencies.iter().copied().min().unwrap_or_default(),
        latency_max_ns: latencies.iter().copied().max().unwrap_or_default(),
        latency_sum_ns: latencies.iter().map(|ns| i64::from(*ns)).sum(),
        slots: match node {
            1 => FlowSlots::fine(&fine),
            _ => FlowSlots::coarse(&coarse),
        },
        ..FlowCounts::default()
    }
}

type Groups = BTreeMap<(u32, Option<String>), SubjectTotals>;

/// Adds the groups that changed.
fn read(tally: &mut Tally, groups: &mut Groups) {
    for (node, subject, totals) in tally.groups_to_report() {
        let SummarySubject::Group { class } = subject else {
            panic!("{subject:?}");
        };
        groups.insert((node.0, class), totals);
    }
}

#[test]
fn groups_have_each_packet_once_however_often_flows_are_looked_at() {
    let mut random = Random::seeded(18);
    let (mut tally, mut groups) = (tally(), Groups::new());
    let mut flows: Vec<(u16, u32, u64, Vec<i32>)> = Vec::new();
    let mut expected: BTreeMap<(u32, Option<String>), Vec<i32>> = BTreeMap::new();
    let mut squares: BTreeMap<(u32, Option<String>), FlowSquares> = BTreeMap::new();
    // Each flow once, with all that it counted.
    let mut square = |port: u16, last: &FlowCounts| {
        let class = (port > 6000).then(|| "high".to_owned());
        let of_group = squares.entry((last.node.0, class)).or_default();
        of_group.add(FlowSquares::of_flow(last.lost, last.packets + last.lost));
    };
    for round in 0..4000_u64 {
        if random.one_in(20) || flows.is_empty() {
            let (port, node) = (5000 + random.below(2000) as u16, 1 + random.below(3) as u32);
            if flows.iter().all(|flow| flow.0 != port) {
                flows.push((port, node, BEGAN_NS + round, Vec::new()));
            }
        }
        let place = random.below(flows.len());
        let (port, node, first_ns, latencies) = &mut flows[place];
        for _ in 0..random.below(5) {
            let ns = random.below(1 << 20) as i32 - 1000;
            latencies.push(ns);
            let class = (*port > 6000).then(|| "high".to_owned());
            expected.entry((*node, class)).or_default().push(ns);
        }
        let now = counts(*node, *first_ns, latencies);
        match random.below(10) {
            0 => {
                square(*port, &now);
                tally.end(key(*port), now);
                flows.remove(place);
            }
            1..5 => {
                tally.look_between(key(*port), now);
            }
            _ => {}
        }
        if random.one_in(50) {
            read(&mut tally, &mut groups);
        }
    }
    for (port, node, first_ns, latencies) in &flows {
        let last = counts(*node, *first_ns, latencies);
        square(*port, &last);
        tally.end(key(*port), last);
    }
    read(&mut tally, &mut groups);
    expected.retain(|_, latencies| !latencies.is_empty());
    groups.retain(|_, totals| totals.packets > 0);
    assert!(groups.keys().eq(expected.keys()));
    for (group, latencies) in expected {
        let totals = &groups[&group];
        let exact = counts(group.0, 0, &latencies);
        assert_eq!(totals.packets, exact.packets, "{group:?}");
        assert_eq!(totals.bytes, exact.bytes, "{group:?}");
        assert_eq!(totals.squares, squares[&group], "{group:?}");
        let latency = &totals.latency;
        assert_eq!(latency.samples(), exact.packets, "{group:?}");
        assert_eq!(latency.sum_ns(), exact.latency_sum_ns, "{group:?}");
        let ends = (exact.latency_min_ns.into(), exact.latency_max_ns.into());
        assert_eq!(latency.ends(), Some(ends), "{group:?}");
        let wanted = exact.slots.histogram((i32::MIN, i32::MAX), 0);
        assert!(latency.counts().eq(wanted.counts()), "{group:?}");
        let resolution = match (group.0, exact.latency_min_ns) {
            (1, 0..) => LatencyResolution::Fine,
            (1, _) => LatencyResolution::Middle,
            _ => LatencyResolution::Coarse,
        };
        assert_eq!(latency.resolution(), resolution, "{group:?}");
    }
    let last = |tally: &mut Tally| {
        let mut groups = Groups::new();
        read(tally, &mut groups);
        groups
    };
    for again in 1..=2 {
        let told = last(&mut tally);
        assert!(told.iter().all(|(group, totals)| groups[group] == *totals));
        assert!(!told.is_empty(), "told again {again}");
    }
    assert!(last(&mut tally).is_empty(), "nothing changed since");
}

#[test]
fn a_flow_without_fine_slots_makes_its_own_packets_coarse_and_no_others() {
    let mut tally = tally();
    tally.begin_counting();
    let beyond_the_cap = FlowCounts {
        node: NodeId(1),
        ..counts(2, BEGAN_NS + 40, &[700; 4])
    };
    /// The resolution of totals that are told, their packets, and their epoch.
    type Told = (LatencyResolution, usize, u64);
    // Packets of the flow with fine slots, whether the flow beyond the cap has some, and the totals that are told then.
    let rounds: [(usize, bool, &[Told]); 3] = [
        (10, false, &[(LatencyResolution::Fine, 10, BEGAN_NS)]),
        (
            15,
            true,
            &[
                (LatencyResolution::Fine, 15, BEGAN_NS),
                (LatencyResolution::Coarse, 4, BEGAN_NS + 40),
            ],
        ),
        (
            25,
            false,
            &[
                (LatencyResolution::Fine, 25, BEGAN_NS),
                // told again, in case that was lost
                (LatencyResolution::Coarse, 4, BEGAN_NS + 40),
            ],
        ),
    ];
    for (packets, with_coarse, expected) in rounds {
        tally.look_between(key(5000), counts(1, BEGAN_NS, &vec![500; packets]));
        if with_coarse {
            tally.end(key(5001), beyond_the_cap.clone());
        }
        let told = tally.groups_to_report();
        let told: Vec<_> = (told.iter())
            .map(|(_, _, totals)| {
                let latency = &totals.latency;
                let packets = latency.samples() as usize;
                (latency.resolution(), packets, totals.epoch_ns)
            })
            .collect();
        assert_eq!(told, expected, "{packets} packets");
    }
}

#[test]
fn flows_that_the_process_found_count_from_then_on() {
    let (mut tally, mut groups) = (tally(), Groups::new());
    let old = |packets| counts(2, BEGAN_NS - 1, &vec![500; packets]);
    tally.look_between(key(5000), old(10));
    tally.begin_counting();
    read(&mut tally, &mut groups);
    assert!(groups.is_empty(), "{groups:?}");
    tally.look_between(key(5000), old(17));
    read(&mut tally, &mut groups);
    let totals = &groups[&(2, None)];
    assert_eq!(totals.packets, 7);
    // Its extremes may be older, so the group's are those of the slot.
    assert_eq!(totals.latency.ends(), Some((256, 511)));
    assert_eq!(totals.latency.samples(), 7);
}

#[test]
fn another_flow_with_the_same_key_counts_from_its_beginning() {
    let (mut tally, mut groups) = (tally(), Groups::new());
    tally.begin_counting();
    tally.look_between(key(5000), counts(1, BEGAN_NS + 1, &[500; 10]));
    tally.look_between(key(5000), counts(1, BEGAN_NS + 2, &[500; 12]));
    read(&mut tally, &mut groups);
    assert_eq!(groups[&(1, None)].packets, 22);
}

#[test]
fn a_flow_that_changes_its_class_leaves_its_packets_where_they_were_counted() {
    let mut tally = Tally::since(BEGAN_NS);
    let mut groups = Groups::new();
    tally.look_between(key(6500), counts(1, BEGAN_NS, &[500; 10]));
    tally.set_classes(classes());
    tally.look_between(key(6500), counts(1, BEGAN_NS, &[500; 15]));
    read(&mut tally, &mut groups);
    let packets = |class: Option<&str>| groups[&(1, class.map(str::to_owned))].packets;
    assert_eq!((packets(None), packets(Some("high"))), (10, 5));
}

#[test]
fn more_groups_than_there_may_be_are_left_out_and_counted() {
    let mut tally = tally();
    for node in 0..=MOST_GROUPS as u32 {
        let port = (node % 60_000) as u16;
        let flow = FlowKey {
            sport: (node / 60_000) as u16,
            ..key(port)
        };
        // Ports below 6001 have no class, so each node has one group.
        let flow = FlowKey {
            dport: 5000,
            sport: flow.dport,
            vlans: Vlans {
                outer: 0,
                inner: flow.sport,
            },
            ..flow
        };
        tally.look_between(flow, counts(node, BEGAN_NS, &[500; 3]));
    }
    assert_eq!(tally.groups_to_report().len(), MOST_GROUPS);
    let last = FlowKey {
        dport: 6500,
        ..key(0)
    };
    tally.look_between(last, counts(7, BEGAN_NS, &[500; 4]));
    let changed = tally.groups_to_report();
    let of_seven = changed.iter().find(|(node, ..)| *node == NodeId(7));
    assert_eq!(
        of_seven.map(|(_, subject, totals)| (subject.clone(), totals.packets)),
        Some((SummarySubject::Group { class: None }, 7)),
        "a further class counts in the group without class"
    );
}
