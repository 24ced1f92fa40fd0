//! A flow's home CPU counts its packets without atomics, in sums of its own; readers add those of all other CPUs.

use std::thread;

use hostint::datapath::abi::{sink_flow, sink_flow_flag};
use hostint_testing::frame::UDP;
use hostint_testing::packets::key;
use hostint_testing::programs::Shared;
use hostint_testing::programs::sink::{Sink, Sizes, settings};
use hostint_testing::stream::{SEQUENCE_AT, packet};
use nix::sched::{CpuSet, sched_getaffinity, sched_setaffinity};
use nix::unistd::Pid;

/// The CPUs that this process may use.
fn cpus() -> Vec<usize> {
    let allowed = sched_getaffinity(Pid::from_raw(0)).expect("every process has them");
    let is_allowed = |cpu: &usize| allowed.is_set(*cpu).is_ok_and(|is| is);
    (0..CpuSet::count()).filter(is_allowed).collect()
}

/// Brings numbers to the sink, all on this CPU.
fn run_on(cpu: usize, sink: &Sink, numbers: std::ops::RangeInclusive<u32>) {
    let program = Shared(sink.program());
    thread::scope(|scope| {
        let program = &program;
        scope.spawn(move || {
            let mut only = CpuSet::new();
            only.set(cpu).expect("a CPU's number");
            sched_setaffinity(Pid::from_raw(0), &only).expect("the CPU is allowed");
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
}
