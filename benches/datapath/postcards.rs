//! Postcards: which flows are told and how often, the time in a queue, and what a packet costs that nobody watches.

use std::collections::{BTreeSet, HashMap};
use std::net::UdpSocket;
use std::thread::sleep;
use std::time::{Duration, Instant};

use hostint::datapath::kernel::links::Hook;
use hostint_testing::netns::{Daemon, Lab};
use hostint_testing::random::env_number;
use hostint_testing::scratch::Folder;
use libbpf_rs::query::ProgInfoIter;
use serde_json::Value;

use crate::programs::{self, Noop, Stats};
use crate::rounds::{ROUNDS, median};

/// Flows of a burst, as SD-Fabric's switches were measured.
const FLOWS: u16 = 3_000;

pub fn lines(daemon: &Daemon) -> Vec<Value> {
    let text = daemon.stdout();
    let whole = text.lines();
    whole
        .filter_map(|line| serde_json::from_str(line).ok())
        .collect()
}

/// Ends the daemon, and returns the counts of this kind.
pub fn totals(daemon: &mut Daemon, kind: &str) -> Value {
    assert_eq!(daemon.end(), Some(0), "{}", daemon.stderr());
    let mut all = lines(daemon);
    all.retain(|line| line["kind"] == kind);
    all.pop().expect("counts stand at the end")
}

fn start_hops(lab: &Lab, flags: &str) -> Daemon {
    lab.m.start(
        &format!("postcards --hops --dev m0,m1 --json {flags}"),
        "hops are reported",
    )
}

/// The lines of flows, by destination port.
fn hop_lines(daemon: &Daemon) -> HashMap<u64, Vec<u64>> {
    let mut found: HashMap<u64, Vec<u64>> = HashMap::new();
    for line in lines(daemon) {
        if line["kind"] == "host-hop" && line["flow"]["src"] == "10.9.1.1" {
            let (port, ns) = (&line["flow"]["dport"], &line["last_ns"]);
            let of_flow = found.entry(port.as_u64().unwrap()).or_default();
            of_flow.push(ns.as_u64().unwrap());
        }
    }
    found
}

fn send_to_ports(from: &UdpSocket, ports: std::ops::Range<u16>) {
    for port in ports {
        from.send_to(b"a flow each", ("10.9.2.1", port)).unwrap();
    }
}

/// Accuracy: the share of flows with a report. Efficiency: the share of gaps between the reports of a flow of 0.9 s or more.
fn flows() {
    let lab = Lab::new();
    let from = lab.a.udp("10.9.1.1:5000");
    let to = lab.b.udp("10.9.2.1:9999");
    // Neighbours are known, and nobody answers with errors.
    from.send_to(b"x", "10.9.2.1:9999").unwrap();
    to.recv(&mut [0; 64]).unwrap();
    lab.b.sh("nft add table ip lab; nft 'add chain ip lab i { type filter hook prerouting priority -300; }'
        nft add rule ip lab i ip saddr 10.9.1.1 drop");
    let mut daemon = start_hops(&lab, "");
    let begin = Instant::now();
    send_to_ports(&from, 10_000..10_000 + FLOWS);
    let took = begin.elapsed();
    let told = || {
        let told: BTreeSet<u64> = hop_lines(&daemon).into_keys().collect();
        told.range(10_000..).count()
    };
    // Flows that are told at the daemon's end, or once in a period, are not told at once.
    while told() < FLOWS.into() && begin.elapsed() < Duration::from_secs(1) {
        sleep(Duration::from_millis(20));
    }
    let told = told();
    assert_eq!(daemon.end(), Some(0), "{}", daemon.stderr());
    println!(
        "  accuracy: {told} of {FLOWS} flows told that began within {} ms ({:.2} %)",
        took.as_millis(),
        100.0 * told as f64 / f64::from(FLOWS)
    );
    let seconds = env_number("HOSTINT_LONG", 40);
    for flags in ["--latency-step 0s", ""] {
        let mut daemon = start_hops(&lab, flags);
        let end = Instant::now() + Duration::from_secs(seconds);
        while Instant::now() < end {
            send_to_ports(&from, 20_000..20_100);
            sleep(Duration::from_millis(20));
        }
        assert_eq!(daemon.end(), Some(0), "{}", daemon.stderr());
        let mut all = hop_lines(&daemon);
        all.retain(|port, _| (20_000..20_100).contains(port));
        let gaps = all.values().flat_map(|times| times.windows(2));
        let (mut long, mut count) = (0, 0);
        for gap in gaps {
            count += 1;
            long += u32::from(gap[1] - gap[0] >= 900_000_000);
        }
        let reports: Vec<f64> = all.values().map(|times| times.len() as f64).collect();
        println!(
            "  efficiency: {:.1} % of {count} gaps are 0.9 s or more; a flow of {seconds} s has {} reports (median of {} flows){}",
            100.0 * f64::from(long) / f64::from(count.max(1)),
            median(reports.clone()),
            reports.len(),
            if flags.is_empty() {
                ", with changes of 20 us told at once"
            } else {
                ""
            }
        );
    }
}

/// The time in a queue of a known rate.
fn queue_time() {
    let lab = Lab::new();
    let from = lab.a.udp("10.9.1.1:5000");
    let to = lab.b.udp("10.9.2.1:7001");
    to.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
    from.send_to(b"x", "10.9.2.1:7001").unwrap();
    to.recv(&mut [0; 2048]).unwrap();
    lab.m
        .sh("tc qdisc add dev m1 root tbf rate 8mbit burst 2000 limit 400000");
    let mut worst = 0.0_f64;
    for _ in 0..ROUNDS {
        let mut daemon = lab.m.start(
            "postcards --queue m1=trigger:1ms --json",
            "queues are reported",
        );
        const PACKETS: usize = 250;
        for _ in 0..PACKETS {
            from.send_to(&[7; 1000], "10.9.2.1:7001").unwrap();
        }
        for _ in 0..PACKETS {
            to.recv(&mut [0; 2048]).unwrap();
        }
        let told = totals(&mut daemon, "queue-totals");
        let one = &told["queues"][0];
        let [bytes, ns] = ["max_bytes", "max_time_ns"].map(|key| one[key].as_f64().unwrap());
        // 8 Mbit/s is a byte in a microsecond; the bucket is full at the beginning.
        let expected = (bytes - 2000.0) * 1000.0;
        worst = worst.max((ns / expected - 1.0).abs());
    }
    println!(
        "  queue: the longest wait is within {:.1} % of bytes / rate, in {ROUNDS} rounds (8 Mbit/s, 250 kB)",
        100.0 * worst
    );
}

/// ns that all programs take for a packet that none of these rules selects.
fn unwatched(words: &str, rules: &str) {
    let _stats = Stats::enable();
    let noop = Noop::load();
    let lab = Lab::new();
    let folder = Folder::create();
    let config = folder.name("rules.toml");
    std::fs::write(
        &config,
        format!("[[watch]]\nfor = [\"postcards\"]\n{rules}\n"),
    )
    .unwrap();
    let nothing = noop.attach(&lab.m, "m0", Hook::TcxIngress);
    let known: BTreeSet<u32> = ProgInfoIter::default().map(|found| found.id).collect();
    let mut daemon = lab.m.start(
        &format!("postcards --hops=watched --dev m0,m1 --config {config}"),
        "hops are reported",
    );
    let new: Vec<u32> = ProgInfoIter::default()
        .filter(|found| !known.contains(&found.id))
        .filter(|found| found.name.to_string_lossy().starts_with("hop_"))
        .map(|found| found.id)
        .collect();
    let from = lab.a.udp("10.9.1.1:5000");
    let to = lab.b.udp("10.9.2.1:7001");
    let packets = 200_000_u64;
    let runs = || -> Vec<(u64, u64)> { new.iter().map(|id| programs::read(*id)).collect() };
    let mut sums = Vec::new();
    for _ in 0..ROUNDS {
        let (before, base) = (runs(), programs::read(nothing.id));
        let mut got = [0; 64];
        for _ in 0..packets {
            from.send_to(b"unwatched", "10.9.2.1:7001").unwrap();
            to.recv(&mut got).unwrap();
        }
        let base_after = programs::read(nothing.id);
        let empty = (base_after.1 - base.1) as f64 / (base_after.0 - base.0) as f64;
        let spent: f64 = before
            .iter()
            .zip(runs())
            .map(|((runs, ns), (runs_now, ns_now))| {
                (ns_now - ns) as f64 - empty * (runs_now - runs) as f64
            })
            .sum();
        sums.push(spent / packets as f64);
    }
    assert_eq!(daemon.end(), Some(0), "{}", daemon.stderr());
    println!(
        "  unwatched, {words}: {:.0} ns a forwarded packet in all {} programs, beyond empty ones (start_xmit's runs for each packet of \
         the machine, which are three for each here)",
        median(sums),
        new.len()
    );
}

/// Rules of prefixes of so many lengths, the longest ones, none of which has the packet's destination: it differs from each in
/// the prefix's last bit, so that all lengths are looked up.
fn prefixes(lengths: u32) -> String {
    let address = u32::from(std::net::Ipv4Addr::new(10, 9, 2, 1));
    let prefixes = (33 - lengths..=32).map(|length| {
        let bit = 1_u32 << (32 - length);
        let other = (address ^ bit) & !(bit - 1);
        format!("\"{}/{length}\"", std::net::Ipv4Addr::from(other))
    });
    format!("to = [{}]", prefixes.collect::<Vec<_>>().join(", "))
}

pub fn run() {
    println!("postcards");
    flows();
    queue_time();
    unwatched("by its port", "to-port = [\"7999\"]");
    let places = "to = [\"10.0.0.0/13\", \"10.9.0.0/23\", \"10.9.2.64/27\", \"10.9.2.33\"]";
    unwatched("by its address among prefixes of four lengths", places);
    for lengths in [1, 8, 32] {
        let words = format!("by its address, number of lengths of prefixes: {lengths}");
        unwatched(&words, &prefixes(lengths));
    }
    println!();
}
