//! A real Prometheus scrapes the true figures of real traffic, a receiver is pushed them, and HTTP clients cannot harm a daemon.

use std::collections::BTreeSet;
use std::fs;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use hostint::datapath::abi::{flow_key, sink_flow};
use hostint::datapath::sink::flow_counts::counts_of;
use hostint::datapath::sink::sweeper::Sweeper;
use hostint::engines::otlp::messages::{Data, MetricsRequest, Number};
use hostint::model::{FlowSlots, NodeId, Tally};
use hostint::os::clock;
use hostint_testing::http_server::{HttpServer, Reply};
use hostint_testing::netns::{Daemon, Host, Lab, await_that, await_that_or};
use hostint_testing::own_pins::OwnPins;
use nix::sys::signal::Signal;
use prost::Message;
use serde_json::Value;

/// What a host answers on a port of its own: the status, and the body.
pub fn get(host: &Host, port: u16, path: &str) -> (u16, String) {
    let mut client = host
        .enter(|| TcpStream::connect(("127.0.0.1", port)))
        .unwrap();
    let patience = Some(Duration::from_secs(20));
    client.set_read_timeout(patience).unwrap();
    write!(client, "GET {path} HTTP/1.0\r\nHost: localhost\r\n\r\n").unwrap();
    // Of version 1.0, so that the answer comes in one piece.
    let mut answer = String::new();
    client.read_to_string(&mut answer).unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    let status = head.split(' ').nth(1).unwrap().parse().unwrap();
    (status, body.to_owned())
}

pub const SINK: u16 = 13276;
pub const COLLECT: u16 = 13277;

/// A series of the sink's, or 0.
fn series(host: &Host, series: &str) -> u64 {
    let (status, page) = get(host, SINK, "/metrics");
    assert_eq!(status, 200, "{page}");
    let value = page
        .lines()
        .find_map(|line| line.strip_prefix(series)?.strip_prefix(' ')?.parse().ok());
    value.unwrap_or_default()
}

/// b's sink, strips and counts whatever comes.
fn sink(lab: &Lab, flags: &str) -> Daemon {
    let flags = format!("sink --dev b0 --node-id 2 --allow 0.0.0.0/0 --http 127.0.0.1 {flags}");
    start(lab, &flags)
}

/// A sink on b that has seen by now what was there before it.
fn start(lab: &Lab, line: &str) -> Daemon {
    let daemon = lab.b.start(line, "serving http://127.0.0.1:13276");
    assert_eq!(get(&lab.b, SINK, "/metrics").0, 200);
    daemon
}

fn tag(lab: &Lab) -> Daemon {
    let sink = lab.a.sink("--dev a0 --node-id 1");
    lab.a.hostint("source attach --dev a0 --encap over-tcp-udp");
    lab.a.hostint("source add-dest --static 10.9.2.1");
    sink
}

/// A Prometheus of a host; it and its folder go with this.
pub struct Prometheus {
    host: Host,
    child: Child,
    folder: PathBuf,
}

impl Prometheus {
    fn start(host: &Host) -> Self {
        let targets = format!("['127.0.0.1:{SINK}', '127.0.0.1:{COLLECT}']");
        Self::configured(
            host,
            &format!(
                "global: {{scrape_interval: 200ms, scrape_timeout: 200ms}}\n\
                 scrape_configs: [{{job_name: hostint, static_configs: [{{targets: {targets}}}]}}]\n"
            ),
        )
    }

    /// With a file of this text.
    pub fn configured(host: &Host, text: &str) -> Self {
        let folder = std::env::temp_dir().join(format!("{}-prometheus", host.ns));
        fs::create_dir(&folder).unwrap();
        let config = folder.join("prometheus.yml");
        fs::write(&config, text).unwrap();
        let checked = Command::new("promtool")
            .args(["check", "config"])
            .arg(&config)
            .output()
            .unwrap();
        assert!(checked.status.success(), "{checked:?}");
        let child = host
            .command("prometheus", &["--web.listen-address=127.0.0.1:9090"])
            .arg(format!("--config.file={}", config.display()))
            .arg(format!(
                "--storage.tsdb.path={}",
                folder.join("db").display()
            ))
            .stdout(Stdio::null())
            .stderr(fs::File::create(folder.join("log")).unwrap())
            .spawn()
            .unwrap();
        let host = host.clone();
        let started = Self {
            host,
            child,
            folder,
        };
        await_that_or(
            || {
                let connected = started.host.enter(|| TcpStream::connect("127.0.0.1:9090"));
                connected.is_ok() && get(&started.host, 9090, "/-/ready").0 == 200
            },
            || fs::read_to_string(started.folder.join("log")).unwrap(),
        );
        started
    }

    /// What its API answers.
    pub fn ask(&self, path: &str) -> Value {
        let (_, answer) = get(&self.host, 9090, path);
        let answer: Value = serde_json::from_str(&answer).unwrap();
        assert_eq!(answer["status"], "success", "{path}: {answer}");
        answer["data"].clone()
    }

    /// The values that a query gives.
    pub fn values(&self, query: &str) -> Vec<f64> {
        let query: String = query.bytes().map(|byte| format!("%{byte:02x}")).collect();
        let data = self.ask(&format!("/api/v1/query?query={query}"));
        let series = data["result"].as_array().unwrap().iter();
        series
            .map(|one| one["value"][1].as_str().unwrap().parse().unwrap())
            .collect()
    }

    /// The first of them, if there is one.
    pub fn query(&self, query: &str) -> Option<f64> {
        self.values(query).first().copied()
    }

    pub fn await_value(&self, query: &str, wanted: f64) {
        await_that_or(
            || self.query(query) == Some(wanted),
            || format!("{query} is not {wanted}, but {:?}", self.query(query)),
        );
    }
}

impl Drop for Prometheus {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        let _ = fs::remove_dir_all(&self.folder);
    }
}

#[test]
fn prometheus_knows_what_was_sent_and_what_was_lost() {
    let lab = Lab::new();
    let _collector = lab.b.start(
        "collect --listen 127.0.0.1:7001 --http 127.0.0.1",
        "serving http://127.0.0.1:13277",
    );
    let _b = sink(&lab, "--collector 127.0.0.1:7001 --report-period 100ms");
    let _a = tag(&lab);
    let prometheus = Prometheus::start(&lab.b);
    prometheus.await_value("sum(up{job=\"hostint\"})", 2.0);
    let (from, _to) = (lab.a.udp("10.9.1.1:5000"), lab.b.udp("10.9.2.1:6000"));
    lab.drop_packets("ip protocol udp numgen inc mod 10 < 1");
    let send = |count: u32| {
        for _ in 0..count {
            from.send_to(&[7; 100], "10.9.2.1:6000").unwrap();
        }
    };
    send(5000);
    await_that("what was sent has left the source", || {
        lab.a.count("source", "tagged") == 5000
    });
    let dropped = lab.dropped();
    // A number is missed when a later one arrives.
    send(1);
    let (dropped, arrived) = (dropped as f64, (5001 - dropped) as f64);
    prometheus.await_value("hostint_node_packets_total{node=\"1\"}", arrived);
    prometheus.await_value(
        "hostint_node_lost_total-hostint_node_recovered_total",
        dropped,
    );
    prometheus.await_value("hostint_node_bytes_total", arrived * 128.0);
    prometheus.await_value("hostint_node_latency_seconds_count{node=\"1\"}", arrived);
    prometheus.await_value("hostint_sink_received_total", arrived);
    prometheus.await_value("hostint_sink_flows", 1.0);
    let median = "histogram_quantile(0.5,hostint_node_latency_seconds_bucket{node=\"1\"})";
    let median = prometheus.query(median).unwrap();
    assert!(median > 0.0 && median < 1.0, "{median} s");
    // What the sink sent is what the collector got, and by whom.
    let left = "hostint_daemon_reports_sent_total-on()hostint_collect_reports_total";
    prometheus.await_value(left, 0.0);
    let by_node = "sum(hostint_exporter_reports_total)-sum(hostint_collect_reports_total)";
    prometheus.await_value(by_node, 0.0);
    let reports = prometheus.query("hostint_collect_reports_total");
    assert!(reports.is_some_and(|reports| reports > 0.0), "{reports:?}");
    prometheus.await_value("hostint_collect_reports_lost_total", 0.0);
    // Real pages, looked at by the tool of those who will read them.
    for port in [SINK, COLLECT] {
        let (_, page) = get(&lab.b, port, "/metrics");
        let file = prometheus.folder.join("page");
        fs::write(&file, page).unwrap();
        let check = format!("promtool check metrics <{} 2>&1", file.display());
        assert_eq!(lab.b.sh(&check), "");
    }
}

/// The packets of node 1 in the last snapshot that a receiver was pushed.
fn pushed_packets(receiver: &HttpServer) -> Option<f64> {
    let requests = receiver.seen();
    let last = MetricsRequest::decode(&requests.last()?.unpacked()[..]).unwrap();
    let scopes = last.resources.into_iter().flat_map(|one| one.scopes);
    let mut metrics = scopes.flat_map(|scope| scope.metrics);
    let packets = metrics.find(|metric| metric.name == "hostint_node_packets_total")?;
    let Some(Data::Sum(sum)) = packets.data else {
        panic!("{packets:?}");
    };
    match sum.points.first()?.value {
        Some(Number::Int(number)) => Some(number as f64),
        Some(Number::Double(number)) => Some(number),
        None => None,
    }
}

#[test]
fn a_sink_pushes_what_it_has_measured_by_a_thread_that_may_do_nothing_else() {
    let lab = Lab::new();
    let receiver = lab
        .b
        .enter(|| HttpServer::start(|_| Reply::status(200, "")));
    let url = receiver.url.trim_end_matches('/');
    let line = format!(
        "sink --dev b0 --node-id 2 --allow 0.0.0.0/0 --push-interval 1s --push-instance b --otlp {url}"
    );
    let mut b = lab.b.start(&line, "sink attached");
    let _a = tag(&lab);
    let (from, _to) = (lab.a.udp("10.9.1.1:5000"), lab.b.udp("10.9.2.1:6000"));
    // What there was before the first reading is nobody's.
    await_that("a first snapshot comes", || !receiver.seen().is_empty());
    for _ in 0..1000 {
        from.send_to(&[7; 100], "10.9.2.1:6000").unwrap();
    }
    await_that_or(
        || pushed_packets(&receiver) == Some(1000.0),
        || format!("{:?}: {}", pushed_packets(&receiver), b.stderr()),
    );
    let mut names = BTreeSet::new();
    for thread in fs::read_dir(format!("/proc/{}/task", b.pid())).unwrap() {
        // They start others for a moment, which have their name.
        let Ok(status) = fs::read_to_string(thread.unwrap().path().join("status")) else {
            continue;
        };
        let name = status.lines().next().unwrap().replace("Name:\t", "");
        if name.starts_with("push-") {
            assert!(status.contains("CapPrm:\t0000000000000000"), "{status}");
            names.insert(name);
        }
    }
    assert_eq!(names.len(), 1, "{names:?}");
    // What comes between the last push and the end is pushed at the end.
    for _ in 0..1000 {
        from.send_to(&[7; 100], "10.9.2.1:6000").unwrap();
    }
    assert_eq!(lab.a.count("source", "tagged"), 2000);
    await_that("all is stripped", || {
        lab.b.count("sink", "received") == 2000
    });
    assert_eq!(b.end(), Some(0));
    assert_eq!(pushed_packets(&receiver), Some(2000.0));
    let said = b.stderr();
    let delivered = format!(" points delivered: otlp-metrics {url}");
    assert!(said.contains(&delivered), "{said}");
}

#[test]
fn a_receiver_that_is_not_there_holds_up_no_sink() {
    let lab = Lab::new();
    let line = "sink --dev b0 --node-id 2 --push-interval 1s --otlp http://127.0.0.1:9";
    let mut b = lab.b.start(line, "sink attached");
    await_that("it says that nobody is there", || {
        b.stderr()
            .contains("otlp-metrics http://127.0.0.1:9: cannot deliver to")
    });
    assert_eq!(b.end(), Some(0));
    let said = b.stderr();
    let abandoned = " not by the end: otlp-metrics http://127.0.0.1:9";
    assert!(said.contains(abandoned), "{said}");
}

#[test]
fn sums_stay_when_flows_are_forgotten() {
    let lab = Lab::new();
    let _b = sink(&lab, "--idle-flow-timeout 1s");
    let _a = tag(&lab);
    let _to = lab.b.udp("10.9.2.1:6000");
    let packets = "hostint_node_packets_total{node=\"1\"}";
    let mut sent = 0;
    for round in 0..3_u16 {
        for flow in 0..200 {
            let from = lab
                .a
                .udp(&format!("10.9.1.1:{}", 20_000 + 200 * round + flow));
            from.send_to(&[7; 100], "10.9.2.1:6000").unwrap();
            sent += 1;
        }
        // Some of them are read while they are there, some never were.
        await_that("all packets are counted", || {
            series(&lab.b, packets) == sent
        });
        assert_eq!(lab.b.count("sink", "received"), sent);
        let mut least = sent;
        await_that("all flows are forgotten", || {
            let now = series(&lab.b, packets);
            assert!(now >= least, "{now} after {least}");
            least = now;
            lab.b.status()["sink"]["flows_total"] == 0
        });
    }
    await_that("a reading without flows", || {
        series(&lab.b, "hostint_sink_flows") == 0
    });
    assert_eq!(series(&lab.b, packets), sent);
    let count = "hostint_node_latency_seconds_count{node=\"1\"}";
    assert_eq!(series(&lab.b, count), sent);
    let expired = "hostint_daemon_flows_expired_total";
    await_that("they are said to be forgotten", || {
        series(&lab.b, expired) == sent
    });
}

#[test]
fn a_restarted_daemon_counts_from_0() {
    let lab = Lab::new();
    let mut first = sink(&lab, "");
    let _a = tag(&lab);
    let (from, _to) = (lab.a.udp("10.9.1.1:5000"), lab.b.udp("10.9.2.1:6000"));
    let send = || {
        for _ in 0..100 {
            from.send_to(&[7; 100], "10.9.2.1:6000").unwrap();
        }
    };
    let packets = "hostint_node_packets_total{node=\"1\"}";
    send();
    await_that("the first 100 are counted", || {
        series(&lab.b, packets) == 100
    });
    assert_eq!(first.end(), Some(0));
    // The flow lives on in the kernel, with all of its counts.
    let _second = sink(&lab, "");
    assert_eq!(series(&lab.b, packets), 0);
    assert_eq!(lab.b.status()["sink"]["flows"][0]["packets"], 100);
    send();
    await_that("the next 100 are counted", || {
        series(&lab.b, packets) == 100
    });
    assert_eq!(lab.b.count("sink", "received"), 200);
}

#[test]
fn classes_have_sums_and_a_reload_changes_them_without_a_fall() {
    let lab = Lab::new();
    let config = std::env::temp_dir().join(format!("{}-metrics.toml", lab.b.ns));
    let text = |class: &str, http: &str| {
        format!(
            "[sink]\ndev = \"b0\"\nnode-id = 2\nallow = \"10.9.1.0/24\"\nhttp = \"{http}\"\n\
             [[watch]]\nclass = \"{class}\"\nto = \"10.9.2.1\"\n"
        )
    };
    fs::write(&config, text("storage", "127.0.0.1")).unwrap();
    let b = start(&lab, &format!("sink --config {}", config.display()));
    let _a = tag(&lab);
    let (from, _to) = (lab.a.udp("10.9.1.1:5000"), lab.b.udp("10.9.2.1:6000"));
    let send = || {
        for _ in 0..100 {
            from.send_to(&[7; 100], "10.9.2.1:6000").unwrap();
        }
    };
    let (storage, backup) = (
        "hostint_class_packets_total{class=\"storage\"}",
        "hostint_class_packets_total{class=\"backup\"}",
    );
    send();
    await_that("storage has 100", || series(&lab.b, storage) == 100);
    fs::write(&config, text("backup", "127.0.0.1")).unwrap();
    b.signal(Signal::SIGHUP);
    await_that("the file is applied", || b.stderr().contains(" applied: "));
    await_that("backup has its series", || {
        get(&lab.b, SINK, "/metrics").1.contains(backup)
    });
    send();
    await_that("backup has 100", || series(&lab.b, backup) == 100);
    assert_eq!(series(&lab.b, storage), 100);
    // The address is bound before privileges are given up.
    fs::write(&config, text("backup", "127.0.0.1:7777")).unwrap();
    b.signal(Signal::SIGHUP);
    await_that("another address is refused", || {
        b.stderr()
            .contains("[sink] http: the address is bound when the sink starts")
    });
    fs::remove_file(&config).unwrap();
}

#[test]
fn health_is_told_by_who_reads_http_with_no_privilege_left() {
    let lab = Lab::new();
    let b = sink(&lab, "");
    await_that("the sink is ready", || {
        get(&lab.b, SINK, "/readyz") == (200, "ok\n".to_owned())
    });
    assert_eq!(get(&lab.b, SINK, "/healthz"), (200, "ok\n".to_owned()));
    let threads = fs::read_dir(format!("/proc/{}/task", b.pid())).unwrap();
    let mut found = 0;
    for thread in threads {
        let folder = thread.unwrap().path();
        if fs::read_to_string(folder.join("comm")).unwrap() == "http\n" {
            let status = fs::read_to_string(folder.join("status")).unwrap();
            assert!(status.contains("CapPrm:\t0000000000000000"), "{status}");
            assert!(status.contains("NoNewPrivs:\t1"), "{status}");
            found += 1;
        }
    }
    assert_eq!(found, 1);
    // Stopped as a whole it does not answer at all; its interface gone, it lives and has nothing to do.
    lab.b.sh("ip link del b0");
    await_that("the sink is not ready", || {
        let (status, body) = get(&lab.b, SINK, "/readyz");
        (status, body.as_str()) == (503, "not attached to b0\n")
    });
    assert_eq!(get(&lab.b, SINK, "/healthz").0, 200);
}

#[test]
fn whoever_may_reach_it_is_said_once() {
    let lab = Lab::new();
    let line = "sink --dev b0 --node-id 2 --http 0.0.0.0:9999";
    let b = lab.b.start(line, "serving http://0.0.0.0:9999");
    let told = "HTTP on 0.0.0.0:9999: everybody who reaches this address may read it";
    assert_eq!(b.stderr().matches(told).count(), 1, "{}", b.stderr());
    let output = lab
        .b
        .try_hostint("collect --listen 127.0.0.1:0 --http 127.0.0.1:9999");
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(
        said.contains("cannot serve HTTP on 127.0.0.1:9999 (try another address or port)")
            && said.contains("Address already in use"),
        "{said}"
    );
}

#[test]
fn the_daemon_does_not_wait_for_who_reads_and_forgets_no_count() {
    let own = OwnPins::new("tally");
    let sink = own.load(64, 16);
    let tally = Arc::new(Mutex::new(Tally::default()));
    let timeout = Duration::from_millis(200);
    let mut sweeper = Sweeper::new(&sink, timeout, 2 * timeout).unwrap();
    sweeper.set_tally(Arc::clone(&tally));
    let read = |tally: &mut Tally| {
        tally.begin();
        let look = |key: flow_key, flow: sink_flow| {
            tally.look(
                (&key).into(),
                counts_of(&flow, FlowSlots::coarse(&flow.histogram)),
            );
        };
        sink.flows.for_each(look).unwrap();
        tally.complete();
    };
    read(&mut tally.lock().unwrap());
    for i in 0..10 {
        let key = flow_key {
            saddr: [0, 0, 0, i],
            layers: 17,
            ..flow_key::default()
        };
        let flow = sink_flow {
            first_ns: 1,
            last_ns: 1,
            packets: 7,
            source_node: 5,
            ..sink_flow::default()
        };
        sink.flows.set(&key, &flow).unwrap();
    }
    let now_ns = clock::realtime_ns();
    let reader = tally.lock().unwrap();
    // Walks over the whole table, and counts what is forgotten.
    let mut pass = || {
        let mut removed = 0;
        loop {
            let step = sweeper.step(now_ns).unwrap();
            removed += step.removed;
            if step.end {
                break removed;
            }
        }
    };
    // With the lock held, waiting would never end.
    assert_eq!(pass(), 0);
    drop(reader);
    assert_eq!(pass(), 10);
    let sums = |tally: &Tally| {
        let nodes = tally.nodes().map(|(node, sums)| (node, sums.packets));
        Vec::from_iter(nodes)
    };
    assert_eq!(sums(&tally.lock().unwrap()), [(Some(NodeId(5)), 70)]);
    read(&mut tally.lock().unwrap());
    assert_eq!(sums(&tally.lock().unwrap()), [(Some(NodeId(5)), 70)]);
}
