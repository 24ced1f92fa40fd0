//! The INT sink sends events to user space and keeps each flow's latency.

use hostint::datapath::abi::{sink_counter, sink_settings};
use hostint_testing::packets::{key, tcp, udp};
use hostint_testing::programs::sink::{Event, Sink, Sizes, latencies, settings};
use hostint_testing::random::Random;
use hostint_testing::sink_cases::{extension, int};

/// These need CAP_BPF and CAP_NET_ADMIN.
mod root {
    use super::*;
    use sink_counter as count;

    #[test]
    fn a_full_ring_loses_events_and_never_packets() {
        let sizes = Sizes {
            ring_bytes: 4096,
            ..Sizes::default()
        };
        let mut talkative = settings();
        talkative.report_period_ns = 0;
        let sink = Sink::load_sized(&talkative, sizes);
        for sequence in 1..=1000 {
            let frame = udp().tagged(int().sequence(sequence));
            let ran = sink.run(&frame.bytes());
            assert_eq!(
                ran.bytes,
                frame.untagged().bytes(),
                "packet {sequence} is stripped"
            );
        }
        let (sent, lost) = (
            sink.count(count::COUNT_SINK_EVENT_SENT),
            sink.count(count::COUNT_SINK_EVENT_LOST),
        );
        assert_eq!(sent + lost, 1000, "one event a packet, sent or lost");
        assert_eq!(sink.events().len() as u64, sent, "those sent can be read");
        assert!(sent > 10 && lost > 900, "{sent} events fit into a page");
    }

    #[test]
    fn a_new_flow_is_told_with_the_packet_as_it_came() {
        for (frame, protocol, carried, l4_len, l4_at) in [
            (udp().dscp(46).tagged(int().node(99)), 17, 1, 8, 34),
            (tcp().tagged(int().node(99)), 6, 1, 20, 34),
            (udp().extended(extension().node(99)), 17, 2, 8, 78),
            (tcp().extended(extension().node(99)), 6, 2, 20, 78),
        ] {
            let sink = Sink::load(&settings());
            let before = sink.clock.now_ns();
            let bytes = frame.bytes();
            sink.run(&bytes);
            let after = sink.clock.now_ns();
            let events = latencies(&sink.events());
            let [event] = events[..] else {
                panic!("one event, not {}", events.len())
            };
            assert_eq!(event.reasons, 1, "because the flow is new");
            assert_eq!(
                (event.encapsulation, event.bucket, event.ifindex),
                (carried, 0, 1)
            );
            assert!((before..=after).contains(&event.now_ns), "arrival time");
            assert_eq!(
                event.latency_ns, event.now_ns as i32,
                "the packet's timestamp is 0"
            );
            assert_eq!(event.ip, bytes[14..34], "IP header as received");
            assert_eq!(event.l4_len, l4_len);
            let quoted = usize::from(l4_len);
            assert_eq!(
                event.l4[..quoted],
                bytes[l4_at..l4_at + quoted],
                "L4 header as received"
            );
            assert!(
                event.l4[quoted..].iter().all(|b| *b == 0),
                "nothing behind it"
            );
            assert_eq!((event.source_node, event.sequence), (99, 1), "from INT");
            assert_eq!((event.ingress_port, event.egress_port), (13, 13));
            assert_eq!((event.ingress_ts, event.has_queue), (0, 0));
            let flow = sink.flow(&key(protocol)).unwrap();
            assert_eq!((flow.source_node, flow.source_port), (99, 13));
            assert_eq!((flow.encapsulation, flow.ifindex), (carried, 1));
            assert_eq!(flow.bytes, frame.untagged().bytes().len() as u64 - 14);
            assert_eq!(event.key.sport, 40000u16.to_be());
        }
    }

    /// Sends one packet of the flow with this latency, give or take what the machine takes.
    fn send(sink: &Sink, sequence: u32, latency_ns: i64) -> Vec<Event> {
        let stamp = (sink.clock.now_ns() as i64 - latency_ns) as u32;
        sink.run(
            &udp()
                .tagged(int().sequence(sequence).timestamp(stamp))
                .bytes(),
        );
        sink.events()
    }

    const MS: i64 = 1_000_000;

    /// Edges at 400, 800 and 1200 ms: no machine is that slow.
    fn bucketed() -> sink_settings {
        let mut bucketed = settings();
        for (i, edge) in [400, 800, 1200].into_iter().enumerate() {
            bucketed.edge_up[i] = edge * MS as i32 / 8 * 9;
            bucketed.edge_down[i] = edge * MS as i32 / 8 * 7;
        }
        bucketed.edge_count = 3;
        bucketed
    }

    #[test]
    fn a_bucket_is_left_beyond_its_edge() {
        let free = bucketed();
        let held = sink_settings {
            bucket_hold_ns: u64::MAX >> 2,
            ..free
        };
        let sink = Sink::load(&free);
        let steps: [(&str, i64, Option<u8>); 14] = [
            (
                "the first packet's bucket, by upper thresholds",
                420,
                Some(0),
            ),
            ("within the lowest bucket", 300, None),
            ("higher", 700, Some(1)),
            (
                "between the thresholds of edge 1 nothing changes",
                400,
                None,
            ),
            ("nor between those of edge 2", 850, None),
            ("below the lower threshold of edge 1", 300, Some(0)),
            ("within, from below, nothing either", 410, None),
            ("two buckets up at once", 1_000, Some(2)),
            ("three", 1_500, Some(3)),
            ("down to the lowest", 10, Some(0)),
            ("a negative latency is in the lowest", -500, None),
            ("up to the highest", 2_000, Some(3)),
            ("down by one", 950, Some(2)),
            ("and by one more", 600, Some(1)),
        ];
        let mut sequence = 0..;
        for (step, (name, latency_ms, told)) in steps.into_iter().enumerate() {
            if step > 0 {
                // The moving average takes some packets to get there.
                sink.set(&held);
                for sequence in sequence.by_ref().take(80) {
                    let events = send(&sink, sequence, latency_ms * MS);
                    assert!(events.is_empty(), "{name}: the hold is on");
                }
                sink.set(&free);
            }
            let sent = sequence.next().unwrap();
            let events = latencies(&send(&sink, sent, latency_ms * MS));
            let reason = if step == 0 { 1 } else { 2 };
            let expected: Vec<_> = told.into_iter().map(|bucket| (reason, bucket)).collect();
            let seen: Vec<_> = events.iter().map(|e| (e.reasons, e.bucket)).collect();
            assert_eq!(seen, expected, "{name}");
            for event in events {
                let off = i64::from(event.latency_ns) - latency_ms * MS;
                assert!(
                    (0..50 * MS).contains(&off),
                    "{name}: latency off by {off} ns"
                );
            }
        }
    }

    #[test]
    fn a_bucket_is_left_after_its_hold() {
        let mut holding = bucketed();
        holding.bucket_hold_ns = 10_000 * MS as u64;
        let sink = Sink::load(&holding);
        let steps: [(&str, i64, Option<u8>); 5] = [
            ("the first packet", 0, Some(0)),
            ("far above the edge, but the hold is on", 0, None),
            ("still", 9_500, None),
            ("the hold is over", 501, Some(1)),
            ("and on again", 9_500, None),
        ];
        for (step, (name, wait_ms, told)) in steps.into_iter().enumerate() {
            sink.jump(wait_ms * MS);
            // An eighth of the way from 430 ms to 1500 ms is beyond the upper threshold, 450 ms.
            let latency = if step == 0 { 430 } else { 1_500 };
            let events = latencies(&send(&sink, step as u32 + 1, latency * MS));
            let seen: Option<_> = events.first().map(|e| e.bucket.min(1));
            assert_eq!(seen, told, "{name}");
        }
    }

    #[test]
    fn one_packet_that_waited_changes_no_bucket() {
        let sink = Sink::load(&bucketed());
        for sequence in 1..200 {
            let latency = if sequence % 50 == 49 { 2_000 } else { 100 };
            let events = latencies(&send(&sink, sequence, latency * MS));
            assert_eq!(
                events.len(),
                usize::from(sequence == 1),
                "packet {sequence}"
            );
        }
    }

    #[test]
    fn the_latency_that_decides_on_buckets_is_a_moving_average() {
        let sink = Sink::load(&settings());
        let mut random = Random::seeded(5);
        let mut average: Option<i64> = None;
        for sequence in 1..2_000 {
            send(&sink, sequence, i64::from(random.u32() as i32) / 2);
            let flow = sink.flow(&key(17)).unwrap();
            let latency = i64::from(flow.latency_last_ns);
            let before = average.unwrap_or(latency);
            let now = before + (latency - before).div_euclid(8);
            assert_eq!(
                i64::from(flow.latency_smooth_ns),
                now,
                "after {sequence} packets"
            );
            average = Some(now);
        }
    }

    #[test]
    fn a_flow_is_told_of_again_after_each_period() {
        let mut periodic = settings();
        periodic.report_period_ns = 10_000 * MS as u64;
        let sink = Sink::load(&periodic);
        let steps = [
            ("the first packet", 0, Some(1)),
            ("at once again", 0, None),
            ("almost a period later", 9_900, None),
            ("a period later", 101, Some(4)),
            ("the period begins anew", 9_900, None),
            ("much later, once", 3_600_000, Some(4)),
            ("not twice", 0, None),
        ];
        for (i, (name, wait_ms, told)) in steps.into_iter().enumerate() {
            sink.jump(wait_ms * MS);
            let events = send(&sink, i as u32 + 1, MS);
            let reasons: Vec<_> = latencies(&events).iter().map(|e| e.reasons).collect();
            assert_eq!(reasons, Vec::from_iter(told), "{name}");
        }
    }

    #[test]
    fn a_bucket_change_at_the_end_of_a_period_is_one_event() {
        let mut both = settings();
        both.report_period_ns = 10_000 * MS as u64;
        (both.edge_up[0], both.edge_down[0]) = (450_000_000, 350_000_000);
        let sink = Sink::load(&both);
        send(&sink, 1, 440 * MS);
        sink.jump(11_000 * MS);
        let events = latencies(&send(&sink, 2, 2_000 * MS));
        let reasons: Vec<_> = events.iter().map(|e| e.reasons).collect();
        assert_eq!(reasons, [6], "with both reasons");
    }

    #[test]
    fn a_packet_that_another_cpu_stamped_earlier_is_no_news() {
        let mut periodic = settings();
        periodic.report_period_ns = 10_000 * MS as u64;
        periodic.bucket_hold_ns = 10_000 * MS as u64;
        (periodic.edge_up[0], periodic.edge_down[0]) = (450_000_000, 350_000_000);
        let sink = Sink::load(&periodic);
        send(&sink, 1, 440 * MS);
        sink.jump(-100 * MS);
        let events = latencies(&send(&sink, 2, 440 * MS));
        assert!(events.is_empty(), "neither a period is over");
        let events = latencies(&send(&sink, 3, 2_000 * MS));
        assert!(events.is_empty(), "nor a bucket's hold");
    }

    fn without_fine_slots() -> Sink {
        let sizes = Sizes {
            fine: 0,
            ..Sizes::default()
        };
        Sink::load_sized(&settings(), sizes)
    }

    #[test]
    fn latency_statistics_hold_every_packet() {
        let sink = without_fine_slots();
        let latencies_ms = [-900, -1, 0, 1, 2, 4, 100, 1_000, 2_000, 1];
        for (i, ms) in latencies_ms.into_iter().enumerate() {
            send(&sink, i as u32 + 1, ms * MS + MS / 2);
        }
        let flow = sink.flow(&key(17)).unwrap();
        let near = |is: i64, should_ms: i64, what: &str| {
            let off = is - should_ms * MS - MS / 2;
            assert!((0..50 * MS).contains(&off), "{what} is off by {off} ns");
        };
        near(flow.latency_min_ns.into(), -900, "the smallest latency");
        near(flow.latency_max_ns.into(), 2_000, "the largest latency");
        near(flow.latency_last_ns.into(), 1, "the last latency");
        assert_eq!(
            flow.histogram.iter().sum::<u32>(),
            10,
            "every packet has its slot"
        );
        assert!(flow.histogram[0] >= 1, "negative latencies are in slot 0");
        assert_eq!(flow.histogram[31], 1, "2 s are between 2^30 and 2^31 ns");
        let sum: i64 = latencies_ms.iter().map(|ms| ms * MS + MS / 2).sum();
        let off = flow.latency_sum_ns - sum;
        assert!((0..500 * MS).contains(&off), "the sum is off by {off} ns");
    }

    #[test]
    fn each_histogram_slot_is_a_power_of_two() {
        // The clock passes on between stamp and arrival, so latencies are read back from the flow.
        let sink = without_fine_slots();
        let mut random = Random::seeded(6);
        let mut expected = [0u32; 32];
        for sequence in 1..=3_000 {
            let latency = random.u32() >> (1 + random.below(31));
            send(&sink, sequence, i64::from(latency) - 2_000);
            let latency = sink.flow(&key(17)).unwrap().latency_last_ns;
            let slot = match latency {
                ..=0 => 0,
                positive => 32 - positive.leading_zeros(),
            };
            expected[slot as usize] += 1;
        }
        let flow = sink.flow(&key(17)).unwrap();
        assert_eq!(flow.histogram, expected, "slot n holds [2^(n-1), 2^n) ns");
    }
}
