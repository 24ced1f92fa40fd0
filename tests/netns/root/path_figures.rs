//! Over four hops: bulk segments get the entries of all of them, the parts of each packet's way add up, and the queue that is
//! slow is the one that is named.

use std::time::Instant;

use hostint::model::{Body, PathSample, Record};
use hostint_testing::netns::{Daemon, Host, Lab, await_that, await_that_or, sh};
use hostint_testing::random::env_number;
use hostint_testing::scratch::Folder;
use hostint_testing::watched_pair::is_settled;
use serde_json::Value;

use crate::exchange::{burst, exchange_tcp_with};

const HOPS: usize = 4;

/// a - four routers - b. Each router has `in` towards a and `out` towards b, and is a transit hop; b has a history.
pub struct Chain {
    pub lab: Lab,
    pub routers: Vec<Host>,
    store: String,
    _folder: Folder,
    /// The collector's is the first one.
    daemons: Vec<Daemon>,
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
    fn begin(encapsulation: &str, sink: &str) -> Self {
        Self::with(&ChainFlags {
            source: &format!("--encap {encapsulation} --max-hops {HOPS}"),
            sink,
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
                "collect --json --listen 10.9.15.2 --store {store} {}",
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
            daemons.push(host.start(&line, "waits in queues are reported"));
        }
        let chain = Self {
            lab,
            routers,
            store,
            _folder: folder,
            daemons,
        };
        chain.tag(flags.source);
        chain
    }

    /// The source tags with these flags from now on.
    fn tag(&self, flags: &str) {
        let a = &self.lab.a;
        a.hostint(&format!("source attach --dev a0 {flags}"));
        a.hostint("source add-dest 10.9.15.2");
        await_that("the source knows what passes", || is_settled(a));
    }

    /// The source lets so many hops push from now on.
    fn let_push(&self, encapsulation: &str, hops: usize) {
        self.tag(&format!("--encap {encapsulation} --max-hops {hops}"));
    }

    /// What all hops count by this name.
    fn counts(&self, name: &str) -> Vec<u64> {
        let all = self.routers.iter();
        all.map(|host| host.count("transit", name)).collect()
    }

    /// The ways of the datagrams from this port that were reported since the last call, behind these bytes.
    fn samples(&self, sport: u16, behind: &mut u64) -> Vec<PathSample> {
        let mut samples = Vec::new();
        for line in self.daemons[0].further_lines(behind).lines() {
            let Ok(record) = Record::read_line(line.as_bytes()) else {
                continue;
            };
            if let (Some(flow), Ok(report)) = (record.flow, record.report())
                && flow.sport == sport
                && let Body::Latency(latency) = report.observation.body
            {
                samples.extend(PathSample::of(&latency, None, |_, _, _| None));
            }
        }
        samples
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

/// A figure of each hop's queue, by its node.
fn of_queues<T>(path: &Value, figure: impl Fn(&Value) -> Option<T>) -> Vec<(u64, T)> {
    let queues = path["queues"].as_array().cloned().unwrap_or_default();
    let of_hops = queues
        .iter()
        .filter(|row| row["from"]["node"].as_u64() > Some(10));
    of_hops
        .filter_map(|row| Some((row["from"]["node"].as_u64()?, figure(row)?)))
        .collect()
}

/// The 99th percentile.
fn waits(path: &Value) -> Vec<(u64, i64)> {
    of_queues(path, |row| row["latency"]["p99_ns"].as_i64())
}

/// The times of the rounds, which are more in the long run.
fn rounds() -> usize {
    env_number("HOSTINT_LONG", 1) as usize
}

/// `HOSTINT_LONG=100` is the long run: 100,000 datagrams in each encapsulation.
#[test]
fn the_parts_of_every_packets_way_add_up() {
    for encapsulation in ["over-tcp-udp", "vxlan-gpe"] {
        let chain = Chain::begin(encapsulation, "--report-period 1ns --max-reports 0");
        let lab = &chain.lab;
        let (from, to) = (lab.a.udp("10.9.11.1:5000"), lab.b.udp("10.9.15.2:6000"));
        let (pushed, unknown) = (chain.counts("pushed"), chain.counts("no_arrival"));
        let tagged = || lab.a.count("source", "tagged");
        let (before, mut checked, mut behind) = (tagged(), 0, 0);
        // Reports that find no room are lost, and counted, on a busy machine.
        while checked < 1_000 * rounds() {
            for _ in 0..50 {
                burst(&from, &to);
            }
            assert!(
                tagged() - before < 10_000 + 20 * checked as u64,
                "{encapsulation}: {checked} packets are reported"
            );
            let mut samples = Vec::new();
            await_that("some of these packets are reported", || {
                samples = chain.samples(5000, &mut behind);
                !samples.is_empty()
            });
            for sample in samples {
                checked += 1;
                assert_eq!(sample.segments.len(), 2 * HOPS + 1, "{encapsulation}");
                let parts = sample.segments.iter().flatten();
                let parts: Vec<i64> = parts.map(|part| part.stamped_ns).collect();
                if parts.len() < sample.segments.len() {
                    // A time of arrival that is not known, whose share is below.
                    continue;
                }
                let apart = parts.iter().sum::<i64>() - sample.whole.stamped_ns;
                let is_right = apart.abs() <= 1_000 && parts.iter().all(|part| *part >= 0);
                assert!(is_right, "{encapsulation}: {parts:?} {sample:?}");
            }
        }
        let sent = tagged() - before;
        let grown = |now: Vec<u64>, before: &[u64]| -> Vec<u64> {
            now.iter()
                .zip(before)
                .map(|(now, before)| now - before)
                .collect()
        };
        let (pushed, unknown) = (
            grown(chain.counts("pushed"), &pushed),
            grown(chain.counts("no_arrival"), &unknown),
        );
        for (pushed, unknown) in pushed.iter().zip(&unknown) {
            assert!(*pushed >= sent, "{encapsulation}: {pushed} of {sent}");
            assert!(
                *unknown <= pushed / 1_000,
                "{encapsulation}: {unknown} arrivals of {pushed} are not known"
            );
        }
        let measured = || {
            let whole = chain.path(3_600);
            of_queues(&whole, |row| row["packets"].as_u64())
        };
        await_that_or(
            || {
                let all = measured();
                let enough = |(_, packets): &(u64, u64)| *packets >= (sent * 995).div_ceil(1_000);
                all.len() == HOPS && all.iter().all(enough)
            },
            || {
                format!(
                    "{encapsulation}: waits of 99.5 % of {sent}: {:?}",
                    measured()
                )
            },
        );
        println!(
            "{encapsulation}: {checked} of {sent} packets add up; waits measured {:?}, arrivals unknown {unknown:?}",
            measured()
        );
    }
}

/// `HOSTINT_LONG=20` is the long run: each hop's queue five times.
#[test]
fn bulk_gets_all_entries_and_the_slow_queue_is_named() {
    let chain = Chain::begin("vxlan-gpe", "");
    let lab = &chain.lab;
    let to = "10.9.15.2:7000".parse().unwrap();
    for hops in [1, HOPS] {
        chain.let_push("vxlan-gpe", hops);
        let (mut before, mut tagged) = (Vec::new(), 0);
        // A connection that begins while the lease is asked for stays untagged.
        await_that_or(
            || {
                before = chain.counts("pushed");
                let earlier = lab.a.count("source", "tagged");
                exchange_tcp_with(&lab.a, &lab.b, to, 30_000_000);
                tagged = lab.a.count("source", "tagged") - earlier;
                tagged > 10_000
            },
            || format!("{hops} hops: a bulk connection is tagged"),
        );
        let pushed = chain.counts("pushed");
        for (number, (pushed, before)) in pushed.iter().zip(before).take(hops).enumerate() {
            let share = (pushed - before) as f64 / tagged as f64;
            println!(
                "{hops} hops, hop {number}: {:.2} % of {tagged}",
                100.0 * share
            );
            assert!(
                share >= 0.999,
                "{hops} hops, hop {number}: {share} of {tagged}"
            );
        }
    }
    let (from, to) = (lab.a.udp("10.9.11.1:5000"), lab.b.udp("10.9.15.2:6000"));
    const SLOW_NS: i64 = 2_000_000;
    for round in 0..rounds() {
        let mut known = Vec::new();
        // All hops told since the round before, and its waits are in no answer any more.
        let mut is_quick = || {
            burst(&from, &to);
            known = waits(&chain.path(10));
            known.len() == HOPS && known.iter().all(|(_, p99_ns)| *p99_ns < SLOW_NS)
        };
        await_that_or(&mut is_quick, || {
            format!("round {round}: all queues are quick")
        });
        let slow = (round + 1) % HOPS;
        let router = &chain.routers[slow];
        // Ten datagrams of a burst leave within about 5 ms.
        router.sh("tc qdisc add dev out root tbf rate 20mbit burst 2kb limit 1mb");
        let begun = Instant::now();
        let node = 11 + slow as u64;
        let is_told = |known: &[(u64, i64)]| {
            let slowest = known.iter().max_by_key(|(_, p99_ns)| *p99_ns);
            slowest.is_some_and(|(slowest, p99_ns)| *slowest == node && *p99_ns > SLOW_NS)
        };
        let mut known = Vec::new();
        let mut look = || {
            burst(&from, &to);
            known = waits(&chain.path(begun.elapsed().as_secs().max(10)));
            is_told(&known)
        };
        await_that_or(&mut look, || {
            format!("round {round}: the queue of node {node}")
        });
        let others = known.iter().filter(|(of, _)| *of != node);
        let most = others.map(|(_, p99_ns)| *p99_ns).max();
        assert!(
            most.unwrap_or(0) < SLOW_NS,
            "round {round}: no other queue is slow: {known:?}"
        );
        println!("round {round}: node {node} of {known:?}");
        router.sh("tc qdisc del dev out root");
    }
}
