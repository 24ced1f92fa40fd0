//! What hosts drop and forward reaches every engine as it is: packets of a real run, counted by nftables.

use std::net::UdpSocket;
use std::sync::Arc;

use hostint::engines::otlp::messages::*;
use hostint_testing::clickhouse::{PLAIN, Ports, Server};
use hostint_testing::http_server::{HttpServer, Reply, Request};
use hostint_testing::netns::{Lab, await_that_or};
use prost::Message;

const DROPPED: usize = 300;
const FORWARDED: usize = 200;

/// Labels or attributes, and the value.
type Point = (Vec<(String, String)>, f64);

fn text(value: Option<AnyValue>) -> String {
    match value.and_then(|value| value.value) {
        Some(Any::Text(text)) => text,
        Some(Any::Int(number)) => number.to_string(),
        Some(Any::Bool(truth)) => truth.to_string(),
        other => format!("{other:?}"),
    }
}

fn labels(attributes: Vec<Attribute>) -> Vec<(String, String)> {
    let pairs = attributes.into_iter();
    pairs.map(|one| (one.key, text(one.value))).collect()
}

fn number(point: NumberPoint) -> Point {
    let value = match point.value {
        Some(Number::Int(number)) => number as f64,
        Some(Number::Double(number)) => number,
        None => f64::NAN,
    };
    (labels(point.attributes), value)
}

/// The points of a metric, of histograms how much they count, in the last request that has some.
fn pushed_by_otlp(requests: &[Request], name: &str) -> Vec<Point> {
    let metrics = |request: &Request| {
        let request = MetricsRequest::decode(&request.unpacked()[..]).unwrap();
        let scopes = request.resources.into_iter().flat_map(|one| one.scopes);
        let metrics = scopes.flat_map(|scope| scope.metrics);
        let ours = metrics.filter(|metric| metric.name == name);
        let point = ours.flat_map(|metric| match metric.data {
            Some(Data::Sum(Sum { points, .. }) | Data::Gauge(Gauge { points })) => {
                points.into_iter().map(number).collect::<Vec<_>>()
            }
            Some(Data::Histogram(histogram)) => {
                let points = histogram.points.into_iter();
                let count = points.map(|point| (labels(point.attributes), point.count as f64));
                count.collect()
            }
            None => Vec::new(),
        });
        point.collect::<Vec<_>>()
    };
    let of_metrics = requests.iter().rev();
    let mut of_metrics = of_metrics.filter(|request| request.target.ends_with("/v1/metrics"));
    of_metrics.next().map(metrics).unwrap_or_default()
}

/// Events of a kind, each with its attributes.
fn events(requests: &[Request], kind: &str) -> Vec<Vec<(String, String)>> {
    let logs = requests.iter();
    let logs = logs.filter(|request| request.target.ends_with("/v1/logs"));
    let records = logs.flat_map(|request| {
        let request = LogsRequest::decode(&request.unpacked()[..]).unwrap();
        let scopes = request.resources.into_iter().flat_map(|one| one.scopes);
        scopes.flat_map(|scope| scope.records).collect::<Vec<_>>()
    });
    let all = records.map(|record| labels(record.attributes));
    let key = ("hostint.kind".to_owned(), kind.to_owned());
    all.filter(|labels| labels.contains(&key)).collect()
}

fn has(labels: &[(String, String)], wanted: &[(&str, &str)]) -> bool {
    let is_there = |(key, value): &(&str, &str)| {
        labels
            .iter()
            .any(|(name, told)| name == key && told == value)
    };
    wanted.iter().all(is_there)
}

/// The value of the only point with these labels.
fn value(points: &[Point], wanted: &[(&str, &str)]) -> Option<f64> {
    let mut found = points.iter().filter(|(labels, _)| has(labels, wanted));
    let first = found.next()?;
    assert!(found.next().is_none(), "{wanted:?} twice: {points:?}");
    Some(first.1)
}

/// The sum of an attribute of events with these others.
fn sum(events: &[Vec<(String, String)>], wanted: &[(&str, &str)], key: &str) -> u64 {
    let ours = events.iter().filter(|labels| has(labels, wanted));
    let values = ours.flat_map(|labels| labels.iter().filter(|(name, _)| name == key));
    values.map(|(_, value)| value.parse::<u64>().unwrap()).sum()
}

/// These need root.
mod root {
    use super::*;

    #[test]
    fn the_drops_and_hops_of_a_router_are_in_every_engine_as_nftables_counts_them() {
        let lab = Lab::new();
        lab.m.sh(
            "nft add table ip lab; nft 'add chain ip lab f { type filter hook forward priority 0; }'
             nft add rule ip lab f udp dport 7001 counter drop",
        );
        let ports = lab.b.enter(|| Ports::free("10.9.2.1"));
        let server = lab.b.enter(|| Server::start("drops", &ports, &[]));
        lab.b.enter(|| server.run(PLAIN));
        let receiving = lab
            .b
            .enter(|| HttpServer::start(|_| Reply::status(200, "")));
        let receiving = Arc::new(receiving);
        let (url, clickhouse) = (&receiving.url, &server.url);
        let mut collect = lab.b.start(
            &format!(
                "collect --json --listen 10.9.2.1 --clickhouse {clickhouse} --otlp {url} --otlp-reports \
                 --push-interval 1s"
            ),
            "collecting",
        );
        let mut postcards = lab.m.start(
            "postcards --drops --hops --dev m0,m1 --collector 10.9.2.1 --node-id 9 --node-name router",
            "drops and hops are reported",
        );
        let mut requests = Vec::new();
        let mut names = || {
            requests.extend(receiving.take());
            pushed_by_otlp(&requests, "hostint_node_info")
        };
        await_that_or(|| !names().is_empty(), || collect.stderr());
        let from: UdpSocket = lab.a.udp("10.9.1.1:5000");
        for (port, count) in [(7001, DROPPED), (7002, FORWARDED)] {
            for _ in 0..count {
                from.send_to(&[7; 100], ("10.9.2.1", port)).unwrap();
            }
        }
        // The last sums come at the end.
        assert_eq!(postcards.end(), Some(0), "{}", postcards.stderr());
        let counted = lab.m.counted_by_nft("table ip lab");
        assert_eq!(counted, (DROPPED as u64, DROPPED as u64 * 128));

        let ask = |sql: &str| lab.b.enter(|| server.ask(sql));
        let rows = "SELECT sum(added_drop_packets), sum(added_drop_segments), sum(added_drop_bytes), \
                    uniqExact(reporter_node), any(reporter_node), any(reporter_name) FROM hostint.reports FINAL \
                    WHERE host_drop_reason_name = 'NETFILTER_DROP' AND kind =";
        let bytes = DROPPED * 128;
        let told = format!("{DROPPED}\t{DROPPED}\t{bytes}\t1\t9\trouter\n");
        for kind in ["host-drop-sum", "host-drop"] {
            let query = format!("{rows} '{kind}'");
            await_that_or(
                || ask(&query) == told,
                || format!("{kind}: {}", ask(&query)),
            );
        }
        let hops = "SELECT max(host_hop_packets), max(host_hop_bytes), any(reporter_name) FROM hostint.reports \
                    WHERE kind = 'host-hop' AND dport = 7002 GROUP BY reporter_node";
        let told = format!("{FORWARDED}\t{}\trouter\n", FORWARDED * 128);
        await_that_or(|| ask(hops) == told, || ask(hops));

        // What is pushed at the end is the last.
        assert_eq!(collect.end(), Some(0), "{}", collect.stderr());
        requests.extend(receiving.take());
        let node = ("node", "9");
        let dropped = [
            node,
            ("reason", "NETFILTER_DROP"),
            ("position", "apart"),
            ("ignored", "0"),
        ];
        let drops = pushed_by_otlp(&requests, "hostint_host_drops_total");
        let count = value(&drops, &dropped);
        assert_eq!(count, Some(DROPPED as f64), "{drops:?}");
        let names = pushed_by_otlp(&requests, "hostint_node_info");
        let named = value(&names, &[node, ("name", "router")]);
        assert_eq!(named, Some(1.0), "{names:?}");
        // Those that the firewall dropped never came to a queue.
        let hops = pushed_by_otlp(&requests, "hostint_hop_latency_seconds");
        let ours = |labels: &[_]| has(labels, &[node, ("in", "m0"), ("out", "m1")]);
        let counts = hops.iter().filter(|(labels, _)| ours(labels));
        let counts: Vec<_> = counts.map(|(_, count)| *count).collect();
        let expected = [FORWARDED as f64; 2];
        assert_eq!(counts, expected, "to the queue, and to the driver");
        let reason = ("hostint.host_drop_sum.kernel_reason_name", "NETFILTER_DROP");
        let router = ("hostint.reporter_name", "router");
        let sums = events(&requests, "host-drop-sum");
        let total = sum(&sums, &[reason, router], "hostint.added_drops.packets");
        assert_eq!(total, DROPPED as u64, "{sums:?}");
        let flows = events(&requests, "host-drop");
        let port = ("destination.port", "7001");
        let total = sum(&flows, &[port, router], "hostint.added_drops.packets");
        assert_eq!(total, DROPPED as u64, "{flows:?}");
    }
}
