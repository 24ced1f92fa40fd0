//! A packet in order that finds numbers missing leaves the record of its flow as if it had taken the lock.

use hostint::datapath::abi::{sink_flow, sink_settings};
use hostint_testing::frame::UDP;
use hostint_testing::packets::key;
use hostint_testing::programs::sink::{Sink, Sizes, settings};
use hostint_testing::stream::{MS, SECOND, Stream};

const TIMEOUT: u64 = SECOND;
/// The lock's holder changes the record.
const BUSY: u32 = 1 << 31;

/// What stands in the record before number 4 arrives; 1 and 3 arrived, and 2 did not.
struct Case {
    name: &'static str,
    change: fn(&mut sink_flow),
    /// The sink was attached again since.
    restarted: bool,
    pause_ns: u64,
    age: u8,
}

const PLAIN: Case = Case {
    name: "a number is missing",
    change: |_| (),
    restarted: false,
    pause_ns: MS,
    age: 0,
};

fn declare(flow: &mut sink_flow) {
    (flow.declared, flow.fresh) = (flow.fresh, [0; 4]);
    (flow.lost, flow.gap_ns, flow.fresh_hole_ns) = (1, 0, 0);
}

fn cases() -> [Case; 9] {
    [
        PLAIN,
        Case {
            name: "the number is declared lost",
            change: declare,
            ..PLAIN
        },
        Case {
            name: "another CPU changes the record",
            change: |flow| flow.awaited |= BUSY,
            ..PLAIN
        },
        Case {
            name: "packets passed unstripped meanwhile",
            change: |flow| flow.left_out = 1,
            ..PLAIN
        },
        Case {
            name: "the loss period is over",
            pause_ns: TIMEOUT + 100 * MS,
            ..PLAIN
        },
        Case {
            name: "the sink did not run meanwhile",
            change: declare,
            restarted: true,
            pause_ns: TIMEOUT + 100 * MS,
            ..PLAIN
        },
        Case {
            name: "the source's record is younger",
            pause_ns: 900 * MS,
            age: 1,
            ..PLAIN
        },
        Case {
            name: "the place of the next number is taken by a missing one",
            change: |flow| (flow.fresh[0], flow.awaited) = (flow.fresh[0] | 1 << 4, 2),
            ..PLAIN
        },
        Case {
            name: "the place of the next number is taken by a lost one",
            change: |flow| {
                declare(flow);
                (flow.declared[0], flow.awaited) = (flow.declared[0] | 1 << 4, 2);
            },
            ..PLAIN
        },
    ]
}

/// What does not depend on the clock.
fn numbers(flow: &sink_flow) -> impl PartialEq + std::fmt::Debug {
    (
        (flow.head, flow.awaited, flow.first, flow.packets),
        (flow.fresh, flow.aging, flow.declared, flow.gap_ns > 0),
        (flow.lost, flow.recovered, flow.reordered, flow.duplicates),
        (flow.restarts, flow.left_out, flow.first_ns == flow.last_ns),
    )
}

fn ran(case: &Case, atomics: bool) -> sink_flow {
    let with_timeout = sink_settings {
        loss_timeout_ns: TIMEOUT,
        ..settings()
    };
    let sizes = Sizes {
        atomics,
        ..Sizes::default()
    };
    let sink = Sink::load_sized(&with_timeout, sizes);
    let mut stream = Stream::new(&sink, TIMEOUT);
    stream.run(1, 0);
    stream.run(3, 0);
    let mut record = stream.record();
    (case.change)(&mut record);
    sink.put_flow(&key(UDP), &record);
    if case.restarted {
        sink.set(&sink_settings {
            started_ns: record.last_ns + 1,
            ..with_timeout
        });
    }
    stream.jump(case.pause_ns);
    stream.run(4, case.age);
    stream.record()
}

/// These need CAP_BPF and CAP_NET_ADMIN.
mod root {
    use super::*;

    #[test]
    fn the_record_is_that_of_a_sink_that_always_takes_the_lock() {
        for case in cases() {
            let (with_atomics, locked) = (ran(&case, true), ran(&case, false));
            let unlocked = sink_flow {
                // Programs that always take the lock know nothing of this bit.
                awaited: locked.awaited & !BUSY,
                ..locked
            };
            assert_eq!(numbers(&with_atomics), numbers(&unlocked), "{}", case.name);
        }
    }
}
