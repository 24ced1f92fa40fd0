//! ns that a transit hop takes for a packet of real traffic at both of its hooks, less what programs that do nothing
//! take.

use std::time::Duration;

use hostint::datapath::links::Hook;
use hostint_testing::netns::{Daemon, Lab, await_that};
use hostint_testing::watched_pair::is_settled;

use crate::programs::{self, AttachedNoop, Noop, Stats};
use crate::rounds::Rounds;
use crate::senders::{Datagrams, bulk_tcp};

/// IP packets of this length, without INT.
const PACKET: u32 = 1300;
const TIME: Duration = Duration::from_millis(150);

/// The encapsulation that the source takes; none: packets have no INT.
const CASES: [(&str, Option<&str>, bool); 5] = [
    ("no-op", None, false),
    ("without INT", None, true),
    ("over-tcp-udp", Some("over-tcp-udp"), true),
    ("extension-udp", Some("extension-udp"), true),
    ("vxlan-gpe", Some("vxlan-gpe"), true),
];

struct Case {
    /// At ingress, and at egress.
    programs: [u32; 2],
    datagrams: Datagrams,
    lab: Lab,
    _daemons: Vec<Daemon>,
    _noops: Vec<AttachedNoop>,
}

fn set_up(noop: &Noop, encapsulation: Option<&str>, hop: bool) -> Case {
    let lab = Lab::new();
    let mut daemons = Vec::new();
    for (host, via) in [(&lab.a, "10.9.1.2"), (&lab.b, "10.9.2.2")] {
        host.sh(&format!("ip route replace default via {via} mtu {PACKET}"));
    }
    if let Some(name) = encapsulation {
        daemons.push(lab.a.leasing_sink("--dev a0 --node-id 1"));
        daemons.push(lab.b.leasing_sink("--dev b0 --node-id 2"));
        lab.a.hostint(&format!(
            "source attach --dev a0 --encap {name} --max-hops 1 --mtu 1500"
        ));
        lab.a.hostint("source add-dest 10.9.2.1");
        await_that("what passes is known", || is_settled(&lab.a));
    }
    let mut noops = Vec::new();
    let programs = if hop {
        lab.m.hostint("transit attach --dev m0,m1 --node-id 9");
        [("transit-in", "m0"), ("transit-out", "m1")]
            .map(|(role, dev)| programs::pinned(&lab.m, role, dev))
    } else {
        noops.push(noop.attach(&lab.m, "m0", Hook::TcxIngress));
        noops.push(noop.attach(&lab.m, "m1", Hook::TcxEgress));
        [noops[0].id, noops[1].id]
    };
    Case {
        programs,
        datagrams: Datagrams::new(&lab.a, &lab.b, PACKET as usize - 128),
        lab,
        _daemons: daemons,
        _noops: noops,
    }
}

/// Ingress and egress of each case, in turn.
fn measure(cases: &[Case], traffic: impl Fn(&Case)) -> Rounds {
    let mut egress = 0.0;
    Rounds::measure(cases.len() * 2, |index| {
        let case = &cases[index / 2];
        if index % 2 == 0 {
            let figures = programs::measure(case.programs, || traffic(case));
            egress = figures[1];
            return figures[0];
        }
        egress
    })
}

pub fn run() {
    let _stats = Stats::enable();
    let noop = Noop::load();
    let cases: Vec<Case> = CASES
        .iter()
        .map(|(_, encapsulation, hop)| set_up(&noop, *encapsulation, *hop))
        .collect();
    println!("transit: ns for each packet or superpacket above a program that does nothing");
    println!(
        "  {:<6} {:<30} {:>14} {:>14} {:>14}",
        "", "", "ingress", "egress", "both"
    );
    print_table(
        "UDP",
        &measure(&cases, |case| {
            case.datagrams.rate(TIME);
        }),
    );
    print_table(
        "TCP",
        &measure(&cases, |case| {
            bulk_tcp(&case.lab.a, &case.lab.b, TIME);
        }),
    );
    println!();
    for case in &cases {
        let _ = case.lab.m.try_hostint("transit detach");
    }
}

fn print_table(protocol: &str, rounds: &Rounds) {
    for (case, (name, ..)) in CASES.iter().enumerate() {
        let [ingress, egress] = match case {
            0 => [rounds.median(0), rounds.median(1)],
            case => [
                rounds.difference(2 * case, 0),
                rounds.difference(2 * case + 1, 1),
            ],
        };
        let both = ingress + egress;
        let name = match case {
            0 => "no-op (not subtracted)",
            _ => name,
        };
        println!("  {protocol:<6} {name:<30} {ingress:>14.0} {egress:>14.0} {both:>14.0}");
    }
}
