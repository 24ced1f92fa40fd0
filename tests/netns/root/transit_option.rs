//! A router fills in TCP option 114, and the sender sees which hop has how long a queue.

use std::collections::BTreeSet;
use std::process::Command;

use hostint_testing::collector::Collector;
use hostint_testing::netns::{Daemon, Lab, await_that, await_that_or};
use hostint_testing::scratch::Folder;
use serde_json::Value;

use super::tcp_option::{Conversation, SERVER, last, told, watch};

const SERVER6: &str = "[fd09:2::1]:7001";
const HOP: &str = "--dev m0,m1 --node-id 9 --carriers tcp-int";
/// The option's queues are told in steps of so many bytes.
const STEP: u64 = 8_192;
const ASK: &str = "--option all --option-period 1ms";

/// Each worst sample that was told of a connection.
fn worst(daemon: &Daemon, port: u16) -> Vec<Value> {
    let told = told(daemon, port).into_iter();
    let samples = told.map(|state| state["worst"].clone());
    samples.filter(Value::is_object).collect()
}

/// The device finishes no checksums, so those that the router changed are seen.
fn finish_checksums(lab: &Lab) {
    for dev in ["m0", "m1"] {
        lab.m.sh(&format!("ethtool -K {dev} tx off"));
    }
}

/// Bytes in the root queue of the router's interface to the server.
fn backlog(lab: &Lab) -> u64 {
    let text = lab.m.sh("tc -s -j qdisc show dev m1");
    let list: Value = serde_json::from_str(&text).unwrap();
    let mut all = list.as_array().unwrap().iter();
    let root = all.find(|qdisc| qdisc["root"] == true).unwrap();
    root["backlog"].as_u64().unwrap()
}

fn filled(lab: &Lab) -> u64 {
    lab.m.count("transit", "option_filled")
}

#[test]
fn the_sender_sees_the_queue_of_a_router() {
    let lab = Lab::new();
    lab.add_ipv6();
    finish_checksums(&lab);
    lab.m.hostint(&format!("transit attach {HOP}"));
    lab.m
        .sh("tc qdisc add dev m1 root tbf rate 50mbit burst 20kb limit 300kb");
    let asks = watch(&lab.a, ASK);
    let _echoes = watch(&lab.b, ASK);
    for server in [SERVER, SERVER6] {
        let mut conversation = Conversation::begin_with(&lab, server, 2_000_000);
        let port = conversation.port();
        let queue = |sample: &Value| sample["queue_bytes"].as_u64().unwrap_or_default();
        await_that_or(
            || {
                conversation.exchange(1);
                let samples = worst(&asks, port);
                samples.iter().any(|sample| queue(sample) > 10 * STEP)
            },
            || format!("{server}: {:#}", last(&asks, port)),
        );
        for sample in worst(&asks, port) {
            assert_eq!(sample["hop"], 1, "{server}: {sample:#}");
            assert_eq!(sample["link_gbit_s"], 10, "a veth says so: {sample:#}");
            assert!(queue(&sample) <= 300 << 10, "{server}: {sample:#}");
        }
        assert!(conversation.end() > 0);
    }
    assert_eq!(lab.a.checksum_errors() + lab.b.checksum_errors(), 0);
    assert!(filled(&lab) > 0);
    assert_eq!(lab.m.count("transit", "option_malformed"), 0);

    let mut conversation = Conversation::begin_with(&lab, SERVER, 20_000);
    lab.m.hostint("transit detach");
    let port = conversation.port();
    await_that("requests are sent", || {
        conversation.exchange(1);
        last(&asks, port)["requests"].as_u64() >= Some(4)
    });
    assert_eq!(last(&asks, port)["samples"], 0, "nobody fills them in");
}

/// Datagrams wait in a class that lets one go each second or so; segments are in another one, which never waits.
fn standing_queue(lab: &Lab) {
    let mac = |host: &hostint_testing::netns::Host, dev: &str| {
        let text = host.sh(&format!("cat /sys/class/net/{dev}/address"));
        text.trim().to_owned()
    };
    let (server, router) = (mac(&lab.b, "b0"), mac(&lab.m, "m1"));
    // Questions of ARP would wait, too.
    lab.m.sh(&format!(
        "ip neigh replace 10.9.2.1 lladdr {server} dev m1 nud permanent
         tc qdisc add dev m1 root handle 1: htb default 20
         tc class add dev m1 parent 1: classid 1:10 htb rate 1gbit burst 1mb
         tc class add dev m1 parent 1: classid 1:20 htb rate 8kbit burst 1600
         tc qdisc add dev m1 parent 1:20 pfifo limit 1000
         nft add table ip classes
         nft 'add chain ip classes f {{ type filter hook forward priority 0; }}'
         nft 'add rule ip classes f meta l4proto tcp meta priority set 1:10'"
    ));
    lab.b.sh(&format!(
        "ip neigh replace 10.9.2.2 lladdr {router} dev b0 nud permanent"
    ));
    let socket = lab.a.udp("10.9.1.1:0");
    for _ in 0..600 {
        socket.send_to(&[0; 1_400], "10.9.2.1:9").unwrap();
    }
    await_that("datagrams wait", || backlog(lab) > 80 * STEP);
}

#[test]
fn the_depth_of_a_queue_is_told_within_a_step() {
    let lab = Lab::new();
    finish_checksums(&lab);
    lab.m
        .hostint(&format!("transit attach {HOP} --link-speed 25G"));
    standing_queue(&lab);
    let asks = watch(&lab.a, ASK);
    let _echoes = watch(&lab.b, ASK);
    let mut conversation = Conversation::begin_with(&lab, SERVER, 1_000);
    let port = conversation.port();
    let mut seen = BTreeSet::new();
    for round in 0..5 {
        let (most, lines) = (backlog(&lab), told(&asks, port).len());
        // What was read before this round is in the next line, if it is in any.
        let sample = |asks: &Daemon| {
            let later = told(asks, port).into_iter().skip(lines + 1);
            let mut samples = later.map(|state| state["worst"].clone());
            samples.find(Value::is_object)
        };
        await_that_or(
            || {
                conversation.exchange(20);
                sample(&asks).is_some()
            },
            || format!("{:#}", last(&asks, port)),
        );
        let sample = sample(&asks).unwrap();
        let least = backlog(&lab);
        let told = sample["queue_bytes"].as_u64().unwrap();
        assert!(told <= most + STEP, "round {round}: {told} of {most}");
        assert!(told + STEP >= least, "round {round}: {told} of {least}");
        assert_eq!(sample["hop"], 1, "{sample:#}");
        assert_eq!(sample["link_gbit_s"], 25, "{sample:#}");
        seen.insert(told);
    }
    assert!(!seen.contains(&0), "{seen:?}");
    assert_eq!(lab.a.checksum_errors() + lab.b.checksum_errors(), 0);
}

#[test]
fn with_waits_the_time_in_the_queue_is_part_of_the_latency() {
    let lab = Lab::new();
    let hop = format!("transit {HOP} --waits");
    let mut daemon = lab.m.start(&hop, "transit hop attached to m1");
    await_that("waits are told", || daemon.stderr().contains("waits in"));
    // A full queue takes a tenth of a second.
    lab.m
        .sh("tc qdisc add dev m1 root tbf rate 16mbit burst 20kb limit 200kb");
    let asks = watch(&lab.a, ASK);
    let _echoes = watch(&lab.b, ASK);
    let mut conversation = Conversation::begin_with(&lab, SERVER, 500_000);
    let port = conversation.port();
    await_that_or(
        || {
            conversation.exchange(1);
            let samples = worst(&asks, port);
            let mut times = samples.iter().map(|sample| &sample["latency_ns"]);
            times.any(|ns| ns.as_u64() > Some(40_000_000))
        },
        || format!("{:#}", last(&asks, port)),
    );
    assert_eq!(daemon.end(), Some(0));
    assert!(conversation.end() > 0);
}

#[test]
fn a_history_keeps_the_worst_hop_of_a_connection() {
    let lab = Lab::new();
    let hop = format!("transit {HOP} --collector 10.9.2.1 --node-name leaf-1");
    let _hop = lab.m.start(&hop, "transit hop attached to m1");
    lab.m
        .sh("tc qdisc add dev m1 root tbf rate 50mbit burst 20kb limit 300kb");
    let folder = Folder::create();
    let store = folder.file("history.db").display().to_string();
    let args = ["--listen", "10.9.2.1:32766", "--store", &store];
    let _collector = lab
        .b
        .enter(|| Collector::start_with(Command::new(&lab.b.binary), &args));
    let told = "--collector 10.9.2.1 --node-id 7 --report-period 1s --http 127.0.0.1";
    let _asks = watch(&lab.a, &format!("{ASK} {told}"));
    let _echoes = watch(&lab.b, ASK);
    let mut conversation = Conversation::begin_with(&lab, SERVER, 500_000);
    let history = |form: &str| -> String {
        let line = format!("history tcp --sort bytes {form} --store {store}");
        let output = lab.b.try_hostint(&line);
        String::from_utf8(output.stdout).unwrap()
    };
    let worst = || -> Value {
        let answer: Value = serde_json::from_str(&history("--json")).unwrap_or_default();
        answer["connections"][0]["option"]["worst"].clone()
    };
    // A report tells the worst since the one before: without traffic it tells none.
    await_that_or(
        || {
            conversation.exchange(1);
            let worst = worst();
            worst["queue_bytes"].as_u64() >= Some(STEP) && worst["hop"] == 1 && worst["node"] == 9
        },
        || history("--json"),
    );
    // The names of hosts follow within seconds.
    await_that_or(
        || {
            conversation.exchange(1);
            history("").contains("  1 is leaf-1 (9): ")
        },
        || history(""),
    );
    assert!(history("").contains("worst hop"));
    let csv = history("--csv");
    let heads = csv.lines().next().unwrap_or_default();
    assert!(heads.contains("option_worst_queue_bytes"), "{csv}");
    // Each sample counts, also those that collectors are not told one by one.
    let page = || super::metrics::get(&lab.a, 13280, "/metrics").1;
    for name in [
        "hostint_tcp_option_requests_total",
        "hostint_tcp_option_samples_total",
        "hostint_tcp_path_latency_seconds_count",
        "hostint_tcp_path_queue_bytes_count",
    ] {
        let value = || -> f64 {
            let page = page();
            let line = page.lines().find(|line| line.starts_with(name));
            let value = line.and_then(|line| line.rsplit(' ').next());
            value.unwrap_or_default().parse().unwrap_or_default()
        };
        await_that_or(|| value() > 0.0, || format!("{name}: {}", page()));
    }
    assert!(conversation.end() > 0);
}

#[test]
fn status_shows_what_is_filled_in() {
    let lab = Lab::new();
    lab.m.hostint(&format!("transit attach {HOP} --hold 2ms"));
    let status = lab.m.figures();
    let shown = &status["transit"]["interfaces"][1];
    assert_eq!(shown["carriers"], serde_json::json!(["tcp-int"]));
    assert_eq!(shown["hold_ns"], 2_000_000);
    assert_eq!(shown["link_mbit"], 10_000, "a veth says so");
    let text = lab.m.hostint("status");
    assert!(text.contains("tcp-int"), "{text}");
    assert!(text.contains("values held for 2"), "{text}");
    assert!(text.contains("link 10,000 Mbit/s"), "{text}");
    // Another kind of hop in its place fills nothing in.
    lab.m.hostint("transit attach --dev m0,m1 --node-id 9");
    let status = lab.m.figures();
    assert!(status["transit"]["interfaces"][1]["hold_ns"].is_null());
    assert!(status["transit"]["interfaces"][1]["link_mbit"].is_null());
}
