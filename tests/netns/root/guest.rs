//! A guest that routes packets back to its host has a row of its own in their path, by one clock.

use hostint_testing::netns::{Daemon, Host, Lab, await_that, await_that_or, sh};
use hostint_testing::scratch::Folder;
use hostint_testing::watched_pair::is_settled;
use serde_json::Value;

use crate::exchange::burst;

/// The node id of the router m, which gives what comes from a to its guest, and gets it back.
const HOST: u64 = 9;

fn guest_of(m: &Host, g: &Host) {
    for (dev, end, net) in [("v0", "g0", 5), ("v1", "g1", 6)] {
        sh(&format!(
            "ip link add {dev} netns {m} type veth peer name {end} netns {g}
             ip -n {m} addr add 10.9.{net}.1/24 dev {dev}; ip -n {g} addr add 10.9.{net}.2/24 dev {end}
             ip -n {m} link set {dev} up; ip -n {g} link set {end} up",
            m = m.ns,
            g = g.ns
        ));
    }
    g.sh(
        "sysctl -qw net.ipv4.ip_forward=1 net.ipv4.conf.all.rp_filter=0 net.ipv4.conf.g0.rp_filter=0
         ip route add default via 10.9.6.1",
    );
    m.sh(
        "sysctl -qw net.ipv4.conf.all.rp_filter=0 net.ipv4.conf.v1.rp_filter=0
         ip route add 10.9.2.0/24 via 10.9.5.2 table 100
         ip rule add iif m0 to 10.9.2.0/24 lookup 100",
    );
}

/// The path over the host and its guest; null if it is not known yet.
fn path(b: &Host, store: &str) -> Value {
    let question = format!("history path --from 1 --to 2 --json --store {store}");
    let answer = b.try_hostint(&question).stdout;
    let answer: Value = serde_json::from_slice(&answer).unwrap_or_default();
    let paths = answer["paths"].as_array().cloned().unwrap_or_default();
    let over_guest = |path: &Value| path["nodes"] == serde_json::json!([1, HOST, HOST, 2]);
    paths.into_iter().find(over_guest).unwrap_or_default()
}

#[test]
fn a_slow_guest_is_named() {
    for encapsulation in ["over-tcp-udp", "vxlan-gpe"] {
        let lab = Lab::new();
        let g = lab.host("g");
        guest_of(&lab.m, &g);
        let folder = Folder::create();
        let store = folder.file("history.db").display().to_string();
        let collector = "--collector 10.9.2.1";
        let mut daemons: Vec<Daemon> = vec![lab.b.start(
            &format!("collect --listen 10.9.2.1 --store {store}"),
            "collecting on",
        )];
        for (host, dev, node) in [(&lab.a, "a0", 1), (&lab.b, "b0", 2)] {
            let flags = format!("--dev {dev} --node-id {node} {collector} --summary-period 1s");
            daemons.push(host.leasing_sink(&flags));
        }
        let line = format!("transit --dev m0,m1,v0,v1 --node-id {HOST} {collector}");
        daemons.push(lab.m.start(&line, "transit hop attached to v1"));
        lab.a.hostint(&format!(
            "source attach --dev a0 --encap {encapsulation} --max-hops 2"
        ));
        lab.a.hostint("source add-dest 10.9.2.1");
        await_that("the source knows what passes", || is_settled(&lab.a));
        // Ten datagrams of a burst leave the guest within about 8 ms.
        g.sh("tc qdisc add dev g1 root tbf rate 10mbit burst 2kb limit 1mb");
        let (from, to) = (lab.a.udp("10.9.1.1:5000"), lab.b.udp("10.9.2.1:6000"));
        let mut found = Value::Null;
        let is_told = |path: &Value| {
            let segments = path["segments"].as_array().cloned().unwrap_or_default();
            let kinds: Vec<_> = segments.iter().map(|one| one["kind"].as_str()).collect();
            kinds == ["wire", "hop", "guest", "hop", "wire"].map(Some)
                && segments[2]["latency"]["p99_ns"].as_i64() > Some(3_000_000)
                && segments[2]["loss"]["packets"].as_u64() > Some(0)
        };
        await_that_or(
            || {
                burst(&from, &to);
                found = path(&lab.b, &store);
                is_told(&found)
            },
            || format!("{encapsulation}: {:#}", path(&lab.b, &store)),
        );
        let segments = found["segments"].as_array().unwrap();
        let ends = |at: usize| (&segments[at]["from"]["node"], &segments[at]["to"]["node"]);
        assert_eq!(ends(2), (&HOST.into(), &HOST.into()), "{encapsulation}");
        for at in [1, 3] {
            let p99_ns = segments[at]["latency"]["p99_ns"].as_i64();
            assert!(p99_ns < Some(3_000_000), "{encapsulation}: {found:#}");
        }
        assert_eq!(
            segments[1]["loss"]["lost"], 0,
            "{encapsulation}: in the host"
        );
        assert_eq!(
            segments[2]["loss"]["lost"], 0,
            "{encapsulation}: in the guest"
        );
        assert_eq!(
            segments[3]["loss"],
            Value::Null,
            "{encapsulation}: told once"
        );
        assert_eq!(
            found["repeated_nodes"],
            serde_json::json!([]),
            "{encapsulation}"
        );
        let text = lab
            .b
            .hostint(&format!("history path --from 1 --to 2 --store {store}"));
        println!("{text}");
        assert!(text.contains("guest"), "{encapsulation}: {text}");
        assert!(!text.contains("more than once"), "{encapsulation}: {text}");
    }
}
