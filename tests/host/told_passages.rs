//! Postcards tell collectors the times of all packets between interfaces: what changed, a few times, and each since it began.

use std::collections::BTreeMap;

use hostint::daemon::postcards::passages::SendPassages;
use hostint::model::*;

const NODE: NodeId = NodeId(7);
const SECOND: u64 = 1_000_000_000;
const ATTACHED: u64 = 1_700_000_000 * SECOND;

/// Packets from one interface to another, of which as many left.
fn passage(in_ifindex: u32, out_ifindex: u32, packets: u64) -> InterfacePassage {
    let times = |ns: i64| {
        let mut latency = LatencyHistogram::default();
        (0..packets).for_each(|_| latency.add(ns));
        PassageTimes(latency)
    };
    InterfacePassage {
        in_ifindex,
        out_ifindex,
        in_interface: None,
        out_interface: None,
        start: PassageStart::Interface,
        sent: times(5_000),
        queued: times(1_000),
    }
}

/// By interfaces: seconds from the attachment to the begin of counting, and packets that left.
type Told = BTreeMap<(u16, u16), (u64, u64)>;

/// What the next turn tells.
fn turn(tell: &mut SendPassages, second: u64, passages: &[InterfacePassage]) -> Told {
    let news = tell.news(NODE, passages, ATTACHED + second * SECOND);
    let told = news.iter().map(|totals| {
        let id = PassageId::of(&totals.path).expect("a path of the host");
        assert_eq!(id.node, NODE);
        let [sent, queued] = &totals.times[..] else {
            panic!("{totals:?}");
        };
        assert_eq!((sent.place, queued.place), (SENT_PLACE, QUEUED_PLACE));
        assert_eq!(sent.latency.samples(), queued.latency.samples());
        let epoch_s = (sent.epoch_ns - ATTACHED) / SECOND;
        ((id.in_port, id.out_port), (epoch_s, sent.latency.samples()))
    });
    told.collect()
}

#[test]
fn what_changed_is_told_since_it_began() {
    let mut tell = SendPassages::since(ATTACHED);
    // A sentence, the second, what the kernel has, and what is told: begin and packets by interfaces.
    type Case = (
        &'static str,
        u64,
        Vec<InterfacePassage>,
        &'static [((u16, u16), (u64, u64))],
    );
    let both = |one, other| vec![passage(2, 3, one), passage(3, 2, other)];
    let cases: [Case; 8] = [
        (
            "all counts since the attachment",
            10,
            vec![passage(2, 3, 5)],
            &[((2, 3), (0, 5))],
        ),
        (
            "one that was not there at the last turn began behind it",
            20,
            both(5, 4),
            &[((2, 3), (0, 5)), ((3, 2), (10, 4))],
        ),
        (
            "datagrams may be lost: it is told again",
            30,
            both(5, 6),
            &[((2, 3), (0, 5)), ((3, 2), (10, 6))],
        ),
        ("but not forever", 40, both(5, 6), &[((3, 2), (10, 6))]),
        (
            "the sum of interfaces that are gone was told before",
            50,
            vec![passage(0, 3, 9), passage(2, 0, 9), passage(3, 2, 7)],
            &[((3, 2), (10, 7))],
        ),
        (
            "one that came back counts anew",
            60,
            both(2, 7),
            &[((2, 3), (50, 2)), ((3, 2), (10, 7))],
        ),
        (
            "so does another interface with its index",
            70,
            vec![passage(65_538, 3, 1), passage(3, 2, 7)],
            &[((2, 3), (60, 1)), ((3, 2), (10, 7))],
        ),
        ("no packets at all", 80, Vec::new(), &[]),
    ];
    for (sentence, second, passages, expected) in cases {
        let told = turn(&mut tell, second, &passages);
        let expected: Told = expected.iter().copied().collect();
        assert_eq!(told, expected, "second {second}: {sentence}");
    }
}

#[test]
fn those_with_most_packets_are_told_if_there_are_too_many() {
    let mut tell = SendPassages::since(ATTACHED);
    let all: Vec<_> = (1..=300).map(|n| passage(n, 1, n.into())).collect();
    let told = turn(&mut tell, 10, &all);
    assert_eq!(told.len(), 256);
    assert!(told.values().all(|(_, packets)| *packets > 44), "{told:?}");
}

#[test]
fn a_passage_is_a_path_that_no_packet_takes() {
    for start in [PassageStart::Interface, PassageStart::Sender] {
        let id = PassageId {
            node: NODE,
            in_port: 2,
            out_port: 3,
            start,
        };
        let path = id.path();
        assert_eq!(PassageId::of(&path), Some(id));
        assert!(path.is_passage());
        let other_node = Path {
            source: NodePort {
                node: NodeId(1),
                ..path.source
            },
            ..path.clone()
        };
        let queue = Path::to_queue(NodeId(1), path.sink);
        let own_queue = Path::to_queue(NODE, path.sink);
        let read = Path::to_application(NODE, path.sink);
        let twice = Path {
            hops: vec![path.hops[0]; 2],
            ..path
        };
        for (sentence, other) in [
            ("packets of another host", other_node),
            ("the queue of a transit hop", queue),
            ("the queue behind a host's own packets", own_queue),
            ("what an application of the host reads", read),
            ("two hops", twice),
        ] {
            assert!(!other.is_passage(), "{sentence}");
        }
    }
}
