//! Interfaces of containers are timed as soon as they come, put back when others wipe them, and leave nothing when they go.

use std::time::Instant;

use hostint_testing::netns::{Daemon, Host, Lab, await_that, await_that_or, sh};
use hostint_testing::random::env_number;
use serde_json::Value;

use crate::exchange::exchange_udp;
use crate::foreign::{tcx_programs, wipe_tcx};

/// A daemon that times the packets of m0 and of all interfaces whose names begin with v.
fn postcards(host: &Host) -> Daemon {
    host.start("postcards --hops --dev m0,v* --json", "hops are reported")
}

/// A host that is connected with m by an interface of this name there; like a container, it is 10.9.3.1.
fn container(lab: &Lab, name: &str, dev: &str) -> Host {
    let host = lab.host(name);
    let (m, c) = (&lab.m.ns, &host.ns);
    sh(&format!(
        "ip -n {m} link add {dev} type veth peer name c0 netns {c}
         ip -n {m} addr add 10.9.3.2/24 dev {dev}; ip -n {m} link set {dev} up
         ip -n {c} addr add 10.9.3.1/24 dev c0; ip -n {c} link set c0 up
         ip -n {c} route add default via 10.9.3.2"
    ));
    host
}

fn has_programs(lab: &Lab, dev: &str) -> bool {
    tcx_programs(&lab.m, dev).iter().all(|hook| hook.len() == 1)
}

fn await_timed(lab: &Lab, dev: &str, daemon: &Daemon) {
    await_that_or(
        || has_programs(lab, dev),
        || format!("{dev} has no programs: {}", daemon.stderr()),
    );
}

/// Sends datagrams from a to a container, to this port, and back.
fn exchange(lab: &Lab, to: &Host, port: u16) {
    let from = lab.a.udp("10.9.1.1:5000");
    exchange_udp(&from, &to.udp(&format!("10.9.3.1:{port}")), 50, 200);
}

/// What was told last of the flow to this port.
fn told(daemon: &Daemon, port: u16) -> Option<Value> {
    let mut all = daemon.json_lines_of("host-hop").into_iter();
    all.rfind(|line| line["flow"]["dport"] == port)
}

fn await_told(daemon: &Daemon, port: u16) -> Value {
    await_that_or(
        || told(daemon, port).is_some(),
        || format!("nothing of port {port}: {}", daemon.stdout()),
    );
    told(daemon, port).unwrap()
}

fn hops(lab: &Lab) -> Value {
    let output = lab.m.try_hostint("status --json --flows 0");
    let status: Value = serde_json::from_slice(&output.stdout).unwrap();
    status["postcards"]["hops"].clone()
}

fn await_interfaces(lab: &Lab, count: usize) {
    await_that_or(
        || hops(lab)["interfaces"] == count,
        || format!("{:#}", hops(lab)),
    );
}

#[test]
fn an_interface_that_comes_is_timed_and_its_name_may_come_again() {
    let lab = Lab::new();
    let mut daemon = postcards(&lab.m);
    await_interfaces(&lab, 1);
    let first = container(&lab, "c", "v1");
    await_timed(&lab, "v1", &daemon);
    exchange(&lab, &first, 7001);
    let before = await_told(&daemon, 7001);
    assert_eq!(before["out_interface"], "v1", "{before}");
    sh(&format!("ip -n {} link del v1", lab.m.ns));
    await_interfaces(&lab, 1);

    let second = container(&lab, "d", "v1");
    await_timed(&lab, "v1", &daemon);
    exchange(&lab, &second, 7002);
    let after = await_told(&daemon, 7002);
    assert_eq!(after["out_interface"], "v1", "{after}");
    assert_ne!(after["out_ifindex"], before["out_ifindex"], "{after}");

    // What was told before is told by its own interface at the end, too.
    assert_eq!(daemon.end(), Some(0), "{}", daemon.stderr());
    let last = told(&daemon, 7001).unwrap();
    assert_eq!(last["out_ifindex"], before["out_ifindex"], "{last}");
}

#[test]
fn times_of_interfaces_that_are_gone_stay_in_the_sums() {
    let lab = Lab::new();
    let mut daemon = postcards(&lab.m);
    let there = container(&lab, "c", "v1");
    await_timed(&lab, "v1", &daemon);
    exchange(&lab, &there, 7001);
    let queued_to = |passages: &Value, to: Value| {
        let all = passages.as_array().unwrap().iter();
        let to = all.filter(|one| one["in_interface"] == "m0" && one["out_interface"] == to);
        to.map(|one| one["queued"]["packets"].as_u64().unwrap())
            .sum::<u64>()
    };
    assert_eq!(queued_to(&hops(&lab)["passages"], "v1".into()), 50);
    sh(&format!("ip -n {} link del v1", lab.m.ns));
    await_that_or(
        || queued_to(&hops(&lab)["passages"], Value::Null) == 50,
        || format!("{:#}", hops(&lab)),
    );
    let text = lab.m.hostint("status");
    assert!(text.contains("hops at m0, v* (1 interface)"), "{text}");
    assert!(text.contains("gone"), "{text}");
    assert_eq!(daemon.end(), Some(0), "{}", daemon.stderr());
    let text = daemon.stdout();
    let last: Value = serde_json::from_str(text.lines().last().unwrap()).unwrap();
    assert_eq!(queued_to(&last["passages"], Value::Null), 50, "{last:#}");
}

#[test]
fn programs_that_others_wipe_are_put_back() {
    let lab = Lab::new();
    let daemon = postcards(&lab.m);
    let there = container(&lab, "c", "v1");
    await_timed(&lab, "v1", &daemon);
    for (times, dev) in [(1, "v1"), (2, "m0"), (3, "v1")] {
        assert_eq!(wipe_tcx(&lab.m, dev), 2, "{dev}");
        await_that_or(
            || hops(&lab)["put_back"] == times,
            || format!("{dev}: {:#}", hops(&lab)),
        );
        assert!(has_programs(&lab, dev), "{dev}");
        let port = 7000 + times;
        exchange(&lab, &there, port);
        let line = await_told(&daemon, port);
        assert_eq!(line["out_interface"], "v1", "{line}");
    }
    let said = daemon.stderr();
    assert!(
        said.contains("the programs of postcards were taken off v1: attached again"),
        "{said}"
    );
}

#[test]
fn an_interface_that_gets_another_name_or_namespace_is_left_alone() {
    let lab = Lab::new();
    let daemon = postcards(&lab.m);
    let away = lab.host("c");
    let m = &lab.m.ns;
    sh(&format!(
        "ip -n {m} link add v1 type veth peer name w1; ip -n {m} link add v2 type veth peer name w2"
    ));
    await_timed(&lab, "v1", &daemon);
    await_timed(&lab, "v2", &daemon);
    sh(&format!(
        "ip -n {m} link set v1 name x1; ip -n {m} link set v2 netns {}",
        away.ns
    ));
    let is_bare = |host: &Host, dev: &str| tcx_programs(host, dev).concat().is_empty();
    await_that("x1 and v2 have no programs", || {
        is_bare(&lab.m, "x1") && is_bare(&away, "v2")
    });
    // A name that is asked for now.
    sh(&format!("ip -n {m} link set w1 name v3"));
    await_timed(&lab, "v3", &daemon);
    await_interfaces(&lab, 2);
}

#[test]
fn a_bridge_that_takes_an_interface_and_lets_it_go_changes_nothing() {
    let lab = Lab::new();
    let daemon = postcards(&lab.m);
    let m = &lab.m.ns;
    sh(&format!("ip -n {m} link add v1 type veth peer name w1"));
    await_timed(&lab, "v1", &daemon);
    let before = tcx_programs(&lab.m, "v1");
    sh(&format!(
        "ip -n {m} link add br0 type bridge; ip -n {m} link set v1 master br0; ip -n {m} link set v1 nomaster"
    ));
    // Events come in their order: all were seen when this one is.
    sh(&format!("ip -n {m} link add v2 type veth peer name w2"));
    await_timed(&lab, "v2", &daemon);
    assert_eq!(tcx_programs(&lab.m, "v1"), before);
    assert_eq!(hops(&lab)["put_back"], 0);
}

/// `HOSTINT_LONG=1000` is the long run; with `--nocapture` it says how long interfaces waited for their programs.
#[test]
fn interfaces_that_come_and_go_leak_nothing() {
    let rounds = env_number("HOSTINT_LONG", 30);
    let lab = Lab::new();
    let daemon = postcards(&lab.m);
    let there = container(&lab, "c", "v");
    await_timed(&lab, "v", &daemon);
    let descriptors = || {
        let folder = format!("/proc/{}/fd", daemon.pid());
        std::fs::read_dir(folder).unwrap().count()
    };
    await_interfaces(&lab, 2);
    let before = descriptors();
    let m = &lab.m.ns;
    let mut waits = Vec::new();
    for round in 0..rounds {
        let pair = |name: &str| format!("link add {name} type veth peer name w{name}");
        sh(&format!(
            "ip -n {m} {}; ip -n {m} {}; ip -n {m} link del va{round}",
            pair(&format!("va{round}")),
            pair(&format!("vb{round}")),
        ));
        // One of them stays until it is timed, the other one may go before.
        let came = Instant::now();
        await_timed(&lab, &format!("vb{round}"), &daemon);
        waits.push(came.elapsed());
        sh(&format!("ip -n {m} link del vb{round}"));
    }
    waits.sort();
    let (median, worst) = (waits[waits.len() / 2], waits[waits.len() - 1]);
    eprintln!(
        "{rounds} interfaces were timed after {median:?} (median), at the latest after {worst:?}"
    );
    await_interfaces(&lab, 2);
    await_that_or(
        || descriptors() <= before,
        || format!("{} descriptors, {before} before", descriptors()),
    );
    exchange(&lab, &there, 7001);
    await_told(&daemon, 7001);
    assert_eq!(hops(&lab)["left_out"], 0, "{}", daemon.stderr());
}

#[test]
fn an_interface_that_is_named_must_exist_and_a_pattern_need_not() {
    let lab = Lab::new();
    let output = lab
        .m
        .try_hostint("postcards --hops --dev m0,nowhere0 --once=100ms");
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("no interface nowhere0"), "{said}");
    let output = lab
        .m
        .try_hostint("postcards --hops --dev nowhere* --once=100ms");
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{said}");
}
