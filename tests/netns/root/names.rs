//! Names on the watchlist follow DNS, exporters without a name may have that of DNS, and lines have names beside IDs.

use std::os::unix::fs::PermissionsExt;

use hostint_testing::collector::Collector;
use hostint_testing::load::Load;
use hostint_testing::netns::{Host, Lab, await_that, await_that_or};
use hostint_testing::scratch::TempFile;
use serde_json::Value;

use crate::exchange::exchange_udp;
use crate::name_server::{NAME, NameServer};

#[test]
fn a_name_that_moves_is_followed_and_one_that_is_lost_stays() {
    let lab = Lab::new();
    lab.b.sh("ip addr add 10.9.2.7/24 dev b0");
    let names = NameServer::start(&lab.a, &[[10, 9, 2, 1]]);
    let a = lab.a.sink("--dev a0 --node-id 1");
    let _b = lab.b.sink("--dev b0 --node-id 2");
    lab.a.hostint("source attach --dev a0 --encap over-tcp-udp");
    lab.a
        .hostint("source add-dest --static host-r.example.org.");
    let from = lab.a.udp("10.9.1.1:5000");
    let old = lab.b.udp("10.9.2.1:6000");
    let new = lab.b.udp("10.9.2.7:6000");
    exchange_udp(&from, &old, 5, 100);
    exchange_udp(&from, &new, 5, 100);
    assert_eq!(lab.a.count("source", "tagged"), 5);

    names.set(&[[10, 9, 2, 7]]);
    let rules = || lab.a.hostint("source rules");
    await_that("the name means the new address", || {
        rules().contains("host-r.example.org. (10.9.2.7)")
    });
    exchange_udp(&from, &old, 5, 100);
    exchange_udp(&from, &new, 5, 100);
    assert_eq!(lab.a.count("source", "tagged"), 10);
    assert!(a.stderr().contains("is 10.9.2.7 now"), "{}", a.stderr());

    names.set(&[]);
    await_that("the loss is told", || {
        a.stderr()
            .contains("cannot find host-r.example.org. any more, so it stays 10.9.2.7")
    });
    exchange_udp(&from, &new, 5, 100);
    assert_eq!(lab.a.count("source", "tagged"), 15);
}

/// The exporters of a collector: node, name, and where that comes from.
fn exporters(lab: &Lab, collector: &Collector) -> Vec<(u64, String, String)> {
    let status = lab.b.enter(|| collector.status());
    let all = status["exporters"].as_array().unwrap().iter();
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let each = all.map(|one| {
        let node = one["node"].as_u64().unwrap();
        (node, text(&one["name"]), text(&one["name_origin"]))
    });
    each.collect()
}

#[test]
fn dns_names_exporters_that_tell_no_name_if_it_is_to_be_asked() {
    let lab = Lab::new();
    let names = NameServer::start(&lab.b, &[]);
    let start = |port: &str, more: &[&str]| {
        let command = lab.b.command(lab.b.binary.to_str().unwrap(), &[]);
        let listen = ["--listen", port];
        Collector::start_with(command, &[&listen[..], more].concat())
    };
    let plain = start("10.9.2.1:40001", &[]);
    let asking = start("10.9.2.1:40002", &["--reverse-dns"]);
    let report = |port: u16| {
        let line = "--dev a0 --node-id 1 --no-identity --collector 10.9.2.1";
        let mut sink = lab.a.sink(&format!("{line}:{port}"));
        lab.b
            .hostint("source attach --dev b0 --encap over-tcp-udp --node-id 2 --force");
        lab.b.hostint("source add-dest --static 10.9.1.1");
        let (from, to) = (lab.b.udp("10.9.2.1:5000"), lab.a.udp("10.9.1.1:6000"));
        exchange_udp(&from, &to, 5, 100);
        lab.b.hostint("source detach");
        sink.end();
    };
    let expected = |name: &str, origin: &str| vec![(1, name.to_owned(), origin.to_owned())];
    let is_shown = |collector: &Collector, name: &str, origin: &str| {
        let holds = || exporters(&lab, collector) == expected(name, origin);
        await_that_or(holds, || {
            format!("never {name:?}: {:?}", exporters(&lab, collector))
        });
    };
    report(40001);
    is_shown(&plain, "", "");
    assert_eq!(names.pointers(), 0, "nothing is asked unless it is to be");
    report(40002);
    is_shown(&asking, NAME, "dns");
    assert_eq!(names.pointers(), 1, "once");
}

#[test]
fn lines_of_a_collector_have_names_beside_ids() {
    let lab = Lab::new();
    let text = lab.b.start("collect --listen 10.9.2.1", "collecting");
    let json = "collect --json --listen 10.9.2.1:32767 --name 2=db";
    let json = lab.b.start(json, "collecting");
    let to = "--collector 10.9.2.1,10.9.2.1:32767 --report-period 100ms";
    let _a = lab
        .a
        .leasing_sink(&format!("--dev a0 --node-id 1 --node-name web-1 {to}"));
    let _b = lab
        .b
        .leasing_sink(&format!("--dev b0 --node-id 2 --node-name db-7 {to}"));
    lab.a.hostint("source attach --dev a0");
    lab.a.hostint("source add-dest 10.9.2.1");
    let load = Load::start(&lab.a, &lab.b, "10.9.1.1", "10.9.2.1");
    await_that("lines have the names that hosts tell", || {
        text.stdout().contains("  node web-1 (1) -> db-7 (2)  ")
    });
    let names = r#""names":[{"node":1,"name":"web-1"},{"node":2,"name":"db"}]"#;
    await_that("JSON has the name that the user gave", || {
        json.stdout().contains(names)
    });
    drop(load);
}

/// The names in a host's status: node, name, origin, and whether it is contested.
fn names_of(host: &Host) -> Vec<(u64, String, String, bool)> {
    let status = host.figures();
    let names = status["names"].as_array().cloned().unwrap_or_default();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let each = names.iter().map(|one| {
        (
            one["node"].as_u64().unwrap(),
            text(&one["name"]),
            text(&one["origin"]),
            one["contested"] == true,
        )
    });
    each.collect()
}

/// Waits until a host's status has these names.
fn await_names(host: &Host, expected: &[(u64, &str, &str, bool)]) {
    let expected: Vec<_> = expected
        .iter()
        .map(|(node, name, origin, contested)| {
            (*node, (*name).to_owned(), (*origin).to_owned(), *contested)
        })
        .collect();
    await_that_or(
        || names_of(host) == expected,
        || format!("not {expected:?}, but {:?}", names_of(host)),
    );
}

#[test]
fn a_status_names_the_hosts_with_which_leases_are_exchanged() {
    for (sentence, a, b, at_a, at_b) in [
        (
            "both tell their names",
            "--node-name web-1",
            "--node-name db-2",
            &[(1, "web-1", "told", false), (2, "db-2", "told", false)][..],
            &[(1, "web-1", "told", false), (2, "db-2", "told", false)][..],
        ),
        (
            "one tells none",
            "--node-name web-1",
            "--no-identity",
            &[(1, "web-1", "told", false)],
            &[(1, "web-1", "told", false)],
        ),
        (
            "both tell the same",
            "--node-name web",
            "--node-name web",
            &[(1, "web", "told", true), (2, "web", "told", true)],
            &[(1, "web", "told", true), (2, "web", "told", true)],
        ),
    ] {
        let lab = Lab::new();
        let key = TempFile::new("key", "00112233445566778899aabbccddeeff");
        std::fs::set_permissions(key.path(), PermissionsExt::from_mode(0o600)).unwrap();
        let key = format!("--lease-key {}", key.path());
        let _a = lab
            .a
            .leasing_sink(&format!("--dev a0 --node-id 1 {key} {a}"));
        let _b = lab
            .b
            .leasing_sink(&format!("--dev b0 --node-id 2 {key} {b}"));
        lab.a.hostint("source attach --dev a0");
        lab.a.hostint("source add-dest 10.9.2.1");
        let load = Load::start(&lab.a, &lab.b, "10.9.1.1", "10.9.2.1");
        println!("{sentence}");
        await_names(&lab.a, at_a);
        await_names(&lab.b, at_b);
        let named = |names: &[(u64, &str, &str, bool)], node: u64| {
            let known = names.iter().find(|(id, ..)| *id == node);
            known.map_or(node.to_string(), |(_, name, _, contested)| {
                let mark = if *contested { "?" } else { "" };
                format!("{name}{mark} ({node})")
            })
        };
        let (peer, source) = (named(at_a, 2), named(at_b, 1));
        await_that("text has names beside IDs", || {
            let (text, other) = (lab.a.hostint("status"), lab.b.hostint("status"));
            let flow = |line: &str| line.contains("> 10.9.2.1:") && line.contains(&source);
            text.contains(&format!("node {peer} "))
                && other.contains(&format!("node {source} "))
                && other.lines().any(flow)
        });
        drop(load);
    }
}

#[test]
fn names_that_a_host_was_given_stand_for_those_that_it_is_told() {
    let lab = Lab::new();
    let config = |name: &str| {
        format!(
            "[sink]\ndev = \"a0\"\nnode-id = 1\nnode-name = \"web-1\"\n[names]\n2 = \"{name}\"\n7 = \"far\"\n"
        )
    };
    let file = TempFile::new("hostint.toml", config("storage"));
    let a = lab
        .a
        .start(&format!("sink --config {}", file.path()), "sink attached");
    let _b = lab.b.leasing_sink("--dev b0 --node-id 2 --node-name db-2");
    lab.a.hostint("source attach --dev a0");
    lab.a.hostint("source add-dest 10.9.2.1");
    let _load = Load::start(&lab.a, &lab.b, "10.9.1.1", "10.9.2.1");
    await_names(
        &lab.b,
        &[(1, "web-1", "told", false), (2, "db-2", "told", false)],
    );
    let names = |name| {
        [
            (1, "web-1", "told", false),
            (2, name, "given", false),
            (7, "far", "given", false),
        ]
    };
    await_names(&lab.a, &names("storage"));
    std::fs::write(file.path(), config("backup")).unwrap();
    a.signal(nix::sys::signal::Signal::SIGHUP);
    await_names(&lab.a, &names("backup"));
    assert!(a.stderr().contains("[names]"), "{}", a.stderr());
}
