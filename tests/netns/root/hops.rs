//! The time of packets through a router is told: of all of them, by flow, with the queue and without; none is changed.

use std::net::UdpSocket;
use std::time::{Duration, Instant};

use hostint::datapath::kernel::hooks::occupants;
use hostint::model::{History, LatencyFigures, NodeId, PassageQuery, Span};
use hostint::os::netdev;
use hostint::store::{Evidence, HistoryReader};
use hostint_testing::netns::{Daemon, Host, Lab, await_that, await_that_or};
use hostint_testing::scratch::TempFile;
use serde_json::Value;

use crate::exchange::{exchange_tcp, exchange_tcp_with};

/// A daemon that tells hops through the router.
fn postcards(host: &Host, flags: &str) -> Daemon {
    host.start(
        &format!("postcards --hops --dev m0,m1 --json {flags}"),
        "hops are reported",
    )
}

/// The lines of the flow to this port.
fn told(daemon: &Daemon, port: u16) -> Vec<Value> {
    let mut all = daemon.json_lines();
    all.retain(|line| line["kind"] == "host-hop" && line["flow"]["dport"] == port);
    all
}

/// Ends the daemon, and returns all counts.
fn totals(daemon: &mut Daemon) -> Value {
    daemon.totals("hop-totals")
}

/// The passage from one interface to the other.
fn passage(totals: &Value, from: &str, to: &str, start: &str) -> Value {
    let all = totals["passages"].as_array().unwrap();
    let mut found = all.iter().filter(|one| {
        one["in_interface"] == from && one["out_interface"] == to && one["start"] == start
    });
    let found = found.next();
    found.cloned().unwrap_or_else(|| panic!("{totals:#}"))
}

/// Sends datagrams from a to b, which all arrive as they were sent.
fn send(from: &UdpSocket, to: &UdpSocket, count: usize) {
    let address = to.local_addr().unwrap();
    let mut got = [0; 2048];
    for number in 0..count {
        let sent = vec![number as u8; 100 + number % 1000];
        from.send_to(&sent, address).unwrap();
        let len = to.recv(&mut got).unwrap();
        assert_eq!(got[..len], sent, "datagram {number}");
    }
}

fn listen(host: &Host, address: &str) -> UdpSocket {
    let socket = host.udp(address);
    socket
        .set_read_timeout(Some(Duration::from_secs(10)))
        .unwrap();
    socket
}

/// A kernel may run no tracing program while some process is interrupted: seen for the supervisor of a virtual machine.
fn is_nearly(found: u64, all: u64) -> bool {
    found <= all && found * 100 >= all * 95
}

#[test]
fn each_forwarded_packet_is_timed_once() {
    const PACKETS: u64 = 1000;
    let lab = Lab::new();
    let mut daemon = postcards(&lab.m, "");
    let (from, to) = (lab.a.udp("10.9.1.1:5000"), listen(&lab.b, "10.9.2.1:7001"));
    send(&from, &to, PACKETS as usize);
    let all = totals(&mut daemon);
    let through = passage(&all, "m0", "m1", "interface");
    assert_eq!(through["queued"]["packets"], PACKETS, "{all:#}");
    let sent = through["sent"]["packets"].as_u64().unwrap();
    assert!(is_nearly(sent, PACKETS), "{all:#}");
    for (end, packets) in [("sent", sent), ("queued", PACKETS)] {
        let slots = through[end]["slots"].as_array().unwrap();
        let sum: u64 = slots.iter().map(|slot| slot[1].as_u64().unwrap()).sum();
        assert_eq!(sum, packets, "{end}: {all:#}");
    }
    assert_eq!(all["stamped"], PACKETS, "{all:#}");
    let flow = told(&daemon, 7001);
    assert_eq!(flow[0]["reasons"][0], "new", "{}", flow[0]);
    let last = flow.last().unwrap();
    assert_eq!(last["packets"], sent, "{last}");
    assert_eq!(last["in_interface"], "m0");
    assert_eq!(last["out_interface"], "m1");
    assert_eq!(last["start"], "interface");
}

#[test]
fn the_time_in_the_queue_is_apart() {
    const PACKETS: u64 = 50;
    let lab = Lab::new();
    // Two packets of 1,042 bytes pass at once, and the next one eight seconds later.
    let rate = |verb: &str, rate: &str| {
        lab.m.sh(&format!(
            "tc qdisc {verb} dev m1 root tbf rate {rate} burst 3000 limit 100000"
        ));
    };
    rate("add", "1kbit");
    let mut daemon = postcards(&lab.m, "--latency-hold 1ms");
    let (from, to) = (lab.a.udp("10.9.1.1:5000"), listen(&lab.b, "10.9.2.1:7001"));
    let send = || from.send_to(&[7; 1000], "10.9.2.1:7001").unwrap();
    for _ in 0..PACKETS - 1 {
        send();
    }
    let queued = || {
        let queue = lab.m.sh("tc -s qdisc show dev m1");
        let words = queue.split_whitespace();
        let backlog = words.filter_map(|word| word.strip_suffix('p')?.parse::<u64>().ok());
        backlog.max().unwrap()
    };
    await_that("all but two packets are in the queue", || {
        queued() >= PACKETS - 3
    });
    // They are held for at least as long as another look takes.
    let all_are_there = Instant::now();
    queued();
    let held = all_are_there.elapsed().as_nanos() as u64;
    rate("change", "1gbit");
    // The queue looks at its new rate when the next packet comes.
    send();
    let mut got = [0; 2048];
    for _ in 0..PACKETS {
        to.recv(&mut got).unwrap();
    }
    let all = totals(&mut daemon);
    let through = passage(&all, "m0", "m1", "interface");
    assert_eq!(through["sent"]["packets"], PACKETS, "{all:#}");
    assert_eq!(through["queued"]["packets"], PACKETS, "{all:#}");
    let ns = |end: &str, figure: &str| through[end][figure].as_u64().unwrap();
    assert!(ns("sent", "max_ns") >= held, "{through:#}");
    // At least 40 packets were held, and not before the queue.
    assert!(
        ns("sent", "mean_ns") - ns("queued", "mean_ns") >= held * 40 / PACKETS,
        "{through:#}"
    );
    let flow = told(&daemon, 7001);
    let news = |reason: &str| {
        let has = |line: &&Value| line["reasons"].as_array().unwrap().contains(&reason.into());
        flow.iter().filter(has).count()
    };
    assert!(news("latency") > 0, "{flow:#?}");
}

#[test]
fn packets_of_local_senders_keep_their_departure() {
    let lab = Lab::new();
    let mut daemon = postcards(&lab.m, "");
    exchange_tcp(&lab.a, &lab.b, 7003, 200_000);
    let all = totals(&mut daemon);
    assert_eq!(all["stamped"], 0, "{all:#}");
    // A packet is timed as its segments.
    let mut segments = 0;
    for (from, to) in [("m0", "m1"), ("m1", "m0")] {
        let through = passage(&all, from, to, "sender");
        let sent = through["sent"]["packets"].as_u64().unwrap();
        let queued = through["queued"]["packets"].as_u64().unwrap();
        assert!(is_nearly(sent, queued), "{all:#}");
        segments += queued;
    }
    assert!(
        all["has_departure"].as_u64().unwrap() <= segments,
        "{all:#}"
    );
    assert!(segments > 100, "{all:#}");
    assert_eq!(all["passages"].as_array().unwrap().len(), 2, "{all:#}");
}

#[test]
fn both_flows_of_a_translated_packet_are_told() {
    let lab = Lab::new();
    lab.m.sh(
        "nft add table ip lab; nft 'add chain ip lab p { type nat hook postrouting priority 100; }'
         nft add rule ip lab p oifname m1 masquerade",
    );
    let mut daemon = postcards(&lab.m, "");
    let (from, to) = (lab.a.udp("10.9.1.1:5000"), listen(&lab.b, "10.9.2.1:7001"));
    send(&from, &to, 20);
    let all = totals(&mut daemon);
    assert_eq!(
        passage(&all, "m0", "m1", "interface")["sent"]["packets"],
        20,
        "{all:#}"
    );
    let flow = told(&daemon, 7001);
    let last = flow.last().unwrap();
    assert_eq!(last["flow"]["src"], "10.9.2.2", "{last}");
    assert_eq!(last["flow_before_nat"]["src"], "10.9.1.1", "{last}");
}

/// Packets to a socket, by the interface by which they came.
fn to_sockets(totals: &Value, from: &str) -> u64 {
    let one = passage(totals, from, "socket", "interface");
    assert_eq!(one["out_ifindex"], u32::MAX, "{one:#}");
    assert_eq!(one["queued"]["packets"], 0, "{one:#}");
    one["sent"]["packets"].as_u64().unwrap()
}

#[test]
fn packets_for_the_host_are_timed_until_a_socket_takes_them() {
    let lab = Lab::new();
    lab.add_ipv6();
    let mut daemon = postcards(&lab.m, "--local");
    let from = lab.a.udp("10.9.1.1:5000");
    send(&from, &listen(&lab.m, "10.9.1.2:7002"), 40);
    send(
        &lab.a.udp("[fd09:1::1]:5000"),
        &listen(&lab.m, "[fd09:1::2]:7002"),
        5,
    );
    // Nobody is there, and what others get later, where the kernel had these packets, are no such packets.
    for _ in 0..30 {
        from.send_to(b"x", "10.9.1.2:7003").unwrap();
    }
    send(
        &lab.b.udp("10.9.2.1:5000"),
        &listen(&lab.a, "10.9.1.1:7005"),
        300,
    );
    // The clock has its own.
    send(&from, &listen(&lab.m, "10.9.1.2:123"), 10);
    // Forwarded ones are apart.
    send(&from, &listen(&lab.b, "10.9.2.1:7001"), 20);
    let all = totals(&mut daemon);
    assert_eq!(to_sockets(&all, "m0"), 45, "{all:#}");
    let forwarded = passage(&all, "m0", "m1", "interface");
    assert_eq!(forwarded["sent"]["packets"], 20, "{all:#}");
    assert_eq!(all["clock"], 10, "{all:#}");
    assert!(all["local"].as_u64().unwrap() >= 75, "{all:#}");
    let mut daemon = postcards(&lab.m, "--local");
    let to = "10.9.1.2:7004".parse().unwrap();
    exchange_tcp_with(&lab.a, &lab.m, to, 1_000_000);
    let all = totals(&mut daemon);
    assert!(to_sockets(&all, "m0") > 600, "{all:#}");
    // Without the flag, and after the daemon, nobody looks.
    let mut daemon = postcards(&lab.m, "");
    send(&from, &listen(&lab.m, "10.9.1.2:7002"), 40);
    let all = totals(&mut daemon);
    assert_eq!(
        (&all["local"], all["passages"].as_array().unwrap().len()),
        (&Value::from(0), 0)
    );
}

#[test]
fn collectors_know_the_times_to_sockets() {
    let lab = Lab::new();
    let folder = hostint_testing::scratch::Folder::create();
    let store = folder.file("history.db").display().to_string();
    let mut collector = lab.b.start(
        &format!("collect --json --listen 10.9.2.1 --store {store}"),
        "collecting",
    );
    let mut daemon = postcards(&lab.m, "--local --collector 10.9.2.1 --node-id 7");
    let from = lab.a.udp("10.9.1.1:5000");
    send(&from, &listen(&lab.m, "10.9.1.2:7002"), 40);
    totals(&mut daemon);
    let found = || {
        lab.b
            .hostint(&format!("history hops --json --store {store}"))
    };
    let is_told = || {
        let history: Value = serde_json::from_str(&found()).unwrap_or_default();
        let all = history["passages"].as_array().cloned().unwrap_or_default();
        all.iter().any(|one| {
            one["out_interface"] == "socket"
                && one["sent"]["samples"] == 40
                && one["queued"].is_null()
        })
    };
    await_that_or(is_told, found);
    assert_eq!(collector.end(), Some(0), "{}", collector.stderr());
}

#[test]
fn ipv6_is_timed_too() {
    let lab = Lab::new();
    lab.add_ipv6();
    let mut daemon = postcards(&lab.m, "");
    let from = lab.a.udp("[fd09:1::1]:5000");
    send(&from, &listen(&lab.b, "[fd09:2::1]:7001"), 30);
    let all = totals(&mut daemon);
    let through = passage(&all, "m0", "m1", "interface");
    assert_eq!(through["sent"]["packets"], 30, "{all:#}");
    let flow = told(&daemon, 7001);
    assert_eq!(flow.last().unwrap()["flow"]["src"], "fd09:1::1");
}

#[test]
fn a_daemon_that_is_killed_leaves_nothing_behind() {
    let lab = Lab::new();
    let mut daemon = postcards(&lab.m, "");
    let programs = || {
        let found = lab
            .m
            .enter(|| occupants(netdev::index_of("m0").unwrap(), None));
        let (found, _) = found.unwrap();
        let names = found
            .iter()
            .map(|one| format!("{} {:?}", one.name, one.owner));
        names.collect::<Vec<_>>().join(", ")
    };
    assert_eq!(programs(), "hop_in Hostint, hop_queue Hostint");
    daemon.kill();
    await_that_or(|| programs().is_empty(), programs);
}

#[test]
fn the_watchlist_selects_what_is_timed() {
    let lab = Lab::new();
    let rules = TempFile::new(
        "hops.toml",
        "[[watch]]
         for = \"postcards\"
         either = \"10.9.2.1\"
         to-port = [7001, 5000]
         [[watch]]
         to = \"10.9.2.1\"",
    );
    let mut daemon = lab.m.start(
        &format!(
            "postcards --hops=watched --dev m0,m1 --json --config {}",
            rules.path()
        ),
        "hops are reported",
    );
    let from = lab.a.udp("10.9.1.1:5000");
    let to = listen(&lab.b, "10.9.2.1:7001");
    send(&from, &to, 30);
    send(&to, &listen(&lab.a, "10.9.1.1:5001"), 20);
    send(&from, &listen(&lab.b, "10.9.2.1:7002"), 10);
    let all = totals(&mut daemon);
    assert_eq!(all["stamped"], 30, "{all:#}");
    assert_eq!(all["unwatched"], 30, "{all:#}");
    assert_eq!(
        passage(&all, "m0", "m1", "interface")["sent"]["packets"],
        30
    );
}

#[test]
fn a_rule_of_the_interface_by_which_packets_leave_takes_the_routes() {
    let lab = Lab::new();
    for (dev, stamped) in [("m1", 30), ("m0", 0)] {
        let rules = TempFile::new(
            "hops.toml",
            format!("[[watch]]\nfor = \"postcards\"\ndev = \"{dev}\"\n"),
        );
        let line = format!(
            "postcards --hops=watched --dev m0,m1 --json --config {}",
            rules.path()
        );
        let mut daemon = lab.m.start(&line, "hops are reported");
        let from = lab.a.udp("10.9.1.1:5000");
        send(&from, &listen(&lab.b, "10.9.2.1:7001"), 30);
        let all = totals(&mut daemon);
        assert_eq!(all["stamped"], stamped, "{dev}: {all:#}");
        assert_eq!(all["unwatched"], 30 - stamped, "{dev}: {all:#}");
    }
}

#[test]
fn collectors_know_the_times_of_all_packets_between_interfaces() {
    const PACKETS: u64 = 200;
    let lab = Lab::new();
    let folder = hostint_testing::scratch::Folder::create();
    let store = folder.file("history.db");
    let mut collector = lab.b.start(
        &format!("collect --listen 10.9.2.1 --store {}", store.display()),
        "collecting",
    );
    let mut daemon = postcards(&lab.m, "--collector 10.9.2.1 --node-id 7");
    let (from, to) = (lab.a.udp("10.9.1.1:5000"), listen(&lab.b, "10.9.2.1:7001"));
    send(&from, &to, PACKETS as usize);
    // At its end it tells what it did not tell yet.
    let all = totals(&mut daemon);
    let through = passage(&all, "m0", "m1", "interface");
    let open = || HistoryReader::open(&store, Box::new(|_: &Evidence<'_>| None)).ok();
    let known = || {
        let span = Span {
            since_ns: 0,
            until_ns: i64::MAX as u64,
        };
        let query = PassageQuery {
            limit: 100,
            ..PassageQuery::default()
        };
        let found = open().and_then(|mut history| history.passages(&query, span).ok());
        let mut found = found.unwrap_or_default().into_iter();
        found.find(|one| one.in_interface.as_deref() == Some("m0"))
    };
    let is_whole = || {
        let known = known();
        let samples = |of: Option<LatencyFigures>| of.map(|figures| figures.samples);
        known.is_some_and(|known| {
            through["sent"]["packets"].as_u64() == samples(known.sent)
                && through["queued"]["packets"].as_u64() == samples(known.queued)
        })
    };
    await_that_or(is_whole, || format!("{through:#} {:#?}", known()));
    let known = known().unwrap();
    assert_eq!(known.node, NodeId(7));
    assert_eq!(known.out_interface.as_deref(), Some("m1"));
    for (end, figures) in [("sent", known.sent), ("queued", known.queued)] {
        let figures = figures.unwrap();
        assert_eq!(through[end]["mean_ns"], figures.mean_ns, "{end}");
        assert_eq!(through[end]["max_ns"], figures.max_ns, "{end}");
    }
    assert_eq!(collector.end(), Some(0));
}

#[test]
fn collectors_are_told_each_flow() {
    let lab = Lab::new();
    let collector = lab
        .b
        .start("collect --json --listen 10.9.2.1", "collecting");
    let mut daemon = postcards(&lab.m, "--collector 10.9.2.1 --node-id 7");
    let (from, to) = (lab.a.udp("10.9.1.1:5000"), listen(&lab.b, "10.9.2.1:7001"));
    send(&from, &to, 30);
    totals(&mut daemon);
    let received = || {
        let mut all = collector.json_lines();
        all.retain(|line| line["kind"] == "host-hop" && line["flow"]["dport"] == 7001);
        all
    };
    let is_whole = || {
        let last = received().pop();
        last.is_some_and(|last| last["host_hop"]["packets"] == 30)
    };
    await_that_or(is_whole, || format!("{:#?}", received()));
    for (told, line) in received().iter().zip(told(&daemon, 7001)) {
        assert_eq!(told["reporter_node"], 7);
        assert_eq!(told["host_hop"]["hop_ns"], line["hop_ns"], "{told}");
        assert_eq!(told["host_hop"]["reasons"], line["reasons"], "{told}");
    }
}
