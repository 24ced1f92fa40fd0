//! In mode mx packets keep their length over four routers, and the collector joins what all of these tell.

use std::collections::BTreeMap;
use std::net::UdpSocket;
use std::thread;
use std::time::{Duration, Instant};

use hostint_testing::netns::{Host, await_that, await_that_or};
use serde_json::Value;

use super::path_figures::{Chain, ChainFlags};
use crate::exchange::{exchange_tcp_with, exchange_udp};

const FLAGS: ChainFlags<'_> = ChainFlags {
    source: "--encap int-md --int-dscp 0x17 --mode mx --mx-sample 1",
    sink: "--int-dscp 0x17 --max-reports 10000",
    transit: "--carriers int-md --int-dscp 0x17",
    collect: "--http 127.0.0.1",
};

/// What the collector counted.
fn joins(chain: &Chain) -> BTreeMap<String, u64> {
    let text = chain.lab.b.sh("curl -s http://127.0.0.1:13277/metrics");
    let lines = text.lines().filter_map(|line| {
        let (name, value) = line
            .strip_prefix("hostint_collect_mx_")?
            .split_once("_total ")?;
        Some((name.to_owned(), value.parse().ok()?))
    });
    lines.collect()
}

fn passed(host: &Host) -> u64 {
    host.count("transit", "mx_passed")
}

/// Packets in INT-MX arrive, so the sink gave a lease for them.
fn begin(chain: &Chain, from: &UdpSocket, to: &UdpSocket) {
    await_that_or(
        || {
            exchange_udp(from, to, 10, 300);
            passed(&chain.routers[3]) > 0
        },
        || chain.lab.a.hostint("status"),
    );
}

/// Sends a packet each millisecond, as long as the count says.
fn send(from: &UdpSocket, to: &UdpSocket, count: u32) {
    let begun = Instant::now();
    let mut buffer = [0; 2000];
    for number in 1..=count {
        from.send_to(&[7; 600], to.local_addr().unwrap()).unwrap();
        to.recv_from(&mut buffer).unwrap();
        let due = Duration::from_millis(number.into());
        thread::sleep(due.saturating_sub(begun.elapsed()));
    }
}

#[test]
fn what_four_routers_tell_of_each_packet_is_joined() {
    let chain = Chain::with(&FLAGS);
    let (from, to) = (
        chain.lab.a.udp("10.9.11.1:5000"),
        chain.lab.b.udp("10.9.15.2:6000"),
    );
    begin(&chain, &from, &to);
    // Reports of the first, short packets are not paid for by their bytes.
    let settled = || joins(&chain).values().sum::<u64>();
    await_that("what came before is told", || {
        settled() >= passed(&chain.routers[0])
    });
    let (before, already) = (joins(&chain), passed(&chain.routers[0]));
    send(&from, &to, 5_000);
    // On a busy machine the lease may pause for a moment: packets go untagged then.
    let tagged = passed(&chain.routers[0]) - already;
    assert!(tagged > 1_000, "{tagged}");
    for router in &chain.routers {
        assert_eq!(router.count("transit", "pushed"), 0, "nothing is pushed");
        assert_eq!(router.count("transit", "postcard_lost"), 0);
        assert_eq!(passed(router) - already, tagged);
    }
    let more = |name: &str| joins(&chain)[name] - before[name];
    await_that_or(
        || more("joined") + more("incomplete") + more("without_sink") >= tagged,
        || format!("{tagged} are told: {before:?} {:?}", joins(&chain)),
    );
    let joined = more("joined");
    println!("{joined} of {tagged} are joined: {:?}", joins(&chain));
    assert!(
        joined * 1000 >= tagged * 999,
        "{before:?} {:?}",
        joins(&chain)
    );
    let path = || chain.path(60);
    await_that("the history has the path", || path()["nodes"].is_array());
    let path = path();
    let segments = path["segments"].as_array().unwrap();
    assert_eq!(segments.len(), 9, "{path}");
    let hops = segments.iter().filter(|one| one["kind"] == "hop");
    for hop in hops {
        assert!(hop["latency"]["p50_ns"].as_i64().unwrap() > 0, "{hop}");
    }
    // One router tells no more: while its last words are not old, the path is not told without it.
    send(&from, &to, 100);
    let silent = &chain.routers[1];
    silent.sh("nft add table ip hush && nft 'add chain ip hush out { type filter hook output priority 0; }' && nft add rule ip hush out udp dport 32766 drop");
    let before = joins(&chain);
    send(&from, &to, 300);
    await_that_or(
        || joins(&chain)["incomplete"] >= before["incomplete"] + 200,
        || format!("incompletes are told: {:?}", joins(&chain)),
    );
}

#[test]
fn connections_and_datagrams_carry_int_mx_and_come_whole() {
    let flags = ChainFlags {
        source: "--encap int-md --int-dscp 0x17 --mode mx --superpackets no-gso",
        sink: "--int-dscp 0x17 --allow 10.9.11.1",
        ..FLAGS
    };
    let chain = Chain::with(&flags);
    let lab = &chain.lab;
    lab.a.hostint("source add-dest --static 10.9.15.2");
    let (from, to) = (lab.a.udp("10.9.11.1:5000"), lab.b.udp("10.9.15.2:6000"));
    exchange_udp(&from, &to, 300, 1_400);
    let datagrams = passed(&chain.routers[3]);
    assert!(datagrams >= 300, "{datagrams}");
    exchange_tcp_with(&lab.a, &lab.b, "10.9.15.2:7000".parse().unwrap(), 2_000_000);
    let segments = passed(&chain.routers[3]) - datagrams;
    assert!(segments >= 1_300, "{segments}");
    let stripped = lab.b.count("sink", "received");
    assert!(stripped >= datagrams + segments, "{stripped}");
    assert_eq!(lab.b.checksum_errors(), 0, "all was restored");
    let status = lab.a.hostint("status");
    assert!(
        status.contains("int-md dscp 0x17/0x3f, mode mx, 1 of 64 packets reported"),
        "{status}"
    );
}

#[test]
fn losses_are_told_by_segment_as_with_entries() {
    let chain = Chain::with(&FLAGS);
    let (from, to) = (
        chain.lab.a.udp("10.9.11.1:5000"),
        chain.lab.b.udp("10.9.15.2:6000"),
    );
    begin(&chain, &from, &to);
    // What comes in at the third router for this port does not leave it.
    chain.routers[2].sh(
        "nft add table ip lab; nft 'add chain ip lab lossy { type filter hook forward priority 0; }'
         nft add rule ip lab lossy udp dport 7003 drop",
    );
    let lost = |path: &Value| -> Vec<(u64, u64)> {
        let segments = path["segments"].as_array().cloned().unwrap_or_default();
        let hops = segments.iter().filter(|one| one["kind"] == "hop");
        let told = hops
            .filter_map(|hop| Some((hop["from"]["node"].as_u64()?, hop["loss"]["lost"].as_u64()?)));
        told.collect()
    };
    // Losses of the time before the first report of the path are those of no segment.
    await_that("losses of segments are known", || {
        exchange_udp(&from, &to, 10, 300);
        lost(&chain.path(120)).len() == 4
    });
    // A flow that begins while the lease pauses goes untagged.
    let tagged = || chain.lab.a.count("source", "tagged");
    let (before, mut ports) = (tagged(), 5001..);
    await_that("a flow is tagged", || {
        let port = ports.next().unwrap();
        let another = chain.lab.a.udp(&format!("10.9.11.1:{port}"));
        for _ in 0..50 {
            another.send_to(&[7; 300], "10.9.15.2:7003").unwrap();
        }
        tagged() >= before + 50
    });
    let gone = tagged() - before;
    let mut known = Vec::new();
    await_that_or(
        || {
            exchange_udp(&from, &to, 10, 300);
            known = lost(&chain.path(120));
            known.contains(&(13, gone))
        },
        || {
            format!(
                "the third router lost {gone}: {}",
                chain.path(120)["segments"]
            )
        },
    );
}
