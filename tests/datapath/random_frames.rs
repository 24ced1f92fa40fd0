//! On hundreds of thousands of random and damaged frames the kernel programs do what the models do, and the sink takes
//! out exactly what the source and transit hops put in.

use std::collections::HashSet;
use std::time::Instant;

use hostint::datapath::abi::{sink_counter, source_counter};
use hostint_testing::both_ways::hex;
use hostint_testing::checksum::verify;
use hostint_testing::generate::{mutate, pushed, received, sent, taggable, with_vlans};
use hostint_testing::model::sink::{Seen, Tagged};
use hostint_testing::model::source::Stamp;
use hostint_testing::model::{Encapsulation, UDP, layout};
use hostint_testing::programs::sink::{Sink, model_of, settings};
use hostint_testing::programs::source::{Hook, Options, Source};
use hostint_testing::random::{Random, env_number};
use hostint_testing::source_cases::{passes, run, stamp_of, verify_tagged};

/// Between two looks at the counters.
const BATCH: u64 = 2_000;
const FLOWS: u32 = 64;
/// A plain run has this many of each kind.
const FRAMES: u64 = 60_000;
const ROUND_TRIPS: u64 = 40_000;

/// Calls `each` with a frame's number as often as HOSTINT_TEST_FRAMES says, or else this often; then `check` after every
/// batch. Prints how many there were.
fn repeat(what: &str, frames: u64, mut each: impl FnMut(u64), mut check: impl FnMut(u64)) {
    let frames = env_number("HOSTINT_TEST_FRAMES", frames);
    let begin = Instant::now();
    let mut done = 0;
    while done < frames {
        for number in done..done + BATCH {
            each(number);
        }
        done += BATCH;
        check(done);
    }
    println!("{what}: {done} frames in {:?}", begin.elapsed());
}

/// A reproducible source of randomness for each frame.
fn frame_seed(seed: u64, number: u64) -> u64 {
    seed.wrapping_mul(0x1_0000_0001).wrapping_add(number)
}

/// BPF_PROG_RUN makes skbs of whole IP headers only, and takes tags in the frame for what they are not.
fn has_an_skb(frame: &[u8]) -> bool {
    let least = match frame.get(12..14) {
        Some([0x86, 0xdd]) => 54,
        Some([0x81, 0x00] | [0x88, 0xa8]) => usize::MAX,
        _ => 34,
    };
    frame.len() >= least
}

/// The frame as it was sent. Among hundreds of thousands of wrong checksums of packets with transit hops, some look as if a
/// hop had not updated them; tests/datapath/pushed_checksums.rs has those.
fn as_explained(tagged: &Tagged, ran: &[u8]) -> Vec<u8> {
    let mut restored = tagged.restored.clone();
    let behind_l4 = [Encapsulation::OverTcpUdp, Encapsulation::IntMd];
    let by_hops = behind_l4.contains(&tagged.encapsulation) && !tagged.pushed.is_empty();
    if by_hops && restored.len() == ran.len() && verify(&restored).is_err() {
        let at = layout::find(&restored).expect("TCP or UDP");
        let checksum = at.l4 + if at.protocol == UDP { 6 } else { 16 };
        restored[checksum..checksum + 2].copy_from_slice(&ran[checksum..checksum + 2]);
    }
    restored
}

/// These need CAP_BPF and CAP_NET_ADMIN.
mod root {
    use super::*;

    #[test]
    fn the_sink_does_with_any_frame_what_its_model_does() {
        let threads = [Hook::Xdp, Hook::Tc]
            .map(|hook| std::thread::spawn(move || any_frame_at_the_sink(hook)));
        for thread in threads {
            thread.join().expect("agrees with the model");
        }
    }

    fn any_frame_at_the_sink(hook: Hook) {
        let (_, seed) = Random::from_env();
        let settings = settings();
        let sizes = hostint_testing::programs::sink::Sizes {
            flows: FLOWS,
            tc: hook == Hook::Tc,
            ..Default::default()
        };
        let sink = Sink::load_sized(&settings, sizes);
        let model = model_of(&settings);
        let mut expected = vec![(0, 0); sink_counter::COUNT_SINK_MAX.0 as usize];
        let mut flows = HashSet::new();
        let count = |expected: &mut Vec<(u64, u64)>, reason: sink_counter, len: u64| {
            expected[reason.0 as usize].0 += 1;
            expected[reason.0 as usize].1 += len;
        };
        let expected = std::cell::RefCell::new(&mut expected);
        let each = |number| {
            let mut random = Random::seeded(frame_seed(seed, number));
            let mut frame = received(&mut random, hook == Hook::Xdp);
            if random.one_in(2) {
                mutate(&mut random, &mut frame);
            }
            if hook == Hook::Tc && !has_an_skb(&frame) {
                return;
            }
            let ran = match hook {
                Hook::Xdp => sink.run(&frame),
                Hook::Tc => sink.run_tc(&frame),
            };
            let len = frame.len() as u64;
            let mut expected = expected.borrow_mut();
            let bytes = match model.look(&frame) {
                Seen::Untouched => frame.clone(),
                Seen::Refused(reason) => {
                    count(&mut expected, reason, len);
                    frame.clone()
                }
                Seen::Tagged(tagged) => {
                    let known = flows.contains(&tagged.key);
                    if tagged.count == 0 {
                        count(&mut expected, sink_counter::COUNT_SINK_BAD_SEGMENT, len);
                    } else if known || flows.len() < FLOWS as usize {
                        if flows.insert(tagged.key) {
                            count(&mut expected, sink_counter::COUNT_SINK_FLOW_NEW, 0);
                        }
                    } else {
                        let untracked =
                            &mut expected[sink_counter::COUNT_SINK_UNTRACKED.0 as usize];
                        *untracked = (untracked.0 + tagged.count, untracked.1 + len);
                    }
                    if tagged.by_host_int {
                        count(&mut expected, sink_counter::COUNT_SINK_HOST_INT, len);
                    }
                    let stripped = &mut expected[sink_counter::COUNT_SINK_RECEIVED.0 as usize];
                    *stripped = (stripped.0 + tagged.count.max(1), stripped.1 + len);
                    as_explained(&tagged, &ran.bytes)
                }
            };
            assert!(
                (ran.verdict, &ran.bytes) == (passes(hook), &bytes),
                "{hook:?}, seed {seed}, frame {number}:\n{}\nverdict {}, came out as\n{}\ninstead of\n{}",
                hex(&frame),
                ran.verdict,
                hex(&ran.bytes),
                hex(&bytes)
            );
        };
        let check = |done| {
            sink.events();
            let mut counters = sink.counters();
            // What depends on the order of numbers and on time has tests of its own.
            let accounting = sink_counter::COUNT_SINK_LOST.0 as usize..counters.len();
            let flow_new = sink_counter::COUNT_SINK_FLOW_NEW.0 as usize;
            for index in accounting.filter(|index| *index != flow_new) {
                counters[index] = (0, 0);
            }
            assert_eq!(
                counters,
                **expected.borrow(),
                "{hook:?}, seed {seed}: counters before frame {done}"
            );
        };
        repeat(&format!("sink at {hook:?}"), FRAMES, each, check);
    }

    #[test]
    fn the_source_does_with_any_frame_what_its_model_does() {
        let mut threads = Vec::new();
        for (encapsulation, hook) in [
            (Encapsulation::OverTcpUdp, Hook::Tc),
            (Encapsulation::ExtensionUdp, Hook::Tc),
            (Encapsulation::ExtensionUdp, Hook::Xdp),
            (Encapsulation::VxlanGpe, Hook::Tc),
            (Encapsulation::IntMd, Hook::Tc),
        ] {
            threads.push(std::thread::spawn(move || {
                any_frame_at_the_source(encapsulation, hook)
            }));
        }
        for thread in threads {
            thread.join().expect("agrees with the model");
        }
    }

    fn any_frame_at_the_source(encapsulation: Encapsulation, hook: Hook) {
        let (_, seed) = Random::from_env();
        let options = Options {
            encapsulation,
            fixed_mtu: 1_500,
            flows: FLOWS,
            ..Options::default()
        };
        let source = Source::load(&options);
        let mut numbers = std::collections::HashMap::new();
        let expected = vec![(0, 0); source_counter::COUNT_SOURCE_MAX.0 as usize];
        let expected = std::cell::RefCell::new(expected);
        let count = |reason: source_counter, len: usize| {
            let counter = &mut expected.borrow_mut()[reason.0 as usize];
            *counter = (counter.0 + 1, counter.1 + len as u64);
        };
        let verdict = passes(hook);
        let each = |number| {
            let mut random = Random::seeded(frame_seed(seed, number));
            let frame = sent(&mut random);
            // TC has tags from the kernel, which keeps them there.
            let frame = match hook {
                Hook::Xdp => with_vlans(&mut random, frame),
                Hook::Tc => frame,
            };
            let mut frame = frame.bytes();
            if random.one_in(3) {
                mutate(&mut random, &mut frame);
            }
            if !has_an_skb(&frame) {
                return;
            }
            let before = source.clock.now_ns();
            let ran = run(&source, hook, &frame);
            let took = source.clock.now_ns() - before;
            let len = frame.len();
            let known = numbers.len();
            let looked = match source.model.look_at_known(&frame) {
                Ok(key) if numbers.contains_key(&key) => Ok(key),
                _ => source.model.look(&frame),
            };
            let bytes = match looked {
                Err(reason) => {
                    count(reason, len);
                    frame.clone()
                }
                Ok(key) if !numbers.contains_key(&key) && known == FLOWS as usize => {
                    count(source_counter::COUNT_SOURCE_TABLE_FULL, len);
                    frame.clone()
                }
                Ok(key) => {
                    let sequence = numbers.entry(key).or_insert(0);
                    *sequence += 1;
                    if *sequence == 1 {
                        count(source_counter::COUNT_SOURCE_FLOW_NEW, 0);
                    }
                    count(source_counter::COUNT_SOURCE_TAGGED, len);
                    let stamp = Stamp {
                        sequence: *sequence,
                        ..stamp_of(&ran.bytes, encapsulation)
                    };
                    let late = (stamp.timestamp as u32).wrapping_sub(before as u32);
                    assert!(
                        u64::from(late) <= took,
                        "seed {seed}, frame {number}: timestamp"
                    );
                    source.model.tag(&frame, stamp)
                }
            };
            assert!(
                (ran.verdict, &ran.bytes) == (verdict, &bytes),
                "{encapsulation:?} at {hook:?}, seed {seed}, frame {number}:\n{}\nverdict {}, came out as\n{}\n\
                 instead of\n{}",
                hex(&frame),
                ran.verdict,
                hex(&ran.bytes),
                hex(&bytes)
            );
        };
        let check = |done| {
            assert_eq!(
                source.counters(),
                *expected.borrow(),
                "{encapsulation:?} at {hook:?}, seed {seed}: counters before frame {done}"
            );
        };
        repeat(
            &format!("source, {encapsulation:?} at {hook:?}"),
            FRAMES,
            each,
            check,
        );
    }

    #[test]
    fn what_the_sink_takes_out_is_what_source_and_hops_put_in() {
        let mut threads = Vec::new();
        for (encapsulation, hook) in [
            (Encapsulation::OverTcpUdp, Hook::Tc),
            (Encapsulation::ExtensionUdp, Hook::Tc),
            (Encapsulation::ExtensionUdp, Hook::Xdp),
            (Encapsulation::VxlanGpe, Hook::Tc),
            (Encapsulation::IntMd, Hook::Tc),
        ] {
            threads.push(std::thread::spawn(move || round_trips(encapsulation, hook)));
        }
        for thread in threads {
            thread.join().expect("packets come back unchanged");
        }
    }

    fn round_trips(encapsulation: Encapsulation, hook: Hook) {
        let (_, seed) = Random::from_env();
        let source = Source::load(&Options {
            encapsulation,
            flows: 4_096,
            ..Options::default()
        });
        let sizes = hostint_testing::programs::sink::Sizes {
            flows: 4_096,
            tc: true,
            ..Default::default()
        };
        let sink = Sink::load_sized(&settings(), sizes);
        let each = |number| {
            let mut random = Random::seeded(frame_seed(seed ^ 0x5555, number));
            let frame = taggable(&mut random, encapsulation).bytes();
            let sentence = || {
                format!(
                    "{encapsulation:?} at {hook:?}, seed {seed}: {}",
                    hex(&frame)
                )
            };
            let wire = run(&source, hook, &frame).bytes;
            assert_eq!(
                wire.len(),
                frame.len() + encapsulation.added(if frame[12] == 0x86 { 40 } else { 20 }),
                "tagged: {}",
                sentence()
            );
            verify_tagged(&wire, encapsulation)
                .unwrap_or_else(|why| panic!("on the wire: {why}: {}", sentence()));
            let hops = random.below(9);
            let wire = pushed(&mut random, wire, encapsulation, hops);
            let ran = match random.one_in(2) {
                true => sink.run(&wire),
                false => sink.run_tc(&wire),
            };
            let restored = ran.bytes;
            assert!(
                restored == frame,
                "{}\nafter {hops} hops came back as\n{}",
                sentence(),
                hex(&restored)
            );
        };
        let check = |done: u64| {
            let stripped = sink.count(sink_counter::COUNT_SINK_RECEIVED);
            assert_eq!(stripped, done, "all were tagged and stripped");
            assert_eq!(sink.count(sink_counter::COUNT_SINK_LOST), 0, "none is lost");
            assert_eq!(
                sink.count(sink_counter::COUNT_SINK_FLOW_RESTARTED),
                0,
                "no flow began anew"
            );
            sink.events();
        };
        repeat(
            &format!("round trip, {encapsulation:?} at {hook:?}"),
            ROUND_TRIPS,
            each,
            check,
        );
    }
}
