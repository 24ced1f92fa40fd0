//! A collector of 1,000 hosts that report by wire: what the first screen of its page costs.
//!
//! `HOSTINT_LONG=60 cargo test --release --test web by_wire -- --nocapture` prints it after 60 minutes of reports.

use std::collections::HashMap;
use std::io::Write;
use std::net::{IpAddr, Ipv4Addr, UdpSocket};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use hostint_testing::collector::Collector;
use hostint_testing::history_samples::now_ns;
use hostint_testing::invented::{
    CAPTURE_HEAD, Harm, InventedDatagram, InventedNetwork, InventedReports, InventedWorld, Shape,
    capture,
};
use hostint_testing::places;
use hostint_testing::random::env_number;
use hostint_testing::scratch::Folder;

const HOSTS: usize = 1_000;
const RACKS: usize = 40;
const MINUTE_NS: u64 = 60_000_000_000;
/// The most datagrams that wait at the collector's socket.
const UNDER_WAY: usize = 200;
const LATE: Duration = Duration::from_secs(120);

/// Hosts that report once a minute.
struct Hosts {
    world: InventedWorld,
    harm: Harm,
    reports: InventedReports,
    sockets: HashMap<IpAddr, UdpSocket>,
}

impl Hosts {
    fn new() -> Self {
        let network = InventedNetwork::new(Shape {
            hosts: HOSTS,
            racks: RACKS,
            seed: 1,
            flows: false,
            clocks: false,
        });
        Self {
            harm: Harm::none(&network),
            world: InventedWorld::new(network, 1, 0),
            reports: InventedReports::default(),
            sockets: HashMap::new(),
        }
    }

    /// What hosts send at this time, each from an address of this host.
    fn datagrams(&mut self, time_ns: u64) -> Vec<InventedDatagram> {
        let mut slot = self.world.slot(&self.harm);
        slot.end_ns = time_ns;
        let mut datagrams = self.reports.slot(&slot);
        for one in &mut datagrams {
            if let IpAddr::V4(ip) = one.arrival.exporter.ip() {
                let [_, high, middle, low] = ip.octets();
                let own = Ipv4Addr::new(127, high + 1, middle, low);
                one.arrival.exporter.set_ip(own.into());
            }
        }
        datagrams
    }

    /// Sends not faster than the collector reads.
    fn send(&mut self, time_ns: u64, collector: &Collector) {
        let datagrams = self.datagrams(time_ns);
        for some in datagrams.chunks(UNDER_WAY) {
            for one in some {
                let bind = |ip: &IpAddr| UdpSocket::bind((*ip, 0)).unwrap();
                let socket = self.sockets.entry(one.arrival.exporter.ip());
                let socket = socket.or_insert_with_key(bind);
                socket.send_to(&one.bytes, collector.reports).unwrap();
            }
            await_reading(collector);
        }
    }
}

/// A history of the minutes before this time.
fn keep(hosts: &mut Hosts, store: &str, minutes: u64, now_ns: u64) {
    let mut collector = Command::new(places::hostint())
        .args([
            "collect",
            "--read",
            "/dev/stdin",
            "--output",
            "/dev/null",
            "--store",
            store,
        ])
        .stdin(Stdio::piped())
        .spawn()
        .unwrap();
    let mut capture_file = collector.stdin.take().unwrap();
    for minute in (1..=minutes).rev() {
        let bytes = capture(&hosts.datagrams(now_ns - minute * MINUTE_NS));
        let behind_head = if minute == minutes { 0 } else { CAPTURE_HEAD };
        capture_file.write_all(&bytes[behind_head..]).unwrap();
    }
    drop(capture_file);
    assert!(collector.wait().unwrap().success());
}

fn await_reading(collector: &Collector) {
    let sockets = format!("/proc/{}/net/udp", collector.daemon.child.id());
    let local = format!(":{:04X} ", collector.reports.port());
    let waits = |line: &str| line.contains(&local) && !line.contains(":00000000 00:");
    let end = Instant::now() + LATE;
    while std::fs::read_to_string(&sockets)
        .unwrap()
        .lines()
        .any(waits)
    {
        assert!(Instant::now() < end, "it does not read");
    }
}

/// The time that the collector works for an answer, and the length of the answer.
fn cost(collector: &Collector, path: &str) -> (Duration, usize) {
    const TIMES: u32 = 10;
    let spent = || collector.cpu_by_thread().values().sum::<Duration>();
    let begin = spent();
    let answers = (0..TIMES).map(|_| collector.get_packed(path));
    let bytes = answers.max().unwrap_or(0);
    ((spent() - begin) / TIMES, bytes)
}

#[test]
fn the_first_screen_of_a_collector_of_a_thousand_hosts() {
    let minutes = env_number("HOSTINT_LONG", 0);
    if minutes == 0 {
        return;
    }
    let folder = Folder::create();
    let store = folder.name("history.db");
    let mut hosts = Hosts::new();
    keep(&mut hosts, &store, minutes, now_ns());
    let collector = Collector::start(&["--store", &store]);
    hosts.send(now_ns(), &collector);
    let shown = || collector.get("/api/pairs?since=1h&limit=1");
    println!("{}", &shown()[..100]);
    println!("{} hosts", collector.status()["hosts_known"]);
    for path in [
        "pairs",
        "pairs?by=rack&limit=50",
        "pairs?by=host&limit=50",
        "pairs?by=rack&from=r1&to=r2",
        "status",
        "status?form=short",
        "series?points=400",
        "flows?limit=12",
        "classes",
    ] {
        let (took, bytes) = cost(&collector, &format!("/api/{path}"));
        println!(
            "{path}: {} ms of processor time, {bytes} bytes in gzip",
            took.as_millis()
        );
    }
    let node = Command::new("node")
        .arg("many_hosts.mjs")
        .current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/web"))
        .env(
            "PAGES",
            format!("{{\"collector\":\"http://{}/\"}}", collector.http),
        )
        .status()
        .expect("node (try: packaging/install-build-deps.sh --test)");
    assert!(node.success());
}
