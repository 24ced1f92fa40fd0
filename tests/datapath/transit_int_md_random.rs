//! Onto random packets with INT-MD of other sources, behind TCP and UDP and in Geneve, a transit hop pushes what a plain model
//! pushes, byte by byte.

use hostint_testing::checksum::verify;
use hostint_testing::generate::plain;
use hostint_testing::model::geneve::{Tunnel, other_option};
use hostint_testing::model::int_md::{Header, Known, head_at, insert, push, with_flags, words};
use hostint_testing::programs::source::TCX_NEXT;
use hostint_testing::programs::transit::{EGRESS, GENEVE, Hop, INGRESS, INT_MD, Options};
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

    /// Where the stack is.
    enum Place {
        BehindL4,
        InGeneve(Tunnel),
    }

    impl Place {
        fn head_at(&self, wire: &[u8]) -> usize {
            match self {
                Self::BehindL4 => head_at(wire),
                Self::InGeneve(tunnel) => tunnel.head_at(wire),
            }
        }

        fn push(&self, wire: &[u8], entry: &[u8]) -> Vec<u8> {
            match self {
                Self::BehindL4 => push(wire, entry),
                Self::InGeneve(tunnel) => tunnel.push(wire, entry),
            }
        }

        fn with_flags(&self, wire: &[u8], flags: u8) -> Vec<u8> {
            match self {
                Self::BehindL4 => with_flags(wire, flags),
                Self::InGeneve(tunnel) => tunnel.with_flags(wire, flags),
            }
        }

        /// Lengths that stand in front of the stack can state one more entry.
        fn has_room(&self, wire: &[u8], words: u8) -> bool {
            match self {
                Self::BehindL4 => wire[self.head_at(wire) + 1].checked_add(words).is_some(),
                Self::InGeneve(tunnel) => {
                    let option = wire[self.head_at(wire) + 3];
                    option + words <= 31 && tunnel.option_words(wire) + words <= 63
                }
            }
        }
    }

    fn behind_l4(random: &mut Random) -> (Place, Header, Vec<u8>) {
        let frame = plain(random);
        let by_port = frame.is_udp() && random.one_in(2);
        let header = header(random, by_port);
        let (frame, dscp) = match by_port {
            true => (frame.ports(40_000, PORT).dscp(1), None),
            false => (frame.ports(40_000, 5_001), Some(DSCP)),
        };
        let frame = frame.dont_fragment(true).bytes();
        let wire = insert(&frame, &header, dscp);
        (Place::BehindL4, header, wire)
    }

    fn in_geneve(random: &mut Random) -> (Place, Header, Vec<u8>) {
        let mut header = header(random, false);
        let entry = usize::from(header.hop_words) * 4;
        header.stack.truncate(112 / entry * entry);
        let inside = random.below(200);
        let mut tunnel = Tunnel::around(random.bytes(inside));
        for _ in 0..random.below(8) {
            let side = match random.one_in(2) {
                true => &mut tunnel.before,
                false => &mut tunnel.behind,
            };
            side.extend(other_option(random.u8() & 3));
        }
        let frame = std::iter::repeat_with(|| plain(random)).find(|frame| frame.is_udp());
        let outer = frame.expect("every second one").dont_fragment(true);
        let wire = tunnel.wrap(outer, &header).bytes();
        (Place::InGeneve(tunnel), header, wire)
    }

    #[test]
    fn random_packets_of_other_sources_get_what_the_model_pushes() {
        let threads = [behind_l4, in_geneve].map(|made| std::thread::spawn(move || compare(made)));
        for thread in threads {
            thread.join().expect("all is as the model says");
        }
    }

    fn compare(made: fn(&mut Random) -> (Place, Header, Vec<u8>)) {
        let (_, seed) = Random::from_env();
        let hop = Hop::load(&Options {
            carriers: INT_MD | GENEVE,
            int_md: (DSCP, 0x3f, PORT),
            fixed_mtu: 0xffff,
            ..Options::default()
        });
        let (mut pushed, mut full) = (0, 0);
        for number in 0..env_number("HOSTINT_TEST_FRAMES", FRAMES) {
            let mut random = Random::seeded(seed ^ number.wrapping_mul(0x9e37_79b9_7f4a_7c15));
            let sentence = format!("seed {seed}, frame {number}");
            let (place, header, mut wire) = made(&mut random);
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
                let len = wire.len() as u64;
                let mut counted =
                    Vec::from_iter(arrives.then_some((count::COUNT_TRANSIT_ARRIVED, 1, len)));
                if !place.has_room(&wire, header.hop_words) {
                    assert_eq!(ran.bytes, place.with_flags(&wire, 2), "{sentence}: M");
                    counted.push((count::COUNT_TRANSIT_TOO_LONG, 1, len));
                    assert_counted(&hop, &counted, &sentence);
                    full += 1;
                    break;
                }
                assert!(ran.bytes.len() > wire.len(), "{sentence}: no entry");
                let said = Known::of_newest_behind(&ran.bytes, place.head_at(&ran.bytes));
                let known = expected(&said, node, arrives, &header);
                let entry = known.entry(header.bitmap, header.hop_words);
                assert_eq!(ran.bytes, place.push(&wire, &entry), "{sentence}");
                verify(&ran.bytes).unwrap_or_else(|why| panic!("{sentence}: {why}"));
                counted.push((count::COUNT_TRANSIT_PUSHED, 1, len));
                if !arrives {
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
                wire[place.head_at(&wire) + 8..][..8],
                header.bytes()[8..16],
                "{sentence}"
            );
        }
        assert!(pushed > FRAMES / 2, "{pushed} entries");
        println!("{pushed} entries, {full} without room");
    }
}
