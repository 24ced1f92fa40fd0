//! The OTLP engine: logs and metrics as receivers get them, and the fate of each when a receiver fails.

use std::sync::Arc;
use std::time::Duration;

use hostint::engines::otlp::messages::*;
use hostint::engines::otlp::{OtlpLogs, OtlpMetrics};
use hostint::engines::push::Push;
use hostint::engines::*;
use hostint::model::*;
use prost::Message;

mod rotel;

use hostint::wire::{report_identity, report_path};
use hostint_testing::fed_reports::numbered;
use hostint_testing::http_server::{HttpServer, Reply, Request};
use hostint_testing::path_samples::path_totals;
use hostint_testing::pushing::{SAID, SECRET, await_that, headers, identity, push_once, tell};
use hostint_testing::synthetic::Synthetic;

const TIME_NS: u64 = 1_800_000_000_123_456_789;
const REPORTS: u64 = 30;

/// A response in which so many were rejected.
fn partial(rejected: i64) -> Reply {
    let response = Response {
        partial_success: Some(PartialSuccess {
            rejected,
            error_message: "too old".to_owned(),
        }),
    };
    Reply::status(200, response.encode_to_vec())
}

fn says(status: u16) -> Reply {
    Reply::status(status, "because")
}

/// Hands reports over in one parcel, and waits until they are dealt with.
fn log_once(receiving: &HttpServer) -> EngineStatus {
    let engine = OtlpLogs::new(&receiving.url, headers(), &identity()).unwrap();
    let mut all = Engines::new(RunId(7), 1 << 20, Patience::Drop, tell);
    all.add(Box::new(engine)).unwrap();
    let mut feed = all.feed(None);
    let mut synthetic = Synthetic::new(1, 4, 10);
    for n in 0..REPORTS {
        let sample = synthetic.report(n as usize % 10, TIME_NS);
        feed.take(&FeedReport {
            report: &sample.report,
            arrival: Some(sample.arrival),
            clocks: LatencyClocks::Unreported,
            drop_reason: None,
            class: None,
            added: None,
            dropped: None,
            bytes: 100,
        });
    }
    drop(feed);
    await_that("reports are dealt with", || {
        all.statuses().next().unwrap().waiting == 0
    });
    let [status] = all.finish().try_into().unwrap();
    status
}

type Once = fn(&HttpServer) -> EngineStatus;

fn metrics_once(receiving: &HttpServer) -> EngineStatus {
    let push = OtlpMetrics::new(&receiving.url, headers(), &identity()).unwrap();
    push_once(Arc::new(push))
}

#[test]
fn whatever_a_receiver_does_what_becomes_of_reports_and_points_is_counted() {
    struct Case {
        name: &'static str,
        does: Vec<Reply>,
        /// Of 30 reports, or 4 points.
        refused: u64,
        retries: u64,
    }
    let asked = Reply::Says(429, "Retry-After: 1\r\n", Vec::new());
    let cases = [
        ("takes all", vec![], 0, 0),
        ("hangs once", vec![Reply::Hang], 0, 1),
        ("closes the connection twice", vec![Reply::Close; 2], 0, 2),
        ("is overloaded, and asks to wait", vec![asked], 0, 1),
        (
            "is away behind a proxy",
            [502, 503, 504].map(says).into(),
            0,
            3,
        ),
        ("finds it bad", vec![says(400)], u64::MAX, 0),
        ("knows no such path", vec![says(404)], u64::MAX, 0),
        ("finds it too large", vec![says(413)], u64::MAX, 0),
        // The specification forbids to try that again.
        ("has a defect", vec![says(500)], u64::MAX, 0),
        ("refuses some", vec![partial(3)], 3, 0),
        (
            "refuses some after a retry",
            vec![says(503), partial(1)],
            1,
            1,
        ),
        ("refuses more than it got", vec![partial(1000)], u64::MAX, 0),
        ("warns of nothing", vec![partial(0)], 0, 0),
        ("refuses fewer than none", vec![partial(-5)], 0, 0),
        (
            "answers what is no message",
            vec![Reply::status(200, b"\xff\xff{}")],
            0,
            0,
        ),
    ];
    let cases = cases.map(|(name, does, refused, retries)| Case {
        name,
        does,
        refused,
        retries,
    });
    std::thread::scope(|scope| {
        for case in &cases {
            let kinds: [(&str, u64, Once); 2] =
                [("logs", REPORTS, log_once), ("metrics", 4, metrics_once)];
            for (kind, count, run) in kinds {
                scope.spawn(move || {
                    let name = format!("{kind}: a receiver {}", case.name);
                    let receiving = HttpServer::taking(case.does.clone());
                    let status = run(&receiving);
                    let refused = case.refused.min(count);
                    assert_eq!(status.refused, refused, "{name}");
                    assert_eq!(status.delivered, count - refused, "{name}");
                    assert_eq!(status.retries, case.retries, "{name}");
                    assert_eq!((status.waiting, &status.trouble), (0, &None), "{name}");
                    let requests = receiving.seen();
                    assert_eq!(requests.len() as u64, 1 + case.retries, "{name}");
                    for request in &requests {
                        assert_eq!(request.target, format!("/v1/{kind}"), "{name}");
                        let header = |name: &str| request.header(name);
                        assert_eq!(header("authorization"), Some(SECRET), "{name}");
                        assert_eq!(header("x-scope-orgid"), Some("net"), "{name}");
                        let kind = header("content-type");
                        assert_eq!(kind, Some("application/x-protobuf"), "{name}");
                        assert_eq!(request.body, requests[0].body, "{name}: the same bytes");
                    }
                });
            }
        }
    });
    let said = SAID.lock().unwrap().join("\n");
    for word in ["503 because; trying again", "3 reports refused: too old"] {
        assert!(said.contains(word), "{word} in {said}");
    }
    assert!(!said.contains("s3cret"), "{said}");
}

#[test]
fn a_receiver_that_asks_for_time_gets_it() {
    struct Case {
        name: &'static str,
        status: u16,
        head: &'static str,
        asks: bool,
    }
    let case = |name, status, head, asks| Case {
        name,
        status,
        head,
        asks,
    };
    for case in [
        case("too many", 429, "Retry-After: 1000\r\n", true),
        case("overloaded", 503, "retry-after: 1000\r\n", true),
        case("nothing is said", 503, "", false),
        case("what is no number", 503, "Retry-After: soon\r\n", false),
        case("of a success", 200, "Retry-After: 1000\r\n", false),
    ] {
        let receiving = HttpServer::taking(vec![Reply::Says(case.status, case.head, Vec::new())]);
        let push = OtlpMetrics::new(&receiving.url, Vec::new(), &identity()).unwrap();
        let _ = push.deliver(b"");
        // No longer than five minutes, whatever it asks.
        let (rest, most) = (push.rest(), Duration::from_secs(300));
        let asks = rest > most / 2 && rest <= most;
        assert_eq!(asks, case.asks, "{}: {rest:?}", case.name);
        let _ = push.deliver(b"");
        assert_eq!(push.rest(), Duration::ZERO, "{}: it answered", case.name);
    }
}

fn text(attributes: &[Attribute], key: &str) -> Option<String> {
    let found = attributes.iter().find(|attribute| attribute.key == key)?;
    Some(match found.value.clone()?.value? {
        Any::Text(text) => text,
        Any::Int(int) => int.to_string(),
        other => format!("{other:?}"),
    })
}

fn resource_says(resource: Option<&Resource>) {
    let attributes = &resource.unwrap().attributes;
    for (key, value) in [
        ("service.name", "hostint"),
        ("service.version", env!("CARGO_PKG_VERSION")),
        ("service.instance.id", "host-a/2"),
        ("host.name", "host-a"),
    ] {
        assert_eq!(text(attributes, key).as_deref(), Some(value), "{key}");
    }
}

#[test]
fn metrics_are_sums_gauges_and_histograms_with_exact_integers() {
    let receiving = HttpServer::taking(vec![]);
    metrics_once(&receiving);
    let request = MetricsRequest::decode(receiving.seen()[0].unpacked().as_slice()).unwrap();
    let [resource] = request.resources.try_into().unwrap();
    resource_says(resource.resource.as_ref());
    let [scope] = resource.scopes.try_into().unwrap();
    let units = scope.metrics.iter().map(|metric| metric.unit.as_str());
    assert_eq!(Vec::from_iter(units), ["1", "s", "", "s"]);
    let [packets, cpu, flows, latency] = scope.metrics.try_into().unwrap();
    assert_eq!(packets.name, "hostint_x_packets_total");
    assert_eq!(packets.description, "help of hostint_x_packets_total");
    let cumulative = Temporality::Cumulative as i32;

    let Some(Data::Sum(sum)) = packets.data else {
        panic!("{packets:?}");
    };
    assert!(sum.monotonic && sum.temporality == cumulative);
    let point = &sum.points[0];
    assert_eq!(point.value, Some(Number::Int((1 << 53) + 1)));
    assert_eq!(text(&point.attributes, "node").as_deref(), Some("1"));
    assert_eq!(point.start_ns, 7);
    assert!(point.time_ns > 1_700_000_000_000_000_000);

    let Some(Data::Sum(sum)) = cpu.data else {
        panic!("{cpu:?}");
    };
    assert_eq!(sum.points[0].value, Some(Number::Double(1.5)));
    assert_eq!(sum.points[0].start_ns, 0, "nobody knows when that began");

    let Some(Data::Gauge(gauge)) = flows.data else {
        panic!("{flows:?}");
    };
    assert_eq!(gauge.points[0].value, Some(Number::Int(-3)));

    let Some(Data::Histogram(histogram)) = latency.data else {
        panic!("{latency:?}");
    };
    assert_eq!(histogram.temporality, cumulative);
    let point = &histogram.points[0];
    assert_eq!(point.bounds, [0.0, 0.001, 0.5]);
    assert_eq!(point.bucket_counts, [1, 3, 0, 6]);
    assert_eq!((point.count, point.sum), (10, Some(7.25)));
}

/// The records of a request.
fn records(request: &Request) -> Vec<LogRecord> {
    let request = LogsRequest::decode(request.unpacked().as_slice()).unwrap();
    let [resource] = request.resources.try_into().unwrap();
    let [scope] = resource.scopes.try_into().unwrap();
    assert_eq!(scope.scope.unwrap().name, RECORD_SCHEMA);
    scope.records
}

#[test]
fn reports_are_events_with_all_that_their_json_says() {
    let receiving = HttpServer::taking(vec![]);
    log_once(&receiving);
    let request = receiving.seen().remove(0);
    let message = LogsRequest::decode(request.unpacked().as_slice()).unwrap();
    resource_says(message.resources[0].resource.as_ref());
    let mut synthetic = Synthetic::new(1, 4, 10);
    for (n, record) in records(&request).iter().enumerate() {
        let sample = synthetic.report(n % 10, TIME_NS);
        let json: serde_json::Value = serde_json::from_slice(&sample.line()).unwrap();
        let says = |key: &str| text(&record.attributes, key);
        let run = "0000000000000007".to_owned();
        assert_eq!(says("hostint.run"), Some(run));
        assert_eq!(says("hostint.number"), Some((n + 1).to_string()));
        assert_eq!(record.event_name, "hostint.report");
        assert_eq!(record.observed_ns, TIME_NS);
        assert_eq!(record.time_ns, TIME_NS / 1_000_000_000 * 1_000_000_000);
        for (key, value) in [
            ("source.address", &json["flow"]["src"]),
            ("source.port", &json["flow"]["sport"]),
            ("destination.address", &json["flow"]["dst"]),
            ("destination.port", &json["flow"]["dport"]),
            ("hostint.flow.protocol", &json["flow"]["protocol"]),
            ("hostint.kind", &json["kind"]),
            ("hostint.source.node", &json["source"]["node"]),
            ("hostint.report_seq", &json["report_seq"]),
        ] {
            let value = value.as_str().map_or(value.to_string(), str::to_owned);
            assert_eq!(says(key), Some(value), "{key}");
        }
        let transport = if json["flow"]["protocol"] == 6 {
            "tcp"
        } else {
            "udp"
        };
        assert_eq!(says("network.transport").as_deref(), Some(transport));
        assert_eq!(says("network.type").as_deref(), Some("ipv4"));
        let lost = json["kind"] == "drop-summary";
        let severity = if lost { Severity::Warn } else { Severity::Info };
        assert_eq!(record.severity, severity as i32);
    }
}

#[test]
fn reports_of_every_kind_keep_every_value() {
    for sample in hostint_testing::report_samples::all() {
        let report = sample.report().unwrap();
        let record = Record::new(&report, sample.arrival()).in_class(Some("storage"));
        let json = serde_json::to_value(&record).unwrap();
        let entry = FedReport {
            class: Some("storage".into()),
            ..numbered(u64::MAX, report, sample.arrival())
        };
        let batch = FedBatch {
            run: RunId(1),
            entries: vec![entry],
            bytes: 0,
        };
        let engine = OtlpLogs::new("http://127.0.0.1:1", Vec::new(), &identity()).unwrap();
        let request = engine.encode(&Parcel::of(1, batch));
        let request = LogsRequest::decode(request.as_slice()).unwrap();
        let record = &request.resources[0].scopes[0].records[0];
        assert_eq!(
            text(&record.attributes, "hostint.number"),
            Some(u64::MAX.to_string()),
            "as text, for integers of OTLP are signed"
        );
        // Run, number and network.* are more; the schema is the scope's.
        let more = ["network.type", "network.transport"];
        let more = more
            .iter()
            .filter(|key| text(&record.attributes, key).is_some());
        assert_eq!(
            record.attributes.len(),
            leaves(&json) - 1 + 2 + more.count(),
            "{json}\n{record:?}"
        );
    }
}

/// Values other than null.
fn leaves(value: &serde_json::Value) -> usize {
    match value {
        serde_json::Value::Null => 0,
        serde_json::Value::Array(values) => values.iter().map(leaves).sum(),
        serde_json::Value::Object(keys) => keys.values().map(leaves).sum(),
        _ => 1,
    }
}

#[test]
fn a_collector_pushes_with_the_headers_of_its_file_and_says_nothing_of_them() {
    use std::os::unix::fs::PermissionsExt;
    let receiving = HttpServer::taking(vec![says(503), says(400)]);
    let file =
        hostint_testing::scratch::TempFile::new("headers", format!("Authorization: {SECRET}\n"));
    let permissions = std::fs::Permissions::from_mode(0o600);
    std::fs::set_permissions(file.path(), permissions).unwrap();
    let url = receiving.url.clone() + "otlp/";
    let mut collecting = hostint_testing::collecting::Collecting::start(&[
        "--otlp",
        &url,
        "--otlp-reports",
        "--push-interval=1s",
        "--push-instance=a",
        "--push-headers-file",
        file.path(),
    ]);
    collecting.send(10);
    let mut kinds = std::collections::BTreeSet::new();
    await_that("both kinds come", || {
        for request in receiving.take() {
            assert_eq!(request.header("authorization"), Some(SECRET));
            kinds.insert(request.target);
        }
        kinds.len() == 2
    });
    assert_eq!(Vec::from_iter(kinds), ["/otlp/v1/logs", "/otlp/v1/metrics"]);
    // Snapshots and reports, of which one delivery was refused and one tried again.
    collecting.await_status("both were dealt with", |status| {
        let mut engines = status["engines"].as_array().unwrap().iter();
        engines.all(|engine| engine["delivered"] != 0 || engine["refused"] != 0)
    });
    let destination = receiving.url.clone() + "otlp";
    assert_eq!(
        collecting.engine("otlp-metrics")["destination"],
        destination
    );
    let status = collecting.status().to_string();
    let said = collecting.collector.end();
    assert!(said.contains(" points delivered"), "{said}");
    assert!(
        !said.contains("s3cret") && !status.contains("s3cret"),
        "{said}"
    );
}

/// The attributes of all reports in a request.
fn attributes(request: &Request) -> Vec<Vec<Attribute>> {
    let request = LogsRequest::decode(&request.unpacked()[..]).unwrap();
    let scopes = request.resources.into_iter().flat_map(|one| one.scopes);
    let records = scopes.flat_map(|scope| scope.records);
    records.map(|record| record.attributes).collect()
}

#[test]
fn names_of_nodes_stand_beside_their_ids() {
    // Other nodes of the reports have no name.
    const NAMES: &str = "1=web-1,2=web-2,3=db é";
    let receiving = HttpServer::taking(vec![]);
    let mut collecting = hostint_testing::collecting::Collecting::start(&[
        "--otlp",
        &receiving.url,
        "--otlp-reports",
        "--push-interval=1s",
        "--name",
        NAMES,
    ]);
    let name_of = |id: &str| {
        let mut names = NAMES.split(',').map(|one| one.split_once('=').unwrap());
        names
            .find(|(node, _)| *node == id)
            .map(|(_, name)| name.to_owned())
    };
    let mut seen = std::collections::BTreeSet::new();
    // The collector learns names within a second.
    await_that("reports of nodes with and without names come", || {
        collecting.send(40);
        for request in receiving.take() {
            if !request.target.ends_with("/logs") {
                continue;
            }
            for report in attributes(&request) {
                for end in ["source", "sink"] {
                    let says = |key: &str| text(&report, &format!("hostint.{end}.{key}"));
                    let (Some(node), name) = (says("node"), says("name")) else {
                        continue;
                    };
                    if name.is_some() {
                        assert_eq!(name, name_of(&node), "{end} {node}");
                    }
                    seen.insert((end, name));
                }
                assert_eq!(text(&report, "hostint.names.0.name"), None);
            }
        }
        let names = [Some("web-1"), Some("web-2"), Some("db é"), None];
        ["source", "sink"].into_iter().all(|end| {
            let all = names.iter();
            all.map(|name| (end, name.map(str::to_owned)))
                .all(|one| seen.contains(&one))
        })
    });
}

#[test]
fn a_collector_tells_the_times_of_paths() {
    let receiving = HttpServer::taking(vec![]);
    let collecting = hostint_testing::collecting::Collecting::start(&[
        "--otlp",
        &receiving.url,
        "--otlp-reports",
        "--push-interval=1s",
    ]);
    let now_ns = std::time::SystemTime::now();
    let now_ns = now_ns.duration_since(std::time::UNIX_EPOCH).unwrap();
    // Counting begins after the collector started, so that all packets are news to it.
    let epoch_ns = now_ns.as_nanos() as u64;
    let totals = |packets: usize| {
        let mut totals = path_totals(1, |place| vec![1_000 * i64::from(place); packets]);
        for time in &mut totals.times {
            time.epoch_ns = epoch_ns;
        }
        PathTotalsReport {
            time_s: (epoch_ns / 1_000_000_000) as u32,
            period_ns: 10_000_000_000,
            totals,
        }
    };
    let socket = std::net::UdpSocket::bind("127.0.0.1:0").unwrap();
    let mut packets: std::collections::BTreeMap<String, i64> = Default::default();
    let mut interfaces = std::collections::BTreeSet::new();
    let identity = NodeIdentity {
        node: NodeId(28673),
        period_s: 10,
        interfaces: [(2, "eth0".to_owned()), (3, "eth1".to_owned())].into(),
        ..NodeIdentity::default()
    };
    let mut named = Vec::new();
    report_identity::emit(&identity, 1, &mut named);
    let mut told = 5;
    await_that("the packets of each part come", || {
        // One may be lost; each has all that came so far.
        told += 1;
        let to = collecting.collector.reports;
        socket.send_to(&named, to).unwrap();
        for datagram in report_path::emit(&totals(told)) {
            socket.send_to(&datagram, to).unwrap();
        }
        for request in receiving.take() {
            if !request.target.ends_with("/logs") {
                continue;
            }
            for report in attributes(&request) {
                assert_eq!(text(&report, "hostint.kind").as_deref(), Some("path-times"));
                let part = text(&report, "hostint.path_part.part").unwrap();
                let from = text(&report, "hostint.path_part.from.node").unwrap();
                let added = text(&report, "hostint.added.packets").unwrap();
                let end = |end: &str| text(&report, &format!("hostint.path_part.{end}.interface"));
                interfaces.insert((format!("{part} {from}"), end("from"), end("to")));
                *packets.entry(format!("{part} {from}")).or_default() +=
                    added.parse::<i64>().unwrap();
            }
        }
        let parts = ["path 1", "wire 1", "hop 28673", "wire 28673"];
        let known = parts.iter().filter_map(|part| packets.get(*part));
        let enough = known.filter(|packets| (10..=told as i64).contains(packets));
        assert!(
            packets.values().all(|packets| *packets <= told as i64),
            "{packets:?}"
        );
        // The collector learns names within a second. The wire behind the hop ends at a host that tells none.
        let eth = |port: u16| Some(format!("eth{port}"));
        let named = [
            ("wire 1", None, eth(0)),
            ("hop 28673", eth(0), eth(1)),
            ("wire 28673", eth(1), None),
            ("path 1", None, None),
        ];
        let mut named = named
            .map(|(part, from, to)| (part.to_owned(), from, to))
            .into_iter();
        enough.count() == parts.len()
            && packets.len() == parts.len()
            && named.all(|one| interfaces.contains(&one))
    });
    let expected = [
        r#"hostint_interface_info{end="28673:2",node="28673",port="2",name="eth0"} 1"#,
        r#"hostint_interface_info{end="28673:3",node="28673",port="3",name="eth1"} 1"#,
    ];
    await_that("metrics name the interfaces of the hop", || {
        let metrics = collecting.collector.get("/metrics");
        let info = metrics.lines();
        let info = info.filter(|line| line.starts_with("hostint_interface_info{"));
        info.collect::<Vec<_>>() == expected
    });
}
