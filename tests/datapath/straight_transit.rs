//! The transit hop's straight way, which nearly all packets take, does what the general way does: packets, counts, times that
//! are remembered and crossings are equal, byte by byte.

use hostint_testing::both_ways::{assert_same_tables, hex};
use hostint_testing::frame::Frame;
use hostint_testing::generate::{mutate, plain, pushed, received};
use hostint_testing::int_block::{Block, FLAG_BUDGET};
use hostint_testing::model::Encapsulation::{self, ExtensionUdp, OverTcpUdp, VxlanGpe};
use hostint_testing::model::{gpe, layout};
use hostint_testing::packets::{tcp, tcp6, udp, udp6};
use hostint_testing::programs::stay_on_one_cpu;
use hostint_testing::programs::transit::{GENEVE, Hop, OWN, Options, with_int_md};
use hostint_testing::random::{Random, env_number};
use hostint_testing::transit_cases::{STACK, asking_source, newest, tagged};

/// A plain run has this many in each configuration.
const FRAMES: u64 = 10_000;
/// Between two looks at everything but the packet.
const BATCH: u64 = 100;

/// A hop whose packets all take the general way, and one that also has the straight way.
struct Ways([Hop; 2]);

impl Ways {
    fn load(options: &Options<'_>) -> Self {
        stay_on_one_cpu();
        Ways([false, true].map(|straight| {
            Hop::load(&Options {
                arrivals: 64,
                straight,
                clock_stands: true,
                ..*options
            })
        }))
    }

    fn each(&self, what: impl FnMut(&Hop)) {
        self.0.iter().for_each(what);
    }

    /// The packet as it leaves.
    fn pass(
        &self,
        frame: &[u8],
        segments: Option<(u32, u32)>,
        arrives: bool,
        words: &str,
    ) -> Vec<u8> {
        if arrives {
            let [general, straight] = self.0.each_ref().map(|hop| hop.arrive(frame));
            assert_eq!(general, straight, "{words}: arrives");
        }
        let [general, straight] = self.0.each_ref().map(|hop| match segments {
            None => hop.leave(frame),
            Some((size, count)) => hop.leave_superpacket(frame, size, count),
        });
        assert_eq!(general, straight, "{words}: leaves");
        general.bytes
    }

    fn compare_all(&self, words: &str) {
        let [general, straight] = self.0.each_ref().map(Hop::counters);
        assert_eq!(general, straight, "{words}: counters");
        assert_same_tables(self.0.each_ref().map(Hop::tables), &|| words.to_owned());
    }
}

/// A packet that lets hops push, onto which some did.
fn asking(random: &mut Random) -> (Encapsulation, Vec<u8>) {
    let frame = plain(random);
    let budget = random.below(10) as u8;
    let (encapsulation, wire) = match random.below(3) {
        0 => (VxlanGpe, in_gpe(random, &frame.bytes(), budget)),
        1 => (
            ExtensionUdp,
            frame
                .extended(block(random, Block::hostint_extension(), budget))
                .bytes(),
        ),
        _ => (
            OverTcpUdp,
            frame
                .tagged(block(random, Block::hostint(), budget))
                .bytes(),
        ),
    };
    let hops = random.below(3) * random.below(5);
    (encapsulation, pushed(random, wire, encapsulation, hops))
}

fn block(random: &mut Random, block: Block, budget: u8) -> Block {
    let flags = block.0[1];
    block
        .flags(flags | FLAG_BUDGET)
        .byte(6, 1 + budget)
        .node(random.pick(&[2, 3, 101]))
        .timestamp(random.u32())
        .sequence(random.u32())
        .tail(random.u32())
}

fn in_gpe(random: &mut Random, frame: &[u8], budget: u8) -> Vec<u8> {
    let at = layout::find(frame).expect("TCP or UDP");
    let block = gpe::Block {
        budget: Some(budget),
        without_queue: random.one_in(4),
        node: random.pick(&[2, 3, 101]),
        timestamp: random.next(),
        sequence: random.u32(),
        ..gpe::Block::single(at.v6)
    };
    let mut wire = gpe::wrap(frame, &at, random.u16(), &block);
    if random.one_in(4) {
        // Another source's outer checksum, right or wrong: hops keep what is wrong wrong.
        let outer = layout::find(&wire).expect("UDP");
        wire[outer.l4 + 6] = random.u8();
        wire[outer.l4 + 7] = random.u8();
    }
    wire
}

/// Enough of an Ethernet and an IP header for BPF_PROG_RUN.
fn has_an_skb(frame: &[u8]) -> bool {
    match frame.get(12..14) {
        Some([0x86, 0xdd]) => frame.len() >= 54,
        Some([0x81, 0x00] | [0x88, 0xa8]) => false,
        _ => frame.len() >= 34,
    }
}

/// These need CAP_BPF and CAP_NET_ADMIN.
mod root {
    use super::*;

    #[test]
    fn both_ways_do_the_same_with_any_packet() {
        let usual = Options {
            waits: true,
            ..Options::default()
        };
        let all = [
            usual,
            Options {
                fixed_mtu: 1_000,
                ..usual
            },
            Options {
                carriers: OWN | GENEVE | with_int_md().carriers,
                waits: false,
                ..with_int_md()
            },
            Options {
                kernel_ctx: false,
                ..usual
            },
        ];
        let threads = all.map(|options| std::thread::spawn(move || any_packets(&options)));
        for thread in threads {
            thread.join().expect("both ways do the same");
        }
    }

    fn any_packets(options: &Options<'_>) {
        let (_, seed) = Random::from_env();
        let ways = Ways::load(options);
        for number in 0..env_number("HOSTINT_TEST_FRAMES", FRAMES) {
            let mut random = Random::seeded(seed.wrapping_mul(0x1_0000_0001).wrapping_add(number));
            let (encapsulation, mut frame) = match random.one_in(3) {
                true => (None, received(&mut random, false)),
                false => {
                    let (encapsulation, frame) = asking(&mut random);
                    (Some(encapsulation), frame)
                }
            };
            let own = encapsulation.filter(|_| random.one_in(8));
            let node = own.map_or(101, |encapsulation| newest(&frame, encapsulation).node);
            ways.each(|hop| hop.set_node(node));
            let passed = (random.next() % 50_000) as i64;
            ways.each(|hop| hop.jump_standing(passed));
            if random.one_in(5) {
                mutate(&mut random, &mut frame);
            }
            if !has_an_skb(&frame) {
                continue;
            }
            let segments = random.one_in(10).then(|| (1 + random.u32() % 1_400, 2));
            let arrives = !random.one_in(5);
            let words = format!("{options:?}, seed {seed}, frame {number}: {}", hex(&frame));
            let left = ways.pass(&frame, segments, arrives, &words);
            if random.one_in(4) && has_an_skb(&left) {
                // Back from a guest, or on from a bridge to its port.
                ways.each(|hop| hop.jump_standing(700));
                ways.pass(&left, None, random.one_in(2), &format!("{words}, again"));
            }
            if number % BATCH == 0 {
                ways.compare_all(&words);
            }
        }
        ways.compare_all(&format!("{options:?}, seed {seed}, at the end"));
    }

    /// Of each encapsulation, IP version and protocol packets with a budget take it at both hooks, if they are nothing
    /// special.
    #[test]
    fn usual_packets_take_it() {
        let ways = Ways::load(&Options::default());
        ways.each(|hop| hop.set_node(101));
        let [general, straight] = &ways.0;
        for encapsulation in [OverTcpUdp, ExtensionUdp, VxlanGpe] {
            let source = asking_source(encapsulation, 2);
            for (name, frame) in [
                ("UDP", udp()),
                ("TCP", tcp().segment(9, 2)),
                ("UDP over IPv6", udp6()),
                ("TCP over IPv6", tcp6().segment(9, 2)),
            ] {
                let wire = tagged(&source, &frame, STACK);
                let behind = straight.leave(&wire).bytes;
                straight.set_node(102);
                for (wire, place) in [(&wire, "first hop"), (&behind, "second hop")] {
                    let arrive = |hop: &Hop| drop(hop.arrive(wire));
                    let leave = |hop: &Hop| drop(hop.leave(wire));
                    let words = format!("{encapsulation:?}, {name}, {place}");
                    assert!(straight.takes_straight_way(arrive), "{words} arrives");
                    assert!(straight.takes_straight_way(leave), "{words} leaves");
                    assert!(!general.takes_straight_way(arrive), "{words}: general");
                    assert!(!general.takes_straight_way(leave), "{words}: general");
                }
                straight.set_node(101);
            }
        }
    }

    #[test]
    fn unusual_packets_take_the_general_way() {
        let ways = Ways::load(&Options::default());
        let straight = &ways.0[1];
        straight.set_node(101);
        let asking = |frame: Frame| {
            let block = Block::hostint().flags(0xc0 | FLAG_BUDGET).byte(6, 4);
            frame.tagged(block).bytes()
        };
        let mut used = asking(udp());
        used[14 + 20 + 8 + 6] = 1;
        for (name, wire) in [
            ("IPv4 options", asking(udp().ip_options(8))),
            ("extension headers", asking(udp6().extension_header(60, 8))),
            ("a fragment", asking(udp().more_fragments())),
            ("no budget", used),
            ("the mark of somebody else", udp().wire_tos(4).bytes()),
        ] {
            let leave = |hop: &Hop| drop(hop.leave(&wire));
            assert!(!straight.takes_straight_way(leave), "{name}");
        }
        let superpacket = asking(tcp().payload(900));
        let leave = |hop: &Hop| drop(hop.leave_superpacket(&superpacket, 300, 3));
        assert!(!straight.takes_straight_way(leave), "a superpacket");
    }
}
