//! The real binary's JSON follows tests/golden/schemas.txt.

use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;

use hostint_testing::netns::{Host, Lab, await_that};
use hostint_testing::shape::{Schemas, kept_in, misfits, parse};
use serde_json::{Value, json};

const CONFIG: &str = r#"
[source]
dev = "a0"

[[watch]]
class = "storage"
to = ["10.9.2.1", "10.9.2.77"]

[[watch]]
action = "exclude"
priority = 200
to = "10.9.2.1"
protocol = "udp"
to-port = "6001"
"#;

struct Folder(PathBuf);

impl Folder {
    fn file(&self, name: &str) -> String {
        self.0.join(name).display().to_string()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// What is written, whatever the exit code.
fn json_of(host: &Host, line: &str) -> Value {
    let output = host.try_hostint(line);
    serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|err| panic!("hostint {line}: {err}: {output:?}"))
}

fn ask(path: &str, request: &Value) -> Value {
    let mut socket = UnixStream::connect(path).unwrap();
    socket.write_all(format!("{request}\n").as_bytes()).unwrap();
    let mut answer = String::new();
    BufReader::new(&socket).read_line(&mut answer).unwrap();
    serde_json::from_str(&answer).unwrap()
}

fn assert_fits(schemas: &Schemas, what: &str, name: &str, output: &Value) {
    let schema = schemas
        .get(name)
        .unwrap_or_else(|| panic!("{what}: no schema {name}"));
    let found = misfits(schema, output);
    assert!(found.is_empty(), "{what} is not of {name}: {found:#?}");
}

fn is_none(list: &Value) -> bool {
    list.as_array().unwrap().is_empty()
}

/// Reports by kind, of which there are some.
fn assert_reports_fit(schemas: &Schemas, what: &str, text: &str) {
    for kind in ["latency", "drop-summary"] {
        let lines = text
            .lines()
            .map(|line| serde_json::from_str::<Value>(line).unwrap());
        let of_kind: Vec<Value> = lines.filter(|line| line["kind"] == kind).collect();
        assert!(!of_kind.is_empty(), "{what} has no {kind} report: {text}");
        for report in &of_kind {
            assert_fits(schemas, what, &format!("hostint.report/1 {kind}"), report);
        }
    }
}

#[test]
fn real_output_is_of_its_schema() {
    let schemas = parse(&std::fs::read_to_string(kept_in()).unwrap());
    let lab = Lab::new();
    let folder = Folder(std::env::temp_dir().join(&lab.b.ns));
    std::fs::create_dir(&folder.0).unwrap();
    let [config, log, socket] = ["config.toml", "log", "socket"].map(|name| folder.file(name));
    std::fs::write(&config, CONFIG).unwrap();

    assert_fits(
        &schemas,
        "a host without hostint",
        "hostint.status/1",
        &lab.m.status(),
    );
    let preflight = json_of(&lab.m, "doctor --json --dev m0 --collector 10.9.2.1");
    assert_fits(&schemas, "preflight", "hostint.doctor/1", &preflight);
    for path in [&config, &folder.file("absent")] {
        let check = json_of(&lab.m, &format!("check --json {path}"));
        assert_fits(&schemas, path, "hostint.config-check/1", &check);
    }

    let collect = lab.a.start("collect --json", "collecting");
    let _a = lab.a.leasing_sink("--dev a0 --node-id 1");
    let _b = lab.b.leasing_sink(&format!(
        "--dev b0 --node-id 2 --collector 10.9.1.1 --report-log {log} --log-format json --control {socket} \
         --allow 192.0.2.0/24"
    ));
    lab.a.hostint(&format!("source attach --config {config}"));
    lab.a.hostint("source add-dest 10.9.2.1");
    let (from, to) = (lab.a.udp("10.9.1.1:5000"), lab.b.udp("10.9.2.1:6000"));
    // A flow of less than its reports would cost has few of them.
    let send = || {
        from.send_to(&[7; 1300], "10.9.2.1:6000").unwrap();
        from.send_to(&[7; 64], "10.9.2.1:6001").unwrap();
    };
    await_that("packets are tagged and measured", || {
        send();
        !is_none(&lab.b.status()["sink"]["flows"])
    });
    lab.drop_packets("udp dport { 6000, 6001 }");
    await_that("packets are dropped behind the source", || {
        send();
        lab.m.counted_by_nft("table ip lab").0 > 0
    });
    assert!(lab.dropped() > 0);
    send();
    await_that("the loss is reported", || {
        collect.stdout().contains("\"drop-summary\"")
            && std::fs::read_to_string(&log).is_ok_and(|log| log.contains("\"drop-summary\""))
    });
    drop(to);

    let (a, b) = (lab.a.status(), lab.b.status());
    assert!(lab.a.count("source", "excluded") > 0);
    for part in [
        &a["why"],
        &a["source"]["peers"],
        &a["source"]["attachments"],
        &a["source"]["dests"],
    ] {
        assert!(!is_none(part), "{a:#}");
    }
    let peers = a["source"]["peers"].as_array().unwrap();
    for known in [true, false] {
        let some = peers.iter().any(|peer| peer["node"].is_null() != known);
        assert!(some, "a peer that answers, and one that does not: {a:#}");
    }
    assert_fits(
        &schemas,
        "status of the source's host",
        "hostint.status/1",
        &a,
    );
    assert_fits(
        &schemas,
        "status of the sink's host",
        "hostint.status/1",
        &b,
    );
    let rules = json_of(&lab.a, "source rules --json");
    assert_eq!(rules["rules"].as_array().unwrap().len(), 3, "{rules:#}");
    assert_fits(&schemas, "rules", "hostint.rules/1", &rules);
    let dests = json_of(&lab.a, "source dests --json");
    assert!(!is_none(&dests["dests"]), "{dests:#}");
    assert_fits(&schemas, "destinations", "hostint.dests/1", &dests);
    assert_reports_fit(&schemas, "what is collected", &collect.stdout());
    assert_reports_fit(
        &schemas,
        "the report log",
        &std::fs::read_to_string(&log).unwrap(),
    );

    let request = json!({"ask": "status", "flows": 1});
    assert_fits(&schemas, "a request", "hostint.control/1 request", &request);
    let mut answer = ask(&socket, &request);
    assert_fits(
        &schemas,
        "a status that was asked for",
        "hostint.status/1",
        &answer["status"],
    );
    answer["status"] = json!({});
    assert_fits(&schemas, "an answer", "hostint.control/1 answer", &answer);
    let refusal = ask(&socket, &json!({"ask": "keys"}));
    assert!(refusal["error"].is_string(), "{refusal}");
    assert_fits(&schemas, "a refusal", "hostint.control/1 answer", &refusal);
}
