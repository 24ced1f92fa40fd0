//! `hostint doctor HOST` says what a host knows of another one, by its leases and by the history of its collector.

use hostint_testing::netns::{Host, Lab, await_that, await_that_or};
use serde_json::Value;

use super::lease_refusals::Folder;

/// The exit code, and the verdict and the text of each finding.
fn doctor(host: &Host, about: &str) -> (Option<i32>, Vec<String>) {
    let output = host.try_hostint(&format!("doctor --json {about}"));
    let json: Value = serde_json::from_slice(&output.stdout).unwrap();
    let findings = json["findings"].as_array().unwrap();
    let text = |one: &Value, key: &str| one[key].as_str().unwrap_or_default().to_owned();
    let line = |one| {
        let [verdict, check, found, advice] =
            ["verdict", "check", "found", "advice"].map(|key| text(one, key));
        format!("{verdict} {check}: {found} ({advice})")
    };
    (output.status.code(), findings.iter().map(line).collect())
}

/// Waits until the doctor says these, the worst first.
fn await_said(host: &Host, about: &str, code: i32, expected: &[&str]) {
    let is_said = |(found, lines): &(Option<i32>, Vec<String>)| {
        let fits = |(line, begin): (&String, &&str)| line.starts_with(*begin);
        *found == Some(code)
            && lines
                .iter()
                .filter(|line| !line.contains(" clock: "))
                .zip(expected)
                .all(fits)
            && lines
                .iter()
                .filter(|line| !line.contains(" clock: "))
                .count()
                == expected.len()
    };
    await_that_or(
        || is_said(&doctor(host, about)),
        || format!("{about}: {:#?}", doctor(host, about)),
    );
}

#[test]
fn a_peer_is_told_with_what_its_lease_and_the_collector_show() {
    let lab = Lab::new();
    let keys = Folder::new(&lab);
    let [one, other] = ["11", "22"].map(|byte| keys.key(byte, &byte.repeat(16), 0o600));
    let no_history = "note reports: whether they report is unknown here";
    let nothing = "fail source: no source runs on this host";
    await_said(&lab.a, "10.9.2.1", 1, &[nothing, no_history]);

    lab.a.sh(&format!("mkdir -p {}", lab.a.state().display()));
    let store = lab.a.state().join("history.db");
    let store = format!("collect --listen 10.9.1.1 --store {}", store.display());
    let _collector = lab.a.start(&store, "collecting");
    let line = |dev: &str, node: u32, key: &str| {
        format!("--dev {dev} --node-id {node} --lease-key {key} --collector 10.9.1.1")
    };
    let _a = lab.a.leasing_sink(&line("a0", 1, &one));
    lab.a.hostint("source attach --dev a0");
    let unwatched = "fail peer: 10.9.2.1: no lease was asked for";
    let unreported = "fail reports: the collector of this host had no report of 10.9.2.1";
    await_said(&lab.a, "10.9.2.1", 1, &[unwatched, unreported]);

    lab.a.hostint("source add-dest 10.9.2.1");
    let absent = "fail peer: 10.9.2.1 no sink in front of it: packets stay untagged (systemctl start hostint, there)";
    await_said(&lab.a, "10.9.2.1", 1, &[absent, unreported]);

    let b = lab.b.leasing_sink(&line("b0", 2, &other));
    let refused = "fail peer: 10.9.2.1 refuses, or answers with a wrong authentication tag";
    let reports = "ok reports: the collector of this host has reports of 10.9.2.1";
    await_said(&lab.a, "10.9.2.1", 1, &[refused, reports]);
    drop(b);
    lab.b.hostint("sink detach --now");

    let _b = lab.b.leasing_sink(&line("b0", 2, &one));
    for about in ["10.9.2.1", "2"] {
        let (granted, reports) = (
            format!("ok peer: {about}"),
            format!("ok reports: the collector of this host has reports of {about}"),
        );
        await_said(&lab.a, about, 0, &[&granted, &reports]);
    }
    await_that(
        "it says that packets are tagged, and of which version",
        || {
            let (_, lines) = doctor(&lab.a, "10.9.2.1");
            let said = [
                "is ready: packets are tagged (",
                "; hostint 0.",
                ", MTU 1500 there",
            ];
            lines
                .iter()
                .any(|line| said.iter().all(|said| line.contains(said)))
        },
    );
    let strange = "fail peer: nosuch.invalid is no address, no name that resolves, and no node that this host knows";
    await_said(&lab.a, "nosuch.invalid", 1, &[strange]);
}
