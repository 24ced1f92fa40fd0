//! Rotel, an OpenTelemetry collector, receives every report and passes it on.

use std::collections::{BTreeMap, HashSet};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::Instant;

use hostint_testing::collecting::Collecting;
use hostint_testing::wire::Wire;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::Value;

use super::*;

/// The program: as HOSTINT_ROTEL names it, else as packaging/install-build-deps.sh installs it, else of the PATH.
fn program() -> PathBuf {
    if let Some(named) = std::env::var_os("HOSTINT_ROTEL") {
        return named.into();
    }
    let venv = concat!(env!("CARGO_MANIFEST_DIR"), "/target/engines-venv/lib");
    let versions = std::fs::read_dir(venv).into_iter().flatten();
    let mut found = versions.map(|version| {
        let packages = version.unwrap().path().join("site-packages");
        packages.join("rotel/rotel-agent")
    });
    found
        .find(|program| program.exists())
        .unwrap_or_else(|| "rotel-agent".into())
}

/// Rotel, which passes on what it gets to `to`.
struct Rotel {
    child: Child,
    port: u16,
}

fn free_port() -> u16 {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    listener.local_addr().unwrap().port()
}

impl Rotel {
    fn start(port: u16, to: &HttpServer) -> Self {
        let here = |port| format!("127.0.0.1:{port}");
        let child = Command::new(program())
            .args(["start", "--exporter", "otlp", "--log-file", "/dev/null"])
            .args(["--otlp-exporter-endpoint", to.url.trim_end_matches('/')])
            .args(["--otlp-exporter-protocol", "http"])
            .args(["--otlp-exporter-retry-initial-backoff", "100ms"])
            .args(["--otlp-http-endpoint", &here(port)])
            .args(["--otlp-grpc-endpoint", &here(free_port())])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("rotel (try packaging/install-build-deps.sh --test, or HOSTINT_ROTEL=PATH)");
        await_that("rotel listens", || {
            std::net::TcpStream::connect(here(port)).is_ok()
        });
        Self { child, port }
    }

    /// Asks it to end, which lets it pass on what it has acknowledged.
    fn end(mut self) {
        let pid = Pid::from_raw(self.child.id().cast_signed());
        kill(pid, Signal::SIGTERM).unwrap();
        assert!(self.child.wait().unwrap().success());
    }
}

impl Drop for Rotel {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// What arrived behind rotel.
#[derive(Default)]
struct Arrived {
    seen: HashSet<(String, u64)>,
    sent: hostint_testing::collecting::Sent,
    /// The values of hostint_collect_reports_total by their times: rotel may pass on a later one first.
    reports_total: BTreeMap<u64, i64>,
}

impl Arrived {
    fn take(&mut self, request: &Request) {
        match request.target.as_str() {
            "/v1/logs" => self.logs(request),
            "/v1/metrics" => self.metrics(request),
            other => panic!("{other}"),
        }
    }

    fn logs(&mut self, request: &Request) {
        let request = LogsRequest::decode(request.unpacked().as_slice()).unwrap();
        let scopes = request.resources.iter().flat_map(|one| &one.scopes);
        for record in scopes.flat_map(|scope| &scope.records) {
            let says = |key: &str| text(&record.attributes, key);
            let int = |key: &str| says(key).unwrap().parse::<i64>().unwrap();
            let (run, number) = (says("hostint.run").unwrap(), int("hostint.number") as u64);
            if !self.seen.insert((run, number)) {
                continue;
            }
            self.sent.reports += 1;
            match says("hostint.kind").unwrap().as_str() {
                "latency" => {
                    self.sent.latency_reports += 1;
                    self.sent.latency_ns += int("hostint.latency_ns");
                }
                "drop-summary" => {
                    self.sent.drop_summaries += 1;
                    self.sent.lost += int("hostint.gap.count") as u64;
                }
                other => panic!("{other}"),
            }
        }
    }

    fn metrics(&mut self, request: &Request) {
        let request = MetricsRequest::decode(request.unpacked().as_slice()).unwrap();
        let scopes = request.resources.iter().flat_map(|one| &one.scopes);
        for metric in scopes.flat_map(|scope| &scope.metrics) {
            if let ("hostint_collect_reports_total", Some(Data::Sum(sum))) =
                (metric.name.as_str(), &metric.data)
            {
                let Some(Number::Int(total)) = sum.points[0].value else {
                    panic!("{sum:?}");
                };
                assert!(sum.points[0].start_ns > 0);
                self.reports_total.insert(sum.points[0].time_ns, total);
            }
        }
    }
}

fn through_rotel(wire: &Wire) {
    let (rounds, each, away) = match std::env::var_os("HOSTINT_LONG") {
        Some(_) => (5, 250_000, Duration::from_secs(60)),
        None => (3, 5_000, Duration::from_secs(1)),
    };
    let to = HttpServer::taking(vec![]);
    let mut rotel = Rotel::start(free_port(), &to);
    let port = rotel.port;
    let url = format!("http://127.0.0.1:{port}");
    let flags = ["--otlp", &url, "--otlp-reports", "--push-interval", "1s"];
    let room = ["--queue", "1G", "--engine-queue", "1G"];
    let mut collecting = Collecting::start(&[&flags[..], &room].concat());
    let mut arrived = Arrived::default();
    // What comes while nothing gets through waits.
    let meanwhile = |collecting: &mut Collecting| {
        let begin = Instant::now();
        collecting.send(each / 2);
        collecting.await_status("what comes meanwhile waits", |status| {
            let mut engines = status["engines"].as_array().unwrap().iter();
            let waits = |one: &Value| one["trouble"].is_string() && one["waiting"] != 0;
            begin.elapsed() >= away && engines.all(waits)
        });
    };
    for round in 0..rounds {
        match round {
            0 => collecting.send(each / 2),
            1 => {
                wire.cut([port].into_iter());
                meanwhile(&mut collecting);
                wire.mend();
            }
            _ => {
                rotel.end();
                meanwhile(&mut collecting);
                rotel = Rotel::start(port, &to);
            }
        }
        collecting.send(each / 2);
        collecting.await_delivery("otlp-reports");
    }
    let engine = collecting.engine("otlp-reports");
    for count in ["queue_drops", "refused", "abandoned", "waiting"] {
        assert_eq!(engine[count], 0, "{engine}");
    }
    assert_eq!(engine["unit"], "reports");
    assert!(engine["retries"].as_u64().unwrap() > 0, "{engine}");
    let all = collecting.sent.reports;
    await_that("all arrives behind rotel", || {
        to.take().iter().for_each(|request| arrived.take(request));
        let total = arrived.reports_total.values().last();
        arrived.sent.reports == all && total == Some(&(all as i64))
    });
    assert_eq!(arrived.sent, collecting.sent);
    assert!(arrived.reports_total.values().is_sorted());
    let metrics = collecting.engine("otlp-metrics");
    assert_eq!(metrics["unit"], "points");
    assert_eq!(
        (&metrics["refused"], &metrics["queue_drops"]),
        (&0.into(), &0.into())
    );
}

/// These need root.
mod root {
    use super::*;

    #[test]
    fn rotel_gets_every_report_and_passes_it_on() {
        let wire = Wire::new("otlp");
        wire.within(|| through_rotel(&wire));
    }
}
