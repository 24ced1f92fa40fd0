//! Fine latency slots go back when their flow is forgotten, and no reader takes them for those of another flow.

use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use hostint::datapath::abi::{fine_slots, flow_key, sink_flow};
use hostint::datapath::kernel::map_names::{SINK_FINE_FREE, SINK_FINE_SLOTS};
use hostint::datapath::sink::flow_status::{self, FlowSelection};
use hostint::datapath::sink::kernel_half::Sink;
use hostint::datapath::sink::sweeper::Sweeper;
use hostint::model::FlowSort;
use hostint::os::clock;
use hostint_testing::netns::{Lab, await_that_or};
use hostint_testing::own_pins::OwnPins;

fn key(number: u32) -> flow_key {
    flow_key {
        saddr: [0, 0, 0, number],
        layers: 17,
        ..flow_key::default()
    }
}

/// A flow that was idle for years.
fn flow(fine_slots: u32) -> sink_flow {
    sink_flow {
        first_ns: 1,
        last_ns: 1,
        packets: 7,
        fine_slots,
        ..sink_flow::default()
    }
}

fn sweeper(sink: &Sink) -> Sweeper {
    let timeout = Duration::from_millis(200);
    Sweeper::new(sink, timeout, 2 * timeout).unwrap()
}

/// Passes over the flows until these slots are free.
fn await_free(sink: &Sink, sweeper: &mut Sweeper, wanted: &[u32]) {
    let wanted: HashSet<u32> = wanted.iter().copied().collect();
    await_that_or(
        || {
            while !sweeper.step(clock::realtime_ns()).unwrap().end {}
            sink.fine.list_free().unwrap() == wanted
        },
        || format!("free: {:?}", sink.fine.list_free()),
    );
}

#[test]
fn slots_that_a_killed_daemon_did_not_return_are_found_by_the_next() {
    let own = OwnPins::new("lost-slots");
    let sink = own.load(64, 6);
    assert_eq!(sink.fine.list_free().unwrap().len(), 6);
    let free = |index| sink.fine.give_back(index).unwrap();
    // All are taken, by flows that begin: two of them live on, the others were removed.
    sink.fine.take_all().unwrap();
    sink.flows.set(&key(1), &flow(3)).unwrap();
    let young = sink_flow {
        last_ns: u64::MAX >> 1,
        ..flow(5)
    };
    sink.flows.set(&key(2), &young).unwrap();
    free(0);
    let mut sweeper = sweeper(&sink);
    assert_eq!(
        sink.fine.list_free().unwrap(),
        HashSet::from([0]),
        "a flow that has just begun may not be in the table yet"
    );
    // Meanwhile it is.
    let late = sink_flow {
        last_ns: u64::MAX >> 1,
        ..flow(6)
    };
    sink.flows.set(&key(3), &late).unwrap();
    await_free(&sink, &mut sweeper, &[0, 1, 2, 3]);
    assert_eq!(sink.flows.get(&key(1)).unwrap().map(|_| ()), None);
    // A slot that is back counts from 0.
    assert_eq!(sink.fine.get(2).unwrap().unwrap().count, [0; 864]);
}

#[test]
fn flows_and_their_slots_are_kept_or_begun_anew_together() {
    let own = OwnPins::new("match-slots");
    let has_flow = |sink: &Sink| sink.flows.get(&key(1)).unwrap().is_some();
    let number_of_free = |sink: &Sink| sink.fine.list_free().unwrap().len();
    let take = |sink: &Sink| {
        sink.fine.take_all().unwrap();
        sink.flows.set(&key(1), &flow(2)).unwrap();
    };
    let sink = own.load(64, 4);
    take(&sink);
    let sink = own.load(64, 4);
    assert!(has_flow(&sink), "nothing changed");
    assert_eq!(number_of_free(&sink), 0);
    let sink = own.load(64, 8);
    assert!(!has_flow(&sink), "its slots are in another table");
    assert_eq!(number_of_free(&sink), 8);
    take(&sink);
    let sink = own.load(128, 8);
    assert!(!has_flow(&sink), "the flow table has another size");
    assert_eq!(number_of_free(&sink), 8, "slots of no flow are free");
    // As a version without fine slots left them.
    for name in [SINK_FINE_SLOTS, SINK_FINE_FREE] {
        std::fs::remove_file(own.pins.map(name)).unwrap();
    }
    sink.flows.set(&key(1), &flow(0)).unwrap();
    let sink = own.load(128, 8);
    assert!(has_flow(&sink), "flows without fine slots go on");
    assert_eq!(number_of_free(&sink), 8);
    // The loading was killed half-way.
    std::fs::remove_file(own.pins.map(SINK_FINE_FREE)).unwrap();
    let sink = own.load(128, 8);
    assert!(has_flow(&sink));
    assert_eq!(number_of_free(&sink), 8);
}

#[test]
fn slots_are_made_before_flows_need_them() {
    let own = OwnPins::new("grown-slots");
    let sink = own.load(4096, 700);
    let made = |sink: &Sink| sink.fine.made().unwrap();
    assert_eq!(made(&sink), 256);
    assert_eq!(sink.fine.make_room().unwrap(), 128);
    assert_eq!(made(&sink), 256, "there is room for half of them");
    let take = |sink: &Sink| {
        let mut taken = sink.fine.take_all().unwrap();
        taken.sort();
        taken
    };
    assert_eq!(take(&sink), (0..256).collect::<Vec<u32>>());
    assert_eq!(sink.fine.make_room().unwrap(), 128);
    assert_eq!(take(&sink), (256..512).collect::<Vec<u32>>());
    // Another process goes on with what there is.
    let sink = own.load(4096, 700);
    assert_eq!(made(&sink), 512);
    assert_eq!(
        sink.fine.make_room().unwrap(),
        u64::MAX,
        "that was the last"
    );
    assert_eq!(made(&sink), 700);
    assert_eq!(take(&sink), (512..700).collect::<Vec<u32>>());
    let counts = fine_slots { count: [7; 864] };
    for index in [0, 255, 256, 699] {
        sink.fine.set(index, &counts).unwrap();
        assert_eq!(sink.fine.get(index).unwrap().unwrap().count[863], 7);
    }
    assert!(sink.fine.get(768).unwrap().is_none());
}

#[test]
fn no_reader_sees_counts_of_another_flow() {
    let own = OwnPins::new("read-slots");
    let sink = own.load(64, 1);
    let is_over = AtomicBool::new(false);
    thread::scope(|scope| {
        // One flow after the other has the same slots, at once, which no daemon does.
        scope.spawn(|| {
            let mut number = 1_u32;
            while !is_over.load(Ordering::Relaxed) {
                let mut counts = fine_slots::default();
                counts.count[50] = number;
                sink.fine.set(0, &counts).unwrap();
                let one = sink_flow {
                    packets: number.into(),
                    began_ns: number.into(),
                    ..flow(1)
                };
                sink.flows.set(&key(1), &one).unwrap();
                // It lives for about as long as a reading takes.
                for _ in 0..10 {
                    sink.fine.get(0).unwrap();
                }
                sink.flows.remove(&key(1)).unwrap();
                number += 1;
            }
        });
        let selection = FlowSelection {
            most: 10,
            sort: FlowSort::Packets,
        };
        let (mut seen, mut others) = (HashSet::new(), 0);
        await_that_or(
            || {
                for _ in 0..100 {
                    let read = flow_status::read(&sink.flows, Some(&sink.fine), selection, None);
                    for flow in read.unwrap().selected {
                        let sum: u32 = flow.histogram.iter().sum();
                        others += u32::from(u64::from(sum) != flow.packets);
                        seen.insert(flow.packets);
                    }
                }
                seen.len() >= 200
            },
            || "too few flows were read".to_owned(),
        );
        is_over.store(true, Ordering::Relaxed);
        assert_eq!(others, 0, "flows shown with the slots of another");
    });
}

#[test]
fn flows_beyond_the_fine_ones_are_counted_and_shown_until_slots_are_back() {
    let lab = Lab::new();
    let _a = lab.a.sink("--dev a0 --node-id 1");
    let _b = lab.b.sink(
        "--dev b0 --node-id 2 --allow 10.9.1.0/24 --max-fine-flows 2 --loss-timeout 100ms \
         --idle-flow-timeout 1s",
    );
    lab.a.hostint("source attach --dev a0 --encap over-tcp-udp");
    lab.a.hostint("source add-dest --static 10.9.2.1");
    let to = lab.b.udp("10.9.2.1:6000");
    let shown = || lab.b.status()["sink"].clone();
    let fine = || {
        let sink = shown();
        let flows = sink["flows"].as_array().unwrap().clone();
        let fine = |flow: &&serde_json::Value| flow["latency_steps"] == 32;
        let histogram = |flow: &serde_json::Value| -> i64 {
            let slots = flow["histogram"].as_array().unwrap().iter();
            slots.map(|count| count.as_i64().unwrap()).sum()
        };
        for flow in &flows {
            assert_eq!(histogram(flow), flow["packets"], "{flow}");
        }
        let found = flows.iter().filter(fine).count();
        assert_eq!(sink["flows_fine"], found, "{sink}");
        (found, flows.len())
    };
    let send = |first_port: u16| {
        for port in first_port..first_port + 3 {
            let from = lab.a.udp(&format!("10.9.1.1:{port}"));
            crate::exchange::exchange_udp(&from, &to, 20, 100);
        }
    };
    send(5000);
    assert_eq!(fine(), (2, 3));
    assert_eq!(lab.b.count("sink", "flow_coarse"), 1);
    let text = lab.b.hostint("status");
    let said = "quantiles of 1 of them are rough";
    assert!(text.contains(said), "{text}");
    // Each try is of flows of its own.
    let mut port = 5100;
    await_that_or(
        || {
            await_that_or(
                || shown()["flows_total"] == 0,
                || format!("flows stay: {}", shown()),
            );
            send(port);
            port += 3;
            fine() == (2, 3)
        },
        || format!("slots do not come back: {}", shown()),
    );
}
