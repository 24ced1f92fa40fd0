//! `hostint check --here` compares a file with the host that is to have it, and a host's environment may name it.

use std::fs::{self, Permissions};
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;

use hostint::model::{NodeId, node_of_name};
use hostint_testing::netns::{Host, Lab, await_that};
use hostint_testing::places;
use serde_json::Value;

use super::agent::ConfigFile;
use super::metrics::get;

/// What `check --here` says of a file, as text and as JSON.
fn check(host: &Host, tables: &str) -> (Option<i32>, String, Value) {
    let file = ConfigFile::new(host, tables);
    let shown = file.shown();
    let output = host.try_hostint(&format!("check --here {shown}"));
    let text = String::from_utf8(output.stdout).unwrap();
    let json = host.try_hostint(&format!("check --here --json {shown}"));
    assert_eq!(json.status.code(), output.status.code());
    let json = serde_json::from_slice(&json.stdout).unwrap();
    (output.status.code(), text.replace(&shown, "F"), json)
}

#[test]
fn a_file_is_checked_against_the_host_with_its_lines() {
    let lab = Lab::new();
    let good = "[sink]\ndev = [\"b0\"]\ncollector = [\"10.9.1.1\"]\n[collect]\nlisten = [\"10.9.2.1\"]\nhttp = \"127.0.0.1\"\n";
    let (code, text, json) = check(&lab.b, good);
    assert_eq!(code, Some(0), "{text}");
    assert!(
        text.ends_with("F: fits this host: sink on b0, collect on 10.9.2.1\n"),
        "{text}"
    );
    let findings = json["findings"].as_array().unwrap();
    let interface = findings
        .iter()
        .find(|one| one["check"] == "interface")
        .unwrap();
    assert_eq!(
        (&interface["line"], &interface["key"]),
        (&2.into(), &"dev".into())
    );

    let _taken = lab
        .b
        .enter(|| TcpListener::bind("127.0.0.1:13277"))
        .unwrap();
    lab.b.sh("ip link add down0 type veth peer name down1");
    let bad = "[sink]\ndev = [\n\"b0\",\n\"down0\",\n\"nosuch\",\n\"eth*\"]\ncollector = [\"2001:db8::9\"]\n\
        [collect]\nlisten = [\"10.9.2.1\",\n\"192.0.2.1:1\"]\nhttp = \"127.0.0.1\"\n";
    let (code, text, _) = check(&lab.b, bad);
    assert_eq!(code, Some(1), "{text}");
    for line in [
        "F:4: [sink] dev: FAIL: interface: down0: Ethernet, driver veth, down (ip link set down0 up)",
        "F:5: [sink] dev: FAIL: interface: nosuch: no such interface",
        "F:6: [sink] dev: FAIL: interface: dev eth*: no interface has such a name now",
        "F:7: [sink] collector: FAIL: collector: [2001:db8::9]:32766: no route",
        "F:10: [collect] listen: FAIL: address: no interface of this host has 192.0.2.1",
        "F:11: [collect] http: FAIL: address: 127.0.0.1:13277 is in use by netns-",
    ] {
        assert!(text.contains(line), "{line}: {text}");
    }
    assert!(
        text.ends_with("F: does NOT fit this host, for 6 reasons\n"),
        "{text}"
    );

    let (code, text, json) = check(&lab.b, "[sink]\ndef = \"b0\"\n");
    assert_eq!((code, &json["findings"]), (Some(2), &Value::Null), "{text}");
}

#[test]
fn an_address_that_hostint_itself_has_is_no_mistake() {
    let lab = Lab::new();
    let tables = "[collect]\nlisten = [\"10.9.2.1\"]\nhttp = \"127.0.0.1\"\nstore = \"none\"\n";
    let file = ConfigFile::new(&lab.b, tables);
    let _agent = lab
        .b
        .start(&format!("run --config {}", file.shown()), "collecting on");
    let (code, text, _) = check(&lab.b, tables);
    assert_eq!(code, Some(0), "{text}");
}

/// The same host with these variables in its environment.
fn with_variables(host: &Host, variables: &str) -> Host {
    let program = std::env::temp_dir().join(format!("{}-named.sh", host.ns));
    let hostint = places::hostint();
    fs::write(
        &program,
        format!("#!/bin/sh\n{variables} exec {hostint} \"$@\"\n"),
    )
    .unwrap();
    fs::set_permissions(&program, Permissions::from_mode(0o755)).unwrap();
    host.with_binary(program)
}

#[test]
fn the_environment_names_a_host_that_nothing_else_names() {
    let lab = Lab::new();
    let _collector = lab
        .a
        .start("collect --listen 10.9.1.1 --http 127.0.0.1", "collecting");
    let NodeId(by_name) = node_of_name("web-6", Some(&lab.b.ns));
    for (variables, flags, node, name) in [
        ("NODE_ID=77 NODE_NAME=web-9", "", 77, "web-9"),
        (
            "NODE_ID=77 NODE_NAME=web-8",
            "--node-id 5 --node-name db-5",
            5,
            "db-5",
        ),
        ("NODE_ID=web NODE_NAME=web-7", "--node-id 6", 6, "web-7"),
        ("NODE_NAME=web-6", "", by_name, "web-6"),
    ] {
        let host = with_variables(&lab.b, variables);
        let line = format!("--dev b0 --collector 10.9.1.1 {flags}");
        let sink = host.leasing_sink(&line);
        assert_eq!(lab.b.status()["node_id"], node, "{variables}");
        let told = format!("\"name\":\"{name}\"");
        await_that(variables, || {
            get(&lab.a, 13277, "/api/status").1.contains(&told)
        });
        drop(sink);
        lab.b.hostint("sink detach --now");
    }
    fs::remove_file(std::env::temp_dir().join(format!("{}-named.sh", lab.b.ns))).unwrap();
}
