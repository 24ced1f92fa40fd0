//! What transit hops tell of a packet in INT-MX joins its sink's report; a report that lacks a hop says so.

use std::io;

use hostint::collector::{MxCounts, ReportHub, ReportNews, ReportTaker};
use hostint::model::*;
use hostint::wire::{report_postcards, report_v20};
use hostint_testing::frame::INT_MD_MARK;
use hostint_testing::model::int_mx::Own;
use hostint_testing::packets::udp;
use hostint_testing::path_samples::PassedWay;
use hostint_testing::random::Random;
use hostint_testing::report_samples;

const NS: u64 = 1_700_000_000_000_000_000;
const SECOND: u64 = 1_000_000_000;

/// The nodes on the way of each report, and whether it says that something is missing; packets alone have the hop's node.
#[derive(Default)]
struct Told(Vec<(Vec<u32>, bool)>);

impl ReportTaker for Told {
    fn accept(&mut self, news: ReportNews<'_>) -> io::Result<()> {
        let ReportNews::Report(received) = news else {
            return Ok(());
        };
        let observation = &received.report.observation;
        let nodes: Vec<u32> = match &observation.body {
            Body::Latency(latency) => {
                for hop in latency.hops.transit() {
                    // Each hop tells its own number as the packets in its queue.
                    assert_eq!(hop.queue, Some(HopQueue::Occupancy(hop.node.0)));
                }
                latency.hops.iter().map(|hop| hop.node.0).collect()
            }
            Body::Packet(packet) => packet.node.into_iter().map(|node| node.0).collect(),
            _ => Vec::new(),
        };
        let is_whole = received.path.is_some() == (nodes.len() > 2);
        assert!(is_whole, "a path has all of its hops: {nodes:?}");
        self.0.push((nodes, observation.flags.intermediate));
        Ok(())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

struct Collector(ReportHub<Told>);

fn arrival(received_ns: u64) -> Arrival {
    Arrival {
        exporter: "192.0.2.2:4000".parse().unwrap(),
        received_ns,
    }
}

impl Collector {
    fn new() -> Self {
        Self(ReportHub::new(Told::default(), None, Classes::default()))
    }

    /// The sink tells of this packet at this time.
    fn sink(&mut self, sequence: u32, at: u64) {
        let way = PassedWay {
            source: 1,
            hops: Vec::new(),
            sink: 2,
            links_ns: vec![0],
        };
        let mut report = way.sample(sequence, 5, NS).report;
        report.observation.flags.intermediate = true;
        let datagram = report_samples::datagram(&report);
        self.0.datagram(&datagram, arrival(at)).unwrap();
    }

    /// A hop tells of this packet, which has this TTL behind it.
    fn hop(&mut self, node: u32, ttl: u8, sequence: u32, at: u64) {
        let own = Own {
            sequence,
            node: 1,
            port: 7,
            timestamp: NS as u32,
            ..Own::default()
        };
        let wire = own.insert(&udp().ttl(ttl).bytes(), INT_MD_MARK);
        let card = MxNotice {
            arrived_ns: Some(NS + 1_000),
            left_ns: NS + 2_000,
            ingress_port: 2,
            egress_port: 3,
            queue_packets: Some(node),
            first: FirstHeader::Ipv4,
            quote: wire[14..14 + 20 + 8 + 36].to_vec(),
        };
        let (hw_id, flags, report) = report_postcards::mx(NodeId(node), &card);
        let mut datagram = Vec::new();
        report_v20::begin(hw_id, NodeId(node), &mut datagram);
        report_v20::append(flags, &report, &mut datagram).unwrap();
        self.0.datagram(&datagram, arrival(at)).unwrap();
    }

    fn finish(&mut self) -> (Vec<(Vec<u32>, bool)>, MxCounts) {
        self.0.finish().unwrap();
        let counts = self.0.ledgers.mx.counts();
        (std::mem::take(&mut self.0.taker.0), counts)
    }
}

fn counts(joined: u64, incomplete: u64, without_sink: u64) -> MxCounts {
    MxCounts {
        joined,
        incomplete,
        without_sink,
        early: 0,
    }
}

#[test]
fn hops_join_the_report_in_the_order_of_their_ttl() {
    let mut collector = Collector::new();
    // Whoever tells first, and whatever clocks say.
    collector.hop(12, 62, 64, NS);
    collector.hop(11, 63, 64, NS);
    collector.sink(64, NS + 1);
    collector.hop(13, 61, 64, NS + 4 * SECOND);
    // A bridge and its port are one hop.
    collector.hop(12, 62, 64, NS + 4 * SECOND);
    assert!(collector.0.taker.0.is_empty(), "it waits");
    collector.sink(128, NS + 6 * SECOND);
    let told = &collector.0.taker.0;
    assert_eq!(*told, [(vec![2, 13, 12, 11, 1], false)], "newest first");
}

#[test]
fn a_report_that_lacks_a_hop_has_none_and_says_so() {
    let mut collector = Collector::new();
    for sequence in 1..=3 {
        collector.sink(sequence, NS);
        collector.hop(11, 63, sequence, NS);
        if sequence != 2 {
            collector.hop(12, 62, sequence, NS);
        }
    }
    // Later packets take another path, whose second hop falls silent.
    let later = NS + 6 * SECOND;
    for sequence in 4..=5 {
        collector.sink(sequence, later);
        collector.hop(11, 63, sequence, later);
        collector.hop(14, 62, sequence, later);
    }
    for sequence in 6..=7 {
        collector.sink(sequence, later + 1);
        collector.hop(11, 63, sequence, later + 1);
    }
    let (told, found) = collector.finish();
    let expected = [
        (vec![2, 12, 11, 1], false),
        (vec![2, 1], true),
        (vec![2, 12, 11, 1], false),
        (vec![2, 14, 11, 1], false),
        (vec![2, 14, 11, 1], false),
        // Nobody is in the place of the hop that tells no more.
        (vec![2, 1], true),
        (vec![2, 1], true),
    ];
    assert_eq!(told, expected);
    assert_eq!(found, counts(4, 3, 0));
    let missing = [(14, 2), (12, 1)].map(|(node, reports)| MxMissingHop {
        node: NodeId(node),
        reports,
    });
    let pair = MxPairRow {
        source: NodeId(1),
        sink: NodeId(2),
        joined: 4,
        incomplete: 3,
        missing: missing.to_vec(),
    };
    assert_eq!(collector.0.ledgers.mx.pairs(8), [pair]);
    assert!(collector.0.ledgers.mx.pairs(0).is_empty());
}

#[test]
fn packets_that_no_sink_tells_of_are_handed_on_hop_by_hop() {
    let mut collector = Collector::new();
    collector.hop(11, 63, 7, NS);
    collector.hop(12, 62, 7, NS);
    let (told, found) = collector.finish();
    assert_eq!(told, [(vec![11], false), (vec![12], false)]);
    assert_eq!(found, counts(0, 0, 1));
}

#[test]
fn without_hops_a_report_is_as_it_was() {
    let mut collector = Collector::new();
    collector.sink(64, NS);
    let (told, found) = collector.finish();
    assert_eq!(told, [(vec![2, 1], false)]);
    assert_eq!(found, counts(1, 0, 0));
}

#[test]
fn whatever_comes_in_whatever_order_no_report_is_lost_or_told_twice() {
    let (_, seed) = Random::from_env();
    for round in 0..200 {
        let mut random = Random::seeded(seed.wrapping_add(round));
        let mut collector = Collector::new();
        let (mut sent, mut at) = (0, NS);
        for _ in 0..100 {
            at += u64::from(random.u16()) * 10_000;
            let sequence = random.u32() % 20;
            match random.one_in(3) {
                true => {
                    collector.sink(sequence, at);
                    sent += 1;
                }
                false => {
                    let node = random.u32() % 6;
                    collector.hop(10 + node, 60 - node as u8, sequence, at);
                }
            }
        }
        let (told, found) = collector.finish();
        let of_sinks = told.iter().filter(|(nodes, _)| nodes.len() > 1).count();
        assert_eq!(of_sinks, sent, "seed {seed}, round {round}");
        let counted = found.joined + found.incomplete;
        assert_eq!(counted, sent as u64, "seed {seed}, round {round}");
    }
}
