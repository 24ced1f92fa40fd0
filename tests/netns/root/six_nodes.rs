//! Six hosts, 150 flows, a pair that loses 3 % and a slow path: for each flow and pair the history says what the sink says.
//!
//! `make demo-figures` prints the table: figures of reports, as the history had them before, beside those of all packets.

use std::collections::BTreeMap;
use std::net::UdpSocket;
use std::time::{Duration, Instant};

use hostint::model::LatencyResolution;
use hostint_testing::netns::{Daemon, Host, Lab, await_that_or, sh};
use hostint_testing::scratch::Folder;
use serde_json::Value;

pub const NODES: usize = 6;
/// From each node to each other one.
const FLOWS: u16 = 5;
const PACKETS: u32 = 200;
/// The pair that loses packets, by nodes.
const LOSSY: (usize, usize) = (2, 4);
/// Packets from node 1 to this one take longer, and each twentieth much longer.
const SLOW: &str = "10.9.3.1";

pub const PORT: u16 = 6000;

type FlowName = (String, u16, String, u16);

pub struct Node {
    pub number: usize,
    pub host: Host,
    _sink: Daemon,
}

pub fn address(node: usize) -> String {
    format!("10.9.{node}.1")
}

/// The hosts behind the lab's router, each of which measures what it sends and receives.
pub fn nodes(lab: &Lab) -> Vec<Node> {
    let hosts = (1..=NODES).map(|number| {
        let (host, dev) = match number {
            1 => (lab.a.clone(), "a0".to_owned()),
            2 => (lab.b.clone(), "b0".to_owned()),
            _ => {
                let host = lab.host(&format!("n{number}"));
                let dev = format!("n{number}");
                sh(&format!(
                    "ip link add {dev} netns {ns} type veth peer name r{number} netns {m}
                     ip -n {ns} addr add {here}/24 dev {dev}; ip -n {ns} link set {dev} up
                     ip -n {m} addr add 10.9.{number}.2/24 dev r{number}
                     ip -n {m} link set r{number} up
                     ip -n {ns} route add default via 10.9.{number}.2",
                    ns = host.ns,
                    m = lab.m.ns,
                    here = address(number),
                ));
                (host, dev)
            }
        };
        (number, host, dev)
    });
    let hosts: Vec<_> = hosts.collect();
    let started = hosts.into_iter().map(|(number, host, dev)| {
        let sink = host.sink(&format!(
            "--dev {dev} --node-id {number} --collector 10.9.2.1 --summary-period 1s --loss-timeout 100ms \
             --max-summaries 1000"
        ));
        host.hostint(&format!("source attach --dev {dev} --encap over-tcp-udp"));
        let others = (1..=NODES).filter(|other| *other != number);
        let others: Vec<_> = others.map(address).collect();
        host.hostint(&format!("source add-dest --static {}", others.join(" ")));
        Node {
            number,
            host,
            _sink: sink,
        }
    });
    started.collect()
}

/// Delays what node 1 sends to the slow one.
fn slow_down(lab: &Lab) {
    let slow: [u8; 4] = SLOW.parse::<std::net::Ipv4Addr>().unwrap().octets();
    let mut held: Vec<(Instant, Vec<u8>)> = Vec::new();
    let mut count = 0_u32;
    hostint_testing::line::install(lab, move |_, packet| {
        let now = Instant::now();
        let mut out = Vec::new();
        if packet.len() > 19 && packet[16..20] == slow {
            count += 1;
            let ms = if count.is_multiple_of(20) { 35 } else { 5 };
            held.push((now + Duration::from_millis(ms), packet));
        } else {
            out.push(packet);
        }
        held.retain_mut(|(due, packet)| {
            let goes = *due <= now;
            if goes {
                out.push(std::mem::take(packet));
            }
            !goes
        });
        out
    });
}

fn name(flow: &Value) -> FlowName {
    let text = |key: &str| flow["flow"][key].as_str().unwrap().to_owned();
    let port = |key: &str| flow["flow"][key].as_u64().unwrap() as u16;
    (text("src"), port("sport"), text("dst"), port("dport"))
}

fn integer(value: &Value) -> i64 {
    value
        .as_i64()
        .unwrap_or_else(|| panic!("no number: {value}"))
}

/// Flows of the test by name; others are those that carry reports.
fn by_name(flows: &[Value]) -> BTreeMap<FlowName, Value> {
    let named = flows.iter().map(|flow| (name(flow), flow.clone()));
    named.filter(|((.., port), _)| *port == PORT).collect()
}

fn of_sinks(nodes: &[Node]) -> BTreeMap<FlowName, Value> {
    let mut all = BTreeMap::new();
    for node in nodes {
        let status = node.host.status();
        all.append(&mut by_name(status["sink"]["flows"].as_array().unwrap()));
    }
    all
}

fn history(host: &Host, store: &str, what: &str) -> Vec<Value> {
    let text = host.hostint(&format!("history {what} --json --store {store}"));
    let answer: Value = serde_json::from_str(&text).unwrap();
    let key = what.split(' ').next().unwrap();
    answer[key].as_array().unwrap().clone()
}

/// One packet of each flow, and again.
fn send(nodes: &[Node]) {
    let mut sockets: Vec<(usize, UdpSocket)> = Vec::new();
    for node in nodes {
        for flow in 0..FLOWS {
            let from = format!("{}:{}", address(node.number), 5000 + flow);
            sockets.push((node.number, node.host.udp(&from)));
        }
    }
    for _ in 0..PACKETS {
        for (from, socket) in &sockets {
            for to in (1..=NODES).filter(|to| to != from) {
                socket.send_to(&[7; 200], (address(to), PORT)).unwrap();
            }
        }
        // Packets are apart, so that a queue of the lab does not overflow.
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn the_history_says_of_each_flow_what_its_sink_says() {
    let lab = Lab::new();
    let folder = Folder::create();
    let store = folder.name("history.db");
    let _collect = lab.b.start(
        &format!("collect --listen 10.9.2.1 --output /dev/null --store {store}"),
        "collecting",
    );
    let nodes = nodes(&lab);
    slow_down(&lab);
    lab.drop_packets(&format!(
        "ip saddr {} ip daddr {} udp dport {{ 4790, {PORT} }} numgen random mod 100 < 3",
        address(LOSSY.0),
        address(LOSSY.1)
    ));
    let _to: Vec<_> = nodes
        .iter()
        .map(|node| node.host.udp(&format!("{}:{PORT}", address(node.number))))
        .collect();
    send(&nodes);
    let flows = NODES * (NODES - 1) * usize::from(FLOWS);
    let known = || by_name(&history(&lab.b, &store, "flows --limit 1000"));
    let differ = || {
        let (sinks, known) = (of_sinks(&nodes), known());
        let missing = |flow: &Value| flow["missing"] != 0;
        let equal = |(name, flow): (&FlowName, &Value)| {
            known.get(name).is_some_and(|mine| {
                let mine = &mine["measured"];
                let counts = ["packets", "lost"];
                counts.iter().all(|key| mine[key] == flow[*key])
                    && mine["latency"]["mean_ns"] == flow["latency_mean_ns"]
            })
        };
        let open = sinks.values().filter(|flow| missing(flow)).count();
        let other = sinks.iter().filter(|flow| !equal(*flow)).count();
        (flows - sinks.len().min(flows)) + open + other
    };
    await_that_or(|| differ() == 0, || format!("{} flows differ", differ()));

    let (sinks, known) = (of_sinks(&nodes), known());
    assert_eq!(sinks.len(), flows);
    println!(
        "flow | packets | lost | p99 of the sink | of reports | of packets | mean of the sink | of reports | of packets"
    );
    let mut wrong = 0;
    for (name, sink) in &sinks {
        let mine = &known[name];
        let (packets, reports) = (&mine["measured"]["latency"], &mine["latency"]);
        let mean = integer(&sink["latency_mean_ns"]);
        assert_eq!(integer(&packets["mean_ns"]), mean, "{name:?}");
        for quantile in ["p50_ns", "p90_ns", "p99_ns"] {
            let truth = integer(&sink[format!("latency_{quantile}")]);
            let slot = |ns| LatencyResolution::Middle.bounds(ns);
            let told = integer(&packets[quantile]);
            assert_eq!(
                slot(told),
                slot(truth),
                "{name:?} {quantile}: {told}, not {truth}"
            );
        }
        let of_reports = reports["mean_ns"].as_i64();
        wrong += usize::from(of_reports.is_some_and(|told| told != mean));
        println!(
            "{}:{} > {} | {} | {} | {} | {} | {} | {} | {} | {}",
            name.0,
            name.1,
            name.2,
            sink["packets"],
            sink["lost"],
            sink["latency_p99_ns"],
            reports["p99_ns"],
            packets["p99_ns"],
            mean,
            reports["mean_ns"],
            packets["mean_ns"],
        );
    }
    println!(
        "of {flows} flows, {wrong} had another mean by their reports, and none by their summaries"
    );
    let lost = |flow: &&Value| flow["lost"] != 0;
    let lossy: Vec<_> = sinks.values().filter(lost).collect();
    assert!(!lossy.is_empty(), "3 % of a pair are lost");
    for flow in lossy {
        let pair = (&flow["flow"]["src"], &flow["flow"]["dst"]);
        assert_eq!(pair, (&address(LOSSY.0).into(), &address(LOSSY.1).into()));
    }
    for pair in history(&lab.b, &store, "pairs") {
        let [source, sink] = ["source", "sink"].map(|key| pair[key].as_u64().unwrap());
        let of_pair = |(name, _): &(&FlowName, &Value)| {
            (&name.0, &name.2) == (&format!("10.9.{source}.1"), &format!("10.9.{sink}.1"))
        };
        let sum = |key: &str| {
            sinks
                .iter()
                .filter(of_pair)
                .map(|(_, flow)| integer(&flow[key]))
                .sum::<i64>()
        };
        for key in ["packets", "lost"] {
            let told = integer(&pair["measured"][key]);
            // Reports to the collector are not measured.
            assert_eq!(told, sum(key), "{key} of {source} -> {sink}");
        }
    }
}
