//! Postcards: what a drop costs more, whether its sums are exact, which flows are told and how often, the time in a queue, and
//! what a packet costs that nobody watches.

use std::collections::{BTreeSet, HashMap};
use std::net::UdpSocket;
use std::os::fd::OwnedFd;
use std::thread::sleep;
use std::time::{Duration, Instant};

use hostint::datapath::links::Hook;
use hostint_testing::netns::{Daemon, Host, Lab, await_that};
use hostint_testing::random::env_number;
use hostint_testing::scratch::Folder;
use libbpf_rs::query::ProgInfoIter;
use serde_json::Value;

use crate::programs::{self, Noop, Stats};
use crate::rounds::{ROUNDS, median};
use crate::senders::{raw_socket, send_batch};

/// Packets of a round of drops.
const DROPPED: u64 = 1 << 20;
const BATCH: usize = 64;
/// Flows of a burst, as SD-Fabric's switches were measured.
const FLOWS: u16 = 3_000;
const PORT: u16 = 7002;

fn lines(daemon: &Daemon) -> Vec<Value> {
    let text = daemon.stdout();
    let whole = text.lines();
    whole
        .filter_map(|line| serde_json::from_str(line).ok())
        .collect()
}

/// Ends the daemon, and returns the counts of this kind.
fn totals(daemon: &mut Daemon, kind: &str) -> Value {
    assert_eq!(daemon.end(), Some(0), "{}", daemon.stderr());
    let mut all = lines(daemon);
    all.retain(|line| line["kind"] == kind);
    all.pop().expect("counts stand at the end")
}

fn sum(bytes: &[u8]) -> u16 {
    let words = bytes.chunks_exact(2);
    let mut sum: u32 = words
        .map(|word| u32::from(u16::from_be_bytes([word[0], word[1]])))
        .sum();
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    !(sum as u16)
}

/// Frames from a to the router, each of another flow if they are spoofed.
struct Flood {
    socket: OwnedFd,
    frames: Vec<Vec<u8>>,
    is_spoofed: bool,
    sent: u32,
}

impl Flood {
    fn new(lab: &Lab, is_spoofed: bool) -> Self {
        let mac = |host: &Host, dev: &str| {
            let text = host.sh(&format!("cat /sys/class/net/{dev}/address"));
            let bytes = text.trim().split(':');
            bytes
                .map(|byte| u8::from_str_radix(byte, 16).unwrap())
                .collect::<Vec<u8>>()
        };
        let mut frame = [mac(&lab.m, "m0"), mac(&lab.a, "a0"), vec![8, 0]].concat();
        frame.extend([0x45, 0, 0, 46, 0, 0, 0, 0, 64, 17, 0, 0]);
        frame.extend([10, 9, 1, 1, 10, 9, 2, 1]);
        frame.extend([5000_u16, PORT, 26, 0].map(u16::to_be_bytes).concat());
        frame.extend([0; 18]);
        let mut flood = Self {
            socket: raw_socket(&lab.a, "a0"),
            frames: vec![frame; BATCH],
            is_spoofed,
            sent: 0,
        };
        flood.address();
        flood
    }

    /// Gives each frame its source address.
    fn address(&mut self) {
        for frame in &mut self.frames {
            if self.is_spoofed {
                self.sent = self.sent.wrapping_add(1);
                let [_, bytes @ ..] = self.sent.to_be_bytes();
                frame[27..30].copy_from_slice(&bytes);
            }
            frame[24..26].fill(0);
            let check = sum(&frame[14..34]);
            frame[24..26].copy_from_slice(&check.to_be_bytes());
        }
    }

    /// Sends so many, and returns ns for each.
    fn send(&mut self, packets: u64) -> f64 {
        let begin = Instant::now();
        for _ in 0..packets / BATCH as u64 {
            if self.is_spoofed {
                self.address();
            }
            send_batch(&self.socket, &mut self.frames);
        }
        begin.elapsed().as_nanos() as f64 / packets as f64
    }
}

fn dropped_by_nft(host: &Host) -> u64 {
    let text = host.sh("nft list table ip lab");
    let (_, behind) = text.split_once("packets ").unwrap();
    behind.split(' ').next().unwrap().parse().unwrap()
}

fn told_for(totals: &Value, reason: &str) -> u64 {
    let all = totals["reasons"].as_array().unwrap().iter();
    let of = all.filter(|one| one["kernel_reason_name"] == reason);
    of.map(|one| one["packets"].as_u64().unwrap()).sum()
}

/// The cost of a drop, and what was told of as many as are injected.
fn drops(words: &str, is_spoofed: bool) {
    let lab = Lab::new();
    lab.m.sh(&format!(
        "nft add table ip lab; nft 'add chain ip lab f {{ type filter hook prerouting priority -300; }}'
         nft add rule ip lab f udp dport {PORT} counter drop"
    ));
    let packets = env_number("HOSTINT_TEST_PACKETS", DROPPED);
    let mut flood = Flood::new(&lab, is_spoofed);
    flood.send(packets / 4);
    let mut costs = Vec::new();
    let mut exact = 0;
    let mut most_lines = 0.0_f64;
    let mut rates = Vec::new();
    for _ in 0..ROUNDS {
        let without = flood.send(packets);
        let before = dropped_by_nft(&lab.m);
        let mut daemon = lab.m.start("postcards --drops --json", "drops are told");
        let begin = Instant::now();
        let with = flood.send(packets);
        let seconds = begin.elapsed().as_secs_f64();
        // What waits behind the interface is dropped soon: two looks find the same.
        let mut last = before;
        await_that("the packets were dropped", || {
            let now = dropped_by_nft(&lab.m);
            std::mem::replace(&mut last, now) == now && now > before
        });
        let injected = last - before;
        let told = totals(&mut daemon, "drop-totals");
        exact += u32::from(told_for(&told, "NETFILTER_DROP") == injected);
        let of_flow = lines(&daemon)
            .iter()
            .filter(|line| line["kind"] == "host-drop" && line["flow"]["dport"] == PORT)
            .count();
        // The first and the last are told whatever the time is.
        most_lines = most_lines.max((of_flow as f64 - 2.0).max(0.0) / seconds);
        rates.push(1e9 / with);
        costs.push(with - without);
    }
    println!(
        "  {words:<24} {:>8.0} ns a drop more, at {:>9.0} drops/s; sums exact in {exact} of {ROUNDS} rounds of {packets}",
        median(costs),
        median(rates)
    );
    if !is_spoofed {
        println!("    at most {most_lines:.1} lines a second beside the first and the last");
    }
}

fn start_hops(lab: &Lab, flags: &str) -> Daemon {
    lab.m.start(
        &format!("postcards --hops --dev m0,m1 --json {flags}"),
        "hops are told",
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
        let mut daemon = lab
            .m
            .start("postcards --queue m1=trigger:1ms --json", "queues are told");
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

/// ns that all programs take for a packet that no rule selects.
fn unwatched() {
    let _stats = Stats::enable();
    let noop = Noop::load();
    let lab = Lab::new();
    let folder = Folder::create();
    let config = folder.name("rules.toml");
    std::fs::write(
        &config,
        "[[watch]]\nfor = [\"postcards\"]\nto-port = [\"7999\"]\n",
    )
    .unwrap();
    let nothing = noop.attach(&lab.m, "m0", Hook::TcxIngress);
    let known: BTreeSet<u32> = ProgInfoIter::default().map(|found| found.id).collect();
    let mut daemon = lab.m.start(
        &format!("postcards --hops=watched --dev m0,m1 --config {config}"),
        "hops are told",
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
        "  unwatched: {:.0} ns a forwarded packet in all {} programs, beyond empty ones (start_xmit's runs for each packet of \
         the machine, which are three for each here)",
        median(sums),
        new.len()
    );
}

pub fn run() {
    println!("postcards");
    drops("one flow", false);
    drops("10^6 spoofed flows", true);
    flows();
    queue_time();
    unwatched();
    println!();
}
