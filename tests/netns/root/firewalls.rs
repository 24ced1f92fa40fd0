//! Behind firewalls that follow conversations, each question is answered and no connection waits for a timeout.
//!
//! HOSTINT_LONG=1 for all firewalls with sources on each side.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use hostint_testing::account::Account;
use hostint_testing::conversation::{Conversation, Server, many};
use hostint_testing::datagrams::{Echo, Flows};
use hostint_testing::netns::{Daemon, Host, Lab, await_that, await_that_or};
use hostint_testing::watched_pair::peers;
use serde_json::{Value, json};

const TO_B: &str = "10.9.2.1";
const TO_A: &str = "10.9.1.1";
const INVALID: &[&str] = &["ct state invalid counter drop"];

/// A firewall in the router. a is inside.
struct Firewall {
    name: &'static str,
    settings: &'static str,
    /// The last rule drops the rest.
    rules: &'static [&'static str],
    obstacle: &'static str,
    /// The hosts with sources in the short run.
    sources: &'static [&'static str],
}

const ANSWERS: &str = "ct state established,related accept";
const INSIDE: &str = "iifname m0 accept";

const FIREWALLS: [Firewall; 6] = [
    Firewall {
        name: "outside may only answer",
        settings: "",
        rules: &[ANSWERS, INSIDE, "counter drop"],
        obstacle: "drops_from",
        sources: &["a"],
    },
    Firewall {
        name: "outside may only answer, and ping",
        settings: "",
        rules: &[
            ANSWERS,
            INSIDE,
            "icmp type echo-request accept",
            "counter drop",
        ],
        obstacle: "drops_from",
        sources: &["b"],
    },
    Firewall {
        name: "outside may only answer, ping, and tunnel",
        settings: "",
        rules: &[
            ANSWERS,
            INSIDE,
            "icmp type echo-request accept",
            "udp dport 4790 accept",
            "counter drop",
        ],
        obstacle: "drops_from",
        sources: &["a", "b"],
    },
    Firewall {
        name: "what is invalid is dropped",
        settings: "sysctl -qw net.netfilter.nf_conntrack_tcp_loose=1",
        rules: INVALID,
        obstacle: "drops_both",
        sources: &["a"],
    },
    Firewall {
        name: "what is invalid is dropped, and connections are not picked up",
        settings: "sysctl -qw net.netfilter.nf_conntrack_tcp_loose=0",
        rules: INVALID,
        obstacle: "drops_both",
        sources: &["a", "b"],
    },
    Firewall {
        name: "what is invalid is dropped, windows are not looked at",
        settings: "sysctl -qw net.netfilter.nf_conntrack_tcp_loose=1
             sysctl -qw net.netfilter.nf_conntrack_tcp_be_liberal=1",
        rules: INVALID,
        obstacle: "drops_both",
        sources: &["b"],
    },
];

impl Firewall {
    fn build(&self, lab: &Lab) {
        lab.m.sh(&format!(
            "nft delete table inet firewall 2>/dev/null || true
             {}
             nft add table inet firewall
             nft 'add chain inet firewall forward {{ type filter hook forward priority 0; }}'",
            self.settings
        ));
        for rule in self.rules {
            lab.m
                .sh(&format!("nft 'add rule inet firewall forward {rule}'"));
        }
    }
}

/// What runs between the hosts: a asks, and b answers.
struct Traffic {
    from: Host,
    server: Server,
    echo: Echo,
    flows: Flows,
    seed: u64,
}

impl Traffic {
    fn new(lab: &Lab) -> Self {
        let at_b = |port| -> SocketAddr { format!("{TO_B}:{port}").parse().unwrap() };
        Self {
            from: lab.a.clone(),
            server: Server::start(&lab.b, at_b(7000)),
            echo: Echo::start(&lab.b, at_b(6100)),
            flows: Flows::new(&lab.a, TO_A, 4),
            seed: 0,
        }
    }

    /// Begins a connection and leaves it open.
    fn open(&mut self) -> Conversation {
        self.seed += 1;
        let mut account = Account::default();
        let begun = Conversation::begin(
            &self.from,
            self.server.address,
            self.seed << 41,
            &mut account,
        );
        let mut open = begun.unwrap_or_else(|| panic!("{account}"));
        open.exchange(20_000, &mut account);
        assert_eq!(account.whole, account.transfers, "{account}");
        open
    }

    /// Short connections, and a long one in both directions.
    fn connections(&self) -> Account {
        let mut account = many(&self.from, &self.server, 2, 4, |number| 1 + number * 997);
        account.add(many(&self.from, &self.server, 1, 1, |_| 1_000_000));
        account
    }

    fn assert_whole(&mut self, name: &str) {
        for (kind, account) in [
            ("TCP", self.connections()),
            ("UDP", self.flows.exchange(&self.echo, 10)),
        ] {
            println!("{name}, {kind}: {account}");
            assert_eq!(
                account.whole, account.transfers,
                "{name}, {kind}: {account}"
            );
            let waited = (account.repeated_timeouts, account.longest_stall);
            // The first timeout of a SYN is one second.
            let least = Duration::from_millis(900);
            assert!(waited < (0, least), "{name}, {kind}: {account}");
        }
    }
}

/// A source of this host for the other one, as an operator attaches it.
fn attach(host: &Host, dest: &str) {
    let dev = if dest == TO_B { "a0" } else { "b0" };
    host.hostint(&format!("source attach --dev {dev} --encap tunnel"));
    host.hostint(&format!("source add-dest {dest}"));
}

fn daemons(lab: &Lab) -> [Daemon; 2] {
    [
        lab.a.leasing_sink("--dev a0 --node-id 1"),
        lab.b.leasing_sink("--dev b0 --node-id 2"),
    ]
}

/// Waits until this host says what keeps packets to its only peer out of tunnels.
fn await_obstacle(host: &Host, obstacle: &str, name: &str) {
    let says = |peer: &Value| peer["tunnel_obstacle"] == obstacle && peer["ways"] == json!([]);
    await_that_or(
        || peers(host).iter().any(says),
        || format!("{name}: {obstacle}: {:#?}", peers(host)),
    );
}

fn check(sources: &[&str]) {
    let lab = Lab::new();
    let _daemons = daemons(&lab);
    let mut traffic = Traffic::new(&lab);
    let is_long = std::env::var_os("HOSTINT_LONG").is_some();
    for firewall in FIREWALLS
        .iter()
        .filter(|one| is_long || sources == one.sources)
    {
        firewall.build(&lab);
        for source in sources {
            match *source {
                "a" => attach(&lab.a, TO_B),
                _ => attach(&lab.b, TO_A),
            }
        }
        let name = format!("{}, sources on {sources:?}", firewall.name);
        traffic.assert_whole(&format!("{name}, at first"));
        if sources.contains(&"a") {
            await_obstacle(&lab.a, firewall.obstacle, &name);
            let said = lab.a.hostint("status");
            assert!(said.contains("a stateful firewall"), "{name}: {said}");
        }
        traffic.assert_whole(&name);
        for (source, host) in [("a", &lab.a), ("b", &lab.b)] {
            if sources.contains(&source) {
                assert_eq!(host.count("source", "tagged"), 0, "{name}: nothing");
                host.hostint("source detach");
            }
        }
    }
}

#[test]
fn with_a_source_inside() {
    check(&["a"]);
}

#[test]
fn with_a_source_outside() {
    check(&["b"]);
}

#[test]
fn with_a_source_on_both_sides() {
    check(&["a", "b"]);
}

/// A step that takes one direction out of its tunnel, or would.
type Step = fn(&Lab, &mut [Daemon; 2]);

#[test]
fn while_one_source_goes() {
    let steps: [(&str, Step); 3] = [
        ("del-dest", |lab, _| {
            lab.a.hostint("source del-dest 10.9.2.1");
        }),
        ("source detach", |lab, _| {
            lab.b.hostint("source detach");
        }),
        ("kill -9", |_, daemons| daemons[0].kill()),
    ];
    let lab = Lab::new();
    let mut traffic = Traffic::new(&lab);
    FIREWALLS[3].build(&lab);
    for (name, step) in steps {
        let mut daemons = daemons(&lab);
        attach(&lab.a, TO_B);
        attach(&lab.b, TO_A);
        await_obstacle(&lab.a, "drops_both", name);
        let mut open = traffic.open();
        step(&lab, &mut daemons);
        // Leases end within a second.
        let begun = Instant::now();
        while begun.elapsed() < Duration::from_millis(1_500) {
            let mut account = Account::default();
            open.exchange(100_000, &mut account);
            assert_eq!(account.whole, account.transfers, "{name}: {account}");
            assert_eq!(account.repeated_timeouts, 0, "{name}: {account}");
        }
        traffic.assert_whole(name);
        drop(daemons);
        for host in [&lab.a, &lab.b] {
            let _ = host.try_hostint("source detach");
            let _ = host.try_hostint("sink detach --now");
        }
    }
}

/// Whatever a firewall's rule that comes later drops, tunnels end soon, and what begins after that is whole.
#[test]
fn whose_rules_come_while_packets_are_tagged() {
    let lab = Lab::new();
    let _daemons = daemons(&lab);
    let mut traffic = Traffic::new(&lab);
    attach(&lab.a, TO_B);
    let opens = |host: &Host| {
        let peers = peers(host);
        peers.iter().any(|peer| peer["ways"] != json!([]))
    };
    await_that("packets are tagged", || opens(&lab.a));
    traffic.assert_whole("before");
    assert!(lab.a.count("source", "tagged") > 100, "in a tunnel");
    FIREWALLS[0].build(&lab);
    await_that_or(
        || {
            let answered = traffic.flows.exchange(&traffic.echo, 1);
            println!("meanwhile: {answered}");
            !opens(&lab.a)
        },
        || format!("the tunnel ends: {:#?}", peers(&lab.a)),
    );
    traffic.assert_whole("after");
}
