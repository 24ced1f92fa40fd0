//! A flow's home CPU counts latencies sixteen at a time; readers add those that are not counted yet, and none twice.

use std::ops::RangeInclusive;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use hostint::datapath::fine_slots::read_latency_counts;
use hostint::model::FlowSlots;
use hostint_testing::cpus::{cpus, stay_on};
use hostint_testing::frame::UDP;
use hostint_testing::packets::key;
use hostint_testing::programs::sink::{Sink, Sizes, settings};
use hostint_testing::programs::{Shared, key_of};
use hostint_testing::stream::{SEQUENCE_AT, packet};

/// Brings numbers to the sink on this CPU, where the thread then stays.
fn send_here(cpu: usize, program: &Shared<'_>, numbers: RangeInclusive<u32>) {
    stay_on(cpu);
    let mut frame = packet();
    for number in numbers {
        frame[SEQUENCE_AT..SEQUENCE_AT + 4].copy_from_slice(&number.to_be_bytes());
        program.run(&frame);
    }
}

fn send_on(cpu: usize, sink: &Sink, numbers: RangeInclusive<u32>) {
    let program = Shared(sink.program());
    let program = &program;
    thread::scope(|scope| {
        scope.spawn(move || send_here(cpu, program, numbers));
    });
}

fn sum(slots: &FlowSlots) -> u64 {
    slots
        .counts()
        .iter()
        .map(|(_, count)| u64::from(*count))
        .sum()
}

/// These need CAP_BPF and CAP_NET_ADMIN.
mod root {
    use super::*;

    #[test]
    fn the_home_cpu_counts_sixteen_at_a_time_and_readers_see_all() {
        let cpus = cpus();
        let [home, other] = [cpus[0], cpus[cpus.len() - 1]];
        // Packets so far, then those in the slots and those that are recent.
        let of_home = [
            (1, 0, 1),
            (15, 0, 15),
            (16, 16, 0),
            (17, 16, 1),
            (40, 32, 8),
        ];
        for fine in [1, 0] {
            let sizes = Sizes {
                fine,
                ..Sizes::default()
            };
            let sink = Sink::load_sized(&settings(), sizes);
            let counts = || {
                let record = sink.record(&key(UDP)).expect("the flow was seen");
                let counted: u32 = match sink.counted_slots(&record) {
                    Some(slots) => slots.count.iter().sum(),
                    None => record.histogram.iter().sum(),
                };
                let read = match sink.fine_slots(&record) {
                    Some(slots) => slots.count.iter().sum(),
                    None => record.coarse_counts().iter().sum::<u32>(),
                };
                (read, counted, record.recent_count)
            };
            let mut sent = 0;
            for expected in of_home {
                send_on(home, &sink, sent + 1..=expected.0);
                sent = expected.0;
                assert_eq!(counts(), expected, "fine slots: {fine}");
            }
            if other != home {
                send_on(other, &sink, 41..=43);
                assert_eq!(counts(), (43, 35, 8), "another CPU counts at once");
            }
        }
    }

    #[test]
    fn without_home_cpus_each_packet_is_counted_at_once() {
        let sizes = Sizes {
            home_cpus: false,
            ..Sizes::default()
        };
        let sink = Sink::load_sized(&settings(), sizes);
        send_on(cpus()[0], &sink, 1..=5);
        let record = sink.record(&key(UDP)).expect("the flow was seen");
        let slots = sink.counted_slots(&record).expect("slots were free");
        assert_eq!(slots.count.iter().sum::<u32>(), 5);
        assert_eq!((record.recent_count, record.recent_turn), (0, 0));
    }

    /// A reader that took recent latencies for uncounted ones while they are being counted would see each of them twice, and
    /// later once: a count would fall.
    #[test]
    fn a_reader_beside_the_home_cpu_sees_each_latency_once() {
        const NUMBERS: u32 = 400_000;
        let cpus = cpus();
        for fine in [1, 0] {
            let sizes = Sizes {
                fine,
                ..Sizes::default()
            };
            let sink = Sink::load_sized(&settings(), sizes);
            send_on(cpus[0], &sink, 1..=1);
            let (flows, slots) = sink.latency_tables();
            let flow_key = key_of(&key(UDP));
            let read = || {
                let flow = flows.get(&flow_key).unwrap().expect("it stays");
                let read = read_latency_counts(Some(&slots), &flows, &flow_key, flow);
                read.unwrap().expect("it stays").1
            };
            let (is_over, program) = (AtomicBool::new(false), Shared(sink.program()));
            thread::scope(|scope| {
                let (is_over, program) = (&is_over, &program);
                let home = cpus[0];
                scope.spawn(move || {
                    send_here(home, program, 2..=NUMBERS);
                    is_over.store(true, Ordering::Relaxed);
                });
                stay_on(cpus[cpus.len() - 1]);
                let mut before = read();
                while !is_over.load(Ordering::Relaxed) {
                    let now = read();
                    let added = now.since(&before);
                    assert!(
                        added.iter().all(|(_, more)| *more <= NUMBERS),
                        "no count falls: {added:?}"
                    );
                    before = now;
                }
            });
            assert_eq!(sum(&read()), u64::from(NUMBERS), "fine slots: {fine}");
        }
    }
}
