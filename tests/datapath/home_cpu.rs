//! A flow's home CPU counts its packets without atomics, in sums of its own; readers add those of all other CPUs.

use std::net::IpAddr;
use std::sync::Barrier;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;

use hostint::datapath::abi::{sink_flow, sink_flow_flag};
use hostint_testing::cpus::{cpus, stay_on};
use hostint_testing::frame::UDP;
use hostint_testing::packets::key;
use hostint_testing::programs::Shared;
use hostint_testing::programs::sink::{Sink, Sizes, settings};
use hostint_testing::stream::{SEQUENCE_AT, packet};

/// Brings numbers to the sink, all on this CPU.
fn run_on(cpu: usize, sink: &Sink, numbers: std::ops::RangeInclusive<u32>) {
    let program = Shared(sink.program());
    thread::scope(|scope| {
        let program = &program;
        scope.spawn(move || {
            stay_on(cpu);
            let mut frame = packet();
            for number in numbers {
                frame[SEQUENCE_AT..SEQUENCE_AT + 4].copy_from_slice(&number.to_be_bytes());
                program.run(&frame);
            }
        });
    });
}

fn sink(home_cpus: bool) -> Sink {
    let sizes = Sizes {
        home_cpus,
        ..Sizes::default()
    };
    Sink::load_sized(&settings(), sizes)
}

fn sums(record: &sink_flow) -> [(u64, u64, u64); 2] {
    [
        (record.packets, record.bytes, record.earned_bytes),
        (
            record.other_packets,
            record.other_bytes,
            record.other_earned_bytes,
        ),
    ]
}

/// These need CAP_BPF and CAP_NET_ADMIN.
mod root {
    use super::*;

    #[test]
    fn the_home_cpu_and_all_others_count_apart() {
        let cpus = cpus();
        let [home, other] = [cpus[0], cpus[cpus.len() - 1]];
        let len = packet().len() as u64 - 14;
        let of = |packets: u64| (packets, packets * (len - 36), packets * len);
        let sink = sink(true);
        run_on(home, &sink, 1..=10);
        let record = sink.record(&key(UDP)).expect("the flow was seen");
        assert_eq!(usize::from(record.home_cpu), home + 1, "where it began");
        assert_eq!(sums(&record), [of(10), of(0)], "on the home CPU");
        run_on(other, &sink, 11..=15);
        run_on(home, &sink, 16..=17);
        let record = sink.record(&key(UDP)).expect("the flow was seen");
        if other != home {
            let shared = sink_flow_flag::HOME_CPU_SHARED.0;
            assert_eq!(
                u32::from(record.home_cpu),
                (home as u32 + 1) | shared,
                "told"
            );
            assert_eq!(sums(&record), [of(12), of(5)], "on both CPUs");
        }
        let fine = sink.fine_slots(&record).expect("slots were free");
        assert_eq!(fine.count.iter().sum::<u32>(), 17, "latencies");
        assert_eq!(
            sums(&sink.flow(&key(UDP)).expect("seen"))[0],
            of(17),
            "read"
        );
    }

    #[test]
    fn without_home_cpus_all_count_together() {
        let cpus = cpus();
        let sink = sink(false);
        run_on(cpus[0], &sink, 1..=10);
        run_on(cpus[cpus.len() - 1], &sink, 11..=15);
        let record = sink.record(&key(UDP)).expect("the flow was seen");
        assert_eq!(
            (record.home_cpu, record.packets, record.other_packets),
            (0, 15, 0)
        );
    }

    /// Both CPUs take the next number in turn, so that nearly all are taken in order and without the lock, and hit the record
    /// at the same time. One addition in some thousand that is not atomic where it has to be is lost.
    #[test]
    fn two_cpus_on_one_flow_lose_nothing_of_its_sums() {
        const NUMBERS: u32 = 400_000;
        const SENDER: [u8; 4] = [192, 0, 2, 1];
        let cpus = cpus();
        for home_cpus in [true, false] {
            let sizes = Sizes {
                home_cpus,
                clock_stands: true,
                ..Sizes::default()
            };
            let sink = Sink::load_sized(&settings(), sizes);
            sink.set_grant(IpAddr::from(SENDER), u64::MAX >> 1);
            let (program, next) = (Shared(sink.program()), AtomicU32::new(1));
            let start = Barrier::new(2);
            thread::scope(|scope| {
                for cpu in [cpus[0], cpus[cpus.len() - 1]] {
                    let (program, next, start) = (&program, &next, &start);
                    scope.spawn(move || {
                        stay_on(cpu);
                        let mut frame = packet();
                        start.wait();
                        loop {
                            let number = next.fetch_add(1, Ordering::Relaxed);
                            if number > NUMBERS {
                                break;
                            }
                            frame[SEQUENCE_AT..SEQUENCE_AT + 4]
                                .copy_from_slice(&number.to_be_bytes());
                            program.run(&frame);
                        }
                    });
                }
            });
            let name = format!("home CPUs {home_cpus}");
            let record = sink.flow(&key(UDP)).expect("the flow was seen");
            let (packets, len) = (u64::from(NUMBERS), packet().len() as u64 - 14);
            assert_eq!(record.packets, packets, "{name}: packets");
            assert_eq!(record.bytes, packets * (len - 36), "{name}: bytes");
            assert_eq!(record.earned_bytes, packets * len, "{name}: bytes received");
            let latency = i64::from(record.latency_last_ns);
            let latencies = latency * i64::from(NUMBERS);
            assert_eq!(record.latency_sum_ns, latencies, "{name}: latencies");
            let fine = sink.fine_slots(&record).expect("slots were free");
            assert_eq!(fine.count.iter().sum::<u32>(), NUMBERS, "{name}: slots");
            let grant = sink.grant(IpAddr::from(SENDER)).expect("it stays");
            let told: u64 = grant.stripped.iter().sum();
            assert_eq!(told, u64::from(record.told_packets), "{name}: told once");
            assert!(packets - told <= packets / 32, "{name}: told in time");
        }
    }
}
