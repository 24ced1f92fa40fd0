//! Options do what they promise, and so do changes at run time.

use std::collections::HashSet;

use hostint_testing::netns::{Lab, sh};
use serde_json::Value;

use crate::exchange::{exchange_tcp, exchange_udp};

#[test]
fn destinations_change_live_by_name_address_and_prefix() {
    let lab = Lab::new();
    let a = &lab.a.ns;
    // ip netns exec lays this over /etc/hosts
    sh(&format!(
        "mkdir -p /etc/netns/{a}; echo '10.9.2.1 host-r' > /etc/netns/{a}/hosts"
    ));
    let _sinks = lab.tag("");
    lab.a.hostint("source del-dest 10.9.2.1");
    let (from, to) = (lab.a.udp("10.9.1.1:5000"), lab.b.udp("10.9.2.1:6000"));
    let mut expected = 0;
    for (change, tags) in [
        ("del-dest 10.9.9.9", false),
        ("add-dest --static host-r", true),
        ("add-dest --static 10.8.0.0/16 10.9.2.0/24", true),
        ("del-dest host-r", true),
        ("del-dest 10.9.2.0/24", false),
        ("add-dest --static 0.0.0.0/0", true),
    ] {
        let output = lab.a.try_hostint(&format!("source {change}"));
        assert_eq!(
            output.status.success(),
            change != "del-dest 10.9.9.9",
            "{change}"
        );
        exchange_udp(&from, &to, 5, 100);
        expected += if tags { 5 } else { 0 };
        assert_eq!(lab.a.count("source", "tagged"), expected, "after {change}");
    }
    let dests: Value = serde_json::from_str(&lab.a.hostint("source dests --json")).unwrap();
    let prefixes: HashSet<&str> = dests["dests"]
        .as_array()
        .unwrap()
        .iter()
        .map(|dest| dest["prefix"].as_str().unwrap())
        .collect();
    assert_eq!(prefixes, HashSet::from(["0.0.0.0/0", "10.8.0.0/16"]));
    let _ = std::fs::remove_dir_all(format!("/etc/netns/{a}"));
}

#[test]
fn a_source_for_host_int_writes_what_a_sink_restores_without_looking_at_the_tail() {
    // Who finishes checksums: the sender's device emulation, its stack, one on the way.
    for (finisher, setting) in [
        ("nobody", "true"),
        ("the sender", "ip netns exec A ethtool -K a0 tx off"),
        ("the router", "ip netns exec M ethtool -K m1 tx off"),
    ] {
        let lab = Lab::new();
        let setting = setting.replace('A', &lab.a.ns).replace('M', &lab.m.ns);
        sh(&format!("{setting} >/dev/null"));
        lab.a.sh("ip link set a0 gso_max_segs 1");
        let _sinks = lab.tag("--compat host-int");
        let (from, to) = (lab.a.udp("10.9.1.1:5000"), lab.b.udp("10.9.2.1:6000"));
        exchange_udp(&from, &to, 100, 1_400);
        exchange_tcp(&lab.a, &lab.b, 7000, 500_000);
        let [source, sink] = [lab.a.counters("source"), lab.b.counters("sink")];
        assert!(
            source["tagged"] > 300,
            "{finisher}: {source:?} {}",
            lab.a.status()["source"]["peers"]
        );
        assert_eq!(source["tagged"], sink["received"], "{finisher}");
        assert_eq!(sink["host_int"], sink["received"], "{finisher}");
        let errors = lab.a.checksum_errors() + lab.b.checksum_errors();
        assert_eq!(errors, 0, "{finisher} finishes checksums");
    }
}
