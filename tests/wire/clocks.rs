//! Reports of evidence about clocks are read and written back, in as many datagrams as they take.

use std::num::NonZeroU32;

use hostint::collector::{NodeNotice, decode};
use hostint::model::{
    ClockEvidence, ClockReading, ClockSource, ClockState, LeaseExchange, NodeId, PeerEvidence,
    QuickPacket,
};
use hostint::wire::report_clock::emit;
use hostint_testing::golden::udp_payload;
use hostint_testing::random::Random;

fn evidence(random: &mut Random, readings: usize, peers: usize, most: usize) -> ClockEvidence {
    let mut reading = |newer| ClockReading {
        raw_ns: random.next(),
        took_ns: random.next() as u32,
        clock_ns: random.next(),
        steered_ppb: (random.next() as i32, random.next() as i32),
        // Of older readings this is not told.
        is_after_set: newer < 8 && random.chance(0.5),
    };
    let readings: Vec<_> = (0..readings).rev().map(&mut reading).collect();
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
        kernel: 0xa1b2_c3d4_e5f6_0718,
        clock: ClockState {
            source: ClockSource::Realtime,
            synchronised: readings.len() > 4,
        },
        arrivals_by_card: readings.len() > 2,
        stated_error_ns: NonZeroU32::new(readings.len() as u32),
        readings,
        peers: (1..=peers as u32).map(peer).collect(),
    }
}

fn evidence_of(datagram: &[u8]) -> ClockEvidence {
    match decode(datagram).unwrap().notice {
        Some(NodeNotice::Clocks(evidence)) => evidence,
        other => panic!("{other:?} is no evidence"),
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
                (group.node, group.reports.len()),
                (Some(told.node), 0),
                "{sentence}"
            );
            let part = evidence_of(&datagram);
            let head = ClockEvidence {
                peers: Vec::new(),
                ..told.clone()
            };
            read.extend(part.peers.iter().cloned());
            let part = ClockEvidence {
                peers: Vec::new(),
                ..part
            };
            assert_eq!(part, head, "{sentence}: in each datagram");
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
    let read = evidence_of(&datagrams[0]);
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

#[test]
fn evidence_that_was_written_by_hand_is_read_and_written_alike() {
    let bytes = udp_payload("hostint_clock_evidence");
    let evidence = evidence_of(&bytes);
    let reading = |took_ns, raw_ns, clock_ns| ClockReading {
        raw_ns,
        took_ns,
        clock_ns,
        steered_ppb: (-1_500, 2_500),
        is_after_set: false,
    };
    let packet = |arrived_ns, latency_ns| QuickPacket {
        arrived_ns,
        latency_ns,
    };
    let expected = ClockEvidence {
        node: NodeId(7),
        instance: 0x0102_0304_0506_0708,
        kernel: 0xa1b2_c3d4_e5f6_0718,
        clock: ClockState {
            source: ClockSource::Tai,
            synchronised: true,
        },
        arrivals_by_card: false,
        stated_error_ns: NonZeroU32::new(3_000),
        readings: vec![
            reading(180, 90_000_000_000_000, 1_700_000_058_123_456_789),
            reading(95, 90_001_000_000_000, 1_700_000_059_123_457_000),
        ],
        peers: vec![
            PeerEvidence {
                node: NodeId(9),
                packets: vec![
                    packet(1_700_000_058_500_000_000, -250_000),
                    packet(1_700_000_059_000_000_000, 4_400),
                ],
                exchanges: vec![LeaseExchange {
                    asked_raw_ns: 90_000_400_000_000,
                    received_raw_ns: 90_000_400_061_000,
                    answered_ns: 1_700_000_058_523_500_000,
                }],
            },
            PeerEvidence {
                node: NodeId(10),
                ..PeerEvidence::default()
            },
        ],
    };
    assert_eq!(evidence, expected);
    assert_eq!(emit(&expected, 1_700_000_060), [bytes]);
}
