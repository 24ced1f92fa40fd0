//! Bulk TCP with superpackets, and how many of its segments are measured.

use std::time::Duration;

use hostint_testing::netns::Host;

use crate::lab::{Pair, Setup, SinkAt};
use crate::rounds::{Rounds, print_row};
use crate::senders::bulk_tcp;

const TIME: Duration = Duration::from_millis(1000);

/// Name, sink, flags of the source, and the case it is compared with, with the target.
type Case = (&'static str, SinkAt, Option<&'static str>, usize, f64);
const CASES: [Case; 6] = [
    ("nothing attached", SinkAt::Nowhere, None, 0, 0.0),
    ("sink at TC", SinkAt::Tc, None, 0, 0.0),
    (
        "sink at TC, superpackets encapsulated",
        SinkAt::Tc,
        Some(""),
        0,
        0.85,
    ),
    ("sink at XDP", SinkAt::Xdp, None, 0, 0.0),
    (
        "sink at XDP, superpackets encapsulated",
        SinkAt::Xdp,
        Some(""),
        3,
        0.95,
    ),
    (
        "sink at TC, superpackets staged",
        SinkAt::Tc,
        Some("--superpackets stage"),
        0,
        0.0,
    ),
];

/// TCP segments that a host sent, retransmissions included.
fn segments_sent(host: &Host) -> u64 {
    let line =
        "nstat -asz TcpOutSegs TcpRetransSegs | awk '/^Tcp/ { all += $2 } END { print all }'";
    host.sh(line).trim().parse().unwrap()
}

pub fn run() {
    let pairs: Vec<Pair> = CASES
        .iter()
        .map(|(_, sink, source, ..)| {
            Pair::new(&Setup {
                sink: *sink,
                source: *source,
                watched: source.is_some(),
                ..Setup::NOTHING
            })
        })
        .collect();
    println!("throughput: one TCP connection, segmentation offload on");
    let rounds = Rounds::measure(CASES.len(), |case| {
        let lab = &pairs[case].lab;
        bulk_tcp(&lab.a, &lab.b, TIME) * 8.0 / 1e6
    });
    for (case, (name, _, _, base, target)) in CASES.iter().enumerate() {
        let compared = match target {
            0.0 => CASES[*base].0.to_owned(),
            target => format!("{}, target {target}", CASES[*base].0),
        };
        let ratio = (case > 0).then(|| (rounds.ratio(case, *base), compared.as_str()));
        print_row(name, rounds.median(case), "Mbit/s", ratio);
    }
    for ((name, _, source, ..), pair) in CASES.iter().zip(&pairs) {
        if source.is_some() {
            let sent = segments_sent(&pair.lab.a);
            let measured = pair.lab.b.count("sink", "received") + pair.lab.b.count("sink", "lost");
            let share = 100.0 * measured as f64 / sent as f64;
            println!("  {name}: {share:.3} % of {sent} segments measured, target 99.9 %");
        }
    }
    println!();
}
