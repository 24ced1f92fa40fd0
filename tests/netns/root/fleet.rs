//! A fleet with one file: hosts at a switch measure all pairs that talk, and ask no address that they do not talk to or watch.
//!
//! HOSTINT_LONG=1 for 50 hosts.

use std::collections::BTreeSet;
use std::net::UdpSocket;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use super::agent::ConfigFile;
use hostint_testing::netns::{Daemon, Host, Lab, await_that, await_that_or, sh};

const PORT: u16 = 7000;

/// The file of all hosts. Nothing in it names one of them.
const TABLES: &str = "[sink]\ndev = [\"default-route\"]\n[source]\ndev = [\"default-route\"]\n[[watch]]\nto = [\"10.80.0.0/24\"]\n";
/// The switch has an address within the watched prefix and one outside.
const SILENT: &str = "10.80.0.254";
const OUTSIDE: &str = "10.81.0.1";

struct Node {
    host: Host,
    address: String,
    socket: UdpSocket,
}

/// Hosts at a switch, and what their agents ask it, in counters of its firewall.
fn nodes(lab: &Lab, count: usize) -> Vec<Node> {
    let m = &lab.m.ns;
    sh(&format!(
        "ip -n {m} link add switch type bridge; ip -n {m} link set switch up
         ip -n {m} addr add {SILENT}/24 dev switch; ip -n {m} addr add {OUTSIDE}/32 dev lo
         ip netns exec {m} nft 'add table ip asked
           add counter ip asked outside; add counter ip asked silent
           add chain ip asked in {{ type filter hook input priority 0; }}
           add rule ip asked in icmp type echo-request ip daddr {OUTSIDE} counter name outside
           add rule ip asked in icmp type echo-request ip daddr {SILENT} counter name silent'"
    ));
    // All namespaces share one table of neighbours, which has less room than pairs need, but for permanent ones.
    let mac = |number: usize| format!("02:00:0a:50:00:{number:02x}");
    let neighbours: Vec<String> = (1..=count)
        .map(|number| format!("10.80.0.{number} lladdr {}", mac(number)))
        .collect();
    let nodes = (1..=count).map(|number| {
        let host = lab.host(&format!("n{number}"));
        let address = format!("10.80.0.{number}");
        sh(&format!(
            "ip link add n{number} netns {ns} address {mac} type veth peer name s{number} netns {m}
             ip -n {m} link set s{number} master switch; ip -n {m} link set s{number} up
             ip -n {ns} addr add {address}/24 dev n{number}; ip -n {ns} link set n{number} up
             ip -n {ns} route add default via {SILENT}
             ip netns exec {ns} nft 'add table netdev sent; add counter netdev sent questions
               add chain netdev sent out {{ type filter hook egress device n{number} priority 0; }}
               add rule netdev sent out icmp type echo-request counter name questions'",
            ns = host.ns,
            mac = mac(number),
        ));
        let add = |one: &String| format!("ip neigh replace {one} dev n{number} nud permanent\n");
        let others = neighbours.iter().filter(|one| !one.ends_with(&mac(number)));
        host.sh(&others.map(add).collect::<String>());
        let socket = host.udp(&format!("{address}:{PORT}"));
        socket.set_nonblocking(true).unwrap();
        Node {
            host,
            address,
            socket,
        }
    });
    nodes.collect()
}

/// A datagram from each host to each other one, and to those that have no hostint.
fn talk(nodes: &[Node]) {
    for from in nodes {
        let others = nodes.iter().map(|to| to.address.as_str());
        for to in others.chain([SILENT, OUTSIDE]) {
            if to != from.address {
                // Nothing listens at the switch, and its refusal is told at the next call.
                let _ = from.socket.send_to(b"news", (to, PORT));
            }
        }
    }
    let mut bytes = [0; 100];
    for node in nodes {
        while node.socket.recv_from(&mut bytes).is_ok() {}
    }
}

/// The hosts whose packets this one measures.
fn measured(node: &Node) -> BTreeSet<String> {
    let status = node.host.status();
    let flows = status["sink"]["flows"].as_array();
    let flows = flows.into_iter().flatten();
    let sources = flows.filter_map(|flow| Some(flow["flow"]["src"].as_str()?.to_owned()));
    sources.collect()
}

/// Ends the traffic, also when the test fails.
struct EndsAtLast<'a>(&'a AtomicBool);

impl Drop for EndsAtLast<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

struct Fleet {
    nodes: Vec<Node>,
    _file: ConfigFile,
    _agents: Vec<Daemon>,
}

impl Fleet {
    fn start(lab: &Lab, count: usize) -> Self {
        let nodes = nodes(lab, count);
        let file = ConfigFile::new(&lab.m, TABLES);
        let line = format!("run --config {}", file.shown());
        let agents = nodes
            .iter()
            .map(|node| node.host.start(&line, "source is attached"));
        let _agents = agents.collect();
        Self {
            nodes,
            _file: file,
            _agents,
        }
    }
}

#[test]
fn all_pairs_that_talk_are_measured_by_one_file_and_no_other_address_is_asked() {
    let count_of_hosts = match std::env::var_os("HOSTINT_LONG") {
        Some(_) => 50,
        None => 5,
    };
    let lab = Lab::new();
    let fleet = Fleet::start(&lab, count_of_hosts);
    let nodes = &fleet.nodes;
    let asked = |node: &Node| node.host.counted_by_nft("counter netdev sent questions");
    for node in nodes {
        assert_eq!(asked(node), (0, 0), "nothing is asked before a packet");
    }

    let ends = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            while !ends.load(Ordering::Relaxed) {
                talk(nodes);
                // The pace of the traffic: all hosts share this machine.
                thread::sleep(Duration::from_millis(20) * nodes.len() as u32);
            }
        });
        let ends_at_last = EndsAtLast(&ends);
        let begun = Instant::now();
        let mut lacking: Vec<&Node> = nodes.iter().collect();
        await_that_or(
            || {
                lacking.retain(|node| measured(node).len() < nodes.len() - 1);
                lacking.is_empty()
            },
            || {
                let lacks = |node: &Node| {
                    let measured = measured(node);
                    let others = nodes.iter().map(|one| one.address.clone());
                    let lacks: Vec<String> = others.filter(|one| !measured.contains(one)).collect();
                    format!("{}: {lacks:?}", node.address)
                };
                let all: Vec<String> = nodes.iter().map(lacks).collect();
                format!("sources are not measured, by host: {all:#?}")
            },
        );
        let pairs = nodes.len() * (nodes.len() - 1);
        println!("{pairs} pairs are measured after {:?}", begun.elapsed());

        let sums = || nodes.iter().map(asked);
        let before: Vec<(u64, u64)> = sums().collect();
        let begun = Instant::now();
        await_that("all hosts renewed their leases some times", || {
            let mut grown = sums().zip(&before);
            grown.all(|(now, before)| now.0 > before.0 + 10 * nodes.len() as u64)
        });
        let took = begun.elapsed().as_secs_f64();
        let bytes = sums().zip(&before).map(|(now, before)| now.1 - before.1);
        let rate = bytes.max().unwrap_or(0) as f64 * 8.0 / took / 1e6;
        println!("the host that asks most sends {rate:.3} Mbit/s of questions");
        drop(ends_at_last);
    });

    assert_eq!(lab.m.counted_by_nft("counter ip asked outside"), (0, 0));
    assert!(
        lab.m.counted_by_nft("counter ip asked silent").0 > 0,
        "the switch is watched"
    );
}
