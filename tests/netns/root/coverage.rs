//! Of the traffic that the watchlist asks for, collectors learn how much was measured, and why the rest was not.

use std::net::UdpSocket;
use std::process::Command;

use hostint_testing::collector::Collector;
use hostint_testing::netns::{Daemon, Host, Lab, await_that_or};
use hostint_testing::scratch::Folder;
use serde_json::{Value, json};

use crate::exchange::exchange_tcp;

const RULES: &str = r#"
[source]
dev = ["a0"]
encap = "ENCAP"

[[watch]]
class = "storage"
to = ["10.9.2.1"]
to-port = 6000

[[watch]]
class = "bulk"
to = ["10.9.2.1"]
to-port = 6001

[[watch]]
class = "stream"
to = ["10.9.2.1"]
to-port = 6003

[[watch]]
to = ["10.9.9.0/24"]

[[watch]]
class = "sampled"
to = ["10.9.2.1"]
to-port = 6002
one-flow-in = 1000000
"#;

/// What the collector shows of a pair and class.
fn row(status: &Value, sink: Value, class: Value) -> Option<&Value> {
    let mut rows = status["coverage"].as_array().unwrap().iter();
    rows.find(|row| row["source"] == 1 && row["sink"] == sink && row["class"] == class)
}

/// Sends datagrams of a length; each must arrive.
fn send(from: &UdpSocket, to: &UdpSocket, count: u32, len: usize) {
    let mut buffer = [0; 2000];
    for _ in 0..count {
        from.send_to(&vec![7; len], to.local_addr().unwrap())
            .unwrap();
        assert_eq!(to.recv(&mut buffer).unwrap(), len);
    }
}

fn status(host: &Host, collector: &Collector) -> Value {
    host.enter(|| collector.status())
}

fn collect(lab: &Lab, args: &[&str]) -> Collector {
    lab.b
        .enter(|| Collector::start_with(Command::new(&lab.b.binary), args))
}

/// Sinks on both hosts, that of b with more flags, and a source on a that follows the rules.
fn measure(lab: &Lab, folder: &Folder, encap: &str, collectors: &str, of_b: &str) -> [Daemon; 2] {
    let file = folder.file("hostint.toml");
    std::fs::write(&file, RULES.replace("ENCAP", encap)).unwrap();
    let config = format!("--config {}", file.display());
    let told = format!("--collector {collectors} --summary-period 1s {config}");
    let sinks = [
        lab.a.leasing_sink(&format!("--dev a0 --node-id 1 {told}")),
        lab.b
            .leasing_sink(&format!("--dev b0 --node-id 2 {told} {of_b}")),
    ];
    lab.a.hostint(&format!("source attach {config}"));
    sinks
}

#[test]
fn each_pair_and_class_shows_what_was_not_measured_and_why() {
    let lab = Lab::new();
    let folder = Folder::create();
    let args = ["--listen", "10.9.2.1:32766"];
    let collector = collect(&lab, &args);
    let lines = "collect --json --listen 10.9.2.1:32767";
    let lines = lab.b.start(lines, "collecting on 10.9.2.1:32767");
    let _sinks = measure(
        &lab,
        &folder,
        "extension-udp",
        "10.9.2.1,10.9.2.1:32767",
        "",
    );
    let from = lab.a.udp("10.9.1.1:5000");
    let [storage, bulk, sampled] =
        [6000, 6001, 6002].map(|port| lab.b.udp(&format!("10.9.2.1:{port}")));
    await_that_or(
        || {
            send(&from, &storage, 1, 100);
            lab.a.count("source", "tagged") > 0
        },
        || format!("nothing is tagged: {}", lab.a.figures()["source"]),
    );
    let missed_before = lab.a.counters("source");
    send(&from, &storage, 40, 100);
    // Longer than the interface takes with INT.
    send(&from, &bulk, 7, 1450);
    send(&from, &bulk, 3, 100);
    send(&from, &sampled, 5, 100);
    for _ in 0..9 {
        let _ = from.send_to(&[0; 100], "10.9.9.9:7000");
    }
    let after = lab.a.counters("source");
    assert_eq!(after["too_long"] - missed_before["too_long"], 7);
    assert_eq!(after["not_sampled"] - missed_before["not_sampled"], 5);

    let expected = [
        (json!(2), json!("bulk"), json!({"too_long": 7}), json!(3)),
        (
            json!(2),
            json!("sampled"),
            json!({"not_sampled": 5}),
            Value::Null,
        ),
    ];
    let all_hold = |status: &Value| {
        let rows = expected.iter().all(|(sink, class, missed, measured)| {
            let tagged = measured;
            row(status, sink.clone(), class.clone()).is_some_and(|row| {
                row["missed"] == *missed && row["measured"] == *measured && row["tagged"] == *tagged
            })
        });
        let elsewhere = row(status, Value::Null, Value::Null);
        let storage = row(status, json!(2), json!("storage"));
        rows && elsewhere.is_some_and(|row| row["missed"]["no_lease"] == 9)
            && storage.is_some_and(|row| {
                row["measured"].as_u64() >= Some(40) && row["tagged"].as_u64() >= Some(40)
            })
    };
    await_that_or(
        || all_hold(&status(&lab.b, &collector)),
        || format!("{:#}", status(&lab.b, &collector)["coverage"]),
    );
    let shown = status(&lab.b, &collector);
    let metrics = lab.b.enter(|| collector.get("/metrics"));
    let line = r#"hostint_coverage_missed_packets_total{source="1",sink="2",class="bulk",reason="too_long"} 7"#;
    assert!(metrics.contains(line), "{metrics}");
    let line = r#"hostint_coverage_tagged_packets_total{source="1",sink="2",class="bulk"} 3"#;
    assert!(metrics.contains(line), "{metrics}");
    // IP packets without INT: 28 bytes of headers.
    let bulk = row(&shown, json!(2), json!("bulk")).expect("it was there");
    let expected = json!({
        "measured_bytes": 3 * 128,
        "tagged_bytes": 3 * 128,
        "missed_bytes": {"too_long": 7 * 1478},
    });
    for (name, expected) in expected.as_object().unwrap() {
        assert_eq!(bulk[name], *expected, "{name} of {bulk}");
    }
    let line = r#"hostint_coverage_missed_bytes_total{source="1",sink="2",class="bulk",reason="too_long"} 10346"#;
    assert!(metrics.contains(line), "{metrics}");
    let lines = lines.stdout();
    let told = lines
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap())
        .filter(|line| line["schema"] == "hostint.coverage/1" && line["node"] == 1);
    let bulk = told.flat_map(|line| line["missed"].as_array().unwrap().clone());
    let bulk: Vec<Value> = bulk.filter(|one| one["class"] == "bulk").collect();
    assert!(
        bulk.iter()
            .any(|one| one["packets"] == json!({"too_long": 7})
                && one["bytes"] == json!({"too_long": 10346})
                && one["tagged"] == 3
                && one["tagged_bytes"] == 384),
        "{bulk:?}"
    );
}

#[test]
fn what_a_sink_strips_and_cannot_track_is_not_covered() {
    let lab = Lab::new();
    let folder = Folder::create();
    let store = folder.file("store");
    let args = [
        "--listen",
        "10.9.2.1:32766",
        "--store",
        store.to_str().unwrap(),
    ];
    let collector = collect(&lab, &args);
    let _sinks = measure(&lab, &folder, "extension-udp", "10.9.2.1", "--max-flows 1");
    let from = lab.a.udp("10.9.1.1:5000");
    let [storage, bulk] = [6000, 6001].map(|port| lab.b.udp(&format!("10.9.2.1:{port}")));
    await_that_or(
        || {
            send(&from, &storage, 1, 100);
            lab.b.count("sink", "received") > 0
        },
        || format!("nothing is stripped: {}", lab.b.figures()["sink"]),
    );
    send(&from, &storage, 10, 100);
    send(&from, &bulk, 30, 100);
    assert_eq!(lab.b.count("sink", "untracked"), 30);
    let of_bulk = |status: &Value| row(status, json!(2), json!("bulk")).cloned();
    await_that_or(
        || {
            of_bulk(&status(&lab.b, &collector))
                .is_some_and(|row| row["missed"] == json!({"untracked": 30}))
        },
        || format!("{:#}", status(&lab.b, &collector)["coverage"]),
    );
    let metrics = lab.b.enter(|| collector.get("/metrics"));
    let line = r#"hostint_coverage_missed_packets_total{source="1",sink="2",class="bulk",reason="untracked"} 30"#;
    assert!(metrics.contains(line), "{metrics}");
    let history = || {
        lab.b.hostint(&format!(
            "history coverage --csv --store {}",
            store.display()
        ))
    };
    await_that_or(
        || history().contains("1,2,bulk,untracked,30,3840,"),
        history,
    );
}

#[test]
fn both_ends_count_the_same_bytes_of_superpackets() {
    let lab = Lab::new();
    let folder = Folder::create();
    let args = ["--listen", "10.9.2.1:32766"];
    let collector = collect(&lab, &args);
    let _sinks = measure(&lab, &folder, "tunnel", "10.9.2.1", "");
    let from = lab.a.udp("10.9.1.1:5000");
    let storage = lab.b.udp("10.9.2.1:6000");
    await_that_or(
        || {
            send(&from, &storage, 1, 100);
            lab.a.count("source", "tagged") > 0
        },
        || format!("nothing is tagged: {}", lab.a.figures()["source"]),
    );
    exchange_tcp(&lab.a, &lab.b, 6003, 4 << 20);
    assert!(lab.a.count("source", "encapsulated") > 0, "superpackets");
    let number = |row: &Value, name: &str| row[name].as_u64().unwrap_or(0);
    // Packets behind the FIN, which may not be told, acknowledge, and have no data: 20 + 32 bytes, or up to 28 more for the
    // gaps that another order of packets left.
    let agree = |row: &Value| {
        let packets = number(row, "measured").checked_sub(number(row, "tagged"));
        let bytes = number(row, "measured_bytes").checked_sub(number(row, "tagged_bytes"));
        number(row, "tagged_bytes") > 4 << 20
            && packets.zip(bytes).is_some_and(|(packets, bytes)| {
                packets <= 64 && (52 * packets..=80 * packets).contains(&bytes)
            })
    };
    let of_stream = |status: &Value| row(status, json!(2), json!("stream")).cloned();
    await_that_or(
        || of_stream(&status(&lab.b, &collector)).is_some_and(|row| agree(&row)),
        || format!("{:#}", status(&lab.b, &collector)["coverage"]),
    );
}
