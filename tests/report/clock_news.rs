//! Evidence about clocks is told once, the best of it, and each of many peers has its turn.

use hostint::model::{ClockEvidence, ClockReading, LeaseExchange, NodeId, QuickPacket};
use hostint::report::{ClockNews, MOST_PEERS};
use hostint::wire::report_clock;

const SECOND: u64 = 1_000_000_000;

fn packet(node: u32, arrived_ns: u64) -> (NodeId, QuickPacket) {
    let packet = QuickPacket {
        arrived_ns,
        latency_ns: arrived_ns as i32,
    };
    (NodeId(node), packet)
}

fn exchange(took_ns: u64) -> LeaseExchange {
    LeaseExchange {
        asked_raw_ns: 500,
        received_raw_ns: 500 + took_ns,
        answered_ns: 7,
    }
}

/// The nodes that are told of, with the arrivals of their packets and the times of their exchanges.
fn taken(news: &mut ClockNews) -> Vec<(u32, Vec<u64>, Vec<u64>)> {
    let peers = news.take().into_iter().map(|peer| {
        let packets = peer.packets.iter().map(|one| one.arrived_ns);
        let took = |one: &LeaseExchange| one.received_raw_ns - one.asked_raw_ns;
        let exchanges = peer.exchanges.iter().map(took);
        (peer.node.0, packets.collect(), exchanges.collect())
    });
    peers.collect()
}

#[test]
fn a_packet_is_told_once_and_an_exchange_if_it_is_the_quickest() {
    let mut news = ClockNews::default();
    assert_eq!(taken(&mut news), []);
    news.note_packets(vec![packet(3, 20), packet(2, 11), packet(3, 10)], 30);
    for took in [9, 5, 8] {
        news.note_exchange(NodeId(2), exchange(took));
    }
    let expected = [(2, vec![11], vec![5]), (3, vec![10, 20], vec![])];
    assert_eq!(taken(&mut news), expected);
    assert_eq!(taken(&mut news), []);
    news.note_packets(vec![packet(3, 20), packet(3, 10), packet(3, 31)], 40);
    assert_eq!(taken(&mut news), [(3, vec![31], vec![])], "the new one");
    news.note_packets(vec![packet(3, 25)], 28);
    let set_back = [(3, vec![25], vec![])];
    assert_eq!(taken(&mut news), set_back, "the clock was set back");
    let later = 100 * SECOND;
    news.note_packets(Vec::new(), later);
    news.note_packets(vec![packet(3, 5)], later);
    assert_eq!(taken(&mut news), [(3, vec![5], vec![])], "long after");
}

#[test]
fn each_of_many_peers_has_its_turn() {
    let mut news = ClockNews::default();
    let peers = 2 * MOST_PEERS as u32 + 10;
    let mut told = vec![0; peers as usize + 1];
    for turn in 1..=9 {
        let packets = (1..=peers).map(|node| packet(node, turn));
        news.note_packets(packets.collect(), turn);
        let now = taken(&mut news);
        assert_eq!(now.len(), MOST_PEERS, "turn {turn}");
        for (node, packets, _) in now {
            told[node as usize] += 1;
            assert!(packets.len() <= 2, "only the newest: {packets:?}");
            assert_eq!(packets.last(), Some(&turn), "node {node}");
        }
    }
    let counts = told[1..].iter();
    let (least, most) = (counts.clone().min().unwrap(), counts.max().unwrap());
    assert!(most - least <= 1, "{least} to {most} times");
    news.note_packets(vec![packet(u32::MAX, 99)], 99);
    (0..4).for_each(|_| drop(news.take()));
    news.note_packets(vec![packet(u32::MAX, 100), packet(1, 100)], 100);
    assert_eq!(taken(&mut news).len(), 2, "the greatest number is the last");
}

#[test]
fn the_evidence_of_a_second_fits_into_four_datagrams() {
    let mut news = ClockNews::default();
    for node in 1..=MOST_PEERS as u32 {
        news.note_packets(vec![packet(node, 1), packet(node, 2)], 3);
        news.note_exchange(NodeId(node), exchange(1));
    }
    let evidence = ClockEvidence {
        node: NodeId(1),
        instance: 1,
        readings: vec![ClockReading::default(); 6],
        peers: news.take(),
        ..ClockEvidence::default()
    };
    let datagrams = report_clock::emit(&evidence, 0);
    assert_eq!(evidence.peers.len(), MOST_PEERS);
    assert_eq!(datagrams.len(), 4);
}
