//! What an application waits for: one byte over TCP to the other host and back.

use crate::lab::{Pair, Setup, SinkAt};
use crate::rounds::{Rounds, print_row};
use crate::senders::ping_pong;

const COUNT: usize = 5_000;

/// Name, sinks, flags of the source, and is there a source on b too?
const CASES: [(&str, SinkAt, Option<&str>, bool); 5] = [
    ("nothing attached", SinkAt::Nowhere, None, false),
    (
        "sinks at TC, source on one host",
        SinkAt::Tc,
        Some(""),
        false,
    ),
    (
        "sinks at TC, sources on both hosts",
        SinkAt::Tc,
        Some(""),
        true,
    ),
    (
        "sinks at XDP, source on one host",
        SinkAt::Xdp,
        Some(""),
        false,
    ),
    (
        "sinks at XDP, sources on both hosts",
        SinkAt::Xdp,
        Some(""),
        true,
    ),
];

pub fn run() {
    let pairs: Vec<Pair> = CASES
        .iter()
        .map(|(_, sink, source, both_ways)| {
            Pair::new(&Setup {
                sink: *sink,
                source: *source,
                watched: source.is_some(),
                both_ways: *both_ways,
                ..Setup::NOTHING
            })
        })
        .collect();
    println!("latency: 1 byte over TCP there and back; target 1.05 x nothing attached");
    let mut times = Vec::new();
    let rounds = Rounds::measure(CASES.len() * 2, |index| {
        if index % 2 == 0 {
            let lab = &pairs[index / 2].lab;
            times = ping_pong(&lab.a, &lab.b, COUNT);
            return times[COUNT / 2];
        }
        times[COUNT * 99 / 100]
    });
    for (which, quantile) in ["p50", "p99"].into_iter().enumerate() {
        for (case, (name, ..)) in CASES.iter().enumerate() {
            let index = 2 * case + which;
            let ratio = (case > 0).then(|| (rounds.ratio(index, which), CASES[0].0));
            let name = format!("{quantile}, {name}");
            print_row(&name, rounds.median(index), "us", ratio);
        }
    }
    println!();
}
