//! Over four hops: bulk segments get the entries of all of them, and the queue that is slow is the one that is named.

use std::net::UdpSocket;
use std::thread;
use std::time::{Duration, Instant};

use hostint_testing::netns::{Daemon, Host, Lab, await_that, await_that_or, sh};
use hostint_testing::random::env_number;
use hostint_testing::scratch::Folder;
use hostint_testing::watched_pair::is_settled;
use serde_json::Value;

use crate::exchange::exchange_tcp_with;

const HOPS: usize = 4;

/// a - four routers - b. Each router has `in` towards a and `out` towards b, and is a transit hop; b has a history.
pub struct Chain {
    pub lab: Lab,
    pub routers: Vec<Host>,
    store: String,
    _folder: Folder,
    _daemons: Vec<Daemon>,
}

fn wire(lab: &Lab) -> Vec<Host> {
    let mut routers: Vec<Host> = Vec::new();
    lab.a.sh("ip link del a0");
    lab.b.sh("ip link del b0");
    let mut before = (&*lab.a.ns, "a0");
    let names = ["r1", "r2", "r3", "r4"];
    let hosts: Vec<Host> = names.iter().map(|name| lab.host(name)).collect();
    let ends = hosts.iter().map(|host| (&*host.ns, "in"));
    for (number, (ns, dev)) in ends.chain([(&*lab.b.ns, "b0")]).enumerate() {
        let net = format!("10.9.{}", 11 + number);
        sh(&format!(
            "ip link add {} netns {} type veth peer name {dev} netns {ns}
             ip -n {} addr add {net}.1/24 dev {}; ip -n {ns} addr add {net}.2/24 dev {dev}
             ip -n {} link set {} up; ip -n {ns} link set {dev} up
             ip netns exec {ns} sysctl -qw net.ipv4.ip_forward=1",
            before.1, before.0, before.0, before.1, before.0, before.1
        ));
        before = (ns, "out");
    }
    lab.a.sh("ip route add default via 10.9.11.2");
    lab.b.sh("ip route add default via 10.9.15.1");
    for (number, host) in hosts.into_iter().enumerate() {
        if number > 0 {
            host.sh(&format!(
                "ip route add 10.9.11.0/24 via 10.9.{}.1",
                11 + number
            ));
        }
        if number < HOPS - 1 {
            host.sh(&format!(
                "ip route add 10.9.15.0/24 via 10.9.{}.2",
                12 + number
            ));
        }
        routers.push(host);
    }
    routers
}

/// What differs between chains: flags of the source, of sinks, of routers, and of the collector.
#[derive(Clone, Copy, Default)]
pub struct ChainFlags<'a> {
    pub source: &'a str,
    pub sink: &'a str,
    pub transit: &'a str,
    pub collect: &'a str,
}

impl Chain {
    fn begin() -> Self {
        Self::with(&ChainFlags {
            source: "--encap vxlan-gpe --max-hops 4",
            ..ChainFlags::default()
        })
    }

    pub fn with(flags: &ChainFlags<'_>) -> Self {
        let lab = Lab::new();
        let routers = wire(&lab);
        let folder = Folder::create();
        let store = folder.file("history.db").display().to_string();
        let collector = "--collector 10.9.15.2";
        let mut daemons = vec![lab.b.start(
            &format!(
                "collect --listen 10.9.15.2 --store {store} {}",
                flags.collect
            ),
            "collecting on",
        )];
        for (host, dev, node) in [(&lab.a, "a0", 1), (&lab.b, "b0", 2)] {
            daemons.push(host.leasing_sink(&format!(
                "--dev {dev} --node-id {node} {collector} --summary-period 1s {}",
                flags.sink
            )));
        }
        for (number, host) in routers.iter().enumerate() {
            let node = 11 + number;
            let line = format!(
                "transit --dev in,out --node-id {node} --waits {collector} {}",
                flags.transit
            );
            daemons.push(host.start(&line, "waits in queues are told"));
        }
        lab.a
            .hostint(&format!("source attach --dev a0 {}", flags.source));
        lab.a.hostint("source add-dest 10.9.15.2");
        await_that("the source knows what passes", || is_settled(&lab.a));
        Self {
            lab,
            routers,
            store,
            _folder: folder,
            _daemons: daemons,
        }
    }

    /// What is known of the path over all hops since then; null if it is nothing yet.
    pub fn path(&self, since_s: u64) -> Value {
        let question = format!(
            "history path --from 1 --to 2 --since {since_s}s --json --store {}",
            self.store
        );
        let answer = self.lab.b.try_hostint(&question).stdout;
        let answer: Value = serde_json::from_slice(&answer).unwrap_or_default();
        let paths = answer["paths"].as_array().cloned().unwrap_or_default();
        let over_all = |path: &Value| path["nodes"].as_array().map(Vec::len) == Some(HOPS + 2);
        paths.into_iter().find(over_all).unwrap_or_default()
    }
}

/// The 99th percentile of each hop's queue, by its node.
fn waits(path: &Value) -> Vec<(u64, i64)> {
    let queues = path["queues"].as_array().cloned().unwrap_or_default();
    queues
        .iter()
        .filter_map(|row| {
            Some((
                row["from"]["node"].as_u64()?,
                row["latency"]["p99_ns"].as_i64()?,
            ))
        })
        .collect()
}

/// Ten datagrams at once, which all arrive.
fn burst(from: &UdpSocket, to: &UdpSocket) {
    let mut buffer = [0; 2000];
    for _ in 0..10 {
        from.send_to(&[7; 1000], to.local_addr().unwrap()).unwrap();
    }
    for _ in 0..10 {
        to.recv_from(&mut buffer).unwrap();
    }
}

/// `HOSTINT_LONG=20` is the long run: each hop's queue five times.
#[test]
fn bulk_gets_all_entries_and_the_slow_queue_is_named() {
    let chain = Chain::begin();
    let lab = &chain.lab;
    let pushed = |host: &Host| host.count("transit", "pushed");
    let before: Vec<u64> = chain.routers.iter().map(pushed).collect();
    let tagged = lab.a.count("source", "tagged");
    let to = "10.9.15.2:7000".parse().unwrap();
    exchange_tcp_with(&lab.a, &lab.b, to, 30_000_000);
    let tagged = lab.a.count("source", "tagged") - tagged;
    assert!(tagged > 10_000, "{tagged} segments");
    for (number, (host, before)) in chain.routers.iter().zip(before).enumerate() {
        let share = (pushed(host) - before) as f64 / tagged as f64;
        assert!(share >= 0.999, "hop {number}: {share} of {tagged} segments");
    }
    let (from, to) = (lab.a.udp("10.9.11.1:5000"), lab.b.udp("10.9.15.2:6000"));
    let rounds = env_number("HOSTINT_LONG", 1) as usize;
    for round in 0..rounds {
        let slow = (round + 1) % HOPS;
        let router = &chain.routers[slow];
        // Ten datagrams of a burst leave within about 5 ms.
        router.sh("tc qdisc add dev out root tbf rate 20mbit burst 2kb limit 1mb");
        let begun = Instant::now();
        let (mut known, mut whole) = (Vec::new(), Value::Null);
        let node = 11 + slow as u64;
        let is_told = |known: &[(u64, i64)]| {
            let slowest = known.iter().max_by_key(|(_, p99_ns)| *p99_ns);
            slowest.is_some_and(|(slowest, p99_ns)| *slowest == node && *p99_ns > 2_000_000)
        };
        let mut look = || {
            burst(&from, &to);
            whole = chain.path(begun.elapsed().as_secs().max(10));
            known = waits(&whole);
            is_told(&known)
        };
        await_that_or(&mut look, || {
            format!("round {round}: the queue of node {node}")
        });
        let others = known.iter().filter(|(of, _)| *of != node);
        let most = others.map(|(_, p99_ns)| *p99_ns).max();
        assert!(
            most.unwrap_or(0) < 2_000_000,
            "round {round}: no other queue is slow: {known:?}"
        );
        router.sh("tc qdisc del dev out root");
        if round + 1 < rounds {
            // The next answer has no packets of this queue.
            thread::sleep(Duration::from_secs(25));
        }
    }
}
