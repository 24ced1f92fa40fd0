//! The sink restores INT over VXLAN-GPE: segments of superpackets are told apart and put back together.

use hostint::datapath::abi::sink_counter;
use hostint_testing::checksum::{be16, put16};
use hostint_testing::model::gpe::{self, Block};
use hostint_testing::model::layout;
use hostint_testing::model::sink::Seen;
use hostint_testing::packets::{tcp, tcp6, udp, udp6};
use hostint_testing::programs::sink::{Sink, XDP_PASS, latencies, model_of, settings};
use hostint_testing::sink_cases::{Case, Outcome, check_all};

fn wrap(frame: &[u8], block: &Block) -> Vec<u8> {
    let at = layout::find(frame).expect("TCP or UDP");
    gpe::wrap(frame, &at, 0xc123, block)
}

fn single(name: &'static str, frame: hostint_testing::frame::Frame) -> Case {
    let original = frame.bytes();
    let v6 = layout::find(&original).expect("TCP or UDP").v6;
    Case {
        name,
        frame: wrap(&original, &Block::single(v6)),
        outcome: Outcome::Stripped(original),
    }
}

/// The wire frame of a packet with one byte changed; counted from the outer IP header.
fn changed(at: usize, byte: u8) -> Vec<u8> {
    let mut wire = wrap(&tcp().bytes(), &Block::single(false));
    wire[14 + at] = byte;
    wire
}

/// These need CAP_BPF and CAP_NET_ADMIN.
mod root {
    use super::*;

    #[test]
    fn packets_come_out_as_they_were_sent() {
        check_all(vec![
            single("UDP", udp()),
            single("TCP", tcp().tcp_options(12)),
            single("an empty datagram", udp().payload(0)),
            single("a bare ACK", tcp().payload(0)),
            single("UDP over IPv6", udp6()),
            single("TCP over IPv6", tcp6()),
            single("IPv4 options within", udp().ip_options(8)),
            single("extension headers within", tcp6().extension_header(0, 16)),
            single("a VLAN tag", tcp().vlan(7)),
            single("two VLAN tags, IPv6", udp6().vlan(7).vlan(8)),
            single("padding", udp().payload(1).padding(17)),
            single("class and congestion", tcp().dscp(46).ecn(2)),
            single("class and congestion over IPv6", tcp6().dscp(46).ecn(1)),
            single("an odd payload", udp().payload(63)),
            single("a UDP checksum of 0", udp().without_udp_checksum()),
        ]);
    }

    #[test]
    fn what_the_way_did_to_the_outer_header_happens_to_the_packet() {
        let mut cases = Vec::new();
        for (name, before, after) in [
            (
                "congestion experienced, three hops",
                tcp().ecn(1).ttl(64),
                tcp().ecn(3).ttl(61),
            ),
            (
                "another class, the last hop",
                udp().dscp(10).ttl(2),
                udp().dscp(12).ttl(1),
            ),
            (
                "IPv6",
                udp6().dscp(46).ecn(2).ttl(255),
                udp6().dscp(46).ecn(3).ttl(250),
            ),
        ] {
            let (before, after) = (before.bytes(), after.bytes());
            let at = layout::find(&before).expect("TCP or UDP");
            let mut frame = wrap(&before, &Block::single(at.v6));
            // Class and hops of the packet that is to come out; lengths and protocol stay.
            if at.v6 {
                frame[14..16].copy_from_slice(&after[14..16]);
                frame[21] = after[21];
            } else {
                frame[15] = after[15];
                frame[22] = after[22];
            }
            cases.push(Case {
                name,
                frame,
                outcome: Outcome::Stripped(after),
            });
        }
        check_all(cases);
    }

    #[test]
    fn what_is_not_ours_passes_unmodified_and_counted() {
        let refused = |name, frame, reason| Case {
            name,
            frame,
            outcome: Outcome::Refused(reason),
        };
        let block = 28;
        let mut short = wrap(&tcp().bytes(), &Block::single(false));
        put16(&mut short, 16, 80);
        short.truncate(14 + 80);
        let mut fragment = wrap(&tcp().bytes(), &Block::single(false));
        fragment[20] |= 0x20;
        let elsewhere = wrap(
            &tcp6().bytes(),
            &Block {
                v6: false,
                ..Block::single(true)
            },
        );
        check_all(vec![
            refused(
                "VXLAN",
                changed(block, 0x08),
                sink_counter::COUNT_SINK_FOREIGN_MARK,
            ),
            refused(
                "NSH",
                changed(block + 3, 4),
                sink_counter::COUNT_SINK_FOREIGN_MARK,
            ),
            refused(
                "INT-MX",
                changed(block + 8, 0x30),
                sink_counter::COUNT_SINK_BAD_SHIM,
            ),
            refused(
                "another length",
                changed(block + 9, 11),
                sink_counter::COUNT_SINK_BAD_SHIM,
            ),
            refused(
                "Ethernet within",
                changed(block + 11, 3),
                sink_counter::COUNT_SINK_BAD_SHIM,
            ),
            refused(
                "INT version 1",
                changed(block + 12, 0x10),
                sink_counter::COUNT_SINK_BAD_VERSION,
            ),
            refused(
                "D: to be discarded",
                changed(block + 12, 0x28),
                sink_counter::COUNT_SINK_BAD_VERSION,
            ),
            refused(
                "another hop length",
                changed(block + 14, 4),
                sink_counter::COUNT_SINK_BAD_VERSION,
            ),
            refused(
                "other instructions",
                changed(block + 16, 0xdc),
                sink_counter::COUNT_SINK_BAD_BITMAP,
            ),
            refused(
                "another domain",
                changed(block + 19, 0),
                sink_counter::COUNT_SINK_BAD_BITMAP,
            ),
            refused(
                "an unknown flag",
                changed(block + 23, 0x10),
                sink_counter::COUNT_SINK_BAD_BITMAP,
            ),
            refused(
                "a foreign sender within",
                changed(88 + 15, 9),
                sink_counter::COUNT_SINK_BAD_INNER,
            ),
            refused(
                "a foreign target within",
                changed(88 + 16, 9),
                sink_counter::COUNT_SINK_BAD_INNER,
            ),
            refused(
                "ICMP within",
                changed(88 + 9, 1),
                sink_counter::COUNT_SINK_BAD_INNER,
            ),
            refused(
                "a fragment within",
                changed(88 + 6, 0x20),
                sink_counter::COUNT_SINK_BAD_INNER,
            ),
            refused(
                "a length that differs within",
                changed(88 + 3, 1),
                sink_counter::COUNT_SINK_BAD_INNER,
            ),
            refused(
                "a UDP length that differs",
                changed(25, 0),
                sink_counter::COUNT_SINK_BAD_LENGTH,
            ),
            refused("a fragment", fragment, sink_counter::COUNT_SINK_FRAGMENT),
            refused(
                "an end within the block",
                short,
                sink_counter::COUNT_SINK_FOREIGN_MARK,
            ),
            refused(
                "IPv6 announced as IPv4",
                elsewhere,
                sink_counter::COUNT_SINK_BAD_INNER,
            ),
        ]);
    }

    #[test]
    fn hops_that_could_not_add_their_data_are_no_obstacle() {
        for flags in [0x24, 0x22, 0x26] {
            check_all(vec![Case {
                name: "E and M set on the way",
                frame: changed(28 + 12, flags),
                outcome: Outcome::Stripped(tcp().bytes()),
            }]);
        }
    }

    const SIZE: u16 = 100;
    const SEQUENCE: u32 = u32::MAX - 4;

    /// Segments `index..index + count` of a superpacket of ten, the last one shorter.
    fn segments(v6: bool, index: u16, count: u16) -> Vec<u8> {
        let last = if index + count == 10 { 37 } else { SIZE };
        let payload = usize::from(count - 1) * usize::from(SIZE) + usize::from(last);
        let frame = if v6 { tcp6() } else { tcp() };
        let mut original = frame.payload(payload).bytes();
        let at = layout::find(&original).expect("TCP");
        let base = u32::MAX - 250; // wraps within the superpacket
        let seq = base.wrapping_add(u32::from(index) * u32::from(SIZE));
        original[at.l4 + 4..at.l4 + 8].copy_from_slice(&seq.to_be_bytes());
        let block = Block {
            sequence: SEQUENCE,
            base,
            size: SIZE,
            count: 10,
            ..Block::single(v6)
        };
        wrap(&original, &block)
    }

    #[test]
    fn segments_have_numbers_of_their_own() {
        for v6 in [false, true] {
            let sink = Sink::load(&settings());
            let model = model_of(&settings());
            let mut key = None;
            // One by one, merged, twice, and behind a hole.
            for (index, count) in [(0, 1), (1, 1), (2, 5), (2, 5), (8, 2)] {
                let frame = segments(v6, index, count);
                let Seen::Tagged(tagged) = model.look(&frame) else {
                    panic!("the model strips it")
                };
                assert_eq!(
                    (tagged.sequence, tagged.count),
                    (SEQUENCE.wrapping_add(index.into()), count.into()),
                    "the model's numbers"
                );
                let ran = sink.run(&frame);
                assert_eq!(
                    (ran.verdict, ran.bytes),
                    (XDP_PASS, tagged.restored.clone())
                );
                key = Some(tagged.key);
            }
            let flow = sink.flow(&key.expect("a flow")).expect("was seen");
            assert_eq!(flow.packets, 14, "each segment is a packet");
            assert_eq!(flow.duplicates, 5, "and may come twice");
            assert_eq!(flow.head, SEQUENCE.wrapping_add(9));
            assert_eq!(flow.awaited, 1, "number 7 is missing");
            let headers = if v6 { 60 } else { 40 };
            assert_eq!(flow.bytes, 6 * 100 + 5 * 100 + 137 + 100 + headers * 14);
            assert_eq!(sink.count(sink_counter::COUNT_SINK_RECEIVED), 14);
            sink.run(&segments(v6, 7, 1));
            let flow = sink.flow(&key.expect("a flow")).expect("was seen");
            assert_eq!((flow.awaited, flow.reordered), (0, 1), "until it comes");
        }
    }

    #[test]
    fn what_cannot_be_told_apart_is_stripped_and_counted() {
        for (name, at, value) in [
            ("segments of no size", 56, 0),
            ("more segments than there may be", 58, 129),
            ("fewer segments than came", 58, 3),
            ("a size that does not fit the TCP numbers", 56, 99),
        ] {
            let sink = Sink::load(&settings());
            let mut frame = segments(false, 4, 2);
            put16(&mut frame, 14 + 28 + at, value);
            let Seen::Tagged(tagged) = model_of(&settings()).look(&frame) else {
                panic!("{name}: the model strips it")
            };
            assert_eq!(tagged.count, 0, "{name}: the model does not measure it");
            assert_eq!(sink.run(&frame).bytes, tagged.restored, "{name}");
            assert_eq!(
                sink.count(sink_counter::COUNT_SINK_BAD_SEGMENT),
                1,
                "{name}"
            );
            assert_eq!(sink.flows(), 0, "{name}: it is no flow's");
        }
    }

    #[test]
    fn datagrams_of_a_superpacket_are_told_apart_by_the_outer_id() {
        let sink = Sink::load(&settings());
        let block = Block {
            sequence: 70,
            base: 0xfffe,
            size: 64,
            count: 5,
            ..Block::single(false)
        };
        for (id, sequence) in [(0xfffe, 70), (0xffff, 71), (0, 72), (1, 73), (2, 74)] {
            let mut frame = wrap(&udp().bytes(), &block);
            put16(&mut frame, 18, id);
            sink.run(&frame);
            let event = latencies(&sink.events());
            let key = hostint_testing::packets::key(17);
            assert_eq!(sink.flow(&key).map(|flow| flow.head), Some(sequence));
            assert_eq!(event.len(), usize::from(sequence == 70), "one new flow");
        }
    }

    #[test]
    fn the_queue_that_the_source_saw_is_told() {
        let sink = Sink::load(&settings());
        let block = Block {
            queue_packets: 0x12_3456,
            queue_bytes: 0x9abc_def0,
            timestamp: 0x1122_3344_5566_7788,
            ..Block::single(true)
        };
        sink.run(&wrap(&udp6().bytes(), &block));
        let events = latencies(&sink.events());
        assert_eq!(events.len(), 1);
        let event = events[0];
        assert_eq!((event.has_queue, event.queue_packets), (1, 0x12_3456));
        assert_eq!(event.queue_bytes, 0x9abc_def0);
        assert_eq!((event.source_node, event.encapsulation), (2, 3));
        assert_eq!(
            (event.ingress_ts, event.egress_ts),
            (0x5566_7788, 0x5566_7788)
        );
        assert_eq!(event.l4_len, 0, "IPv6 headers are not quoted");
    }

    #[test]
    fn the_outer_source_port_spreads_flows() {
        use hostint_testing::programs::source::{Options, Source};
        let source = Source::load(&Options {
            encapsulation: hostint_testing::model::Encapsulation::VxlanGpe,
            ..Options::default()
        });
        let ports: std::collections::HashSet<u16> = (0..64)
            .map(|i| be16(&source.run(&udp().ports(40_000 + i, 53).bytes()).bytes, 34))
            .collect();
        assert!(ports.len() > 32, "{ports:?}");
        assert!(ports.iter().all(|port| *port >= 0xc000));
    }
}
