//! Tagged packets that come in where no sink strips them are noticed, and stop.

use hostint_testing::netns::{Host, Lab, await_that, await_that_or, sh};
use serde_json::Value;

use crate::exchange::exchange_udp;

fn astray(host: &Host) -> Value {
    host.figures()["sink"]["astray"].clone()
}

/// A second link between m and b, by which m sends UDP.
fn second_link(lab: &Lab) {
    let (m, b) = (&lab.m.ns, &lab.b.ns);
    sh(&format!(
        "ip link add c0 netns {b} type veth peer name m2 netns {m}
         ip -n {b} addr add 10.9.3.1/24 dev c0; ip -n {m} addr add 10.9.3.2/24 dev m2
         ip -n {b} link set c0 up; ip -n {m} link set m2 up
         ip netns exec {b} sysctl -qw net.ipv4.conf.all.rp_filter=0 net.ipv4.conf.c0.rp_filter=0
         ip -n {m} route add 10.9.2.1/32 via 10.9.3.1 dev m2 table 100"
    ));
}

#[test]
fn a_path_past_the_sink_is_noticed_and_its_packets_go_untagged() {
    let lab = Lab::new();
    second_link(&lab);
    let _a = lab.a.leasing_sink("--dev a0 --node-id 1");
    let b = lab.b.leasing_sink("--dev b0 --node-id 2");
    lab.a.hostint("source attach --dev a0 --encap tunnel");
    lab.a.hostint("source add-dest 10.9.2.1");
    let (from, to) = (lab.a.udp("10.9.1.1:5000"), lab.b.udp("10.9.2.1:6000"));
    exchange_udp(&from, &to, 50, 1000);
    assert!(astray(&lab.b).is_null(), "packets pass the sink");

    lab.m.sh("ip rule add ipproto udp table 100");
    let send = || {
        from.send_to(b"which way?", "10.9.2.1:6000").unwrap();
    };
    await_that_or(
        || {
            send();
            astray(&lab.b)[0]["active"] == true
        },
        || format!("{} {}", lab.b.figures(), b.stderr()),
    );
    assert_eq!(astray(&lab.b)[0]["dev"], "c0");
    let text = String::from_utf8(lab.b.try_hostint("status").stdout).unwrap();
    assert!(text.contains("TAGGED PACKETS COME IN BY c0"), "{text}");
    assert!(text.contains("hostint sink --dev c0"), "{text}");
    await_that("the daemon says so, too", || {
        b.stderr().contains("tagged packets come in by c0")
    });

    lab.m.sh("ip rule del ipproto udp table 100");
    await_that("leases are granted again", || {
        b.stderr().contains("leases are granted again")
    });
    assert_eq!(astray(&lab.b)[0]["active"], false);
}

#[test]
fn packets_that_the_sink_strips_or_others_get_are_not_astray() {
    let bridge = "ip link add br0 type bridge
         ip addr del 10.9.2.1/24 dev b0; ip link set b0 master br0
         ip addr add 10.9.2.1/24 dev br0; ip link set br0 up
         ip route add default via 10.9.2.2";
    for (sentence, setup, dev) in [
        ("the interface itself", "true", "b0"),
        ("a bridge over its port", bridge, "br0"),
        ("a port under its bridge", bridge, "b0"),
    ] {
        let lab = Lab::new();
        lab.b.sh(setup);
        // A router with a sink of its own sees tagged packets that are for others.
        lab.m
            .sh("ip link add x0 type veth peer name x1; ip link set x0 up; ip link set x1 up");
        let _m = lab.m.sink("--dev x0 --node-id 3");
        let _b = lab.b.sink(&format!("--dev {dev} --node-id 2"));
        lab.a
            .hostint("source attach --dev a0 --encap over-tcp-udp --force --node-id 1");
        lab.a.hostint("source add-dest --static 10.9.2.1");
        let (from, to) = (lab.a.udp("10.9.1.1:5000"), lab.b.udp("10.9.2.1:6000"));
        exchange_udp(&from, &to, 200, 1000);
        assert_eq!(lab.b.count("sink", "received"), 200, "{sentence}");
        for host in [&lab.b, &lab.m] {
            assert!(astray(host).is_null(), "{sentence}: {}", astray(host));
        }
    }
}

#[test]
fn watchers_go_with_the_daemon_and_with_the_need() {
    let lab = Lab::new();
    let on = |host: &Host, dev: &str| {
        let found = host.try_hostint(&format!("doctor --json --dev {dev}"));
        let text = String::from_utf8(found.stdout).unwrap();
        text.contains("sink_astray")
    };
    second_link(&lab);
    let mut b = lab.b.sink("--dev b0 --node-id 2");
    await_that("the other interface is watched", || on(&lab.b, "c0"));
    assert!(!on(&lab.b, "b0"), "the sink strips there");
    lab.b
        .sh("ip link add y0 type veth peer name y1; ip link set y0 up");
    await_that("so is one that comes later", || on(&lab.b, "y0"));
    b.end();
    assert!(!on(&lab.b, "c0"), "nothing stays behind");
    let _b = lab.b.sink("--dev b0 --dev c0 --node-id 2");
    await_that("the new daemon watches", || on(&lab.b, "y0"));
    assert!(!on(&lab.b, "c0"), "the sink strips there now");
}
