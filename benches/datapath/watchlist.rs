//! Cost of finding out that a packet is not watched, by the number of rules.

use std::net::Ipv4Addr;

use hostint::datapath::kernel::pins::Pins;
use hostint::datapath::watch::Watchlist;
use hostint::model::{RuleHost, Transport, WatchAction, WatchRule};

use crate::frames::{Udp, hardware_address, next_random, udp_frame};
use crate::lab::{Pair, Setup, SinkAt};
use crate::programs::{self, Stats};
use crate::rounds::{Rounds, print_row};
use crate::senders::{raw_socket, send_batch};

const RULES: [u32; 5] = [1, 10, 100, 1_000, 10_000];
const PACKETS: usize = 40_000;
const BATCH: usize = 64;
const DESTS: u32 = 0x0a14_0000; // 10.20.0.0
const SOURCES: u32 = 0x0a1e_0000; // 10.30.0.0
const OTHERS: u32 = 0x0a28_0000; // 10.40.0.0

fn place(address: u32) -> Vec<RuleHost> {
    let text = Ipv4Addr::from_bits(address).to_string();
    let prefixes = vec![text.parse().unwrap()];
    vec![RuleHost { text, prefixes }]
}

/// Addresses and ports, the sender's first.
type Ends = (u32, u32, (u16, u16));

/// The rule and a packet for each kind: nobody's, that of a destination, and one that is known only when all that
/// rules can ask was asked.
struct Kind {
    name: &'static str,
    rule: fn(u32) -> WatchRule,
    packet: fn(u32) -> Ends,
}

fn exclude(n: u32) -> WatchRule {
    WatchRule {
        action: WatchAction::Exclude,
        to: place(DESTS + n),
        ..WatchRule::default()
    }
}

fn exclude_in_detail(n: u32) -> WatchRule {
    let port = |port: u32| (port as u16).to_string().parse().unwrap();
    WatchRule {
        from: place(SOURCES + n % 1000),
        protocols: vec![Transport::Udp],
        dscp: vec![0],
        devs: vec!["a0".to_owned()],
        from_ports: vec![port(20_000 + n % 500)],
        to_ports: vec![port(5_000 + n % 500)],
        ..exclude(n)
    }
}

/// Packets at random are about as many rules as there are, so that more rules are more memory, too.
const ORDERS: [&str; 2] = ["one flow", "at random"];

const KINDS: [Kind; 3] = [
    Kind {
        name: "to an address of no rule",
        rule: exclude,
        packet: |n| (SOURCES, OTHERS + n, (20_000, 5_000)),
    },
    Kind {
        name: "to the address of a rule",
        rule: exclude,
        packet: |n| (SOURCES, DESTS + n, (20_000, 5_000)),
    },
    Kind {
        name: "rules of six conditions",
        rule: exclude_in_detail,
        packet: |n| {
            let ports = (20_000 + (n % 500) as u16, 5_000 + (n % 500) as u16);
            (SOURCES + n % 1000, DESTS + n, ports)
        },
    },
];

pub fn run() {
    let _stats = Stats::enable();
    let pair = Pair::new(&Setup {
        sink: SinkAt::Xdp,
        source: Some(""),
        ..Setup::NOTHING
    });
    let (a, m) = (&pair.lab.a, &pair.lab.m);
    let hardware = hardware_address(&m.sh("cat /sys/class/net/m0/address"));
    let socket = raw_socket(a, "a0");
    let program = programs::pinned(a, "source-tc", "a0");
    let list = a.enter(|| {
        let pins = Pins::of_this_host(None, false).unwrap().unwrap();
        Watchlist::open(&pins).unwrap().unwrap()
    });
    let mut state = 0x9e37_79b9_7f4a_7c15;
    let cases = KINDS.len() * ORDERS.len();
    let rounds = Rounds::measure(cases * RULES.len(), |index| {
        let (case, rules) = (index / RULES.len(), RULES[index % RULES.len()]);
        let (kind, at_random) = (&KINDS[case / ORDERS.len()], case % ORDERS.len() == 1);
        let all: Vec<WatchRule> = (0..rules).map(kind.rule).collect();
        a.enter(|| list.replace(&all)).unwrap();
        let [ns] = programs::measure([program], || {
            for _ in 0..PACKETS / BATCH {
                let packet = |_| {
                    let random = next_random(&mut state);
                    let n = if at_random { random % rules } else { rules / 2 };
                    let (from, to, ports) = (kind.packet)(n);
                    udp_frame(&Udp {
                        hardware,
                        from,
                        to,
                        ports,
                    })
                };
                let mut batch: Vec<Vec<u8>> = (0..BATCH).map(packet).collect();
                send_batch(&socket, &mut batch);
            }
        });
        ns
    });
    println!("watchlist: ns of the source for each packet that it leaves alone");
    for case in 0..cases {
        let (kind, order) = (&KINDS[case / ORDERS.len()], ORDERS[case % ORDERS.len()]);
        for (number, rules) in RULES.iter().enumerate() {
            let (index, one) = (case * RULES.len() + number, case * RULES.len());
            let name = format!("{}, {order}, {rules} rules", kind.name);
            print_row(
                &name,
                rounds.median(index),
                "ns",
                Some((rounds.ratio(index, one), "1 rule")),
            );
        }
    }
    println!();
}
