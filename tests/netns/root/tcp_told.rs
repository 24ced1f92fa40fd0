//! Collectors learn the state of each TCP connection, what limits it, and which host it is of.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};

use hostint_testing::netns::{Daemon, Lab, await_that_or};
use serde_json::Value;

/// The reports about connections to this port.
fn told(collect: &Daemon, port: u16) -> Vec<Value> {
    let text = collect.stdout();
    let lines = text
        .lines()
        .filter_map(|line| serde_json::from_str(line).ok());
    let mut all: Vec<Value> = lines.collect();
    all.retain(|line| line["kind"] == "tcp" && line["flow"]["dport"] == port);
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
        assert_eq!(one["hw_id"], 3, "{one}");
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
