//! Onto random packets with INT-MD of other sources, a transit hop pushes what a plain model pushes, byte by byte.

use hostint_testing::checksum::verify;
use hostint_testing::generate::plain;
use hostint_testing::model::int_md::{Header, Known, head_at, insert, push, words};
use hostint_testing::programs::source::TCX_NEXT;
use hostint_testing::programs::transit::{EGRESS, Hop, INGRESS, INT_MD, Options};
use hostint_testing::random::{Random, env_number};
use hostint_testing::transit_cases::assert_counted;

const FRAMES: u64 = 10_000;
const DSCP: u8 = 0x17;
const PORT: u16 = 51_966;

/// These need CAP_BPF and CAP_NET_ADMIN.
mod root {
    use hostint::datapath::abi::transit_counter as count;

    use super::*;

    fn header(random: &mut Random, by_port: bool) -> Header {
        let bitmap = random.u16() & random.pick(&[0xffff, 0xfc00, 0xf000]) | 0x8000;
        let hop_words = match random.one_in(4) {
            true => random.u8() % 32,
            false => words(bitmap),
        };
        let hop_words = hop_words.max(words(bitmap));
        let entries = random.below(4);
        Header {
            shim: match by_port {
                true => random.pick(&[0x10, 0x14, 0x18]),
                false => 0x10,
            },
            original: random.u16(),
            version: 0x20 | random.u8() & 0x0e,
            remaining: random.u8().max(4),
            hop_words,
            domain: random.u16(),
            ds_bitmap: random.u16(),
            ds_flags: random.u16(),
            stack: random.bytes(entries * usize::from(hop_words) * 4),
            ..Header::asking(bitmap)
        }
    }

    /// What the entry must say, given what it says of the time.
    fn expected(said: &Known, node: u32, arrived: bool, header: &Header) -> Known {
        let has = |bit: u16| header.bitmap & bit != 0;
        let both = has(0x0800) && has(0x0400) && arrived;
        Known {
            node,
            ports: u32::from(INGRESS) << 16 | u32::from(EGRESS),
            latency_ns: match (arrived, both) {
                (false, _) => u32::MAX,
                (true, true) => (said.egress_ns - said.ingress_ns) as u32,
                (true, false) => said.latency_ns,
            },
            ingress_ns: if arrived { said.ingress_ns } else { u64::MAX },
            ..*said
        }
    }

    #[test]
    fn random_packets_of_other_sources_get_what_the_model_pushes() {
        let (_, seed) = Random::from_env();
        let hop = Hop::load(&Options {
            carriers: INT_MD,
            int_md: (DSCP, 0x3f, PORT),
            fixed_mtu: 0xffff,
            ..Options::default()
        });
        let mut pushed = 0;
        for number in 0..env_number("HOSTINT_TEST_FRAMES", FRAMES) {
            let mut random = Random::seeded(seed ^ number.wrapping_mul(0x9e37_79b9_7f4a_7c15));
            let sentence = format!("seed {seed}, frame {number}");
            let frame = plain(&mut random);
            let by_port = frame.is_udp() && random.one_in(2);
            let header = header(&mut random, by_port);
            let (frame, dscp) = match by_port {
                true => (frame.ports(40_000, PORT).dscp(1), None),
                false => (frame.ports(40_000, 5_001), Some(DSCP)),
            };
            let frame = frame.dont_fragment(true).bytes();
            let mut wire = insert(&frame, &header, dscp);
            if wire.len() + 4 * usize::from(header.hop_words) > 3_000 {
                continue;
            }
            for node in 0..random.below(4) as u32 {
                let node = 1_000 + node;
                hop.set_node(node);
                hop.zero_counters();
                let arrives = !random.one_in(4);
                if arrives {
                    let ran = hop.arrive(&wire);
                    assert_eq!((ran.verdict, &ran.bytes), (TCX_NEXT, &wire), "{sentence}");
                }
                let ran = hop.leave(&wire);
                assert_eq!(ran.verdict, TCX_NEXT, "{sentence}");
                assert!(ran.bytes.len() > wire.len(), "{sentence}: no entry");
                let said = Known::of_newest(&ran.bytes);
                let known = expected(&said, node, arrives, &header);
                let entry = known.entry(header.bitmap, header.hop_words);
                assert_eq!(ran.bytes, push(&wire, &entry), "{sentence}");
                verify(&ran.bytes).unwrap_or_else(|why| panic!("{sentence}: {why}"));
                let len = wire.len() as u64;
                let mut counted = vec![(count::COUNT_TRANSIT_PUSHED, 1, len)];
                if arrives {
                    counted.push((count::COUNT_TRANSIT_ARRIVED, 1, len));
                } else {
                    counted.push((count::COUNT_TRANSIT_NO_ARRIVAL, 1, len));
                }
                if header.hop_words > words(header.bitmap) {
                    counted.push((count::COUNT_TRANSIT_PADDED, 1, len));
                }
                assert_counted(&hop, &counted, &sentence);
                wire = ran.bytes;
                pushed += 1;
            }
            assert_eq!(
                wire[head_at(&wire) + 8..][..8],
                header.bytes()[8..16],
                "{sentence}"
            );
        }
        assert!(pushed > FRAMES / 2, "{pushed} entries");
        println!("{pushed} entries");
    }
}
