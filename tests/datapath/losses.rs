//! The INT sink tells which sequence numbers of a flow were lost, and when.

use hostint_testing::frame::{Frame, UDP};
use hostint_testing::int_block::Block;
use hostint_testing::model::Key;
use hostint_testing::packets::key;
use hostint_testing::programs::sink::{Sink, Sizes, gaps, losses, settings};
use hostint_testing::stream::{BASE, SECOND, Stream, TIMEOUT, sink_with_timeout};

/// These need CAP_BPF and CAP_NET_ADMIN.
mod root {
    use super::*;

    #[test]
    fn a_single_hole_is_told_with_its_number_and_time() {
        for hole in [2, 63, 64, 65, 256, 257, 1_000, BASE - 1, BASE, BASE + 1] {
            let sink = sink_with_timeout(TIMEOUT);
            let mut stream = Stream::new(&sink, TIMEOUT);
            stream.begin(hole - 1);
            let before = stream.record().last_ns;
            stream.arrive(hole + 1);
            let events = sink.events();
            assert_eq!(
                gaps(&events).len(),
                1,
                "the gap at {hole} is told of at once"
            );
            assert!(losses(&events).is_empty(), "but {hole} is not lost yet");
            stream.arrive(hole + 2);
            stream.end();
            let lost = losses(&stream.events);
            let [loss] = lost[..] else {
                panic!("one loss, not {}", lost.len())
            };
            assert_eq!(
                (loss.first, loss.count),
                (hole as u32, 1),
                "the number lost"
            );
            assert_eq!(loss.hole_ns, before, "{hole}: arrival of the packet before");
            assert_eq!(
                (loss.source_node, loss.source_port),
                (2, 13),
                "where it came from"
            );
            assert_eq!(loss.ifindex, 1, "where it was to arrive");
        }
    }

    #[test]
    fn a_loss_of_several_numbers_is_one_event_that_names_the_first() {
        struct Case {
            name: &'static str,
            arriving: &'static [u64],
            first: u32,
            count: u32,
        }
        let cases = [
            Case {
                name: "a burst",
                arriving: &[10, 20],
                first: 11,
                count: 9,
            },
            Case {
                name: "two holes in one period",
                arriving: &[10, 12, 14],
                first: 11,
                count: 2,
            },
            Case {
                name: "the first hole is filled",
                arriving: &[10, 12, 14, 11],
                first: 13,
                count: 1,
            },
            Case {
                name: "255 numbers",
                arriving: &[10, 266],
                first: 11,
                count: 255,
            },
            Case {
                name: "256 numbers, before others confirm that",
                arriving: &[9, 10, 267, 268, 269, 270],
                first: 11,
                count: 256,
            },
            Case {
                name: "1000 numbers",
                arriving: &[9, 10, 1_011, 1_012, 1_013, 1_014],
                first: 11,
                count: 1_000,
            },
            Case {
                name: "1000 numbers, and some behind them",
                arriving: &[9, 10, 1_011, 1_012, 1_014, 1_016],
                first: 11,
                count: 1_002,
            },
            Case {
                name: "a hole, then 1000 numbers",
                arriving: &[10, 12, 1_013, 1_014, 1_015, 1_016],
                first: 11,
                count: 1_001,
            },
        ];
        for Case {
            name,
            arriving,
            first,
            count,
        } in cases
        {
            let sink = sink_with_timeout(TIMEOUT);
            let mut stream = Stream::new(&sink, TIMEOUT);
            stream.begin(arriving[0]);
            for number in &arriving[1..] {
                stream.arrive(*number);
                stream.assert_as_modelled(name);
            }
            stream.end();
            let lost: Vec<_> = losses(&stream.events)
                .iter()
                .map(|l| (l.first, l.count))
                .collect();
            let sum: u32 = lost.iter().map(|l| l.1).sum();
            assert_eq!(
                (lost[0].0, sum),
                (first, count),
                "{name}: first and count of {lost:?}"
            );
            stream.assert_truth(name);
        }
    }

    #[test]
    fn a_loss_is_told_between_one_and_two_timeouts_later() {
        let sink = sink_with_timeout(10 * SECOND);
        let mut stream = Stream::new(&sink, 10 * SECOND);
        stream.begin(1);
        stream.arrive(3);
        for (name, wait, lost) in [
            ("nothing within the timeout", 9 * SECOND, 0),
            ("one timeout: missing since the period began", 2 * SECOND, 0),
            ("still waiting", 7 * SECOND, 0),
            ("missing for a whole period", 4 * SECOND, 1),
        ] {
            stream.jump(wait);
            sink.sweep(&[key(UDP)]);
            assert_eq!(stream.record().lost, lost, "{name}");
        }
    }

    #[test]
    fn a_sweep_takes_up_to_64_flows_and_ignores_unknown_ones() {
        let sink = sink_with_timeout(TIMEOUT);
        let keys: Vec<Key> = (0..64)
            .map(|port| Key {
                sport: 1_000 + port,
                ..key(UDP)
            })
            .collect();
        for key in &keys {
            let frame = Frame::ethernet()
                .ipv4()
                .udp()
                .ports(key.sport, key.dport)
                .payload(8);
            for number in [1, 3] {
                sink.run(
                    &frame
                        .clone()
                        .tagged(Block::hostint().sequence(number))
                        .bytes(),
                );
            }
        }
        for _ in 0..2 {
            sink.jump(SECOND as i64);
            sink.sweep(&keys);
            sink.sweep(&[
                Key {
                    sport: 9,
                    ..key(UDP)
                },
                Key {
                    sport: 10,
                    ..key(UDP)
                },
            ]);
        }
        for key in &keys {
            assert_eq!(sink.flow(key).unwrap().lost, 1, "flow {}", key.sport);
        }
        assert_eq!(losses(&sink.events()).len(), 64, "one loss a flow");
        assert_eq!(sink.flows(), 64, "a sweep adds no flow");
    }

    #[test]
    fn a_loss_that_found_the_ring_full_is_told_by_a_later_sweep() {
        let mut talkative = settings();
        talkative.loss_timeout_ns = TIMEOUT;
        talkative.report_period_ns = 0;
        let sizes = Sizes {
            flows: 8,
            ring_bytes: 4096,
            ..Sizes::default()
        };
        let sink = Sink::load_sized(&talkative, sizes);
        let mut stream = Stream::new(&sink, TIMEOUT);
        stream.begin(1);
        for number in 3..100 {
            stream.run(number, 0);
        }
        // Other flows' gaps take the last few bytes.
        let other = Frame::ethernet().ipv4().udp();
        for port in 0..6 {
            for number in [1, 3] {
                let frame = other
                    .clone()
                    .ports(port, 1)
                    .tagged(Block::hostint().sequence(number));
                sink.run(&frame.bytes());
            }
        }
        for _ in 0..3 {
            sink.jump(SECOND as i64);
            sink.sweep(&[key(UDP)]);
        }
        assert!(
            losses(&sink.events()).is_empty(),
            "the ring had no room for it"
        );
        assert_eq!(stream.record().lost, 1, "but it is known");
        sink.sweep(&[key(UDP)]);
        let lost: Vec<_> = losses(&sink.events())
            .iter()
            .map(|l| (l.first, l.count))
            .collect();
        assert_eq!(lost, [(2, 1)], "and told as soon as there is room");
        sink.sweep(&[key(UDP)]);
        assert!(losses(&sink.events()).is_empty(), "once");
    }
}
