//! ns that the programs take for a packet of real traffic, less what a program that does nothing takes.

use std::time::Duration;

use hostint::datapath::links::Hook;

use crate::lab::{Pair, Setup, SinkAt};
use crate::programs::{self, AttachedNoop, Noop, Stats};
use crate::rounds::Rounds;
use crate::senders::{Datagrams, bulk_tcp};

/// IP packets of this length, without INT.
const PACKET: u32 = 1400;
const TIME: Duration = Duration::from_millis(150);

const CASES: [(&str, SinkAt, Option<&str>, bool); 11] = [
    ("no-op", SinkAt::Xdp, None, false),
    ("unwatched", SinkAt::Xdp, Some("--superpackets skip"), false),
    (
        "over-tcp-udp",
        SinkAt::Xdp,
        Some("--encap over-tcp-udp --superpackets skip"),
        true,
    ),
    (
        "extension-udp",
        SinkAt::Xdp,
        Some("--encap extension-udp --superpackets skip"),
        true,
    ),
    (
        "vxlan-gpe",
        SinkAt::Xdp,
        Some("--encap vxlan-gpe --superpackets skip"),
        true,
    ),
    (
        "over-tcp-udp, full checksum",
        SinkAt::Xdp,
        Some("--compat host-int --superpackets skip"),
        true,
    ),
    ("no-op", SinkAt::Tc, None, false),
    ("unwatched", SinkAt::Tc, Some("--superpackets skip"), false),
    (
        "over-tcp-udp",
        SinkAt::Tc,
        Some("--encap over-tcp-udp --superpackets skip"),
        true,
    ),
    (
        "extension-udp",
        SinkAt::Tc,
        Some("--encap extension-udp --superpackets skip"),
        true,
    ),
    (
        "vxlan-gpe",
        SinkAt::Tc,
        Some("--encap vxlan-gpe --superpackets skip"),
        true,
    ),
];

struct Case {
    source: u32,
    sink: u32,
    datagrams: Datagrams,
    _noops: Vec<AttachedNoop>,
    pair: Pair,
}

fn set_up(noop: &Noop, sink: SinkAt, source: Option<&'static str>, watched: bool) -> Case {
    let setup = Setup {
        sink: if source.is_some() {
            sink
        } else {
            SinkAt::Nowhere
        },
        source,
        watched,
        mtu: PACKET,
        no_gso: true,
        ..Setup::NOTHING
    };
    let pair = Pair::new(&setup);
    let (a, b) = (&pair.lab.a, &pair.lab.b);
    let datagrams = Datagrams::new(a, b, PACKET as usize - 28);
    let mut noops = Vec::new();
    let (source, sink) = if source.is_some() {
        (
            programs::pinned(a, "source-tc", "a0"),
            programs::pinned(b, sink.role(), "b0"),
        )
    } else {
        let hook = match sink {
            SinkAt::Xdp => Hook::XdpNative,
            _ => Hook::TcxIngress,
        };
        // On a as well: the interfaces behave alike.
        noops.push(noop.attach(a, "a0", hook));
        noops.push(noop.attach(a, "a0", Hook::TcxEgress));
        noops.push(noop.attach(b, "b0", hook));
        (noops[1].id, noops[2].id)
    };
    Case {
        source,
        sink,
        datagrams,
        _noops: noops,
        pair,
    }
}

/// Source and sink of each case, in turn.
fn measure(cases: &[Case], traffic: impl Fn(&Case)) -> Rounds {
    let mut sink = 0.0;
    Rounds::measure(cases.len() * 2, |index| {
        let case = &cases[index / 2];
        if index % 2 == 0 {
            let figures = programs::measure([case.source, case.sink], || traffic(case));
            sink = figures[1];
            return figures[0];
        }
        sink
    })
}

pub fn run() {
    let _stats = Stats::enable();
    let noop = Noop::load();
    let cases: Vec<Case> = CASES
        .iter()
        .map(|(_, sink, source, watched)| set_up(&noop, *sink, *source, *watched))
        .collect();
    println!("cost: ns for each packet of {PACKET} bytes above a program that does nothing");
    println!(
        "  {:<6} {:<30} {:>14} {:>14} {:>14}",
        "", "", "source", "sink at XDP", "sink at TC"
    );
    let udp = measure(&cases, |case| {
        case.datagrams.rate(TIME);
    });
    print_table("UDP", &udp);
    let tcp = measure(&cases, |case| {
        bulk_tcp(&case.pair.lab.a, &case.pair.lab.b, TIME);
    });
    print_table("TCP", &tcp);
    println!();
}

fn print_table(protocol: &str, rounds: &Rounds) {
    let tc = CASES.iter().position(|case| case.1 == SinkAt::Tc).unwrap();
    println!(
        "  {protocol:<6} {:<30} {:>14.0} {:>14.0} {:>14.0}",
        "no-op (not subtracted)",
        rounds.median(0),
        rounds.median(1),
        rounds.median(2 * tc + 1)
    );
    for (case, (name, ..)) in CASES.iter().enumerate().take(tc).skip(1) {
        let at_tc = (tc + case < CASES.len())
            .then(|| format!("{:.0}", rounds.difference(2 * (tc + case) + 1, 2 * tc + 1)));
        println!(
            "  {protocol:<6} {name:<30} {:>14.0} {:>14.0} {:>14}",
            rounds.difference(2 * case, 0),
            rounds.difference(2 * case + 1, 1),
            at_tc.unwrap_or_default()
        );
    }
}
