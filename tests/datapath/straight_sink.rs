//! The sink's straight way, which nearly all packets take, does what the general way does: packets, records, counts and
//! events are equal, byte by byte.

use std::collections::BTreeSet;

use hostint::datapath::abi::sink_settings;
use hostint_testing::both_ways::{assert_same_records, assert_same_tables, hex};
use hostint_testing::generate::{mutate, received};
use hostint_testing::model::sink::{Seen, Tagged};
use hostint_testing::model::{Key, layout};
use hostint_testing::numbers::another;
use hostint_testing::programs::sink::{Sink, Sizes, model_of, settings};
use hostint_testing::programs::source::Hook;
use hostint_testing::programs::stay_on_one_cpu;
use hostint_testing::random::{Random, env_number};
use hostint_testing::stream::MS;

/// Flows of a plain run at each hook; each has up to eight packets, and damaged ones between them.
const FLOWS: u64 = 3_000;
/// Between two looks at everything but the flow's record.
const BATCH: u64 = 100;

/// A sink whose packets all take the general way, and one that also has the straight way.
struct Ways([Sink; 2]);

/// Times of reports, losses and buckets come by in each run.
fn busy_settings() -> sink_settings {
    let mut busy = sink_settings {
        report_period_ns: 5_000 * MS,
        loss_timeout_ns: 200 * MS,
        bucket_hold_ns: MS,
        edge_count: 2,
        report_bytes: 200,
        ..settings()
    };
    (busy.edge_up[0], busy.edge_down[0]) = (20_000, 10_000);
    (busy.edge_up[1], busy.edge_down[1]) = (500_000, 400_000);
    busy
}

impl Ways {
    fn load(settings: &sink_settings) -> Self {
        stay_on_one_cpu();
        Ways([false, true].map(|straight| {
            let sizes = Sizes {
                flows: 40_000,
                fine: 6_000,
                straight,
                clock_stands: true,
                tc: true,
                ..Sizes::default()
            };
            let sink = Sink::load_sized(settings, sizes);
            for host in 0..4 {
                sink.set_grant([192, 0, 2, host].into(), u64::MAX >> 1);
            }
            sink
        }))
    }

    fn jump(&self, by_ns: u64) {
        self.0
            .iter()
            .for_each(|sink| sink.jump_standing(by_ns as i64));
    }

    fn run(&self, hook: Hook, frame: &[u8], key: Option<&Key>, sentence: &dyn Fn() -> String) {
        let [general, straight] = self.0.each_ref().map(|sink| match hook {
            Hook::Xdp => sink.run(frame),
            Hook::Tc => sink.run_tc(frame),
        });
        assert_eq!(general, straight, "{}", sentence());
        let Some(key) = key else { return };
        assert_same_records(self.0.each_ref().map(|sink| sink.record(key)), sentence);
    }

    fn compare_all(&self, sentence: &dyn Fn() -> String) {
        let [general, straight] = self.0.each_ref().map(|sink| sink.counters());
        assert_eq!(general, straight, "{}: counters", sentence());
        let [general, straight] = self.0.each_ref().map(|sink| sink.event_bytes());
        for (general, straight) in general.iter().zip(&straight) {
            assert_eq!(hex(general), hex(straight), "{}: an event", sentence());
        }
        assert_eq!(general.len(), straight.len(), "{}: events", sentence());
        assert_same_tables(self.0.each_ref().map(Sink::tables), sentence);
    }
}

/// BPF_PROG_RUN makes skbs of whole IP headers only, and takes tags in the frame for what they are not.
fn has_an_skb(frame: &[u8]) -> bool {
    match frame.get(12..14) {
        Some([0x86, 0xdd]) => frame.len() >= 54,
        Some([0x81, 0x00] | [0x88, 0xa8]) => false,
        _ => frame.len() >= 34,
    }
}

/// Routes of a flow change, and with them the time to live of what arrives.
fn set_ttl(frame: &mut [u8], ttl: u8) {
    match frame.get(12..14) {
        Some([0x08, 0x00]) => frame[22] = ttl,
        Some([0x86, 0xdd]) => frame[21] = ttl,
        _ => {}
    }
}

/// The next packet of the flow, mostly with the next number.
fn next_number(random: &mut Random, sent: &mut u32, tagged: &Tagged) -> u32 {
    let step = match random.below(16) {
        0 => 0,
        1 => 2,
        2 => u32::MAX,
        3 => random.below(400) as u32,
        _ => tagged.count.max(1) as u32,
    };
    *sent = sent.wrapping_add(step);
    *sent
}

/// These need CAP_BPF and CAP_NET_ADMIN.
mod root {
    use super::*;

    #[test]
    fn both_ways_do_the_same_with_any_packets_of_a_flow() {
        let threads =
            [Hook::Xdp, Hook::Tc].map(|hook| std::thread::spawn(move || any_packets_at(hook)));
        for thread in threads {
            thread.join().expect("both ways do the same");
        }
    }

    fn any_packets_at(hook: Hook) {
        let (_, seed) = Random::from_env();
        let flows = env_number("HOSTINT_TEST_FRAMES", FLOWS);
        let settings = busy_settings();
        let (ways, model) = (Ways::load(&settings), model_of(&settings));
        let mut now = hostint_testing::programs::clock::START_NS;
        for flow in 0..flows {
            let mut random = Random::seeded(seed.wrapping_mul(0x1_0000_0001).wrapping_add(flow));
            let first = received(&mut random, hook == Hook::Xdp);
            let Seen::Tagged(tagged) = model.look(&first) else {
                continue;
            };
            let mut sent = 0;
            for packet in 0..2 + random.below(7) {
                let passed = match random.below(12) {
                    0 => 100 * MS + random.next() % (400 * MS),
                    1 => 0,
                    _ => random.next() % (20_000),
                };
                ways.jump(passed);
                now += passed;
                let latency = if random.one_in(8) {
                    random.u32()
                } else {
                    random.u32() % 1_000_000
                };
                let stamp = (now as u32).wrapping_sub(latency);
                let number = if packet == 0 {
                    0
                } else {
                    next_number(&mut random, &mut sent, &tagged)
                };
                let mut frame = another(&first, &tagged, number, Some(stamp));
                set_ttl(&mut frame, 60 + random.below(5) as u8);
                let damaged = random.one_in(4);
                if damaged {
                    mutate(&mut random, &mut frame);
                }
                if hook == Hook::Tc && !has_an_skb(&frame) {
                    continue;
                }
                let key = match model.look(&frame) {
                    Seen::Tagged(tagged) => Some(tagged.key),
                    _ => None,
                };
                ways.run(hook, &frame, key.as_ref(), &|| {
                    format!(
                        "{hook:?}, seed {seed}, flow {flow}, packet {packet}: {}",
                        hex(&frame)
                    )
                });
            }
            if flow % BATCH == 0 {
                ways.compare_all(&|| format!("{hook:?}, seed {seed}, before flow {flow}"));
            }
        }
        ways.compare_all(&|| format!("{hook:?}, seed {seed}, at the end"));
    }

    /// Of each encapsulation, IP version, protocol and hook packets of known flows take it, but for unusual ones.
    #[test]
    fn packets_of_known_flows_take_it() {
        const KINDS: usize = 3 * 2 * 2 * 2;
        let ways = Ways::load(&settings());
        let [general, straight] = &ways.0;
        let model = model_of(&settings());
        let mut random = Random::seeded(1);
        let mut seen = BTreeSet::new();
        for _ in 0..20_000 {
            if seen.len() == KINDS {
                break;
            }
            let first = received(&mut random, false);
            let Seen::Tagged(tagged) = model.look(&first) else {
                continue;
            };
            let at = layout::find(&first).expect("a tagged packet");
            ways.0.iter().for_each(Sink::forget_flows);
            let begin = another(&first, &tagged, 0, Some(0));
            ways.0.iter().for_each(|sink| drop(sink.run(&begin)));
            for (hook, further) in [(Hook::Xdp, 1), (Hook::Tc, 2)] {
                let next = another(&first, &tagged, further, Some(0));
                let run = |sink: &Sink| match hook {
                    Hook::Xdp => drop(sink.run(&next)),
                    Hook::Tc => drop(sink.run_tc(&next)),
                };
                assert!(!general.takes_straight_way(run), "{}", hex(&next));
                if straight.takes_straight_way(run) {
                    assert!(!tagged.by_host_int, "{}", hex(&next));
                    assert!(tagged.pushed.is_empty(), "{}", hex(&next));
                    let (encapsulation, hook) = (tagged.encapsulation, hook);
                    seen.insert(format!(
                        "{encapsulation:?} {hook:?} {} {}",
                        at.v6,
                        tagged.l4.len()
                    ));
                }
            }
        }
        assert_eq!(seen.len(), KINDS, "only {seen:?}");
    }
}
