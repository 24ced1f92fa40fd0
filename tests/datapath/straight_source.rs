//! The source's straight way, which nearly all packets take, does what the general way does: packets, records, counts and
//! leases are equal, byte by byte, while the list and the leases change.

use hostint::datapath::abi::{source_lease, superpackets};
use hostint::model::{Prefix, RuleHost, WatchRule};
use hostint_testing::both_ways::{assert_same_records, assert_same_tables, hex};
use hostint_testing::checksum::{be16, be32};
use hostint_testing::frame::Frame;
use hostint_testing::generate::{mutate, plain, sent};
use hostint_testing::model::{Encapsulation, Key, TCP, layout};
use hostint_testing::packets::{tcp, tcp6, udp, udp6};
use hostint_testing::programs::source::{Options, Source};
use hostint_testing::programs::stay_on_one_cpu;
use hostint_testing::random::{Random, env_number};

/// Flows of a plain run in each encapsulation; each has up to eight packets, and damaged ones between them.
const FLOWS: u64 = 1_500;
/// Between two looks at everything but the flow's record, and between two lists.
const BATCH: u64 = 50;

/// A source whose packets all take the general way, and one that also has the straight way.
struct Ways([Source; 2]);

fn rule(prefix: &str, fixed: bool) -> WatchRule {
    let prefix: Prefix = prefix.parse().expect("a prefix");
    let place = RuleHost {
        text: prefix.to_string(),
        prefixes: vec![prefix],
    };
    WatchRule::of_dest(place, fixed)
}

/// Lists that follow each other: destinations are static, leased, or not watched.
fn rules(turn: u64) -> Vec<WatchRule> {
    match turn % 3 {
        0 => vec![rule("0.0.0.0/0", true), rule("::/0", true)],
        1 => vec![rule("0.0.0.0/0", false), rule("::/0", false)],
        _ => vec![
            rule("198.51.100.0/30", false),
            rule("198.51.100.4/31", true),
        ],
    }
}

impl Ways {
    fn load(options: &Options) -> Self {
        stay_on_one_cpu();
        Ways([false, true].map(|straight| {
            Source::load(&Options {
                straight,
                clock_stands: true,
                ..*options
            })
        }))
    }

    fn list(&mut self, turn: u64) {
        self.0
            .iter_mut()
            .for_each(|source| source.set_rules(rules(turn)));
    }

    /// As if the daemon had written it.
    fn lease(&self, key: &Key, random: &mut Random) {
        let lease = source_lease {
            until_ns: if random.one_in(6) { 0 } else { u64::MAX },
            proved_ns: u64::from(!random.one_in(8)),
            ways: random.u32() & 0x7f,
            stack: random.pick(&[0, 1, 4]),
            longest: random.pick(&[0, 0, 1_200]),
            segments: 1,
            ..source_lease::default()
        };
        self.0
            .iter()
            .for_each(|source| source.write_lease(key, &lease));
    }

    /// As if many packets of the flow had been sent, so that its lease is not looked up for each.
    fn grow(&self, key: &Key) {
        for source in self.0.iter().filter(|source| source.knows(key)) {
            source.change_flow(key, |flow| {
                (flow.sequence, flow.told, flow.counted_to) = (5_000, 5_000, 5_000);
            });
        }
    }

    fn run(&self, frame: &[u8], segments: Option<(u32, u32)>, sentence: &dyn Fn() -> String) {
        let [general, straight] = self.0.each_ref().map(|source| match segments {
            None => source.run(frame),
            Some((size, count)) => source.run_superpacket(frame, size, count),
        });
        assert_eq!(general, straight, "{}", sentence());
    }

    fn compare_record(&self, key: &Key, sentence: &dyn Fn() -> String) {
        assert_same_records(self.0.each_ref().map(|source| source.flow(key)), sentence);
    }

    fn compare_all(&self, sentence: &dyn Fn() -> String) {
        let [general, straight] = self.0.each_ref().map(Source::counters);
        assert_eq!(general, straight, "{}: counters", sentence());
        assert_same_tables(self.0.each_ref().map(Source::tables), sentence);
    }
}

fn key_of(frame: &[u8]) -> Option<Key> {
    let at = layout::find(frame).ok()?;
    let (source, target) = at.mapped_addresses(frame);
    frame.get(at.l4..at.l4 + 20)?;
    Some(Key {
        source,
        target,
        sport: be16(frame, at.l4),
        dport: be16(frame, at.l4 + 2),
        layers: at.layers(at.protocol),
    })
}

/// Moves the segment on, mostly by new data.
fn advance(random: &mut Random, frame: &mut [u8], sent: &mut u32) {
    let at = layout::find(frame).expect("TCP or UDP");
    if at.protocol != TCP {
        return;
    }
    let sequence = be32(frame, at.l4 + 4).wrapping_add(*sent);
    frame[at.l4 + 4..at.l4 + 8].copy_from_slice(&sequence.to_be_bytes());
    let words = usize::from(frame[at.l4 + 12] >> 4);
    let data = (at.l3 + at.ip_len).saturating_sub(at.l4 + words * 4) as u32;
    if !random.one_in(6) {
        *sent = sent.wrapping_add(data);
    }
    let flags = [0x10, 0x10, 0x10, 0x18, 0x02, 0x12, 0x11, 0x14];
    frame[at.l4 + 13] = random.pick(&flags);
}

/// Enough of an Ethernet and an IP header for BPF_PROG_RUN.
fn has_an_skb(frame: &[u8]) -> bool {
    match frame.get(12..14) {
        Some([0x86, 0xdd]) => frame.len() >= 54,
        Some([0x81, 0x00] | [0x88, 0xa8]) => false,
        _ => frame.len() >= 34,
    }
}

fn options_of(encapsulation: Encapsulation) -> Options {
    Options {
        encapsulation,
        fixed_mtu: 1_500,
        flows: 20_000,
        superpackets: superpackets::SUPER_ENCAP,
        ..Options::default()
    }
}

/// These need CAP_BPF and CAP_NET_ADMIN.
mod root {
    use super::*;

    #[test]
    fn both_ways_do_the_same_with_any_packets_of_a_flow() {
        use Encapsulation::{ExtensionUdp, OverTcpUdp, VxlanGpe};
        let with_hops = Options {
            max_hops: 3,
            ..options_of(VxlanGpe)
        };
        let without_queue = Options {
            without_queue: true,
            ..with_hops
        };
        let auto = Options {
            tunnel: true,
            ..options_of(VxlanGpe)
        };
        let all = [OverTcpUdp, ExtensionUdp, VxlanGpe].map(options_of);
        let threads = all
            .into_iter()
            .chain([with_hops, without_queue, auto])
            .map(|options| std::thread::spawn(move || any_packets(&options)));
        for thread in Vec::from_iter(threads) {
            thread.join().expect("both ways do the same");
        }
    }

    fn any_packets(options: &Options) {
        let (_, seed) = Random::from_env();
        let flows = env_number("HOSTINT_TEST_FRAMES", FLOWS);
        let mut ways = Ways::load(options);
        let what = format!("{:?}, {} hops", options.encapsulation, options.max_hops);
        for flow in 0..flows {
            if flow % BATCH == 0 {
                ways.compare_all(&|| format!("{what}, seed {seed}, before flow {flow}"));
                ways.list(flow / BATCH);
            }
            let mut random = Random::seeded(seed.wrapping_mul(0x1_0000_0001).wrapping_add(flow));
            let frame = if random.one_in(4) {
                sent(&mut random)
            } else {
                plain(&mut random)
            };
            let first = frame.bytes();
            let key = key_of(&first);
            let mut moved = 0;
            for packet in 0..2 + random.below(7) {
                if let Some(key) = key.filter(|_| packet == 0 || random.one_in(6)) {
                    ways.lease(&key, &mut random);
                }
                if let Some(key) = key.filter(|_| packet == 1 && !random.one_in(4)) {
                    ways.grow(&key);
                }
                let mut frame = first.clone();
                if key.is_some() {
                    advance(&mut random, &mut frame, &mut moved);
                }
                if packet == 0 && !random.one_in(4) && key.is_some() {
                    begin(&mut frame);
                }
                if random.one_in(5) {
                    mutate(&mut random, &mut frame);
                }
                if !has_an_skb(&frame) {
                    continue;
                }
                let segments = random.one_in(10).then(|| (1 + random.u32() % 1_400, 2));
                let sentence = || {
                    format!(
                        "{what}, seed {seed}, flow {flow}, packet {packet}: {}",
                        hex(&frame)
                    )
                };
                ways.run(&frame, segments, &sentence);
                if let Some(key) = &key {
                    ways.compare_record(key, &sentence);
                }
            }
        }
        ways.compare_all(&|| format!("{what}, seed {seed}, at the end"));
    }

    /// Makes the segment the first of its connection.
    fn begin(frame: &mut [u8]) {
        let at = layout::find(frame).expect("TCP or UDP");
        if at.protocol == TCP {
            frame[at.l4 + 13] = 0x02;
        }
    }

    /// Of each encapsulation, IP version and protocol packets of known flows take it, if they are nothing special.
    #[test]
    fn packets_of_known_flows_take_it() {
        for encapsulation in [
            Encapsulation::OverTcpUdp,
            Encapsulation::ExtensionUdp,
            Encapsulation::VxlanGpe,
        ] {
            let ways = Ways::load(&options_of(encapsulation));
            let [general, straight] = &ways.0;
            for (name, frame) in [
                ("UDP", udp()),
                ("TCP", tcp()),
                ("UDP over IPv6", udp6()),
                ("TCP over IPv6", tcp6()),
                ("a connection's end", tcp().segment(1, 0x11)),
            ] {
                let frame = frame.bytes();
                for source in &ways.0 {
                    source.run(&frame);
                }
                let run = |source: &Source| drop(source.run(&frame));
                assert!(
                    straight.takes_straight_way(run),
                    "{encapsulation:?}, {name}"
                );
                assert!(
                    !general.takes_straight_way(run),
                    "{encapsulation:?}, {name}: the general one"
                );
            }
            let unusual: [(&str, Frame); 4] = [
                ("IPv4 options", udp().ip_options(8)),
                ("a connection that is reset", tcp().segment(1, 0x14)),
                ("a fragment", udp().more_fragments()),
                ("the mark", udp().wire_tos(hostint_testing::frame::MARK)),
            ];
            for (name, frame) in unusual {
                let run = |source: &Source| drop(source.run(&frame.bytes()));
                assert!(
                    !straight.takes_straight_way(run),
                    "{encapsulation:?}, {name}"
                );
            }
        }
    }
}
