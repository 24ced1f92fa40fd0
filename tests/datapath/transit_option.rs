//! A transit hop fills in TCP option 114 as TCP-INT's switches do, and changes nothing else.

use hostint::datapath::abi::transit_counter;
use hostint_testing::checksum::{be32, verify};
use hostint_testing::frame::Frame;
use hostint_testing::model::tcp_int::{Found, LoggedLease, fill, find};
use hostint_testing::netns::await_that;
use hostint_testing::packets::{tcp, tcp6, udp};
use hostint_testing::programs::source::TCX_NEXT;
use hostint_testing::programs::transit::{Hop, INT_MD, OWN, Options, TCP_INT};
use hostint_testing::sink_cases::int;
use hostint_testing::transit_cases::assert_counted;

const TIMESTAMPS: [u8; 12] = [1, 1, 8, 10, 1, 2, 3, 4, 5, 6, 7, 8];
/// Of all hops.
const REQUEST: [u8; 12] = [114, 12, 0xf0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
/// A queue of 40 KiB, behind which a packet waits for 12.8 us.
const SAID: LoggedLease = LoggedLease {
    value: Some(0x85),
    latency: 50,
    speed_code: 5,
};

/// These need CAP_BPF and CAP_NET_ADMIN.
mod root {
    use super::*;
    use transit_counter as count;

    fn options() -> Options<'static> {
        Options {
            carriers: TCP_INT,
            link_mbit: 100_000,
            ..Options::default()
        }
    }

    fn hop(options: &Options<'_>) -> Hop {
        let hop = Hop::load(options);
        hop.hold(Some((SAID.value, SAID.latency)));
        hop
    }

    fn with(option: [u8; 12]) -> Frame {
        tcp().tcp_option_bytes(option.to_vec())
    }

    /// Changes bytes of the request.
    fn request(changes: &[(usize, u8)]) -> [u8; 12] {
        let mut request = REQUEST;
        for (at, byte) in changes {
            request[*at] = *byte;
        }
        request
    }

    fn place(frame: &[u8]) -> usize {
        match find(frame, false) {
            Found::Request(at) => at,
            other => panic!("{other:?}"),
        }
    }

    /// Returns the option as it leaves. The frame is as the model fills it in.
    fn filled(hop: &Hop, frame: &[u8], said: &LoggedLease, sentence: &str) -> [u8; 12] {
        let ran = hop.leave(frame);
        assert_eq!(ran.verdict, TCX_NEXT, "{sentence}");
        let at = place(frame);
        assert_eq!(ran.bytes, fill(frame, at, said), "{sentence}");
        verify(&ran.bytes).unwrap_or_else(|why| panic!("{sentence}: {why}"));
        ran.bytes[at..at + 12].try_into().expect("twelve bytes")
    }

    fn latency(option: &[u8; 12]) -> u32 {
        be32(&[0, option[5], option[6], option[7]], 0)
    }

    #[test]
    fn requests_are_filled_in_wherever_the_option_is() {
        let hop = hop(&options());
        let behind = |before: &[u8], after: &[u8]| [before, &REQUEST, after].concat();
        for (sentence, frame) in [
            ("alone", with(REQUEST)),
            ("one byte of data", with(REQUEST).payload(1)),
            (
                "behind timestamps, as Linux has it",
                tcp().tcp_option_bytes(behind(&TIMESTAMPS, &[])),
            ),
            (
                "in front of timestamps",
                tcp().tcp_option_bytes(behind(&[], &TIMESTAMPS)),
            ),
            (
                "at an odd place",
                tcp().tcp_option_bytes(behind(&[1], &[1, 1, 1])),
            ),
            (
                "at an odd place, in front of the data",
                tcp().tcp_option_bytes(behind(&[1, 1, 1], &[0])),
            ),
            (
                "behind a block of selective acknowledgements",
                tcp().tcp_option_bytes(behind(
                    &[&TIMESTAMPS[..], &[1, 1, 5, 10, 1, 2, 3, 4, 5, 6, 7, 8]].concat(),
                    &[],
                )),
            ),
            (
                "in front of the end of all options",
                tcp().tcp_option_bytes(behind(&[], &[0, 114, 3, 9])),
            ),
            ("behind IPv4 options", with(REQUEST).ip_options(40)),
            ("in a VLAN", with(REQUEST).vlan(5)),
            ("in two VLANs", with(REQUEST).vlan(5).vlan(6)),
            ("padding", with(REQUEST).payload(1).padding(9)),
            ("a marked packet of others", with(REQUEST).wire_tos(0x04)),
            ("the end of a stream", with(REQUEST).segment(7, 0x19)),
            (
                "a first fragment",
                with(REQUEST).dont_fragment(false).more_fragments(),
            ),
            ("IPv6", tcp6().tcp_option_bytes(REQUEST.to_vec())),
            (
                "behind extension headers",
                tcp6()
                    .tcp_option_bytes(REQUEST.to_vec())
                    .extension_header(60, 24),
            ),
        ] {
            hop.zero_counters();
            let frame = frame.ttl(62).bytes();
            let option = filled(&hop, &frame, &SAID, sentence);
            assert_eq!(
                option,
                [114, 12, 0xf5, 0x85, 62, 0, 0, 50, 0, 0, 0, 0],
                "{sentence}"
            );
            let len = frame.len() as u64;
            let counted = [
                (count::COUNT_TRANSIT_OPTION_FILLED, 1, len),
                (count::COUNT_TRANSIT_OPTION_NO_ARRIVAL, 1, len),
            ];
            assert_counted(&hop, &counted, sentence);
        }
    }

    #[test]
    fn the_worst_hop_stays_and_latencies_add_up() {
        let hop = hop(&options());
        let worse = |value: u8, hop: u8| [(2, 0xf3), (3, value), (4, hop)];
        for (sentence, before, expected) in [
            (
                "a hop with a shorter queue",
                request(&worse(0x84, 63)),
                [0xf5, 0x85, 62, 0, 0, 50],
            ),
            (
                "a hop with free bandwidth",
                request(&worse(0x7f, 63)),
                [0xf5, 0x85, 62, 0, 0, 50],
            ),
            (
                "a hop as bad",
                request(&worse(0x85, 63)),
                [0xf3, 0x85, 63, 0, 0, 50],
            ),
            (
                "a hop with a longer queue",
                request(&worse(0x86, 63)),
                [0xf3, 0x86, 63, 0, 0, 50],
            ),
            (
                "a value that no hop told",
                request(&worse(0x90, 0)),
                [0xf5, 0x85, 62, 0, 0, 50],
            ),
            (
                "the latency of others",
                request(&[(5, 1), (6, 2), (7, 250)]),
                [0xf5, 0x85, 62, 1, 3, 44],
            ),
            (
                "as much latency as there can be",
                request(&[(5, 0xff), (6, 0xff), (7, 0xf0)]),
                [0xf5, 0x85, 62, 0xff, 0xff, 0xff],
            ),
            (
                "the echo of the other direction",
                request(&[(8, 0x91), (9, 0x25), (10, 0x0a), (11, 0x80)]),
                [0xf5, 0x85, 62, 0, 0, 50],
            ),
            (
                "key 0: every packet",
                request(&[(2, 0x00)]),
                [0x05, 0x85, 62, 0, 0, 50],
            ),
        ] {
            let frame = with(before).ttl(62).bytes();
            let option = filled(&hop, &frame, &SAID, sentence);
            assert_eq!(option[2..8], expected, "{sentence}");
            assert_eq!(option[8..], before[8..], "{sentence}");
        }
    }

    #[test]
    fn what_a_hop_does_not_know_it_does_not_tell() {
        let hop = hop(&options());
        let said = LoggedLease {
            value: None,
            ..SAID
        };
        hop.hold(Some((None, said.latency)));
        let frame = with(REQUEST).bytes();
        let option = filled(&hop, &frame, &said, "neither queue nor bandwidth");
        assert_eq!(option[2..8], [0xf0, 0, 0, 0, 0, 50]);
        let len = frame.len() as u64;
        assert_counted(
            &hop,
            &[
                (count::COUNT_TRANSIT_OPTION_FILLED, 1, len),
                (count::COUNT_TRANSIT_OPTION_NO_ARRIVAL, 1, len),
                (count::COUNT_TRANSIT_OPTION_NO_GAUGE, 1, len),
            ],
            "neither queue nor bandwidth",
        );
    }

    #[test]
    fn speeds_that_the_option_knows_are_told() {
        let hop = hop(&options());
        for (mbit, code) in [
            (0, 0),
            (1_000, 0),
            (10_000, 1),
            (20_000, 0),
            (25_000, 2),
            (40_000, 3),
            (50_000, 4),
            (100_000, 5),
            (200_000, 6),
            (400_000, 7),
            (800_000, 0),
        ] {
            hop.set_link(mbit);
            let said = LoggedLease {
                speed_code: code,
                ..SAID
            };
            let option = filled(&hop, &with(REQUEST).bytes(), &said, &format!("{mbit}"));
            assert_eq!(option[2], 0xf0 | code, "{mbit} Mbit/s");
        }
    }

    #[test]
    fn what_is_no_request_passes_unchanged() {
        let hop = hop(&Options {
            carriers: TCP_INT | INT_MD | OWN,
            int_md: (0x17, 0x3f, 0),
            ..options()
        });
        let options = |bytes: &[u8]| tcp().tcp_option_bytes(bytes.to_vec());
        let malformed = Some(count::COUNT_TRANSIT_OPTION_MALFORMED);
        let no_data = Some(count::COUNT_TRANSIT_OPTION_NO_DATA);
        for (sentence, frame, reason) in [
            ("no options", tcp().bytes(), None),
            ("timestamps alone", options(&TIMESTAMPS).bytes(), None),
            ("fillers", tcp().tcp_options(40).bytes(), None),
            (
                "the option's bytes in another option",
                options(&[1, 1, 254, 14, 114, 12, 0xf0, 0, 0, 0, 0, 0, 0, 0, 0, 0]).bytes(),
                None,
            ),
            (
                "the option's bytes at the end of another option",
                options(&[&[1, 1, 8, 22, 1, 2, 3, 4, 5, 6, 7, 8][..], &REQUEST].concat()).bytes(),
                None,
            ),
            (
                "behind the end of all options",
                options(&[&[0, 0, 0, 0][..], &REQUEST].concat()).bytes(),
                None,
            ),
            (
                "behind a signature by TCP-AO",
                options(&[&[29, 16][..], &[7; 14], &REQUEST].concat()).bytes(),
                None,
            ),
            (
                "behind a signature by MD5",
                options(&[&[1, 1, 19, 18][..], &[7; 16], &REQUEST].concat()).bytes(),
                None,
            ),
            ("a SYN", with(REQUEST).segment(7, 0x02).bytes(), None),
            ("a reset", with(REQUEST).segment(7, 0x14).bytes(), None),
            (
                "a later fragment",
                with(REQUEST)
                    .dont_fragment(false)
                    .fragment_offset(9)
                    .bytes(),
                None,
            ),
            (
                "a datagram",
                udp().payload_bytes(REQUEST.to_vec()).bytes(),
                None,
            ),
            (
                "a segment without data",
                with(REQUEST).payload(0).bytes(),
                no_data,
            ),
            (
                "a segment without data, and padding",
                with(REQUEST).payload(0).padding(9).bytes(),
                no_data,
            ),
            (
                "another length",
                options(&[114, 11, 0xf0, 0, 0, 0, 0, 0, 0, 0, 0, 1]).bytes(),
                malformed,
            ),
            (
                "options that end beyond the header",
                options(&[1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 8, 10]).bytes(),
                malformed,
            ),
            (
                "an option without a length",
                options(&[1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 8]).bytes(),
                malformed,
            ),
            (
                "an option of no length",
                options(&[8, 0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1]).bytes(),
                malformed,
            ),
            (
                "a packet that is shorter than its header",
                with(REQUEST).total_len(40).bytes(),
                malformed,
            ),
            (
                "a packet that is longer than its frame",
                with(REQUEST).total_len(400).bytes(),
                malformed,
            ),
            (
                "a header that ends behind the frame",
                with(REQUEST).payload(0).tcp_words(15).bytes(),
                None,
            ),
        ] {
            hop.zero_counters();
            let ran = hop.leave(&frame);
            assert_eq!((ran.verdict, &ran.bytes), (TCX_NEXT, &frame), "{sentence}");
            let counted = reason.map(|reason| (reason, 1, frame.len() as u64));
            assert_counted(&hop, counted.as_slice(), sentence);
        }
        // INT lies in front of the options.
        let frame = with(REQUEST).tagged(int()).bytes();
        hop.zero_counters();
        let ran = hop.leave(&frame);
        assert_eq!(ran.bytes, frame, "a packet with INT");
        assert_counted(
            &hop,
            &[(count::COUNT_TRANSIT_NO_BUDGET, 1, frame.len() as u64)],
            "a packet with INT",
        );
    }

    #[test]
    fn int_in_front_of_the_options_is_none_of_them() {
        let hop = hop(&options());
        // The block's bytes are no options, but what is behind them would be.
        let frame = tcp()
            .tcp_option_bytes([&TIMESTAMPS[..], &TIMESTAMPS, &REQUEST].concat())
            .tagged(int())
            .bytes();
        let ran = hop.leave(&frame);
        assert_eq!(ran.bytes, frame);
        assert_counted(&hop, &[], "a hop that does not push");
    }

    #[test]
    fn only_packets_that_pass_are_filled_in_and_only_where_it_is_asked_for() {
        let frame = with(REQUEST).bytes();
        let filling = hop(&options());
        assert_eq!(filling.leave_from_here(&frame).bytes, frame, "of this host");
        let other = hop(&Options {
            carriers: OWN,
            ..options()
        });
        assert_eq!(other.leave(&frame).bytes, frame, "another hop");
        assert_counted(&other, &[], "another hop");
        let stranger = hop(&Options {
            allowed: Some(&["192.0.2.9".parse().expect("an address")]),
            ..options()
        });
        assert_eq!(stranger.leave(&frame).bytes, frame, "not allowed");
        let counted = [(count::COUNT_TRANSIT_NOT_ALLOWED, 1, frame.len() as u64)];
        assert_counted(&stranger, &counted, "not allowed");
    }

    #[test]
    fn a_superpacket_has_one_option_for_all_its_segments() {
        let hop = hop(&options());
        let frame = with(REQUEST).payload(3_000).bytes();
        let ran = hop.leave_superpacket(&frame, 1_000, 3);
        assert_eq!(ran.bytes, fill(&frame, place(&frame), &SAID));
        let len = frame.len() as u64;
        let counted = [
            (count::COUNT_TRANSIT_OPTION_FILLED, 3, len),
            (count::COUNT_TRANSIT_OPTION_NO_ARRIVAL, 3, len),
        ];
        assert_counted(&hop, &counted, "three segments");
        // Of one that is longer than IP can state, the length is 0.
        let mut long = frame;
        long[16..18].fill(0);
        let at = place(&with(REQUEST).payload(3_000).bytes());
        let ran = hop.leave_superpacket(&long, 1_000, 3);
        assert_eq!(ran.bytes[at + 3], 0x85);
    }

    #[test]
    fn a_hop_remembers_whose_requests_it_filled_in() {
        let hop = hop(&options());
        for frame in [
            with(REQUEST).ttl(62),
            with(REQUEST).ttl(62).payload(9),
            with(REQUEST).ttl(61),
            with(REQUEST).ttl(60).payload(0),
            with(REQUEST).from([192, 0, 2, 9]).ttl(63),
            tcp6().tcp_option_bytes(REQUEST.to_vec()).ttl(200),
            tcp().ttl(59),
        ] {
            hop.leave(&frame.bytes());
        }
        let mut askers = hop.askers();
        askers.sort();
        let expected = [
            ("192.0.2.1", "198.51.100.2", 61),
            ("192.0.2.1", "198.51.100.2", 62),
            ("192.0.2.9", "198.51.100.2", 63),
            ("2001:db8::1", "2001:db8:1::2", 200),
        ];
        let address = |text: &str| text.parse().expect("an address");
        let expected = expected.map(|(source, dest, ttl)| (address(source), address(dest), ttl));
        assert_eq!(askers, expected);
    }

    #[test]
    fn a_key_asks_one_hop_in_many_packets() {
        let hop = hop(&options());
        // One of 8: 1000 on average, and with a deviation of 30.
        let frame = with(request(&[(2, 0x30)])).bytes();
        for _ in 0..8_000 {
            hop.leave(&frame);
        }
        let counted = |reason: count| hop.counters()[reason.0 as usize].0;
        let filled = counted(count::COUNT_TRANSIT_OPTION_FILLED);
        assert!((700..1_300).contains(&filled), "{filled}");
        let skipped = counted(count::COUNT_TRANSIT_OPTION_SKIPPED);
        assert_eq!(filled + skipped, 8_000);
    }

    #[test]
    fn the_latency_is_the_time_since_the_segment_arrived() {
        let hop = Hop::load(&options());
        for (sentence, frame, by_ns) in [
            ("at once", with(REQUEST), 0),
            ("12.8 us", with(REQUEST), 12_800),
            (
                "one second, in a VLAN",
                with(REQUEST).vlan(7),
                1_000_000_000,
            ),
            (
                "IPv6",
                tcp6().tcp_option_bytes(REQUEST.to_vec()),
                50_000_000,
            ),
        ] {
            hop.hold(None);
            hop.zero_counters();
            let frame = frame.bytes();
            let before = hop.clock.now_ns();
            let ran = hop.arrive(&frame);
            assert_eq!((ran.verdict, &ran.bytes), (TCX_NEXT, &frame), "{sentence}");
            hop.jump(by_ns);
            let ran = hop.leave(&frame);
            let most = (hop.clock.now_ns() - before) / 256 + 1;
            let at = place(&frame);
            let option: [u8; 12] = ran.bytes[at..at + 12].try_into().expect("twelve bytes");
            let units = u64::from(latency(&option));
            assert!(units >= by_ns as u64 / 256, "{sentence}: {units}");
            assert!(units <= most, "{sentence}: {units} of {most}");
            let counted = hop.counters()[count::COUNT_TRANSIT_OPTION_NO_ARRIVAL.0 as usize];
            assert_eq!(counted.0, 0, "{sentence}");
        }
    }

    #[test]
    fn all_segments_of_a_window_get_the_same() {
        let hop = Hop::load(&options());
        hop.hold(None);
        let frame = with(REQUEST).bytes();
        hop.arrive(&frame);
        hop.jump(1_000_000);
        let first = hop.leave(&frame);
        for by_ns in [0, 5_000_000, 50_000_000] {
            hop.arrive(&frame);
            hop.jump(by_ns);
            assert_eq!(hop.leave(&frame), first, "{by_ns}");
        }
    }

    #[test]
    fn a_window_gets_the_worst_of_the_one_before() {
        let hop = Hop::load(&Options {
            link_mbit: 1_000,
            ..options()
        });
        hop.hold(None);
        let frame = with(REQUEST).bytes();
        let at = place(&frame);
        for by_ns in [1_000_000, 50_000_000, 2_000_000] {
            hop.arrive(&frame);
            hop.jump(by_ns);
            hop.leave(&frame);
        }
        hop.next_window();
        let bytes = hop.leave(&frame).bytes;
        assert_eq!(bytes[at + 3], 0x80, "no queue");
        let option: [u8; 12] = bytes[at..at + 12].try_into().expect("twelve bytes");
        let units = u64::from(latency(&option));
        assert!(units >= 50_000_000 / 256, "{units}");
        // The same again, although nothing was gauged since but this packet.
        assert_eq!(hop.leave(&frame).bytes, bytes, "another one");
    }

    #[test]
    fn after_a_pause_a_segment_gets_what_it_meets_itself() {
        // So short that each packet is in a window of its own, and the one before was long ago.
        let hop = Hop::load(&Options {
            hold_ns: 1,
            ..options()
        });
        let frame = with(REQUEST).bytes();
        let at = place(&frame);
        for by_ns in [256_000, 2_560_000_000, 512_000] {
            let before = hop.clock.now_ns();
            hop.arrive(&frame);
            hop.jump(by_ns);
            let bytes = hop.leave(&frame).bytes;
            let most = (hop.clock.now_ns() - before) / 256 + 1;
            let option: [u8; 12] = bytes[at..at + 12].try_into().expect("twelve bytes");
            let units = u64::from(latency(&option));
            assert!(units >= by_ns as u64 / 256, "{units}");
            assert!(units <= most, "{units} of {most}");
        }
    }

    #[test]
    fn free_bandwidth_is_that_of_fast_links_without_a_queue() {
        let hop = Hop::load(&options());
        let frame = with(REQUEST).bytes();
        let at = place(&frame);
        let told = |mbit: u32| {
            hop.set_link(mbit);
            hop.hold(None);
            let option = hop.leave(&frame).bytes[at + 2..at + 5].to_vec();
            (option[1], option[2])
        };
        // The loopback device has no queue. Its rate is known 10 ms after the first packet.
        assert_eq!(told(1_000), (0x80, 64), "a slow link tells its queue alone");
        assert_eq!(told(0), (0x80, 64), "so does one of unknown speed");
        let mut last = (0, 0);
        await_that("the rate is known", || {
            last = told(100_000);
            last.1 == 64
        });
        // What was sent is a little, or too little to count.
        assert!([27, 28].contains(&last.0), "{last:?}");
        await_that("more than can be stated is free", || {
            last = told(400_000);
            last == (0, 64)
        });
    }
}
