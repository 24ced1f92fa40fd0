//! The queues that packets met at hops are the same in JSON lines, Kafka, ClickHouse, the history and the page: packets of a real
//! run through a slow queue.

use std::collections::BTreeMap;
use std::net::UdpSocket;
use std::time::Duration;

use hostint::engines::kafka::message as proto;
use hostint::model::{HopQueueFigures, HopRecord, Record};
use hostint_testing::clickhouse::{PLAIN, Ports, Server};
use hostint_testing::netns::{Daemon, Lab, await_that, await_that_or};
use hostint_testing::scratch::Folder;
use hostint_testing::watched_pair::is_settled;
use prost::Message as _;
use serde_json::Value;

use crate::kafka::cluster::Cluster;
use crate::kafka::{TOPIC, read_back};

const PACKETS: usize = 400;
/// Where the measured flow goes.
const PORT: u16 = 7001;

/// By the packet's number: each hop's node, and the queue that it met, which is in the field of its unit.
type Told = BTreeMap<u32, Vec<(u32, u32)>>;

/// How hops tell, and what the lab needs for that.
struct Case {
    name: &'static str,
    source: &'static str,
    destination: &'static str,
    socket: [&'static str; 2],
    in_bytes: bool,
}

const CASES: [Case; 2] = [
    Case {
        name: "hostint's hops count packets",
        source: "--encap vxlan-gpe --max-hops 1",
        destination: "10.9.2.1",
        socket: ["10.9.1.1:5000", "10.9.2.1:7001"],
        in_bytes: false,
    },
    Case {
        name: "routers that run Linux count bytes",
        source: "--encap ioam",
        destination: "fd09:2::1",
        socket: ["[fd09:1::1]:5000", "[fd09:2::1]:7001"],
        in_bytes: true,
    },
];

const NODE: u32 = 9;

/// What single reports of the flow say, of any engine's reports.
fn told(records: impl Iterator<Item = Record>, in_bytes: bool) -> Told {
    let queue = |hop: &HopRecord| {
        let (own, other) = match in_bytes {
            true => (hop.queue_bytes, hop.queue_occupancy),
            false => (hop.queue_occupancy, hop.queue_bytes),
        };
        assert_eq!(other, None, "in one unit: {hop:?}");
        (hop.node.0, own.expect("each hop knows its queue"))
    };
    let ours = records.filter(|record| {
        record.kind == "latency" && record.flow.as_ref().is_some_and(|flow| flow.dport == PORT)
    });
    ours.map(|record| {
        let hops = record.transit.iter().map(queue).collect();
        (record.seq.expect("a number"), hops)
    })
    .collect()
}

fn in_lines(collect: &Daemon, in_bytes: bool) -> Told {
    let lines = collect.stdout();
    let records = lines.lines().map(|line| Record::read_line(line.as_bytes()));
    told(records.map(|record| record.expect("a line")), in_bytes)
}

fn in_kafka(cluster: &Cluster, in_bytes: bool) -> Told {
    let messages = cluster.consume(TOPIC);
    let records = messages.iter().map(|message| {
        let report = proto::Report::decode(&message.value[..]).expect("a report");
        read_back::record(&report)
    });
    told(records, in_bytes)
}

fn in_clickhouse(server: &Server) -> Told {
    // Oldest first: the source, the hop, the sink.
    let rows = server.ask(&format!(
        "SELECT seq, `hops.node`[2], `hops.queue_occupancy`[2], length(`hops.node`) FROM hostint.reports FINAL \
         WHERE kind = 'latency' AND dport = {PORT}"
    ));
    let rows = rows.lines().map(|row| {
        let numbers: Vec<u32> = row.split('\t').map(|word| word.parse().unwrap()).collect();
        assert_eq!(numbers[3], 3, "{row}");
        (numbers[0], vec![(numbers[1], numbers[2])])
    });
    rows.collect()
}

/// The figures of the hop's queue in an answer with paths.
fn figures(answer: &Value) -> Option<&Value> {
    let path = answer["paths"].as_array()?.first()?;
    let segments = path["segments"].as_array()?;
    let hop = segments.iter().find(|one| one["kind"] == "hop")?;
    Some(&hop["queue_depth"]).filter(|depth| depth.is_object())
}

fn set_up(lab: &Lab, case: &Case) -> Vec<Daemon> {
    lab.add_ipv6();
    let mut daemons = Vec::new();
    match case.in_bytes {
        true => {
            lab.m.sh(&format!(
                "sysctl -qw net.ipv6.ioam6_id={NODE} net.ipv6.conf.m0.ioam6_id=2 net.ipv6.conf.m1.ioam6_id=3
                 sysctl -qw net.ipv6.conf.m0.ioam6_enabled=1
                 ip ioam namespace add 18505"
            ));
        }
        false => {
            let hop = format!("transit --dev m0,m1 --node-id {NODE} --collector 10.9.2.1");
            daemons.push(lab.m.start(&hop, "transit hop attached"));
        }
    }
    daemons.push(lab.a.leasing_sink("--dev a0 --node-id 1"));
    daemons.push(lab.b.leasing_sink(
        "--dev b0 --node-id 2 --collector 10.9.2.1 --report-period 1ns --max-reports 0 --summary-period 1s",
    ));
    lab.a
        .hostint(&format!("source attach --dev a0 {}", case.source));
    lab.a
        .hostint(&format!("source add-dest {}", case.destination));
    await_that("the source knows what passes", || is_settled(&lab.a));
    lab.m
        .sh("tc qdisc add dev m1 root tbf rate 20mbit burst 2kb limit 1mb");
    daemons
}

fn send(from: &UdpSocket, to: &str) {
    for number in 0..PACKETS {
        from.send_to(&[7; 500], to).unwrap();
        if number % 10 == 9 {
            std::thread::sleep(Duration::from_millis(4));
        }
    }
}

/// These need root.
mod root {
    use super::*;

    #[test]
    fn are_the_same_wherever_they_are_told() {
        for case in CASES {
            let lab = Lab::new();
            let folder = Folder::create();
            let store = folder.name("history.db");
            let ports = lab.b.enter(|| Ports::free("10.9.2.1"));
            let server = lab.b.enter(|| Server::start("queues", &ports, &[]));
            lab.b.enter(|| server.run(PLAIN));
            let topics = [TOPIC, "hostint.clocks.v1"].map(|topic| format!("{topic}:2"));
            let topics = topics.each_ref().map(String::as_str);
            let cluster = lab.b.enter(|| Cluster::start(1, &topics));
            let collect = lab.b.start(
                &format!(
                    "collect --json --listen 10.9.2.1 --store {store} --http 127.0.0.1 --clickhouse {} --kafka {}",
                    server.url, cluster.brokers
                ),
                "serving http://",
            );
            let _daemons = set_up(&lab, &case);
            let to = lab.b.udp(case.socket[1]);
            send(&lab.a.udp(case.socket[0]), case.socket[1]);
            drop(to);

            let Case { name, in_bytes, .. } = case;
            let lines = || in_lines(&collect, in_bytes);
            await_that_or(
                || lines().len() == PACKETS,
                || format!("{name}: {} lines", lines().len()),
            );
            let truth = lines();
            let met: Vec<u32> = truth.values().flatten().map(|(_, queue)| *queue).collect();
            assert_eq!(met.len(), PACKETS, "{name}: a hop each");
            let most = *met.iter().max().unwrap();
            // Ten in a burst, of which one or two are on their way.
            let least = if in_bytes { 4 * 500 } else { 4 };
            assert!(most >= least, "{name}: packets wait: {met:?}");
            let all_of_node = truth.values().flatten().all(|(node, _)| *node == NODE);
            assert!(all_of_node, "{name}: {truth:?}");

            let rows = || lab.b.enter(|| in_clickhouse(&server));
            await_that_or(|| rows() == truth, || format!("{name}: {:?}", rows()));
            let messages = || lab.b.enter(|| in_kafka(&cluster, in_bytes));
            await_that_or(
                || messages() == truth,
                || format!("{name}: {:?}", messages()),
            );
            let sum: u64 = met.iter().map(|queue| u64::from(*queue)).sum();
            let expected = HopQueueFigures {
                reports: PACKETS as u64,
                in_bytes,
                mean: sum as f64 / PACKETS as f64,
                most,
            };
            let expected = serde_json::to_value(expected).unwrap();
            let history = || -> Value {
                let question = format!("history path --from 1 --to 2 --json --store {store}");
                let answer = lab.b.try_hostint(&question).stdout;
                serde_json::from_slice(&answer).unwrap_or_default()
            };
            await_that_or(
                || figures(&history()) == Some(&expected),
                || format!("{name}: {expected} in {}", history()),
            );
            let page = lab.b.sh(
                "curl -s \"http://127.0.0.1:13277/api/paths?source=1&sink=2&since=0&until=$(date +%s)999999999\"",
            );
            let page: Value = serde_json::from_str(&page).unwrap_or_default();
            assert_eq!(figures(&page), Some(&expected), "{name}: {page}");
        }
    }
}
