//! Transit hops that push without updating the L4 checksum are known, and the original checksum comes back.

use hostint::datapath::abi::{sink_counter, sink_grant};
use hostint_testing::checksum::{be16, pseudo_header, put16, verify};
use hostint_testing::frame::{Frame, INT_MD_MARK};
use hostint_testing::int_block::Block;
use hostint_testing::model::transit::{Entry, push};
use hostint_testing::model::{Encapsulation, UDP, int_md, layout};
use hostint_testing::packets::{tcp, tcp6, udp, udp6};
use hostint_testing::programs::sink::{Sink, settings};
use hostint_testing::sink_cases::int;

/// Does a hop leave the checksum as it was?
type Keeps = bool;

fn checksum_at(frame: &[u8]) -> usize {
    let at = layout::find(frame).expect("a tagged packet");
    at.l4 + if at.protocol == UDP { 6 } else { 16 }
}

fn entry(node: u32) -> Entry {
    Entry {
        node,
        ingress_port: 1,
        egress_port: 2,
        ingress_ns: u64::from(node) * 0x1234_5677,
        latency_ns: 77 * node,
        ..Entry::default()
    }
}

/// The frame after these hops, the first of which has node id 100.
fn pushed(tagged: &[u8], hops: &[Keeps]) -> Vec<u8> {
    pushed_in(Encapsulation::OverTcpUdp, tagged, hops)
}

fn pushed_in(encapsulation: Encapsulation, tagged: &[u8], hops: &[Keeps]) -> Vec<u8> {
    let mut frame = tagged.to_vec();
    for (node, keeps) in (100..).zip(hops) {
        let before = be16(&frame, checksum_at(&frame));
        frame = push(&frame, encapsulation, &entry(node));
        if *keeps {
            let at = checksum_at(&frame);
            put16(&mut frame, at, before);
        }
    }
    frame
}

/// It allows eight hops.
fn block(sequence: u32) -> Block {
    int().byte(6, 9).sequence(sequence)
}

fn frames() -> Vec<(&'static str, Frame)> {
    vec![
        ("UDP", udp()),
        ("an empty datagram", udp().payload(0)),
        ("an odd payload", udp().payload(63)),
        ("a whole chunk", udp().payload(128)),
        ("a long payload", udp().payload(1_401)),
        ("UDP without checksum", udp().without_udp_checksum()),
        ("TCP", tcp()),
        ("TCP options", tcp().tcp_options(40).payload(501)),
        ("UDP over IPv6", udp6().payload(17)),
        ("TCP over IPv6", tcp6().tcp_options(12)),
        ("padding", tcp().payload(1).padding(17)),
    ]
}

/// The same frames with the checksum that a sender's stack leaves to a device: the sum of the pseudo header.
fn unfinished(mut original: Vec<u8>, mut tagged: Vec<u8>) -> (Vec<u8>, Vec<u8>) {
    let at = layout::find(&original).expect("TCP or UDP");
    let len = at.ip_len - at.header_len();
    let pseudo = pseudo_header(&original[at.addresses()], at.protocol, len) % 65535;
    let (from, to) = (checksum_at(&original), checksum_at(&tagged));
    let more = pseudo + 65535 - u64::from(be16(&original, from));
    let wire = (u64::from(be16(&tagged, to)) + more) % 65535;
    put16(&mut original, from, pseudo as u16);
    put16(&mut tagged, to, wire as u16);
    (original, tagged)
}

/// These need CAP_BPF and CAP_NET_ADMIN.
mod root {
    use super::*;

    fn assert_restored(sink: &Sink, wire: &[u8], original: &[u8], sentence: &str) {
        assert_eq!(sink.run(wire).bytes, original, "{sentence} at XDP");
        assert_eq!(sink.run_tc(wire).bytes, original, "{sentence} at TC");
    }

    #[test]
    fn the_original_checksum_comes_back_whether_hops_update_it_or_not() {
        let paths: [&[Keeps]; 8] = [
            &[false],
            &[true],
            &[true, true],
            &[true, false],
            &[false, true],
            &[false, true, true, false, true],
            &[true; 6],
            &[false; 8],
        ];
        for path in paths {
            let sink = Sink::load_both(&settings());
            for sequence in 1..=6 {
                for (name, frame) in frames() {
                    let original = frame.bytes();
                    let tagged = frame.clone().tagged(block(sequence)).bytes();
                    let sentence = format!("{name}, {path:?}, number {sequence}");
                    assert_restored(&sink, &pushed(&tagged, path), &original, &sentence);
                    if name == "UDP without checksum" {
                        continue;
                    }
                    let (original, tagged) = unfinished(original, tagged);
                    let sentence = format!("{sentence}, unfinished");
                    assert_restored(&sink, &pushed(&tagged, path), &original, &sentence);
                }
            }
            let unexplained = sink.count(sink_counter::COUNT_SINK_STACK_CHECKSUM);
            assert_eq!(unexplained, 0, "{path:?}");
        }
    }

    #[test]
    fn so_it_does_in_int_md_with_and_without_queues() {
        let paths: [&[Keeps]; 4] = [&[true], &[true, false], &[false, true, true], &[true; 6]];
        for without_queue in [false, true] {
            for path in paths {
                let sink = Sink::load_both(&settings());
                for sequence in 1..=6 {
                    for (name, frame) in frames() {
                        let own = int_md::Own {
                            budget: 8,
                            without_queue,
                            sequence,
                            ..int_md::Own::single()
                        };
                        let original = frame.bytes();
                        let tagged = own.insert(&original, INT_MD_MARK);
                        let wire = pushed_in(Encapsulation::IntMd, &tagged, path);
                        let queue = if without_queue { "without" } else { "with" };
                        let sentence = format!("{name} {queue} queue, {path:?}, number {sequence}");
                        assert_restored(&sink, &wire, &original, &sentence);
                    }
                }
                let unexplained = sink.count(sink_counter::COUNT_SINK_STACK_CHECKSUM);
                assert_eq!(unexplained, 0, "{path:?}");
            }
        }
    }

    #[test]
    fn a_switch_that_keeps_the_checksum_harms_nothing() {
        // As a software switch with a published INT program sent them, onto packets of this source.
        let captured = [
            "4272492a64e2c221eed65ac3080045040074310240004011f4aa0a6300010a630002b4e51b59006030c203c10d0000040202cc00\
             00000000004d000100020086af6d0086af830000000100020002f6adbbaff6adbbaf0000000100000000780bf97b03437c42b8e7\
             c1d83e669c449da8a5a36906cfb370aac704dafdff1e7e415770",
            "4272492a64e2c221eed65ac3080045040075310340004011f4a80a6300010a630002b4e51b59006186bf03c10d0000040202cc00\
             00000000004d000100020086bf0d0086bf470000000100020002f6ecfeadf6ecfead00000002000000007cb700088559dad069c0\
             d72bbcd32d5b26f188b2445c7067eca5217bdb20c4f3b8851359e7",
        ];
        let sink = Sink::load_both(&settings());
        for packet in captured {
            let digits: Vec<u8> = packet.bytes().filter(u8::is_ascii_hexdigit).collect();
            let wire: Vec<u8> = digits
                .chunks(2)
                .map(|pair| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap())
                .collect();
            assert!(verify(&wire).is_err(), "the switch left it as it was");
            for ran in [sink.run(&wire), sink.run_tc(&wire)] {
                assert_eq!(ran.bytes.len(), wire.len() - 36 - 16);
                assert_eq!(verify(&ran.bytes), Ok(()));
            }
        }
    }

    #[test]
    fn a_node_that_changes_its_way_is_noticed_by_the_next_second() {
        let sink = Sink::load_both(&settings());
        let original = udp().bytes();
        let mut sequence = 0;
        for keeps in [false, true, false] {
            for number in 0..10 {
                sequence += 1;
                let tagged = udp().tagged(block(sequence)).bytes();
                let sentence = format!("packet {number} since it keeps: {keeps}");
                assert_restored(&sink, &pushed(&tagged, &[keeps]), &original, &sentence);
            }
            sink.jump(1_100_000_000);
        }
    }

    #[test]
    fn a_checksum_that_nothing_explains_stays_wrong_and_takes_the_budget_away() {
        let sink = Sink::load_both(&settings());
        let source = std::net::IpAddr::from([192, 0, 2, 1]);
        sink.put_grant(
            source,
            &sink_grant {
                until_ns: u64::MAX,
                ..sink_grant::default()
            },
        );
        let damaged = |sequence| {
            let tagged = udp().tagged(block(sequence)).bytes();
            let mut wire = pushed(&tagged, &[false]);
            let last = wire.len() - 1;
            wire[last] ^= 4;
            wire
        };
        let mut original = udp().bytes();
        let last = original.len() - 1;
        original[last] ^= 4;
        let refused = || sink.grant(source).expect("it was granted").no_stacks_s > 0;
        for number in 1..=4 {
            assert!(!refused(), "after {} packets", number - 1);
            let ran = sink.run(&damaged(number));
            assert_eq!(ran.bytes, original, "stripped, and as wrong as it came");
            let counted = sink.count(sink_counter::COUNT_SINK_STACK_CHECKSUM);
            assert_eq!(counted, u64::from(number));
        }
        assert!(refused(), "after four packets");
        // Of a node that is known, a damaged packet says nothing.
        let sink = Sink::load_both(&settings());
        for number in 1..=4 {
            let tagged = udp().tagged(block(number)).bytes();
            sink.run(&pushed(&tagged, &[true]));
        }
        for number in 5..=9 {
            sink.run(&damaged(number));
        }
        assert_eq!(sink.count(sink_counter::COUNT_SINK_STACK_CHECKSUM), 0);
    }

    #[test]
    fn nobody_learns_from_a_sender_without_a_lease() {
        let sink = Sink::load_both(&settings());
        sink.allow_nobody();
        for number in 1..=8 {
            let tagged = udp().tagged(block(number)).bytes();
            sink.run(&pushed(&tagged, &[true]));
        }
        sink.allow(std::net::IpAddr::from([0, 0, 0, 0]), 0);
        let original = udp().bytes();
        for number in 9..=12 {
            let tagged = udp().tagged(block(number)).bytes();
            let wire = pushed(&tagged, &[false]);
            assert_restored(&sink, &wire, &original, "the node updates checksums");
        }
    }
}
