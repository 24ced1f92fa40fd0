//! Collectors learn the state of each TCP connection, what limits it, and which host it is of.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::Command;

use hostint_testing::collector::Collector;
use hostint_testing::netns::{Daemon, Lab, await_that_or};
use hostint_testing::scratch::Folder;
use serde_json::Value;

use super::loss_split::await_tagging;

/// The reports about connections to this port.
fn told(collect: &Daemon, port: u16) -> Vec<Value> {
    let mut all = collect.json_lines_of("tcp");
    all.retain(|line| line["flow"]["dport"] == port);
    all
}

fn news(all: &[Value]) -> Vec<&str> {
    let news = all
        .iter()
        .filter_map(|one| one["connection"]["why"].as_str());
    news.collect()
}

#[test]
fn a_collector_gets_a_connection_at_its_beginning_in_each_period_and_at_its_end() {
    let lab = Lab::new();
    let collect = lab
        .b
        .start("collect --json --listen 10.9.2.1", "collecting");
    let listener = lab.b.enter(|| TcpListener::bind("10.9.2.1:7001")).unwrap();
    let mut client = lab.a.enter(|| TcpStream::connect("10.9.2.1:7001")).unwrap();
    let (mut server, _) = listener.accept().unwrap();
    // The connection was open before.
    let _tcp = lab.a.start(
        "tcp --collector 10.9.2.1 --node-id 7 --report-period 1s --sample-period 200ms --node-name web-1",
        "connections are watched",
    );
    let has = |why: &str| news(&told(&collect, 7001)).contains(&why);
    await_that_or(|| has("open"), || collect.stdout());
    client.write_all(&[7; 100_000]).unwrap();
    let mut bytes = vec![0; 100_000];
    server.read_exact(&mut bytes).unwrap();
    await_that_or(|| has("sample"), || collect.stdout());
    drop(client);
    drop(server);
    // An ending is told twice.
    let ended = || {
        let all = told(&collect, 7001);
        news(&all).iter().filter(|why| **why == "end").count() == 2
    };
    await_that_or(ended, || collect.stdout());
    let all = told(&collect, 7001);
    let id = all[0]["connection"]["id"].as_u64().unwrap();
    for one in &all {
        assert_eq!(one["reporter_node"], 7, "{one}");
        assert_eq!(one["hw_id"], 5, "{one}");
        assert_eq!(one["connection"]["id"], id, "{one}");
    }
    let last = &all.last().unwrap()["connection"];
    assert_eq!(
        last["tcp"]["bytes_acked"], 100_002,
        "SYN and FIN count: {last}"
    );
    let segments = |name: &str| last["tcp"][name].as_u64().unwrap();
    assert!(segments("segments_out") > segments("data_segments_out"));
}

#[test]
fn a_history_keeps_connections_and_what_limits_them() {
    let lab = Lab::new();
    let folder = Folder::create();
    let store = folder.file("history.db").display().to_string();
    let args = ["--listen", "10.9.2.1:32766", "--store", &store];
    let collector = lab
        .b
        .enter(|| Collector::start_with(Command::new(&lab.b.binary), &args));
    let _tcp = lab.a.start(
        "tcp --collector 10.9.2.1 --node-id 7 --report-period 1s --sample-period 200ms --node-name web-1",
        "connections are watched",
    );
    let listener = lab.b.enter(|| TcpListener::bind("10.9.2.1:7001")).unwrap();
    let mut client = lab.a.enter(|| TcpStream::connect("10.9.2.1:7001")).unwrap();
    let (mut server, _) = listener.accept().unwrap();
    client.write_all(&[7; 100_000]).unwrap();
    let mut bytes = vec![0; 100_000];
    server.read_exact(&mut bytes).unwrap();
    let history = |asked: &str| -> Value {
        let line = format!("history tcp {asked} --json --store {store}");
        let output = lab.b.try_hostint(&line);
        serde_json::from_slice(&output.stdout).unwrap_or_default()
    };
    let state = || history("--sort newest")["connections"][0]["state"].clone();
    await_that_or(|| state() == "open", || history("").to_string());
    let metrics = || lab.b.enter(|| collector.get("/metrics"));
    let line = "hostint_host_tcp_connections{node=\"7\",limited=\"application\"} 1\n";
    await_that_or(|| metrics().contains(line), metrics);
    drop(client);
    drop(server);
    await_that_or(|| state() == "ended", || history("").to_string());
    // The names of hosts follow within seconds.
    let named = || history("--node web-1 --limited application")["connections"][0].clone();
    await_that_or(
        || named()["flow"]["dport"] == 7001,
        || history("").to_string(),
    );
    assert_eq!(named()["tcp"]["bytes_acked"], 100_002, "{}", named());
    let sums = || history("--by pair")["tcp_sums"][0].clone();
    // The connection began while the collector ran, so all of it is new.
    await_that_or(|| sums()["bytes_acked"] == 100_002, || sums().to_string());
    assert_eq!(sums()["peer"], "10.9.2.1");
    assert_eq!(sums()["limited"], "application");
    assert_eq!(
        (&sums()["connections"], &sums()["open"]),
        (&1.into(), &0.into())
    );
    let text = lab.b.hostint(&format!("history tcp --store {store}"));
    assert!(
        text.contains("web-1 (7)") && text.contains("ended"),
        "{text}"
    );
}

/// The last state of the connection to port 7001 in a history.
fn kept(lab: &Lab, store: &str) -> Value {
    let output = lab
        .b
        .try_hostint(&format!("history tcp --sort newest --json --store {store}"));
    let found: Value = serde_json::from_slice(&output.stdout).unwrap_or_default();
    let all = found["connections"].as_array().cloned().unwrap_or_default();
    let mut ours = all
        .into_iter()
        .filter(|one| one["flow"]["dport"] == 7001 && one["state"] == "ended");
    ours.next().unwrap_or_default()
}

#[test]
fn loss_that_int_counts_stands_beside_retransmissions() {
    let lab = Lab::new();
    let folder = Folder::create();
    let store = folder.file("history.db").display().to_string();
    let _collect = lab.b.start(
        &format!("collect --json --listen 10.9.2.1 --store {store}"),
        "collecting",
    );
    let to = "--collector 10.9.2.1 --summary-period 1s --loss-timeout 100ms";
    let _a = lab.a.leasing_sink(&format!("--dev a0 --node-id 1 {to}"));
    let _b = lab.b.leasing_sink(&format!("--dev b0 --node-id 2 {to}"));
    lab.a.hostint("source attach --dev a0");
    lab.a.hostint("source add-dest 10.9.2.1");
    let watched = await_tagging(&lab, &lab.b.udp("10.9.2.1:6000"));
    drop(watched);
    let _tcp = lab.a.start(
        "tcp --collector 10.9.2.1 --report-period 1s --sample-period 200ms",
        "connections are watched",
    );
    // Each fiftieth long packet is lost.
    lab.m.sh(
        "nft add table ip lab; nft 'add chain ip lab f { type filter hook forward priority 0; }'
         nft add rule ip lab f iifname m0 meta length 900-1600 numgen inc mod 50 == 7 drop",
    );
    lab.a.sh("ethtool -K a0 tso off gso off");
    let listener = lab.b.enter(|| TcpListener::bind("10.9.2.1:7001")).unwrap();
    let mut client = lab.a.enter(|| TcpStream::connect("10.9.2.1:7001")).unwrap();
    let (mut server, _) = listener.accept().unwrap();
    let reader = std::thread::spawn(move || {
        let mut all = Vec::new();
        server.read_to_end(&mut all).unwrap();
        all.len()
    });
    client.write_all(&vec![7; 1_000_000]).unwrap();
    drop(client);
    assert_eq!(reader.join().unwrap(), 1_000_000);
    let number = |one: &Value, name: &str| one["int"][name].as_u64();
    // The counts of the last packets come within the period of summaries.
    let is_whole = || {
        let one = kept(&lab, &store);
        number(&one, "lost") > Some(0) && number(&one, "unseen") < Some(10)
    };
    await_that_or(is_whole, || format!("{:#}", kept(&lab, &store)));
    let one = kept(&lab, &store);
    let tcp = |name: &str| one["tcp"][name].as_u64().unwrap();
    let retransmitted = tcp("total_retrans");
    let lost = number(&one, "lost").unwrap();
    assert!(retransmitted >= lost, "each was sent again: {one:#}");
    let seen = number(&one, "arrived").unwrap() + lost;
    assert!(seen <= tcp("segments_out") + 8, "{one:#}");
    let spurious = number(&one, "spurious_least").unwrap();
    assert!(spurious <= retransmitted - lost, "{one:#}");
    assert_eq!(one["sink"], 2, "{one:#}");
}
