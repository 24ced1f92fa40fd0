//! Small datagrams in a second, sent by one thread and counted where they arrive.

use std::time::Duration;

use crate::lab::{Pair, Setup, SinkAt};
use crate::rounds::{Rounds, print_row};
use crate::senders::{Datagrams, Receiver};

/// With Ethernet's, IP's and UDP's headers and the frame check sequence 64 bytes.
pub const PAYLOAD: usize = 18;
const TIME: Duration = Duration::from_millis(500);

/// Name, sink, flags of the source, is b watched, and the case it is compared with.
const CASES: [(&str, SinkAt, Option<&str>, bool, usize); 8] = [
    ("nothing attached", SinkAt::Nowhere, None, false, 0),
    (
        "sink at TC, source, unwatched",
        SinkAt::Tc,
        Some(""),
        false,
        0,
    ),
    (
        "sink at TC, over-tcp-udp",
        SinkAt::Tc,
        Some("--encap over-tcp-udp"),
        true,
        1,
    ),
    (
        "sink at XDP, source, unwatched",
        SinkAt::Xdp,
        Some(""),
        false,
        0,
    ),
    (
        "sink at XDP, over-tcp-udp",
        SinkAt::Xdp,
        Some("--encap over-tcp-udp"),
        true,
        3,
    ),
    (
        "sink at XDP, extension-udp",
        SinkAt::Xdp,
        Some("--encap extension-udp"),
        true,
        3,
    ),
    (
        "sink at XDP, vxlan-gpe",
        SinkAt::Xdp,
        Some("--encap vxlan-gpe"),
        true,
        3,
    ),
    (
        "sink at XDP, over-tcp-udp, full checksum",
        SinkAt::Xdp,
        Some("--compat host-int"),
        true,
        3,
    ),
];

pub fn run() {
    let pairs: Vec<(Pair, Datagrams)> = CASES
        .iter()
        .map(|(_, sink, source, watched, _)| {
            let pair = Pair::new(&Setup {
                sink: *sink,
                source: *source,
                watched: *watched,
                ..Setup::NOTHING
            });
            let datagrams = Datagrams::new(&pair.lab.a, &pair.lab.b, PAYLOAD);
            (pair, datagrams)
        })
        .collect();
    println!("rate: UDP packets in frames of 64 bytes; target 0.9 x unwatched");
    let receivers = [
        (
            Receiver::Sleeps,
            "the receiver sleeps while nothing is there",
        ),
        (Receiver::Polls, "the receiver polls"),
    ];
    for (receiver, name) in receivers {
        println!(" {name}:");
        let rate = |case: usize| pairs[case].1.rate_to(receiver, TIME) / 1e3;
        let rounds = Rounds::measure(CASES.len(), rate);
        for (case, (name, _, _, _, base)) in CASES.iter().enumerate() {
            let ratio = (case > 0).then(|| (rounds.ratio(case, *base), CASES[*base].0));
            print_row(name, rounds.median(case), "kpps", ratio);
        }
    }
    println!();
}
