//! Packets in INT-MX: the source adds one block, no hop changes a bit, the sink takes it out, and all tell of the same packets.

use hostint::datapath::abi::{
    bytes_of, event_reason, sink_counter, transit_counter, transit_postcard,
};
use hostint::datapath::kernel::maps::Map;
use hostint::datapath::transit::transit_notices::{UnreadCards, decode};
use hostint_testing::both_ways::hex;
use hostint_testing::checksum::verify;
use hostint_testing::frame::{Frame, INT_MD_MARK};
use hostint_testing::generate::{taggable, with_int_mx};
use hostint_testing::model::int_mx::{LEN, Own};
use hostint_testing::model::{Encapsulation, layout};
use hostint_testing::packets::{tcp, tcp6, udp, udp6};
use hostint_testing::programs::sink::{Event, Sink, settings};
use hostint_testing::programs::source::{Options, Source, TCX_NEXT};
use hostint_testing::programs::transit::{EGRESS, Hop, INGRESS, with_int_md};
use hostint_testing::random::{Random, env_number};
use hostint_testing::transit_cases::assert_counted;

const FRAMES: u64 = 6_000;
/// Routers between source and sink.
const HOPS: u32 = 4;

fn source(sample: u8) -> Source {
    Source::load(&Options {
        encapsulation: Encapsulation::IntMd,
        mx_sample: Some(sample),
        flows: 4_096,
        ..Options::default()
    })
}

fn hops() -> Vec<Hop> {
    let load = |node| {
        let hop = Hop::load(&with_int_md());
        hop.set_node(node);
        hop
    };
    (0..HOPS).map(|number| load(11 + number)).collect()
}

/// The wire behind this hop. Nothing is changed on it.
fn pass(hop: &Hop, wire: &[u8], sentence: &str) {
    hop.arrive(wire);
    let ran = hop.leave(wire);
    assert_eq!(ran.verdict, TCX_NEXT, "{sentence}");
    assert_eq!(ran.bytes, wire, "{sentence}: unchanged");
}

/// These need CAP_BPF and CAP_NET_ADMIN.
mod root {
    use super::*;

    #[test]
    fn random_packets_come_back_unchanged_over_four_hops_that_change_nothing() {
        let (_, seed) = Random::from_env();
        let (source, hops, sink) = (source(3), hops(), Sink::load_both(&settings()));
        let frames = env_number("HOSTINT_TEST_FRAMES", FRAMES);
        let mut sampled = 0;
        for number in 0..frames {
            let mut random = Random::seeded(seed.wrapping_add(number));
            let frame = taggable(&mut random, Encapsulation::IntMd).bytes();
            let sentence = format!("seed {seed}, frame {number}: {}", hex(&frame));
            let wire = source.run(&frame).bytes;
            assert_eq!(wire.len(), frame.len() + LEN, "{sentence}");
            let own = Own::of(&wire);
            assert_eq!(
                wire,
                Own {
                    tail: 0,
                    sample: 3,
                    ..own
                }
                .insert(&frame, INT_MD_MARK),
                "{sentence}: as the model tags it"
            );
            verify(&wire).unwrap_or_else(|why| panic!("{sentence}: on the wire: {why}"));
            sampled += u64::from(own.is_sampled());
            for hop in &hops {
                pass(hop, &wire, &sentence);
                let told = hop.postcards();
                assert_eq!(told.len(), usize::from(own.is_sampled()), "{sentence}");
            }
            let ran = match random.one_in(2) {
                true => sink.run(&wire),
                false => sink.run_tc(&wire),
            };
            assert_eq!(ran.bytes, frame, "{sentence}: stripped");
        }
        assert!(sampled > frames / 100, "{sampled} of {frames}");
        for hop in &hops {
            let counted = hop.counters();
            let count = |one: transit_counter| counted[one.0 as usize].0;
            assert_eq!(count(transit_counter::COUNT_TRANSIT_MX_PASSED), frames);
            assert_eq!(count(transit_counter::COUNT_TRANSIT_POSTCARD_SENT), sampled);
            assert_eq!(count(transit_counter::COUNT_TRANSIT_NO_ARRIVAL), 0);
        }
    }

    #[test]
    fn a_hop_tells_what_it_knows_of_a_packet() {
        let cases: [(&str, Frame); 5] = [
            ("UDP", udp().payload(64)),
            ("TCP with options", tcp().tcp_options(12).payload(999)),
            ("UDP over IPv6", udp6().payload(3)),
            ("TCP over IPv6", tcp6()),
            ("IP options", udp().ip_options(8).payload(64)),
        ];
        let hop = Hop::load(&with_int_md());
        let own = Own {
            sample: 4,
            sequence: 32,
            node: 1,
            port: 7,
            timestamp: 5,
            ..Own::default()
        };
        for (number, (name, frame)) in cases.into_iter().enumerate() {
            let own = Own {
                timestamp: number as u32,
                ..own
            };
            let tos = layout::find(&frame.bytes()).expect("TCP or UDP").tos;
            let wire = own.insert(&frame.bytes(), INT_MD_MARK);
            hop.arrive(&wire);
            let left = hop.leave(&wire);
            assert_eq!(left.bytes, wire, "{name}");
            let [card] = hop.postcards()[..] else {
                panic!("{name}: one postcard")
            };
            let quote = &card.quote[..card.len.into()];
            assert_eq!(
                quote,
                &wire[14..14 + quote.len()],
                "{name}: the packet's headers"
            );
            assert_eq!(
                quote[quote.len() - LEN..],
                own.bytes(tos)[..],
                "{name}: up to INT"
            );
            assert!(
                card.arrived_ns > 0 && card.left_ns > card.arrived_ns,
                "{name}: times"
            );
            assert_eq!(
                (card.in_ifindex, card.out_ifindex),
                (INGRESS.into(), EGRESS.into()),
                "{name}: interfaces"
            );
        }
        let one = Own {
            sequence: 33,
            ..own
        }
        .insert(&udp().bytes(), INT_MD_MARK);
        hop.zero_counters();
        hop.leave(&one);
        assert!(hop.postcards().is_empty(), "not in the sample");
        let len = one.len() as u64;
        assert_counted(
            &hop,
            &[(transit_counter::COUNT_TRANSIT_MX_PASSED, 1, len)],
            "not in the sample",
        );
        hop.zero_counters();
        let late = Own {
            sequence: 64,
            ..own
        }
        .insert(&udp().bytes(), INT_MD_MARK);
        hop.leave(&late);
        assert_eq!(hop.postcards()[0].arrived_ns, 0, "its arrival was not seen");
    }

    #[test]
    fn what_is_no_int_mx_of_hostint_passes_untouched() {
        let hop = Hop::load(&with_int_md());
        let sink = Sink::load_both(&settings());
        let good = with_int_mx(&mut Random::seeded(1), &udp().payload(64).bytes());
        let block = 14 + 20 + 8;
        let cases = [
            (
                "another length",
                1,
                9,
                sink_counter::COUNT_SINK_BAD_SHIM,
                transit_counter::COUNT_TRANSIT_BAD_SHIM,
            ),
            (
                "a set D",
                4,
                0x28,
                sink_counter::COUNT_SINK_BAD_VERSION,
                transit_counter::COUNT_TRANSIT_BAD_SHIM,
            ),
            (
                "other instructions",
                8,
                0xfc,
                sink_counter::COUNT_SINK_BAD_BITMAP,
                transit_counter::COUNT_TRANSIT_BAD_SHIM,
            ),
            (
                "another domain",
                10,
                0x12,
                sink_counter::COUNT_SINK_BAD_BITMAP,
                transit_counter::COUNT_TRANSIT_BAD_SHIM,
            ),
            (
                "unknown flags",
                14,
                0x82,
                sink_counter::COUNT_SINK_BAD_BITMAP,
                transit_counter::COUNT_TRANSIT_BAD_SHIM,
            ),
        ];
        for (name, at, byte, at_sink, at_hop) in cases {
            let mut wire = good.clone();
            wire[block + at] = byte;
            hop.zero_counters();
            pass(&hop, &wire, name);
            assert_counted(&hop, &[(at_hop, 1, wire.len() as u64)], name);
            let before = sink.counters()[at_sink.0 as usize].0;
            assert_eq!(sink.run(&wire).bytes, wire, "{name}");
            assert_eq!(sink.counters()[at_sink.0 as usize].0, before + 1, "{name}");
        }
    }

    #[test]
    fn the_sink_reports_the_packets_that_hops_report() {
        let sink = Sink::load_both(&settings());
        let frame = udp().payload(200).bytes();
        for sequence in 1..=64 {
            let own = Own {
                sample: 4,
                sequence,
                node: 1,
                ..Own::default()
            };
            sink.run(&own.insert(&frame, INT_MD_MARK));
        }
        let told: Vec<(u32, bool)> = sink
            .events()
            .into_iter()
            .filter_map(|event| match event {
                Event::Latency(event) => {
                    let reasons = u32::from(event.reasons);
                    let sample = reasons & event_reason::REASON_SAMPLE.0 != 0;
                    Some((event.sequence, sample))
                }
                _ => None,
            })
            .collect();
        let expected = [(1, false), (16, true), (32, true), (48, true), (64, true)];
        assert_eq!(told, expected, "the first one, and the sample");
    }
    #[test]
    fn what_programs_of_another_version_tell_is_counted() {
        let hop = Hop::load(&with_int_md());
        let unread = UnreadCards(Map::new(hop.counter_map()).expect("the counters"));
        let own = (transit_counter::COUNT_TRANSIT_POSTCARD_UNREAD, 3, 0);
        hop.zero_counters();
        unread.add(1).expect("it can be written");
        unread.add(2).expect("it can be written");
        assert_counted(&hop, &[own], "one, and two more");
    }
}

#[test]
fn a_postcard_is_read_if_it_is_of_this_version() {
    let told = transit_postcard {
        left_ns: 9,
        family: 4,
        len: 64,
        ..transit_postcard::default()
    };
    let whole = bytes_of(&told).to_vec();
    let changed = |family, len| {
        bytes_of(&transit_postcard {
            family,
            len,
            ..told
        })
        .to_vec()
    };
    let quote = told.quote.len() as u16;
    for (sentence, bytes, quoted) in [
        ("IPv4", whole.clone(), Some(64)),
        ("IPv6", changed(6, quote), Some(quote)),
        ("another family", changed(5, 64), None),
        ("more than it can quote", changed(4, quote + 1), None),
        ("a shorter record", whole[..whole.len() - 1].to_vec(), None),
        ("nothing", Vec::new(), None),
    ] {
        let read = decode(&bytes).map(|card| card.quote.len() as u16);
        assert_eq!(read, quoted, "{sentence}");
    }
}
