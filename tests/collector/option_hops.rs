//! The node of the worst hop is known where hops tell between which hosts they fill in TCP option 114.

use hostint::collector::OptionHops;
use hostint::model::option_hops::*;
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

/// What a node tells of the pair of the sample, whose worst hop is number 2.
#[derive(Clone, Copy)]
struct Told {
    node: u32,
    source: &'static str,
    ttl: u8,
    at_s: u64,
}

const TOLD: Told = Told {
    node: 7,
    source: "192.0.2.1",
    ttl: 62,
    at_s: 0,
};

impl Told {
    fn report(self) -> OptionHopsReport {
        let pair = OptionHopPair {
            source: self.source.parse().unwrap(),
            dest: "198.51.100.2".parse().unwrap(),
            ttl: self.ttl,
        };
        OptionHopsReport {
            node: NodeId(self.node),
            told_ns: 0,
            pairs: vec![pair],
        }
    }
}

/// The node of the worst hop in the sample, a second after the last report.
fn named(hops: &OptionHops, at_s: u64) -> Option<u32> {
    let [report, _] = report_samples::connections();
    let named = hops.named(&report, arrival(at_s).received_ns)?;
    let Body::Connection(told) = &named.observation.body else {
        panic!("another kind of report");
    };
    let worst = told.connection.sample.option.unwrap().worst.unwrap();
    let mut expected = report;
    if let Body::Connection(told) = &mut expected.observation.body {
        let option = told.connection.sample.option.as_mut().unwrap();
        option.worst.as_mut().unwrap().node = worst.node;
    }
    assert_eq!(named, expected, "nothing else is changed");
    worst.node.map(|node| node.0)
}

#[test]
fn a_hop_is_the_node_that_says_so() {
    let other = Told { node: 8, ..TOLD };
    let later = |told: Told, at_s| Told { at_s, ..told };
    for (sentence, told, expected) in [
        ("nobody tells", &[][..], None),
        ("one node tells", &[TOLD], Some(7)),
        ("another hop", &[Told { ttl: 61, ..TOLD }], None),
        (
            "the same number, of a sender that begins with 255",
            &[Told { ttl: 254, ..TOLD }],
            Some(7),
        ),
        (
            "a sender that begins with 128",
            &[Told { ttl: 126, ..TOLD }],
            Some(7),
        ),
        (
            "another source",
            &[Told {
                source: "192.0.2.3",
                ..TOLD
            }],
            None,
        ),
        ("two nodes at once", &[TOLD, later(other, 1)], None),
        (
            "two nodes in turns",
            &[TOLD, later(other, 1), later(TOLD, 60), later(other, 61)],
            None,
        ),
        (
            "another node from now on",
            &[TOLD, later(other, 60), later(other, 120)],
            Some(8),
        ),
        (
            "another node, after a long time",
            &[TOLD, later(other, 301)],
            Some(8),
        ),
        (
            "the same node again",
            &[TOLD, later(TOLD, 60), later(TOLD, 120)],
            Some(7),
        ),
    ] {
        let mut hops = OptionHops::default();
        for one in told {
            hops.learn(&one.report(), arrival(one.at_s));
        }
        let last_s = told.last().map_or(0, |one| one.at_s);
        assert_eq!(named(&hops, last_s + 1), expected, "{sentence}");
        let forgotten = named(&hops, last_s + 301);
        assert_eq!(forgotten, None, "{sentence}, and nothing more is told");
    }
}

#[test]
fn there_is_room_for_so_many_hops_and_forgotten_ones_make_room() {
    let mut hops = OptionHops::new(1);
    let other = Told {
        source: "192.0.2.3",
        ..TOLD
    };
    hops.learn(&other.report(), arrival(1));
    hops.learn(&TOLD.report(), arrival(301));
    assert_eq!(named(&hops, 301), None, "there is no room yet");
    hops.learn(&TOLD.report(), arrival(700));
    assert_eq!(named(&hops, 700), Some(7));
}
