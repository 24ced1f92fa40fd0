//! Random loss is measured: however much of it there is, no form is given up, and no flow of datagrams goes untagged.
//! Connections do that time out twice in a row, and are whole.
//!
//! HOSTINT_LONG=1 for ten minutes of each.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use hostint_testing::account::Account;
use hostint_testing::conversation::{Conversation, Server};
use hostint_testing::datagrams::{Echo, Flows};
use hostint_testing::netns::{Host, Lab, await_that};
use hostint_testing::networks::{LOSS_OF_5_PERCENT, LOSS_OF_20_PERCENT, Network};
use hostint_testing::watched_pair::{is_settled, peers, start};
use serde_json::{Value, json};

const FLOWS: usize = 8;
/// A flow of datagrams is measured within this number of exchanges.
const EXCHANGES: usize = 5;
/// Most connections that are begun until enough are measured: at 20 % loss that is two of three.
const MOST_BEGUN: u64 = 20 * FLOWS as u64;

fn duration() -> Duration {
    let is_long = std::env::var_os("HOSTINT_LONG").is_some();
    Duration::from_secs(if is_long { 600 } else { 8 })
}

/// Packets of each flow of clients with these ports, and of datagrams, as both sinks count them.
fn measured(lab: &Lab, clients: &[u16]) -> BTreeMap<String, u64> {
    let mut packets = BTreeMap::new();
    for host in [&lab.a, &lab.b] {
        for flow in host.status()["sink"]["flows"].as_array().unwrap() {
            let ports = [&flow["flow"]["sport"], &flow["flow"]["dport"]];
            let is_one =
                |port: &&Value| **port == 6100 || clients.iter().any(|client| **port == *client);
            if ports.iter().any(is_one) {
                packets.insert(flow["flow"].to_string(), flow["packets"].as_u64().unwrap());
            }
        }
    }
    packets
}

/// True if there are so many flows, and all of them have more packets than before.
fn all_grew(before: &BTreeMap<String, u64>, now: &BTreeMap<String, u64>, flows: usize) -> bool {
    let grew = |(flow, packets): (&String, &u64)| *packets > *before.get(flow).unwrap_or(&0);
    now.len() == flows && now.iter().all(grew)
}

/// Begins connections until some are measured in both directions. One goes untagged if its first segment was lost.
fn begin_measured(lab: &Lab, server: &Server, name: &str) -> Vec<Conversation> {
    let mut account = Account::default();
    let (mut measured_ones, mut begun) = (Vec::new(), 0);
    while measured_ones.len() < FLOWS {
        assert!(begun < MOST_BEGUN, "{name}: {account}");
        begun += 1;
        let begin = Conversation::begin(&lab.a, server.address, begun << 40, &mut account);
        let mut one = begin.expect("TCP repeats what is lost");
        one.exchange(30_000, &mut account);
        let before = measured(lab, &[one.port()]);
        one.exchange(30_000, &mut account);
        if all_grew(&before, &measured(lab, &[one.port()]), 2) {
            measured_ones.push(one);
        }
    }
    println!("{name}: {FLOWS} of {begun} new connections were measured in both directions");
    measured_ones
}

/// The counters of packets that a source left untagged.
fn untagged(host: &Host) -> Vec<Value> {
    let status = host.status();
    let counters = status["source"]["counters"].as_array().unwrap().iter();
    counters
        .filter(|counter| counter["packets"] != 0)
        .cloned()
        .collect()
}

/// Datagrams in both directions, by which the sinks' counts show that tagged packets of the pair arrive.
struct Trickle {
    stop: Arc<AtomicBool>,
    sends: Option<JoinHandle<()>>,
}

impl Trickle {
    fn start(lab: &Lab) -> Self {
        let ends = [lab.a.udp("10.9.1.1:6101"), lab.b.udp("10.9.2.1:6101")];
        let stop = Arc::new(AtomicBool::new(false));
        let sends = std::thread::spawn({
            let stop = stop.clone();
            move || {
                while !stop.load(Ordering::Relaxed) {
                    for (from, to) in [(0, 1), (1, 0)] {
                        let to = ends[to].local_addr().unwrap();
                        let _ = ends[from].send_to(b"trickle", to);
                    }
                    std::thread::sleep(Duration::from_millis(20));
                }
            }
        });
        Self {
            stop,
            sends: Some(sends),
        }
    }
}

impl Drop for Trickle {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(sends) = self.sends.take() {
            let _ = sends.join();
        }
    }
}

/// Traffic of all connections and flows at once, which ends when all of TCP has arrived.
fn exchange(conversations: &mut [Conversation], flows: &mut Flows, echo: &Echo) -> Account {
    std::thread::scope(|scope| {
        let workers: Vec<_> = conversations
            .iter_mut()
            .map(|one| {
                scope.spawn(move || {
                    let mut account = Account::default();
                    one.exchange(30_000, &mut account);
                    account
                })
            })
            .collect();
        let mut account = flows.exchange(echo, 10);
        // Datagrams that are lost stay lost.
        account.transfers = account.whole;
        for worker in workers {
            account.add(worker.join().unwrap());
        }
        account
    })
}

fn check(network: Network) {
    let name = network.name;
    let lab = Lab::new();
    lab.add_ipv6();
    // Each segment is lost by itself.
    for (host, dev) in [(&lab.a, "a0"), (&lab.b, "b0")] {
        host.sh(&format!("ip link set {dev} gso_max_segs 1"));
    }
    // In a minute's timeouts nothing is sent that could be measured. Before Linux 6.15 that is how it is.
    for host in [&lab.a, &lab.b] {
        host.sh("sysctl -q -w net.ipv4.tcp_rto_max_ms=2000 || true");
    }
    let _devices = network.build(&lab);
    let _daemons = start(&lab);
    let forms = ["tcp options", "udp options"];
    await_that(&format!("{name}: both protocols may go in options"), || {
        let is_proved = |host| peers(host).iter().all(|peer| peer["ways"] == json!(forms));
        [&lab.a, &lab.b]
            .into_iter()
            .all(|host| is_settled(host) && is_proved(host))
    });
    // The sinks' counts show that packets of the pairs arrive.
    let _trickle = Trickle::start(&lab);
    await_that(&format!("{name}: tagged packets arrive"), || {
        let arrive = |host: &Host| host.count("sink", "received") > 100;
        arrive(&lab.a) && arrive(&lab.b)
    });
    let server = Server::start(&lab.b, "10.9.2.1:7000".parse().unwrap());
    let echo = Echo::start(&lab.b, "10.9.2.1:6100".parse().unwrap());
    let mut account = Account::default();
    let mut conversations = begin_measured(&lab, &server, name);
    let mut flows = Flows::new(&lab.a, "10.9.1.1", FLOWS);
    let began = Instant::now();
    while began.elapsed() < duration() {
        let before = measured(&lab, &[]);
        // Two directions of datagrams.
        let is_measured = || all_grew(&before, &measured(&lab, &[]), 2 * FLOWS);
        let mut exchanges = 0;
        while exchanges == 0 || !is_measured() {
            assert!(
                exchanges < EXCHANGES,
                "{name}: a flow is not measured any more: {before:#?} {:#?} {:#?}",
                measured(&lab, &[]),
                [&lab.a, &lab.b].map(|host| (peers(host), untagged(host)))
            );
            account.add(exchange(&mut conversations, &mut flows, &echo));
            exchanges += 1;
        }
    }
    account.add(server.take_account());
    println!("{name}: {account}");
    assert_eq!(account.whole, account.transfers, "{name}: {account}");
    assert_eq!(account.foreign_bytes, 0, "{name}: {account}");
    for host in [&lab.a, &lab.b] {
        println!("{name}: {} guarded", host.count("source", "guarded"));
        for peer in peers(host) {
            assert_eq!(peer["ways"], json!(forms), "{name}: {peer}");
            assert_eq!(peer["fallen"], 0, "{name}: {peer}");
        }
    }
}

#[test]
fn of_5_percent() {
    check(LOSS_OF_5_PERCENT);
}

#[test]
fn of_20_percent() {
    check(LOSS_OF_20_PERCENT);
}
