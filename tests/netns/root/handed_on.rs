//! A host whose sink measures packets, and that hands them on: no one behind it finds INT in them, and they are whole.

use std::net::UdpSocket;

use hostint_testing::netns::{Lab, await_that, await_that_or};

use crate::exchange::{exchange_tcp, noise};

const TO_B: &str = "10.9.2.1";
const PORT: u16 = 7301;
const DATA: usize = 200;
/// Bytes of the IP packet of such a datagram.
const DATAGRAM: usize = DATA + 28;

/// What the router hands on to b: segments with the option, and datagrams with something behind them.
fn handed_on(lab: &Lab) -> [u64; 2] {
    ["segments", "datagrams"].map(|name| lab.m.counted_by_nft(&format!("counter ip seen {name}")).0)
}

#[test]
fn a_router_with_a_sink_hands_on_packets_without_int() {
    let cases = [
        ("xdp", "ethtool -K a0 tx off"),
        ("xdp", ""),
        ("xdp --xdp-mode generic", ""),
        ("tc", "ethtool -K a0 tx off"),
        ("tc", ""),
    ];
    for (hook, offload) in cases {
        let sentence = format!("{hook} {offload}");
        let lab = Lab::new();
        lab.a.sh(offload);
        lab.m.sh(&format!(
            "nft add table ip seen; nft add counter ip seen segments; nft add counter ip seen datagrams
             nft 'add chain ip seen forward {{ type filter hook forward priority 0; }}'
             nft 'add rule ip seen forward ip daddr {TO_B} tcp option 253 exists counter name segments'
             nft 'add rule ip seen forward udp dport {PORT} ip length != {DATAGRAM} counter name datagrams'"
        ));
        let sink = format!("--dev m0 --node-id 3 --hook {hook}");
        let _m = lab.m.leasing_sink(&sink);
        let _a = lab.a.start(
            "source --dev a0 --node-id 1 --force",
            "source attached to a0",
        );
        lab.a.hostint(&format!("source add-dest {TO_B}"));
        await_that_or(
            || {
                let ways = lab.a.status()["source"]["peers"][0]["ways"].to_string();
                ways.contains("udp options") && ways.contains("tcp options")
            },
            || format!("{sentence}: {:#}", lab.a.status()["source"]),
        );
        let from = lab.a.enter(|| UdpSocket::bind(("10.9.1.1", 0))).unwrap();
        let to = lab.b.enter(|| UdpSocket::bind((TO_B, PORT))).unwrap();
        let mut got = [0; 2 * DATA];
        for number in 0..50 {
            let data = noise(number, DATA);
            from.send_to(&data, (TO_B, PORT)).unwrap();
            let len = to.recv(&mut got).unwrap();
            assert!(got[..len] == data, "{sentence}: a datagram has changed");
        }
        exchange_tcp(&lab.a, &lab.b, 7302, 3_000_000);
        let tagged = lab.a.count("source", "tagged");
        assert!(tagged > 1_000, "{sentence}: {tagged}");
        await_that("the sink has read all", || {
            lab.m.count("sink", "received") == tagged
        });
        // At XDP, one in 65,536 packets may have a checksum of either kind, and stays as it is: of these, hardly ever a third one.
        let most = if hook.starts_with("xdp") { 2 } else { 0 };
        let seen = handed_on(&lab);
        assert!(
            seen.iter().sum::<u64>() <= most,
            "{sentence}: packets with INT: {seen:?}"
        );
        let wrong = lab
            .b
            .sh("nstat -az | grep -E 'InErrs|InCsumErrors' | grep -v ' 0 ' || true");
        assert_eq!(wrong, "", "{sentence}: wrong checksums");
    }
}
