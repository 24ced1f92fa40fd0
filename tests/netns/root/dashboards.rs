//! A real Prometheus answers every query of the dashboards and rules on real traffic, and the answers are true.

use std::fs;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use hostint::model::{CollectStatus, EngineStatus};
use hostint::views::metrics::{Rising, collect, text};
use hostint_testing::dashboards::{RULES, queries};
use hostint_testing::netns::{Host, Lab, await_that, await_that_or};
use hostint_testing::places::repository;
use nix::sys::signal::Signal;

use super::metrics::{COLLECT, Prometheus, SINK};

/// Where the page of a collector with an engine is.
const WITH_ENGINE: u16 = 13_278;

/// One datagram in so many is dropped on the way.
const DROPPED: u64 = 10;

/// What shows nothing on a healthy network without classes and engines, by what its query names, and why.
const MAY_BE_EMPTY: [(&str, &str); 3] = [
    ("hostint_class_", "no rule of the sink's names a class"),
    ("hostint_engine_", "the collector has no engine"),
    ("hostint_segment_", "no transit hop is on the path"),
];

/// Datagrams of a flow every two milliseconds, until it is dropped.
struct Traffic {
    end: Arc<AtomicBool>,
    sender: Option<JoinHandle<()>>,
}

impl Traffic {
    fn start(lab: &Lab) -> Self {
        let from = lab.a.udp("10.9.1.1:5000");
        let end = Arc::new(AtomicBool::new(false));
        let ended = Arc::clone(&end);
        let sender = std::thread::spawn(move || {
            while !ended.load(Ordering::Relaxed) {
                from.send_to(&[7; 500], "10.9.2.1:6000").unwrap();
                std::thread::sleep(Duration::from_millis(2));
            }
        });
        Self {
            end,
            sender: Some(sender),
        }
    }
}

impl Drop for Traffic {
    fn drop(&mut self) {
        self.end.store(true, Ordering::Relaxed);
        if let Some(sender) = self.sender.take() {
            let _ = sender.join();
        }
    }
}

/// Serves the page of a collector whose engine falls behind, for as long as the host's namespace lives.
fn serve_engine(host: &Host) {
    let listener = host
        .enter(|| TcpListener::bind(("127.0.0.1", WITH_ENGINE)))
        .unwrap();
    let page = |scrapes: u64| {
        let status = CollectStatus {
            engines: vec![EngineStatus {
                engine: "kafka",
                delivered: 100 * scrapes,
                queue_drops: scrapes,
                refused: scrapes,
                retries: scrapes,
                waiting: 5,
                trouble: Some("no broker answers".to_owned()),
                ..EngineStatus::default()
            }],
            ..CollectStatus::default()
        };
        text(&collect::families(&status, &mut Rising::default()))
    };
    std::thread::spawn(move || {
        for scrapes in 1.. {
            let Ok((mut client, _)) = listener.accept() else {
                return;
            };
            let _ = read_request(&mut client);
            let page = page(scrapes);
            let _ = write!(
                client,
                "HTTP/1.1 200 OK\r\nContent-Type: text/plain; version=0.0.4\r\n\
                 Content-Length: {}\r\nConnection: close\r\n\r\n{page}",
                page.len()
            );
        }
    });
}

fn read_request(client: &mut TcpStream) -> std::io::Result<()> {
    let mut seen = Vec::new();
    let mut more = [0; 1024];
    while !seen.ends_with(b"\r\n\r\n") {
        let len = client.read(&mut more)?;
        if len == 0 {
            break;
        }
        seen.extend_from_slice(&more[..len]);
    }
    Ok(())
}

/// As Grafana would ask it at a scrape every second: nothing of the dashboards' is chosen.
fn as_asked(expr: &str) -> String {
    let expr = ["$instance", "$node", "$class"]
        .iter()
        .fold(expr.to_owned(), |expr, name| expr.replace(name, ".*"));
    let expr = expr.replace("$__rate_interval", "4s");
    assert!(!expr.contains('$'), "{expr}");
    expr
}

/// Asks every query, and says which gave nothing.
fn ask_all(prometheus: &Prometheus) -> Vec<String> {
    let mut empty = Vec::new();
    for query in queries() {
        let values = prometheus.values(&as_asked(&query.expr));
        // Nothing came in the last seconds: then there is no share of it.
        if values.is_empty() || values.iter().all(|value| value.is_nan()) {
            empty.push(format!("{}: {}", query.at, query.expr));
        }
    }
    empty
}

/// All rules are evaluated without a fault; the alerts that are at least pending.
fn alerts(prometheus: &Prometheus) -> Vec<String> {
    let data = prometheus.ask("/api/v1/rules");
    let mut found = Vec::new();
    let mut rules = 0;
    for group in data["groups"].as_array().unwrap() {
        for rule in group["rules"].as_array().unwrap() {
            assert_eq!(rule["health"], "ok", "{rule}");
            rules += 1;
            // What a user would see when asking for it.
            prometheus.values(rule["query"].as_str().unwrap());
            for alert in rule["alerts"].as_array().into_iter().flatten() {
                let summary = alert["annotations"]["summary"].as_str().unwrap();
                assert!(!summary.contains("<no value>"), "{summary}");
                found.push(format!("{}: {summary}", rule["name"].as_str().unwrap()));
            }
        }
    }
    assert_eq!(rules, RULES.matches("\n        expr: ").count());
    found
}

struct Files(PathBuf);

impl Files {
    fn write(&self, name: &str, text: &str) -> String {
        let path = self.0.join(name);
        fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    }
}

impl Drop for Files {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[test]
fn every_query_of_dashboards_and_rules_is_answered_and_true() {
    let lab = Lab::new();
    let files = Files(std::env::temp_dir().join(format!("{}-dashboards", lab.b.ns)));
    fs::create_dir(&files.0).unwrap();
    let sink = |collectors: &str, class: &str| {
        format!(
            "[sink]\ndev = \"b0\"\nnode-id = 2\nhttp = \"127.0.0.1\"\nreport-period = \"100ms\"\n\
             allow = \"10.9.1.0/24\"\ncollector = [{collectors}]\nspread = true\n[[watch]]\n{class}to = \"10.9.2.1\"\nto-port = 6000\n"
        )
    };
    let there = "\"127.0.0.1:7001\"";
    let _collector = lab.b.start(
        "collect --listen 127.0.0.1:7001 --http 127.0.0.1 --output /dev/null",
        "serving http://127.0.0.1:13277",
    );
    let config = files.write("b.toml", &sink(there, ""));
    let b = lab.b.start(
        &format!("sink --config {config}"),
        "serving http://127.0.0.1:13276",
    );
    // The other host's metrics come over the network, which is not watched: only the flow's packets are counted, and
    // all of them, for no lease can end.
    let watched = files.write(
        "a.toml",
        "[sink]\ndev = \"a0\"\nnode-id = 1\nhttp = \"10.9.1.1\"\n[source]\ndev = \"a0\"\nencap = \"over-tcp-udp\"\n\
         [[watch]]\nto = \"10.9.2.1\"\nto-port = 6000\nprotocol = \"udp\"\nstatic = true\n",
    );
    let _a = lab.a.start(
        &format!("sink --config {watched}"),
        "serving http://10.9.1.1:13276",
    );
    lab.a.hostint(&format!("source attach --config {watched}"));
    let _to = lab.b.udp("10.9.2.1:6000");
    let rules = repository().join("packaging/prometheus/hostint.rules.yml");
    let targets = [
        format!("127.0.0.1:{SINK}"),
        format!("10.9.1.1:{SINK}"),
        format!("127.0.0.1:{COLLECT}"),
    ];
    let prometheus = Prometheus::configured(
        &lab.b,
        &format!(
            "global: {{scrape_interval: 1s, scrape_timeout: 1s, evaluation_interval: 1s}}\n\
             rule_files: [{}]\n\
             scrape_configs:\n\
             - {{job_name: hostint, static_configs: [{{targets: {targets:?}}}]}}\n\
             - {{job_name: hostint-engine, file_sd_configs: [{{files: [{}]}}]}}\n",
            rules.display(),
            files.0.join("later.json").display(),
        ),
    );
    let traffic = Traffic::start(&lab);
    await_that("packets are tagged", || lab.a.count("source", "tagged") > 0);

    // A healthy network.
    let ratio = "sum(instance_node:hostint_loss:ratio_rate5m)";
    let seconds = "min(count_over_time(hostint_node_packets_total[20s]))";
    await_that_or(
        || prometheus.query(seconds).is_some_and(|times| times >= 5.0),
        || format!("{:?}", prometheus.query(seconds)),
    );
    let unexpected = || {
        let mut empty = ask_all(&prometheus);
        empty.retain(|query| !MAY_BE_EMPTY.iter().any(|(part, _)| query.contains(part)));
        empty
    };
    await_that_or(
        || unexpected().is_empty(),
        || format!("{:#?}", unexpected()),
    );
    assert_eq!(prometheus.query(ratio), Some(0.0));
    let clocks = prometheus.query("count(hostint_clock_synchronised==0)");
    for alert in alerts(&prometheus) {
        let by_clock = alert.starts_with("HostintClockNotSynchronised") && clocks.is_some();
        assert!(by_clock, "{alert}");
    }

    let of_panel = |panel: &str| {
        let mut all = queries().into_iter().filter(|query| query.panel == panel);
        as_asked(&all.next().unwrap().expr)
    };
    let silent = of_panel("Collectors that do not answer, by sink");
    let silent = format!("sum({silent})");
    prometheus.await_value(&silent, 0.0);

    // One that drops packets, of a class, a collector that is not there, and one whose engine falls behind.
    let gone = format!("{there}, \"127.0.0.1:7099\"");
    fs::write(&config, sink(&gone, "class = \"storage\"\n")).unwrap();
    b.signal(Signal::SIGHUP);
    await_that("the file is applied", || b.stderr().contains(" applied: "));
    serve_engine(&lab.b);
    files.write(
        "later.json",
        &format!("[{{\"targets\": [\"127.0.0.1:{WITH_ENGINE}\"]}}]"),
    );
    lab.drop_packets(&format!("ip protocol udp numgen inc mod {DROPPED} < 1"));
    let loss = of_panel("Loss by source node");
    let wanted = 1.0 / DROPPED as f64;
    let near = |value: f64| (value - wanted).abs() < 0.02 * wanted;
    await_that_or(
        || prometheus.query(&loss).is_some_and(near),
        || format!("{:?}", prometheus.query(&loss)),
    );
    let unanswered = || {
        let mut empty = ask_all(&prometheus);
        // No transit hop is on the path here either.
        empty.retain(|query| !query.contains("hostint_segment_"));
        empty
    };
    await_that_or(
        || unanswered().is_empty(),
        || format!("{:#?}", unanswered()),
    );
    prometheus.await_value(&silent, 1.0);
    let by_state = of_panel("Collectors of sinks, by state");
    for (state, collectors) in [("answers", 1.0), ("silent", 1.0), ("unprobed", 0.0)] {
        let of_state = by_state.replace("}", &format!(",state=\"{state}\"}}"));
        prometheus.await_value(&of_state, collectors);
    }
    for wanted in [
        "HostintPacketLossSevere: ",
        "HostintCollectorSilent: 1 of the collectors of 127.0.0.1:",
        "HostintEngineDown: the engine kafka of ",
    ] {
        await_that_or(
            || {
                alerts(&prometheus)
                    .iter()
                    .any(|alert| alert.starts_with(wanted))
            },
            || format!("{wanted}: {:#?}", alerts(&prometheus)),
        );
    }

    // What is known exactly.
    drop(traffic);
    let before = lab.a.count("source", "tagged");
    let dropped = lab.dropped();
    let last = lab.a.udp("10.9.1.1:5000");
    last.send_to(&[7; 500], "10.9.2.1:6000").unwrap();
    await_that("a last packet shows what is missing", || {
        lab.a.count("source", "tagged") == before + 1
    });
    prometheus.await_value(
        "hostint_node_lost_total-hostint_node_recovered_total",
        dropped as f64,
    );
    let arrived = (before + 1 - dropped) as f64;
    prometheus.await_value("hostint_node_packets_total{node=\"1\"}", arrived);
    prometheus.await_value(
        "sum(hostint_source_tagged_total)-sum(hostint_sink_received_total)",
        dropped as f64,
    );
}
