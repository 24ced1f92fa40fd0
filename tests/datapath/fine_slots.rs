//! The fine latency slots of flows: each latency counts in its slot, and slots go from flow to flow.

use hostint::datapath::abi::sink_counter;
use hostint::model::{FINE_SLOTS, FlowSlots, LatencyHistogram, LatencyResolution};
use hostint_testing::frame::{Frame, UDP};
use hostint_testing::int_block::Block;
use hostint_testing::model::Key;
use hostint_testing::packets::key;
use hostint_testing::programs::sink::{Sink, Sizes, settings};
use hostint_testing::stream::{MS, SECOND, SEQUENCE_AT, TIMESTAMP_AT, packet};

/// The slot of the plain model.
fn slot_of(latency_ns: i64) -> usize {
    let mut one = LatencyHistogram::default();
    one.add(latency_ns.max(0));
    usize::try_from(one.numbered_slots()[0].0).unwrap()
}

/// The first and the last latency of each slot, and some below the first.
fn boundaries() -> Vec<i32> {
    let mut all = vec![i32::MIN, i32::MIN + 1, -1_000_000, -64, -2, -1, 0];
    let mut first = 1_i64;
    while first <= i64::from(i32::MAX) {
        let (least, most) = LatencyResolution::Fine.bounds(first);
        assert_eq!(least, first, "slots leave no gap");
        all.extend([least, most].map(|ns| i32::try_from(ns).unwrap()));
        first = most + 1;
    }
    all
}

#[test]
fn fine_slots_are_those_of_the_histogram() {
    let all = boundaries();
    assert_eq!(slot_of(i32::MAX.into()), FINE_SLOTS - 1);
    for ns in all.into_iter().filter(|ns| *ns >= 0) {
        let slot = slot_of(ns.into());
        let mut counts = [0; FINE_SLOTS];
        counts[slot] = 1;
        let slots = FlowSlots::fine(&counts);
        assert_eq!(usize::from(slots.slot(ns.into())), slot, "{ns} ns");
        let latency = slots.histogram((ns, ns), ns.into());
        assert_eq!(latency.ends(), Some((ns.into(), ns.into())), "{ns} ns");
        assert_eq!(latency.resolution(), LatencyResolution::Fine);
    }
}

/// These need CAP_BPF and CAP_NET_ADMIN.
mod root {
    use super::*;

    fn sized(fine: u32, atomics: bool) -> Sink {
        let sizes = Sizes {
            fine,
            atomics,
            ..Sizes::default()
        };
        Sink::load_sized(&settings(), sizes)
    }

    fn key_of(port: u16) -> Key {
        Key {
            sport: port,
            ..key(UDP)
        }
    }

    fn send(sink: &Sink, port: u16, number: u32) {
        let frame = Frame::ethernet().ipv4().udp().ports(port, 5001);
        sink.run(&frame.tagged(Block::hostint().sequence(number)).bytes());
    }

    fn packets_in_slots(sink: &Sink, port: u16) -> Option<u32> {
        let flow = sink.flow(&key_of(port)).unwrap();
        let slots = sink.fine_slots(&flow)?;
        Some(slots.count.iter().sum())
    }

    #[test]
    fn each_latency_counts_in_its_slot() {
        // The network card's time is what the test says, so that latencies are exact.
        let sizes = Sizes {
            nic: true,
            ..Sizes::default()
        };
        let sink = Sink::load_sized(&settings(), sizes);
        let mut frame = packet();
        let mut expected = vec![0_u32; FINE_SLOTS];
        let all = boundaries();
        assert_eq!(all.len(), 7 + 2 * (FINE_SLOTS - 1));
        for (number, latency_ns) in (1_u32..).zip(all) {
            let arrival_ns = sink.clock.now_ns() - MS;
            let sent_ns = arrival_ns.wrapping_sub_signed(latency_ns.into());
            frame[TIMESTAMP_AT..TIMESTAMP_AT + 4].copy_from_slice(&(sent_ns as u32).to_be_bytes());
            frame[SEQUENCE_AT..SEQUENCE_AT + 4].copy_from_slice(&number.to_be_bytes());
            sink.run_stamped(arrival_ns, &frame);
            let flow = sink.flow(&key(UDP)).unwrap();
            assert_eq!(flow.latency_last_ns, latency_ns, "the test's clock");
            expected[slot_of(latency_ns.into())] += 1;
            let slots = sink.fine_slots(&flow).unwrap();
            assert!(
                slots.count[..] == expected,
                "{latency_ns} ns are not in slot {}",
                slot_of(latency_ns.into())
            );
        }
    }

    #[test]
    fn a_flow_that_finds_no_slots_counts_in_powers_of_two() {
        for atomics in [true, false] {
            let sink = sized(2, atomics);
            for port in 1..=3 {
                (1..=5).for_each(|number| send(&sink, port, number));
            }
            let found: Vec<_> = (1..=3).map(|port| packets_in_slots(&sink, port)).collect();
            assert_eq!(found, [Some(5), Some(5), None]);
            assert_eq!(sink.count(sink_counter::COUNT_SINK_FLOW_COARSE), 1);
            let histogram = |port| sink.flow(&key_of(port)).unwrap().histogram;
            assert_eq!(histogram(1), [0; 32], "each packet counts once");
            assert_eq!(histogram(3).iter().sum::<u32>(), 5);
            // Slots that are free later are for other flows: one flow's counts are of one kind.
            sink.forget_flow(&key_of(1));
            sink.free_slots(0);
            send(&sink, 3, 6);
            assert_eq!(packets_in_slots(&sink, 3), None);
            send(&sink, 4, 1);
            assert_eq!(packets_in_slots(&sink, 4), Some(1), "slots begin at 0");
        }
    }

    #[test]
    fn a_flow_without_room_in_the_table_takes_no_slots() {
        let sizes = Sizes {
            flows: 1,
            fine: 4,
            ..Sizes::default()
        };
        let sink = Sink::load_sized(&settings(), sizes);
        for port in 1..=50 {
            send(&sink, port, 1);
        }
        let flows = sink.flows();
        assert!(sink.count(sink_counter::COUNT_SINK_UNTRACKED) > 0);
        assert_eq!(sink.take_free_slots().len(), 4 - flows.min(4));
    }

    #[test]
    fn a_flow_keeps_the_time_of_its_first_packet_when_its_numbering_restarts() {
        let sink = sized(4, true);
        (1..=20).for_each(|number| send(&sink, 1, number));
        let before = sink.flow(&key_of(1)).unwrap();
        sink.jump(10 * SECOND as i64);
        let frame = Frame::ethernet().ipv4().udp().ports(1, 5001);
        (1..=20).for_each(|number| {
            let block = Block::hostint().sequence(number);
            sink.run(&frame.clone().tagged(block).bytes());
        });
        let flow = sink.flow(&key_of(1)).unwrap();
        assert_eq!(flow.restarts, 1);
        assert_eq!(flow.packets, 40, "counts go on");
        assert!(flow.first_ns > before.first_ns, "the numbering is younger");
        assert_eq!(flow.epoch_ns(), before.epoch_ns(), "the counts are not");
    }
}
