//! Reports of evidence about clocks are read and written back, in as many datagrams as they take.

use hostint::collector::decode;
use hostint::model::{
    ClockEvidence, ClockReading, LeaseExchange, NodeId, PeerEvidence, QuickPacket,
};
use hostint::wire::report_clock::emit;
use hostint_testing::random::Random;

fn evidence(random: &mut Random, readings: usize, peers: usize, most: usize) -> ClockEvidence {
    let mut reading = || ClockReading {
        raw_ns: random.next(),
        took_ns: random.next() as u32,
        clock_ns: random.next(),
        steered_ppb: (random.next() as i32, random.next() as i32),
    };
    let readings = (0..readings).map(|_| reading()).collect();
    let peer = |node| PeerEvidence {
        node: NodeId(node),
        packets: (0..random.below(most + 1))
            .map(|_| QuickPacket {
                arrived_ns: random.next(),
                latency_ns: random.next() as i32,
            })
            .collect(),
        exchanges: (0..random.below(most + 1))
            .map(|_| LeaseExchange {
                asked_raw_ns: random.next(),
                received_raw_ns: random.next(),
                answered_ns: random.next(),
            })
            .collect(),
    };
    ClockEvidence {
        node: NodeId(0xfffe_0007),
        instance: 0x0102_0304_0506_0708,
        readings,
        peers: (1..=peers as u32).map(peer).collect(),
    }
}

#[test]
fn what_is_told_is_what_is_read() {
    let (mut random, seed) = Random::from_env();
    for (readings, peers, most) in [(0, 0, 0), (4, 1, 16), (16, 1, 16), (4, 3, 2), (4, 300, 2)] {
        let sentence =
            format!("HOSTINT_TEST_SEED={seed}, {readings} readings, {peers} peers, up to {most}");
        let told = evidence(&mut random, readings, peers, most);
        let mut read = Vec::new();
        for datagram in emit(&told, 1_700_000_000) {
            assert!(datagram.len() <= 1232, "{sentence}: {}", datagram.len());
            let group = decode(&datagram).unwrap_or_else(|err| panic!("{sentence}: {err}"));
            assert_eq!(
                (group.node, group.reports.len(), group.identity),
                (Some(told.node), 0, None),
                "{sentence}"
            );
            let part = group.clocks.expect("it is evidence");
            assert_eq!(part.instance, told.instance, "{sentence}");
            assert_eq!(part.readings, told.readings, "{sentence}: in each datagram");
            read.extend(part.peers);
        }
        assert_eq!(read, told.peers, "{sentence}");
    }
}

#[test]
fn of_too_much_the_newest_is_told() {
    let (mut random, _) = Random::from_env();
    let mut told = evidence(&mut random, 20, 1, 0);
    told.peers[0].packets = vec![QuickPacket::default(); 40];
    told.peers[0].packets[39].latency_ns = 7;
    let datagrams = emit(&told, 0);
    let read = decode(&datagrams[0]).unwrap().clocks.unwrap();
    assert_eq!(datagrams.len(), 1);
    assert_eq!(read.readings, told.readings[4..]);
    assert_eq!(read.peers[0].packets, told.peers[0].packets[24..]);
}

#[test]
fn every_cut_is_refused_and_no_changed_byte_does_harm() {
    let (mut random, _) = Random::from_env();
    let whole = emit(&evidence(&mut random, 2, 2, 2), 0).remove(0);
    for length in 0..whole.len() {
        assert!(decode(&whole[..length]).is_err(), "{length} bytes");
    }
    for at in 0..whole.len() {
        for value in 0..=255 {
            let mut changed = whole.clone();
            changed[at] = value;
            let _ = decode(&changed);
        }
    }
}
