//! The page, Grafana by the sinks' metrics, and Grafana by the collector's say the same, and a silent host is alerted.

use std::net::UdpSocket;
use std::sync::mpsc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use hostint_testing::dashboards::queries;
use hostint_testing::exporting::loss_at;
use hostint_testing::netns::{Host, Lab, await_that_or};
use hostint_testing::places::repository;
use hostint_testing::scratch::Folder;
use nix::sys::signal::Signal;
use serde_json::Value;

use super::metrics::{COLLECT, Prometheus, SINK, get};

/// One datagram in so many is dropped on the way.
const DROPPED: u64 = 20;

/// The last packets arrive, and show which ones before them are missing.
const PACKETS: u64 = 2010;

/// The time that rates look back.
const WINDOW: &str = "10m";

fn send(from: &UdpSocket, packets: u64) {
    for n in 0..packets {
        from.send_to(&[7; 200], "10.9.2.1:6000").unwrap();
        if n % 20 == 0 {
            std::thread::sleep(Duration::from_millis(2));
        }
    }
}

/// The row of the pair in the page's API: packets sent, lost ones, and the quantiles of latency.
struct PageRow {
    packets: f64,
    lost: f64,
    p50_s: f64,
    p99_s: f64,
}

fn page_row(lab: &Lab) -> Option<PageRow> {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    let (since, until) = (now.as_nanos() - 600_000_000_000, now.as_nanos());
    let path = format!("/api/pairs?since={since}&until={until}");
    let (status, body) = get(&lab.b, COLLECT, &path);
    assert_eq!(status, 200, "{body}");
    let answer: Value = serde_json::from_str(&body).unwrap();
    let row = answer["pairs"].as_array()?.first()?;
    let measured = |n: usize| row[4][n].as_f64();
    let seconds = |n: usize| row[5][n].as_f64().map(|ns| ns / 1e9);
    Some(PageRow {
        packets: measured(0)? - measured(5)? + measured(2)?,
        lost: measured(2)?,
        p50_s: seconds(3)?,
        p99_s: seconds(5)?,
    })
}

/// The shipped rules. That of a silent exporter waits for seconds here, and not for ten minutes.
fn hurried_rules() -> String {
    let path = repository().join("packaging/prometheus/hostint.rules.yml");
    let shipped = std::fs::read_to_string(path).unwrap();
    let (before, after) = shipped
        .split_once("- alert: HostintExporterSilent")
        .unwrap();
    let (silent, after) = after.split_once("labels:").unwrap();
    let hurried = silent.replace("> 300", "> 5").replace("for: 5m", "for: 1s");
    assert_eq!(hurried.len(), silent.len() - 2, "{silent}");
    format!("{before}- alert: HostintExporterSilent{hurried}labels:{after}")
}

/// Other hosts, whose sinks report twice a second while this lives.
struct Exporting(mpsc::Sender<()>);

impl Exporting {
    fn start(host: &Host, nodes: &'static [u32], to: &'static str) -> Self {
        let (sender, ended) = mpsc::channel();
        let sockets: Vec<UdpSocket> = nodes.iter().map(|_| host.udp("127.0.0.1:0")).collect();
        let wait = Duration::from_millis(500);
        std::thread::spawn(move || {
            for sequence in 0.. {
                for (node, socket) in nodes.iter().zip(&sockets) {
                    let _ = socket.send_to(&loss_at(*node, sequence), to);
                }
                if ended.recv_timeout(wait) != Err(mpsc::RecvTimeoutError::Timeout) {
                    return;
                }
            }
        });
        Self(sender)
    }
}

impl Drop for Exporting {
    fn drop(&mut self) {
        let _ = self.0.send(());
    }
}

#[test]
fn page_and_grafana_agree_and_a_silent_host_is_alerted() {
    let lab = Lab::new();
    let folder = Folder::create();
    let store = folder.name("history.db");
    let _collector = lab.b.start(
        &format!(
            "collect --listen 127.0.0.1:7001 --http 127.0.0.1 --output /dev/null --store {}",
            store
        ),
        "serving http://127.0.0.1:13277",
    );
    let config = folder.file("b.toml");
    std::fs::write(
        &config,
        "[sink]\ndev = \"b0\"\nnode-id = 2\nhttp = \"127.0.0.1\"\nsummary-period = \"1s\"\n\
         allow = \"10.9.1.0/24\"\ncollector = \"127.0.0.1:7001\"\n\
         [[watch]]\nclass = \"storage\"\nto = \"10.9.2.1\"\nto-port = 6000\n",
    )
    .unwrap();
    let sink = lab.b.start(
        &format!("sink --config {}", config.display()),
        "serving http://127.0.0.1:13276",
    );
    lab.a
        .hostint("source attach --dev a0 --encap over-tcp-udp --force --node-id 1");
    lab.a.hostint("source add-dest --static 10.9.2.1");
    let rules = folder.file("rules.yml");
    std::fs::write(&rules, hurried_rules()).unwrap();
    let prometheus = Prometheus::configured(
        &lab.b,
        &format!(
            "global: {{scrape_interval: 1s, scrape_timeout: 1s, evaluation_interval: 1s}}\n\
             rule_files: [{}]\n\
             scrape_configs:\n\
             - {{job_name: hostint, static_configs: [{{targets: ['127.0.0.1:{SINK}', '127.0.0.1:{COLLECT}']}}]}}\n",
            rules.display(),
        ),
    );
    let _to = lab.b.udp("10.9.2.1:6000");
    let from = lab.a.udp("10.9.1.1:5000");
    send(&from, 1);
    prometheus.await_value("sum(hostint_node_packets_total{node=\"1\"})", 1.0);
    lab.drop_packets(&format!("ip protocol udp numgen inc mod {DROPPED} < 1"));
    send(&from, PACKETS);
    let dropped = lab.dropped();
    assert!(dropped > 0);
    let arrived = (1 + PACKETS - dropped) as f64;
    prometheus.await_value("sum(hostint_node_packets_total{node=\"1\"})", arrived);
    prometheus.await_value(
        "sum(hostint_node_lost_total)-sum(hostint_node_recovered_total)",
        dropped as f64,
    );

    // The collector's metrics, beside those of the sink.
    let pair = "source=\"1\",sink=\"2\"";
    for name in [
        "packets_total",
        "bytes_total",
        "lost_total",
        "recovered_total",
        "reordered_total",
        "duplicates_total",
        "latency_seconds_count",
        "latency_seconds_sum",
    ] {
        let of_pair = format!("sum(hostint_pair_{name}{{{pair}}})");
        prometheus.await_value(
            &format!("{of_pair}-sum(hostint_node_{name}{{node=\"1\"}})"),
            0.0,
        );
        let class = "class=\"storage\"";
        prometheus.await_value(
            &format!(
                "sum(hostint_collect_class_{name}{{{class}}})-sum(hostint_class_{name}{{{class}}})"
            ),
            0.0,
        );
    }
    let other = format!(
        "count(sum by (le) (hostint_pair_latency_seconds_bucket{{{pair}}}) != \
         sum by (le) (hostint_node_latency_seconds_bucket{{node=\"1\"}})) or vector(0)"
    );
    prometheus.await_value(&other, 0.0);

    // The page, beside what Grafana shows.
    let row = || page_row(&lab).filter(|row| row.packets as u64 == 1 + PACKETS);
    await_that_or(
        || row().is_some(),
        || format!("the page has {:?}", page_row(&lab).map(|row| row.packets)),
    );
    let row = row().unwrap();
    assert_eq!(row.lost, dropped as f64);
    let of_panel = |panel: &str| {
        let query = queries().into_iter().find(|query| query.panel == panel);
        let expr = query.unwrap_or_else(|| panic!("no panel {panel}")).expr;
        let expr = ["$instance", "$node", "$class"]
            .iter()
            .fold(expr, |expr, name| expr.replace(name, ".*"));
        expr.replace("$__rate_interval", WINDOW)
    };
    let shown = prometheus.query(&of_panel("Loss by source node")).unwrap();
    let told = row.lost / row.packets;
    assert!(
        (shown / told - 1.0).abs() < 0.01,
        "loss {shown}, page {told}"
    );
    for (panel, told) in [
        ("Latency, median, by source node", row.p50_s),
        ("Latency, 99th percentile, by source node", row.p99_s),
    ] {
        let shown = prometheus.query(&of_panel(panel)).unwrap();
        // The metrics' slots are powers of two, the page's are at most 3.2 % wide.
        let within = told / 2.0 <= shown && shown <= 2.0 * told;
        assert!(within, "{panel}: {shown} s, page {told} s");
    }

    // Its sink ends, and nothing else does.
    let _others = Exporting::start(&lab.b, &[5, 6], "127.0.0.1:7001");
    let silent = "sum(ALERTS{alertname=\"HostintExporterSilent\",alertstate=\"firing\"})";
    sink.signal(Signal::SIGKILL);
    prometheus.await_value(
        &format!("{silent} == 1 and count(hostint_exporter_last_seen_time_seconds) == 3"),
        1.0,
    );
    let of_sink = silent.replace("alertname", "node=\"2\",alertname");
    prometheus.await_value(&of_sink, 1.0);
    let alert = "ALERTS{alertname=\"HostintHostsSilent\",alertstate=\"firing\"}";
    let silent = "hostint_collect_hosts{state=\"silent\"}";
    prometheus.await_value(silent, 1.0);
    prometheus.await_value(alert, 1.0);
}
