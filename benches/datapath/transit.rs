//! ns that a transit hop takes for a packet of real traffic at both of its hooks, less what programs that do nothing
//! take. HOSTINT_BEFORE names another build, whose programs are measured in the same rounds.

use std::ffi::OsString;
use std::time::Duration;

use hostint::datapath::kernel::links::Hook;
use hostint_testing::netns::{Daemon, Lab, await_that};
use hostint_testing::watched_pair::is_settled;

use crate::programs::{self, AttachedNoop, Noop, Stats};
use crate::rounds::Rounds;
use crate::senders::{Datagrams, bulk_tcp};

/// IP packets of this length, without INT, and datagrams that have room for it in each encapsulation.
const PACKET: u32 = 1300;
const DATAGRAM: usize = 1140;
const TIME: Duration = Duration::from_millis(150);

#[derive(Clone, Copy, Eq, PartialEq)]
enum Programs {
    Noop,
    Hop,
    /// Of the build that `HOSTINT_BEFORE` names.
    HopBefore,
}

/// What is compared: a name, and the encapsulation that the source takes; none: packets have no INT.
type Row = (&'static str, Option<&'static str>, Programs);

const ROWS: [Row; 5] = [
    ("no-op", None, Programs::Noop),
    ("without INT", None, Programs::Hop),
    ("over-tcp-udp", Some("over-tcp-udp"), Programs::Hop),
    ("extension-udp", Some("extension-udp"), Programs::Hop),
    ("vxlan-gpe", Some("vxlan-gpe"), Programs::Hop),
];

fn before() -> Option<OsString> {
    std::env::var_os("HOSTINT_BEFORE")
}

/// Each row with a hop stands a second time behind the others, if there is another build.
fn rows() -> Vec<Row> {
    let hops = ROWS.iter().filter(|row| row.2 == Programs::Hop);
    let again = hops.map(|(name, encapsulation, _)| (*name, *encapsulation, Programs::HopBefore));
    let again = again.filter(|_| before().is_some());
    ROWS.iter().copied().chain(again).collect()
}

struct Case {
    /// At ingress, and at egress.
    programs: [u32; 2],
    datagrams: Datagrams,
    lab: Lab,
    _daemons: Vec<Daemon>,
    noops: Vec<AttachedNoop>,
}

impl Case {
    /// Packets that got an entry so far.
    fn pushed(&self) -> u64 {
        match self.noops.is_empty() {
            true => self.lab.m.count("transit", "pushed"),
            false => 0,
        }
    }
}

fn set_up(noop: &Noop, (_, encapsulation, programs): Row) -> Case {
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
    let programs = if programs != Programs::Noop {
        let router = match before().filter(|_| programs == Programs::HopBefore) {
            Some(binary) => lab.m.with_binary(binary),
            None => lab.m.clone(),
        };
        router.hostint("transit attach --dev m0,m1 --node-id 9");
        [("transit-in", "m0"), ("transit-out", "m1")]
            .map(|(role, dev)| programs::pinned(&lab.m, role, dev))
    } else {
        noops.push(noop.attach(&lab.m, "m0", Hook::TcxIngress));
        noops.push(noop.attach(&lab.m, "m1", Hook::TcxEgress));
        [noops[0].id, noops[1].id]
    };
    Case {
        programs,
        datagrams: Datagrams::new(&lab.a, &lab.b, DATAGRAM),
        lab,
        _daemons: daemons,
        noops,
    }
}

/// Ingress and egress of each case, in turn.
fn measure(cases: &[Case], traffic: &dyn Fn(&Case)) -> Rounds {
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
    let rows = rows();
    let cases: Vec<Case> = rows.iter().map(|row| set_up(&noop, *row)).collect();
    println!("transit: ns for each packet or superpacket above a program that does nothing");
    println!(
        "  {:<6} {:<30} {:>14} {:>14} {:>14}",
        "", "", "ingress", "egress", "both"
    );
    let datagrams = |case: &Case| {
        case.datagrams.rate(TIME);
    };
    let stream = |case: &Case| {
        bulk_tcp(&case.lab.a, &case.lab.b, TIME);
    };
    for (protocol, traffic) in [("UDP", &datagrams as &dyn Fn(&Case)), ("TCP", &stream)] {
        let before: Vec<u64> = cases.iter().map(Case::pushed).collect();
        let rounds = measure(&cases, traffic);
        let pushed = cases.iter().map(Case::pushed).zip(before);
        let pushed: Vec<bool> = pushed.map(|(now, before)| now > before).collect();
        print_table(protocol, &rows, &rounds, &pushed);
    }
    println!();
    for case in &cases {
        let _ = case.lab.m.try_hostint("transit detach");
    }
}

/// Not all packets go in each encapsulation: superpackets of TCP in none but vxlan-gpe.
fn print_table(protocol: &str, rows: &[Row], rounds: &Rounds, pushed: &[bool]) {
    for (case, (name, encapsulation, programs)) in rows.iter().enumerate() {
        if encapsulation.is_some() && !pushed[case] {
            println!(
                "  {protocol:<6} {name:<30} {:>14} {:>14} {:>14}",
                "", "", "not tagged"
            );
            continue;
        }
        let [ingress, egress] = match case {
            0 => [rounds.median(0), rounds.median(1)],
            case => [
                rounds.difference(2 * case, 0),
                rounds.difference(2 * case + 1, 1),
            ],
        };
        let both = ingress + egress;
        let name = match (case, programs) {
            (0, _) => "no-op (not subtracted)".to_owned(),
            (_, Programs::HopBefore) => format!("{name}, before"),
            _ => (*name).to_owned(),
        };
        println!("  {protocol:<6} {name:<30} {ingress:>14.0} {egress:>14.0} {both:>14.0}");
    }
}
