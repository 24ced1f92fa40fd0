//! The INT sink leaves malformed and foreign packets unmodified, and counts each one with its reason.

use hostint::datapath::abi::sink_counter;
use hostint_testing::frame::{EXTENSION_PORT, Frame, INT_MD_MARK, MARK};
use hostint_testing::model::int_md::{Own, head_at};
use hostint_testing::packets::{tcp, tcp6, udp, udp6};
use hostint_testing::sink_cases::{Case, Outcome, check_all, extension, int, refused, untouched};

/// These need CAP_BPF and CAP_NET_ADMIN.
mod root {
    use super::*;
    use sink_counter as count;

    #[test]
    fn packets_without_mark_pass_untouched_and_uncounted() {
        check_all(vec![
            untouched("UDP without a mark", udp()),
            untouched("TCP without a mark", tcp()),
            untouched("another DSCP than the mark", udp().dscp(0b111110)),
            untouched("ECN bits are no mark", udp().ecn(3)),
            untouched("ICMP with the mark", udp().protocol(1).wire_tos(MARK)),
            untouched("SCTP with the mark", udp().protocol(132).wire_tos(MARK)),
            untouched(
                "an IPv6 frame that is none",
                Frame::ethernet().ethertype(0x86dd).payload(60),
            ),
            untouched("IPv6 without mark", tcp6()),
            untouched("ARP", Frame::ethernet().ethertype(0x0806).payload(46)),
            untouched(
                "a tagged packet with three VLAN tags",
                tcp().vlan(5).vlan(6).vlan(7).tagged(int()),
            ),
            untouched("half an IP header with a mark", udp().tagged(int()).cut(33)),
            untouched("an Ethernet header and nothing else", udp().cut(14)),
            untouched("extension port as TCP port", tcp().ports(1, EXTENSION_PORT)),
            untouched(
                "extension port as source port",
                udp().ports(EXTENSION_PORT, 1),
            ),
            untouched(
                "a later fragment whose payload looks like the extension port",
                udp().extended(extension()).fragment_offset(5),
            ),
        ]);
    }

    #[test]
    fn int_md_that_is_not_ours_is_counted_by_reason_and_passed_unmodified() {
        let shim = count::COUNT_SINK_BAD_SHIM;
        let version = count::COUNT_SINK_BAD_VERSION;
        let bitmap = count::COUNT_SINK_BAD_BITMAP;
        let mut cases = Vec::new();
        for (name, reason, at, value) in [
            ("no INT at all", count::COUNT_SINK_FOREIGN_MARK, 0, 0x45),
            ("of the destination type", shim, 0, 0x20),
            ("INT-MX with the words of MD", version, 0, 0x30),
            ("announced by a port", shim, 0, 0x14),
            ("no room for the metadata header", shim, 1, 2),
            ("of another version", version, 4, 0x30),
            ("to be discarded", version, 4, 0x28),
            ("a reserved bit", version, 5, 1),
            ("fewer words than instructions", bitmap, 6, 5),
            ("other instructions", bitmap, 8, 0xf0),
            ("of another domain", bitmap, 10, 0),
            ("other words of the domain", bitmap, 12, 0x80),
            ("an unknown flag", bitmap, 15, 0x10),
            ("half an entry", bitmap, 1, 14),
            ("entries of nine hops", bitmap, 1, 11 + 9 * 6),
            (
                "a stack behind the end",
                count::COUNT_SINK_TRUNCATED,
                1,
                11 + 8 * 6,
            ),
        ] {
            for frame in [udp(), udp6(), tcp(), tcp6()] {
                let mut frame = Own::single().insert(&frame.bytes(), INT_MD_MARK);
                let head = head_at(&frame);
                frame[head + at] = value;
                cases.push(Case {
                    name,
                    frame,
                    outcome: Outcome::Refused(reason),
                });
            }
        }
        check_all(cases);
    }

    #[test]
    fn what_is_not_our_int_is_counted_by_reason_and_passed_unmodified() {
        let differing = |name, reason, at, value| {
            [
                refused(name, reason, udp().tagged(int().byte(at, value))),
                refused(name, reason, tcp().tagged(int().byte(at, value))),
                refused(name, reason, tcp().extended(extension().byte(at, value))),
            ]
        };
        let shim = count::COUNT_SINK_BAD_SHIM;
        let version = count::COUNT_SINK_BAD_VERSION;
        let bitmap = count::COUNT_SINK_BAD_BITMAP;
        check_all(
            [
                differing("shim of another type", shim, 0, 1),
                differing("a shim that is one word longer", shim, 2, 10),
                differing("unknown flag 0x10", shim, 1, 0x90),
                differing("INT v1.0", version, 4, 0x10),
                differing("a copy", version, 4, 0x02),
                differing("five instructions", version, 5, 5),
                differing("a reserved bit in the instruction count", version, 5, 0x24),
                differing("no hop allowed", version, 6, 0),
                differing("a hop that the length does not count", shim, 7, 2),
                differing("other instructions", bitmap, 8, 0xdc),
                differing("more instructions", bitmap, 9, 1),
                differing("reserved bits behind the bitmap", bitmap, 11, 1),
            ]
            .into_iter()
            .flatten()
            .collect(),
        );
        check_all(vec![
            refused(
                "a DSCP without the flag that announces it",
                shim,
                udp().tagged(int().flags(0x80).byte(3, 0x20)),
            ),
            refused(
                "shim and version differ: no resemblance",
                count::COUNT_SINK_FOREIGN_MARK,
                udp().tagged(int().byte(0, 1).byte(4, 0x10)),
            ),
            refused(
                "a marked UDP packet without INT",
                count::COUNT_SINK_FOREIGN_MARK,
                udp().wire_tos(MARK),
            ),
            refused(
                "a marked TCP packet without INT",
                count::COUNT_SINK_FOREIGN_MARK,
                tcp().wire_tos(MARK),
            ),
            refused(
                "a marked packet too short for INT",
                count::COUNT_SINK_FOREIGN_MARK,
                tcp().payload(4).wire_tos(MARK),
            ),
            refused(
                "a packet to the extension port without INT",
                count::COUNT_SINK_FOREIGN_MARK,
                udp().ports(1, EXTENSION_PORT),
            ),
        ]);
    }

    #[test]
    fn lengths_that_disagree_are_counted_and_passed_unmodified() {
        let bad = count::COUNT_SINK_BAD_LENGTH;
        let truncated = count::COUNT_SINK_TRUNCATED;
        check_all(vec![
            refused(
                "IP length beyond the frame",
                bad,
                udp().tagged(int()).total_len(129),
            ),
            refused(
                "IP length below its header's",
                bad,
                udp().tagged(int()).total_len(19),
            ),
            refused(
                "IP length one short",
                bad,
                udp().tagged(int()).total_len(127),
            ),
            refused(
                "UDP length one short",
                bad,
                udp().tagged(int()).udp_len(107),
            ),
            refused("UDP length zero", bad, udp().tagged(int()).udp_len(0)),
            refused(
                "IP ends within the INT block",
                bad,
                tcp().tagged(int()).total_len(75),
            ),
            refused(
                "TCP data offset below 5",
                bad,
                tcp().tagged(int()).tcp_words(4),
            ),
            refused(
                "TCP options reach beyond the packet",
                bad,
                tcp().payload(0).tagged(int()).tcp_words(6),
            ),
            refused(
                "frame ends within the INT block, IP length too",
                count::COUNT_SINK_FOREIGN_MARK,
                udp().tagged(int()).total_len(61).cut(75),
            ),
            refused(
                "frame ends within the INT block",
                bad,
                udp().tagged(int()).cut(75),
            ),
            refused(
                "extension: outer UDP length one long",
                bad,
                udp().extended(extension()).udp_len(117),
            ),
            refused(
                "extension: IP length one short",
                bad,
                tcp().extended(extension()).total_len(147),
            ),
            refused(
                "extension: half an inner UDP header",
                truncated,
                udp().extended(extension()).total_len(68).cut(82),
            ),
            refused(
                "extension: half an inner TCP header",
                truncated,
                tcp().extended(extension()).total_len(80).cut(94),
            ),
            refused(
                "extension: half an INT block",
                truncated,
                udp().extended(extension()).total_len(40).cut(54),
            ),
            refused(
                "extension: IP ends within the inner header",
                bad,
                tcp().extended(extension()).total_len(83).udp_len(63),
            ),
            refused(
                "extension around ICMP",
                count::COUNT_SINK_BAD_PROTOCOL,
                udp().extended_as(extension(), EXTENSION_PORT, 1),
            ),
            refused(
                "extension that names no protocol",
                count::COUNT_SINK_BAD_PROTOCOL,
                udp().extended_as(extension(), EXTENSION_PORT, 0),
            ),
        ]);
    }

    #[test]
    fn fragments_and_options_are_counted_and_passed_unmodified() {
        let fragment = count::COUNT_SINK_FRAGMENT;
        check_all(vec![
            refused(
                "a marked first fragment",
                fragment,
                udp().tagged(int()).more_fragments(),
            ),
            refused(
                "a marked later fragment",
                fragment,
                tcp().tagged(int()).fragment_offset(9),
            ),
            refused(
                "a first fragment to the extension port",
                fragment,
                udp().extended(extension()).more_fragments(),
            ),
            refused(
                "marked, IP version 6 in an IPv4 frame",
                count::COUNT_SINK_BAD_LENGTH,
                tcp().wire_tos(MARK).version_ihl(0x65),
            ),
            refused(
                "marked, IP header length 4",
                count::COUNT_SINK_BAD_LENGTH,
                udp().tagged(int()).version_ihl(0x44),
            ),
            refused(
                "a marked IPv6 fragment",
                fragment,
                udp6().extension_header(44, 8).tagged(int()),
            ),
            refused(
                "marked, behind too many extension headers",
                count::COUNT_SINK_IP_OPTIONS,
                (0..5).fold(tcp6().tagged(int()), |frame, _| {
                    frame.extension_header(60, 8)
                }),
            ),
            untouched(
                "an unknown extension header",
                tcp6().extension_header(51, 16).tagged(int()),
            ),
        ]);
    }
}
