//! What the kernel's own steps take on this machine. Goals in ns hold for a machine with given steps, so that figures of two
//! machines can be compared.

use std::time::Duration;

use libbpf_rs::{MapCore, MapFlags, Object, ProgramInput};

use crate::memory;
use crate::programs;
use crate::rounds::Rounds;

/// What `steps.bpf.c` does in one run.
const STEPS: f64 = 64.0;
/// Runs of a program in one round.
const RUNS: u32 = 2000;

/// The program, and the step in words.
const CASES: [(&str, &str); 12] = [
    ("nothing", ""),
    ("clock", "clock (bpf_ktime_get_tai_ns)"),
    ("coarse_clock", "coarse clock (bpf_ktime_get_coarse_ns)"),
    (
        "flow_lookup",
        "lookup in a hash map, key of 40 bytes, found",
    ),
    ("compare_exchange", "compare and exchange, locked"),
    ("atomic_add", "add, locked"),
    ("ordered_add", "add, locked, whose result is used"),
    ("unordered_or", "or, locked"),
    ("ordered_or", "or, locked, whose result is used"),
    ("plain_add", "add, plain"),
    ("call", "call of a function"),
    (
        "room",
        "room for INT and back (two bpf_skb_adjust_room), head-room there",
    ),
];

/// A UDP packet over IPv4 to make room in.
fn frame() -> [u8; 128] {
    let mut frame = [0; 128];
    frame[12..14].copy_from_slice(&[0x08, 0x00]);
    frame[14] = 0x45;
    frame[17] = 114;
    frame[22..24].copy_from_slice(&[64, 17]);
    frame
}

fn mean(loaded: &Object, name: &str) -> Duration {
    let program = loaded.progs_mut().find(|program| program.name() == name);
    let frame = frame();
    let input = ProgramInput {
        data_in: Some(&frame),
        repeat: RUNS,
        ..ProgramInput::default()
    };
    let ran = program.expect("a step's program").test_run(input).unwrap();
    ran.duration
}

pub fn run() {
    let loaded = programs::compile("steps");
    let flows = loaded.maps().find(|map| map.name() == "flows").unwrap();
    let key: Vec<u8> = (1..=10u32).flat_map(u32::to_ne_bytes).collect();
    flows.update(&key, &[0; 64], MapFlags::ANY).unwrap();
    let rounds = Rounds::measure(CASES.len(), |case| {
        mean(&loaded, CASES[case].0).as_nanos() as f64 / STEPS
    });
    println!("steps: ns that the kernel's own steps take on this machine");
    for (case, (_, words)) in CASES.iter().enumerate().skip(1) {
        println!("  {words:<70} {:>8.1}", rounds.difference(case, 0));
    }
    memory::print(&[1, 64, 512]);
    println!();
}
