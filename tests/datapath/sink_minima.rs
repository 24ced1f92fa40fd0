//! The sink keeps the quickest packet of each source node and sub-window, whichever clock stamps reports.

use hostint::datapath::abi::{MINIMA_NODES, sink_minima_shape};
use hostint::datapath::sink::minima::SinkMinimum;
use hostint::model::NodeId;
use hostint_testing::packets::udp;
use hostint_testing::programs::sink::{Sink, Sizes, XDP_PASS, settings};
use hostint_testing::sink_cases::int;

const WINDOW: u64 = 1 << sink_minima_shape::MINIMA_SHIFT.0;
const MS: i64 = 1_000_000;

/// The place of a node in the kernel's table.
fn place(node: u32) -> usize {
    let hash = node.wrapping_mul(0x9e37_79b9);
    (hash >> (32 - sink_minima_shape::MINIMA_BITS.0)) as usize
}

fn place_is_shared(node: u32) -> u32 {
    let mut others = node + 1..;
    let found = others.find(|other| place(*other) == place(node));
    found.expect("there are more nodes than places")
}

/// A packet of a node that was sent this long ago, or will be sent by its clock, as the sink's clock tells.
fn arrive(sink: &Sink, node: u32, latency: i64) -> u32 {
    let stamp = (sink.clock.now_ns() as i64 - latency) as u32;
    let frame = udp().tagged(int().node(node).timestamp(stamp)).bytes();
    let ran = sink.run(&frame);
    assert_eq!(ran.verdict, XDP_PASS);
    stamp
}

/// Moves the clock to the beginning of a sub-window, so many of them later.
fn to_window(sink: &Sink, later: u64) {
    let now = sink.clock.now_ns();
    let next = (now / WINDOW + later) * WINDOW;
    sink.jump((next - now) as i64);
}

/// The minima of a node once its sub-windows are over, oldest first.
fn minima(sink: &Sink, node: u32) -> Vec<SinkMinimum> {
    let mut found = Vec::new();
    let now = sink.clock.now_ns() / WINDOW * WINDOW + WINDOW;
    let table = sink.minima();
    table.for_each(now, |one| found.push(one)).unwrap();
    found.retain(|one| one.source_node == NodeId(node));
    found.sort_by_key(|one| one.arrived_ns);
    found
}

/// The stamp by the source's clock.
fn sent(minimum: &SinkMinimum) -> u32 {
    (minimum.arrived_ns as u32).wrapping_sub(minimum.latency_ns as u32)
}

/// These need CAP_BPF and CAP_NET_ADMIN.
mod root {
    use super::*;

    fn sinks() -> [(&'static str, Sink); 2] {
        [("atomics", true), ("before 5.12", false)].map(|(name, atomics)| {
            let sizes = Sizes {
                atomics,
                ..Sizes::default()
            };
            (name, Sink::load_sized(&settings(), sizes))
        })
    }

    #[test]
    fn the_quickest_packet_of_a_sub_window_stays() {
        for (name, sink) in sinks() {
            for (case, latencies, quickest) in [
                ("a single one", vec![5], 0),
                ("the first", vec![3, 5, 9], 0),
                ("the last", vec![9, 5, 3], 2),
                ("one between", vec![9, 3, 5], 1),
                ("clocks differ: below zero", vec![-5, -900, 4], 1),
                ("all below zero", vec![-2, -1, -3], 2),
            ] {
                to_window(&sink, 5);
                let stamps = latencies.into_iter();
                let stamps: Vec<_> = stamps.map(|ms| arrive(&sink, 7, ms * MS)).collect();
                let found = minima(&sink, 7);
                let [found] = found[..] else {
                    panic!("{name}, {case}: {found:?}")
                };
                assert_eq!(sent(&found), stamps[quickest], "{name}, {case}");
            }
        }
    }

    #[test]
    fn each_sub_window_has_its_own_until_the_fourth_after_it() {
        for (name, sink) in sinks() {
            to_window(&sink, 5);
            let mut stamps = Vec::new();
            for ms in [1, 20, 3, 40, 5, 60] {
                arrive(&sink, 7, (ms + 100) * MS);
                stamps.push(arrive(&sink, 7, ms * MS));
                to_window(&sink, 1);
            }
            // The sub-window that has just begun has none.
            let found: Vec<_> = minima(&sink, 7).iter().map(sent).collect();
            assert_eq!(found, stamps[3..], "{name}: older ones are not told");
            to_window(&sink, 5);
            assert_eq!(minima(&sink, 7), [], "{name}: and none after a pause");
        }
    }

    #[test]
    fn a_sub_window_is_told_when_it_is_over() {
        let (_, sink) = &sinks()[0];
        to_window(sink, 5);
        arrive(sink, 7, MS);
        let mut found = Vec::new();
        let table = sink.minima();
        let now = sink.clock.now_ns();
        table.for_each(now, |one| found.push(one)).unwrap();
        assert_eq!(found, [], "a quicker packet may come");
        table.for_each(now + WINDOW, |one| found.push(one)).unwrap();
        assert_eq!(found.len(), 1);
    }

    #[test]
    fn of_two_nodes_with_one_place_the_second_waits_until_the_first_is_silent() {
        for (name, sink) in sinks() {
            let (first, second) = (7, place_is_shared(7));
            to_window(&sink, 5);
            let stamp = arrive(&sink, first, 8 * MS);
            arrive(&sink, second, MS);
            assert_eq!(minima(&sink, second), [], "{name}: the place is taken");
            let [found] = minima(&sink, first)[..] else {
                panic!("{name}: the first has one")
            };
            assert_eq!(sent(&found), stamp, "{name}: it is of the first");
            to_window(&sink, 5);
            let stamp = arrive(&sink, second, MS);
            let [found] = minima(&sink, second)[..] else {
                panic!("{name}: the first is silent")
            };
            assert_eq!(sent(&found), stamp, "{name}: it is of the second");
            assert_eq!(minima(&sink, first), [], "{name}: and its place is lost");
            sink.jump(-1000 * WINDOW as i64);
            arrive(&sink, first, MS);
            assert_eq!(
                minima(&sink, first).len(),
                1,
                "{name}: a clock that was set back keeps no place"
            );
        }
    }

    #[test]
    fn nodes_with_numbers_in_a_row_have_places_of_their_own() {
        let mut taken = vec![0; MINIMA_NODES];
        for node in 1..=1000 {
            taken[place(node)] += 1;
        }
        let shared = taken.iter().filter(|nodes| **nodes > 1).count();
        assert_eq!(shared, 0);
    }

    #[test]
    fn the_cards_stamp_is_no_evidence() {
        let sizes = Sizes {
            nic: true,
            ..Sizes::default()
        };
        let sink = Sink::load_sized(&settings(), sizes);
        to_window(&sink, 5);
        let now = sink.clock.now_ns();
        let stamp = (now as i64 - 9 * MS) as u32;
        let frame = udp().tagged(int().node(7).timestamp(stamp)).bytes();
        // The card says that the packet arrived 5 ms ago.
        sink.run_stamped(now - 5 * MS as u64, &frame);
        let [found] = minima(&sink, 7)[..] else {
            panic!("one packet")
        };
        assert_eq!(sent(&found), stamp);
        assert!(found.arrived_ns >= now, "by the kernel's clock");
    }
}
