//! The transit hop leaves alone what is no stack of a version that it knows, and counts it by reason.

use hostint::datapath::abi::transit_counter;
use hostint_testing::frame::Frame;
use hostint_testing::int_block::{Block, FLAG_BUDGET};
use hostint_testing::model::{gpe, layout};
use hostint_testing::packets::{tcp, tcp6, udp, udp6};
use hostint_testing::programs::sink::TCX_DROP;
use hostint_testing::programs::source::TCX_NEXT;
use hostint_testing::programs::transit::Options;
use hostint_testing::sink_cases::{extension, int};
use hostint_testing::transit_cases::{assert_counted, hop};

/// A block that lets four hops push.
fn asking(block: Block) -> Block {
    let flags = block.0[1];
    block.flags(flags | FLAG_BUDGET).byte(6, 5)
}

/// The datagram in VXLAN-GPE, with this byte of the block changed.
fn in_gpe(frame: &Frame, at: usize, value: u8) -> Vec<u8> {
    let frame = frame.bytes();
    let place = layout::find(&frame).expect("UDP");
    let block = gpe::Block {
        budget: Some(4),
        ..gpe::Block::single(place.v6)
    };
    let mut wrapped = gpe::wrap(&frame, &place, 0xc123, &block);
    wrapped[place.l4 + 8 + at] = value;
    wrapped
}

/// These need CAP_BPF and CAP_NET_ADMIN.
mod root {
    use super::*;
    use transit_counter as count;

    #[test]
    fn what_is_no_stack_passes_unchanged_and_is_counted() {
        let hop = hop(&Options::default());
        for (sentence, frame, reason) in [
            (
                "a mark of somebody else",
                udp().wire_tos(4).bytes(),
                count::COUNT_TRANSIT_FOREIGN_MARK,
            ),
            (
                "another shim type",
                udp().tagged(asking(int()).byte(0, 1)).bytes(),
                count::COUNT_TRANSIT_BAD_SHIM,
            ),
            (
                "an unknown flag",
                tcp().tagged(asking(int()).byte(1, 0xf0)).bytes(),
                count::COUNT_TRANSIT_BAD_SHIM,
            ),
            (
                "another version",
                udp().tagged(asking(int()).byte(4, 0x10)).bytes(),
                count::COUNT_TRANSIT_BAD_VERSION,
            ),
            (
                "another bitmap",
                tcp().extended(asking(extension()).byte(8, 0xff)).bytes(),
                count::COUNT_TRANSIT_BAD_BITMAP,
            ),
            (
                "lengths that disagree",
                udp().tagged(asking(int())).udp_len(20).bytes(),
                count::COUNT_TRANSIT_BAD_LENGTH,
            ),
            (
                "the first fragment",
                udp().tagged(asking(int())).more_fragments().bytes(),
                count::COUNT_TRANSIT_FRAGMENT,
            ),
            (
                "another fragment",
                udp().tagged(asking(int())).fragment_offset(64).bytes(),
                count::COUNT_TRANSIT_FRAGMENT,
            ),
            (
                "more entries than a sink reads",
                in_gpe(&udp(), 9, 13 + 9 * 6),
                count::COUNT_TRANSIT_BAD_SHIM,
            ),
            (
                "another version in VXLAN-GPE",
                in_gpe(&udp6(), 12, 0x10),
                count::COUNT_TRANSIT_BAD_VERSION,
            ),
            (
                "another domain",
                in_gpe(&udp(), 18, 0),
                count::COUNT_TRANSIT_BAD_BITMAP,
            ),
        ] {
            hop.zero_counters();
            for ran in [hop.arrive(&frame), hop.leave(&frame)] {
                assert_eq!((ran.verdict, &ran.bytes), (TCX_NEXT, &frame), "{sentence}");
            }
            assert_counted(&hop, &[(reason, 1, frame.len() as u64)], sentence);
        }
    }

    #[test]
    fn what_has_no_int_passes_unchanged_and_uncounted() {
        let hop = hop(&Options::default());
        for (sentence, frame) in [
            ("UDP", udp().bytes()),
            ("TCP", tcp().bytes()),
            (
                "IPv6 with extension headers",
                udp6().extension_header(60, 16).bytes(),
            ),
            ("VXLAN-GPE of somebody else", in_gpe(&udp(), 3, 1)),
            ("a datagram to its port", udp().ports(9, 4790).bytes()),
            ("ARP", udp().ethertype(0x0806).bytes()),
        ] {
            for ran in [hop.arrive(&frame), hop.leave(&frame)] {
                assert_eq!((ran.verdict, &ran.bytes), (TCX_NEXT, &frame), "{sentence}");
            }
            assert_counted(&hop, &[], sentence);
        }
    }

    #[test]
    fn superpackets_that_cannot_be_changed_safely_get_no_entry() {
        let tunnel = in_gpe(&tcp().payload(900), 0, 0x0c);
        let mut summed = tunnel.clone();
        summed[40] = 0x12;
        for (sentence, cuts_tunnels, frame, says_so) in [
            (
                "merged on the path",
                false,
                tcp().tagged(asking(int())).payload(900).bytes(),
                false,
            ),
            ("a tunnel with a checksum", false, summed, false),
            ("cut by the device", true, tunnel, true),
        ] {
            let hop = hop(&Options {
                cuts_tunnels,
                ..Options::default()
            });
            let left = hop.leave_superpacket(&frame, 300, 3).bytes;
            assert_eq!(left.len(), frame.len(), "{sentence}");
            assert_eq!(left != frame, says_so, "{sentence}: M");
            let counted = [(count::COUNT_TRANSIT_SUPERPACKET, 1, frame.len() as u64)];
            assert_counted(&hop, &counted, sentence);
        }
    }

    /// What the kernel may refuse for want of memory: to write, to take the room away again, to put a VLAN tag back, to make
    /// room.
    #[test]
    fn a_push_that_fails_is_undone_or_the_packet_is_dropped() {
        const STORE: u32 = 1;
        const UNDO: u32 = 2;
        const VLAN: u32 = 4;
        const ROOM: u32 = 8;
        let plain = || udp().tagged(asking(int())).payload(300);
        let undone = (TCX_NEXT, count::COUNT_TRANSIT_UNDONE);
        let dropped = (TCX_DROP, count::COUNT_TRANSIT_DROPPED);
        for straight in [true, false] {
            for (sentence, frame, refused, (verdict, reason)) in [
                ("no write", plain().bytes(), STORE, undone),
                (
                    "no write, in VXLAN-GPE",
                    in_gpe(&udp().payload(300), 0, 0x0c),
                    STORE,
                    undone,
                ),
                (
                    "no write, with a tag",
                    plain().vlan(7).bytes(),
                    STORE,
                    undone,
                ),
                (
                    "neither write nor way back",
                    plain().bytes(),
                    STORE | UNDO,
                    dropped,
                ),
                (
                    "neither write nor tag",
                    plain().vlan(7).bytes(),
                    STORE | VLAN,
                    dropped,
                ),
                ("no tag", plain().vlan(7).bytes(), VLAN, dropped),
                (
                    "neither room nor tag",
                    plain().vlan(7).bytes(),
                    ROOM | VLAN,
                    dropped,
                ),
                (
                    "no room, with a tag",
                    plain().vlan(7).bytes(),
                    ROOM,
                    (TCX_NEXT, count::COUNT_TRANSIT_CANNOT_RESIZE),
                ),
            ] {
                let sentence = format!("{sentence}, straight way: {straight}");
                let hop = hop(&Options {
                    straight,
                    refused,
                    ..Options::default()
                });
                let left = hop.leave(&frame);
                assert_eq!(left.verdict, verdict, "{sentence}");
                if verdict == TCX_NEXT {
                    // The kernel keeps the outer tag beside the packet, and BPF_PROG_RUN shows the packet alone.
                    let is_beside = frame[12..14] == [0x81, 0];
                    let mut same = frame.clone();
                    same.drain(if is_beside { 12..16 } else { 0..0 });
                    assert_eq!(left.bytes, same, "{sentence}: no byte differs");
                }
                let counted = [(reason, 1, frame.len() as u64)];
                assert_counted(&hop, &counted, &sentence);
            }
        }
    }

    #[test]
    fn a_packet_that_the_kernel_cannot_enlarge_passes_unchanged() {
        // Those of BPF_PROG_RUN are no TCP to the kernel, which makes room only in that.
        for frame in [
            in_gpe(&tcp().payload(900), 0, 0x0c),
            in_gpe(&tcp6().payload(900), 0, 0x0c),
        ] {
            let hop = hop(&Options::default());
            let left = hop.leave_superpacket(&frame, 300, 3);
            assert_eq!(left.bytes, frame, "no byte differs");
            let counted = [(count::COUNT_TRANSIT_CANNOT_RESIZE, 1, frame.len() as u64)];
            assert_counted(&hop, &counted, "the kernel refuses");
        }
    }
}
