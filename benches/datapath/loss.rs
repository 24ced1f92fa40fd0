//! ns that the sink takes for a packet of a flow that loses some, by runs of the program on one packet after the other.

use hostint_testing::program_info;
use hostint_testing::programs::sink::Sink;
use hostint_testing::stream::{SEQUENCE_AT, TIMEOUT, packet, sink_with_timeout};

use crate::programs::{self, Stats};
use crate::rounds::Rounds;

/// Numbers of the flow in one round.
const NUMBERS: u32 = 20_000;

/// What is lost, as one packet in this number of them; 0: nothing.
const CASES: [(&str, u32); 4] = [
    ("nothing is lost", 0),
    ("0.01 % are lost", 10_000),
    ("0.1 % are lost", 1_000),
    ("1 % are lost", 100),
];

fn mean(sink: &Sink, program: u32, one_in: u32) -> f64 {
    sink.forget_flows();
    sink.events();
    let mut frame = packet();
    let [ns] = programs::measure([program], || {
        for number in (1..=NUMBERS).filter(|number| one_in == 0 || number % one_in != 0) {
            frame[SEQUENCE_AT..SEQUENCE_AT + 4].copy_from_slice(&number.to_be_bytes());
            sink.run(&frame);
        }
    });
    ns
}

pub fn run() {
    let _stats = Stats::enable();
    let sink = sink_with_timeout(TIMEOUT);
    let program = program_info::of(sink.program()).id;
    let rounds = Rounds::measure(CASES.len(), |case| mean(&sink, program, CASES[case].1));
    println!(
        "loss: ns that the sink at XDP takes for a packet in over-tcp-udp, less those of a flow that loses nothing"
    );
    for (case, (words, _)) in CASES.iter().enumerate() {
        println!("  {words:<70} {:>8.1}", rounds.difference(case, 0));
    }
    println!();
}
