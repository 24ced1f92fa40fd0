//! One network: traffic without hostint, while it begins, with it, and after a sink has gone.

use std::net::SocketAddr;

use hostint_testing::account::Account;
use hostint_testing::conversation::{Conversation, Server, many};
use hostint_testing::datagrams::{Echo, Flows};
use hostint_testing::netns::{Host, Lab, await_that};
use hostint_testing::networks::Network;
use hostint_testing::watched_pair::{is_settled, peers, start_with};
use serde_json::json;

const BULK: u64 = 3_000_000;

const WITHOUT_SINK: &str = "without a sink on b";

/// How packets carry INT.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Carrier {
    Options,
    Tunnel,
}

/// What of the traffic is measured in a network.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Measured {
    Everything,
    Connections,
    Datagrams,
    Nothing,
}

/// Connections and datagrams from one host to the other over one IP version.
struct Direction {
    name: &'static str,
    from: Host,
    server: Server,
    echo: Echo,
    flows: Flows,
}

impl Direction {
    fn new(name: &'static str, from: (&Host, &str), to: (&Host, &str)) -> Self {
        let address = |port| -> SocketAddr { format!("{}:{port}", to.1).parse().unwrap() };
        Self {
            name,
            from: from.0.clone(),
            server: Server::start(to.0, address(7000)),
            echo: Echo::start(to.0, address(6100)),
            flows: Flows::new(from.0, from.1, 8),
        }
    }

    /// Every kind of traffic and what became of it.
    fn run(&mut self) -> [(&'static str, Account); 3] {
        [
            ("bulk TCP", many(&self.from, &self.server, 2, 1, |_| BULK)),
            (
                "small TCP",
                many(&self.from, &self.server, 8, 8, |number| {
                    1 + number * 997 % 4000
                }),
            ),
            ("UDP", self.flows.exchange(&self.echo, 30)),
        ]
    }

    /// Begins a connection that stays open.
    fn open(&self, seed: u64) -> Open {
        let mut account = Account::default();
        let mut conversation =
            Conversation::begin(&self.from, self.server.address, seed, &mut account);
        if let Some(open) = &mut conversation {
            open.exchange(1000, &mut account);
        }
        Open {
            conversation,
            account,
        }
    }
}

struct Open {
    conversation: Option<Conversation>,
    account: Account,
}

impl Open {
    fn go_on(&mut self, server: &Server, len: u64) -> Account {
        let mut account = std::mem::take(&mut self.account);
        if let Some(open) = &mut self.conversation {
            open.exchange(len, &mut account);
        }
        account.add(server.take_account());
        account
    }
}

fn directions(lab: &Lab, network: &Network) -> Vec<Direction> {
    let (a, b) = (&lab.a, &lab.b);
    let mut all = vec![
        Direction::new("IPv4", (a, "10.9.1.1"), (b, "10.9.2.1")),
        Direction::new("IPv6", (a, "[fd09:1::1]"), (b, "[fd09:2::1]")),
    ];
    if !network.is_nat {
        all.push(Direction::new(
            "IPv4, reverse",
            (b, "10.9.2.1"),
            (a, "10.9.1.1"),
        ));
        all.push(Direction::new(
            "IPv6, reverse",
            (b, "[fd09:2::1]"),
            (a, "[fd09:1::1]"),
        ));
    }
    all
}

/// Rows of the table, and what is wrong with them.
struct Table {
    network: Network,
    wrong: Vec<String>,
}

impl Table {
    fn add(&mut self, when: &str, direction: &Direction, kind: &str, account: &Account) {
        let row = format!("{}, {when}, {}, {kind}", self.network.name, direction.name);
        println!("{row}: {account}");
        let may_miss = self.network.loses && kind == "UDP";
        let is_whole = account.whole == account.transfers || may_miss;
        // Without a sink, packets are lost until the lease ends, in a second at most.
        let may_wait = self.network.loses || when == WITHOUT_SINK;
        let has_waited = account.repeated_timeouts > 0 && !may_wait;
        if account.foreign_bytes > 0 || !is_whole || has_waited {
            self.wrong.push(format!("{row}: {account}"));
        }
    }

    fn add_all(&mut self, when: &str, directions: &mut [Direction]) {
        for direction in directions {
            for (kind, account) in direction.run() {
                self.add(when, direction, kind, &account);
            }
        }
    }

    fn assert_right(&self) {
        assert!(self.wrong.is_empty(), "{:#?}", self.wrong);
    }
}

/// Traffic while the pairs are asked about and proved.
fn begin(lab: &Lab, table: &mut Table, directions: &mut [Direction]) {
    let mut accounts = vec![Account::default(); directions.len()];
    let mut settled = false;
    await_that("the pairs are settled", || {
        for (direction, account) in directions.iter_mut().zip(&mut accounts) {
            account.add(direction.flows.exchange(&direction.echo, 10));
        }
        let before = settled;
        settled = is_settled(&lab.a) && is_settled(&lab.b);
        // Flows look at their leases again for a while.
        before && settled
    });
    for (direction, account) in directions.iter().zip(&accounts) {
        table.add("at first", direction, "UDP", account);
    }
}

/// Which protocols the sink of b knows flows of.
fn assert_measured(lab: &Lab, network: &Network, measured: Measured) {
    let status = lab.b.status();
    let flows = status["sink"]["flows"].as_array().unwrap();
    let knows = |protocol: u8| {
        flows
            .iter()
            .any(|flow| flow["flow"]["protocol"] == protocol)
    };
    let found = match (knows(6), knows(17)) {
        (true, true) => Measured::Everything,
        (false, true) => Measured::Datagrams,
        (false, false) => Measured::Nothing,
        (true, false) => Measured::Connections,
    };
    // Until the counts show that some are missing, connections go in options whose link has a sink.
    let is_early = network.has_links_without_sink && found == Measured::Connections;
    assert!(
        found == measured || is_early,
        "{}: {found:?} {:#?}",
        network.name,
        peers(&lab.a)
    );
}

/// The forms that the source on a may use towards b, and those that the path eats.
fn assert_said(lab: &Lab, network: &Network, carrier: Carrier, measured: Measured, eaten: &[&str]) {
    let peers = peers(&lab.a);
    let peer = peers
        .iter()
        .find(|peer| peer["dest"] == "10.9.2.1")
        .unwrap();
    if network.is_nat {
        assert_eq!(peer["state"], "forged", "{}: {peer}", network.name);
        return;
    }
    let way = match carrier {
        Carrier::Options => "options",
        Carrier::Tunnel => "vxlan-gpe",
    };
    let protocols: &[&str] = match measured {
        Measured::Everything => &["tcp", "udp"],
        Measured::Connections => &["tcp"],
        Measured::Datagrams => &["udp"],
        Measured::Nothing => &[],
    };
    let named = protocols.iter().map(|protocol| format!("{protocol} {way}"));
    let ways: Vec<String> = named.collect();
    // Tagged packets, or the question itself, take the link without a sink.
    let is_astray = ["astray", "no_sink"]
        .iter()
        .any(|state| peer["state"] == *state);
    if is_astray && network.has_links_without_sink {
        assert_eq!(peer["ways"], json!([]), "{}: {peer}", network.name);
        return;
    }
    assert_eq!(peer["state"], "granted", "{}: {peer}", network.name);
    // Where packets are lost without INT, too, or find no sink, a form may be given up, or not yet.
    let may_lack = network.has_links_without_sink && carrier == Carrier::Options;
    if !network.loses && !may_lack {
        assert_eq!(peer["ways"], json!(ways), "{}: {peer}", network.name);
        assert_eq!(peer["eaten"], json!(eaten), "{}: {peer}", network.name);
    }
}

/// `eaten` are the forms of probes that do not pass the path.
pub fn check(network: Network, carrier: Carrier, measured: Measured, eaten: &[&str]) {
    let lab = Lab::new();
    lab.add_ipv6();
    let _devices = network.build(&lab);
    let mut directions = directions(&lab, &network);
    let mut table = Table {
        network,
        wrong: Vec::new(),
    };
    table.add_all("without hostint", &mut directions);
    table.assert_right();

    let mut early: Vec<Open> = directions.iter().map(|one| one.open(1 << 40)).collect();
    let flags = match carrier {
        Carrier::Options => "",
        Carrier::Tunnel => "--encap tunnel",
    };
    let [_a, b] = start_with(&lab, flags);
    begin(&lab, &mut table, &mut directions);
    table.add_all("with hostint", &mut directions);
    for (direction, early) in directions.iter().zip(&mut early) {
        let account = early.go_on(&direction.server, BULK);
        table.add("with hostint", direction, "open before", &account);
    }
    for host in [&lab.a, &lab.b] {
        for peer in peers(host) {
            println!("{}: peer {peer}", network.name);
        }
    }
    table.assert_right();
    assert_measured(&lab, &network, measured);
    assert_said(&lab, &network, carrier, measured, eaten);

    let mut late: Vec<Open> = directions.iter().map(|one| one.open(1 << 41)).collect();
    lab.b.hostint("sink detach --now");
    drop(b);
    let accounts: Vec<Account> = std::thread::scope(|scope| {
        let go_on =
            |(direction, late): (&Direction, &mut Open)| late.go_on(&direction.server, BULK);
        let all: Vec<_> = directions
            .iter()
            .zip(&mut late)
            .map(|one| scope.spawn(move || go_on(one)))
            .collect();
        all.into_iter().map(|one| one.join().unwrap()).collect()
    });
    for (direction, account) in directions.iter().zip(&accounts) {
        table.add(WITHOUT_SINK, direction, "still open", account);
    }
    table.assert_right();
}
