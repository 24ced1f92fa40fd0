//! Metrics keep their names, never fall, have bounded labels, and pass promtool.
//!
//! `HOSTINT_BLESS=1 cargo test --test views metrics` writes tests/golden/metrics.txt anew; dashboards and alerts of
//! users name what is there.

use std::collections::BTreeMap;
use std::io::Write;
use std::net::IpAddr;
use std::path::Path;
use std::process::{Command, Stdio};

use hostint::datapath::host::counters::{self, CounterMeaning};
use hostint::model::coverage::CoverageRow;
use hostint::model::*;
use hostint::views::metrics::agent::text_of_roles;
use hostint::views::metrics::{OTHER, Rising, collect, postcards, sink, text, transit};
use hostint_testing::random::Random;
use hostint_testing::status_samples;

fn counter_statuses(all: &[CounterMeaning]) -> Vec<CounterStatus> {
    let counters = all.iter().enumerate().map(|(i, meaning)| CounterStatus {
        name: meaning.name,
        text: meaning.text,
        packets: i as u64,
        bytes: 100 * i as u64,
    });
    counters.collect()
}

/// A host with every counter there is.
fn status() -> HostStatus {
    let [mut status, ..] = hostint_testing::status_samples::all();
    if let Some(sink) = &mut status.sink {
        sink.counters = counter_statuses(counters::SINK);
        let daemon = counters::DAEMON.iter().map(|meaning| DaemonCounter {
            name: meaning.name,
            text: meaning.text,
            value: 1_500_000_000,
        });
        sink.daemon = daemon.collect();
    }
    if let Some(source) = &mut status.source {
        source.counters = counter_statuses(counters::SOURCE);
        source.counters.extend(counter_statuses(counters::PEER));
    }
    if let Some(transit) = &mut status.transit {
        transit.counters = counter_statuses(counters::TRANSIT);
    }
    status
}

fn rule(class: &str, to: &str) -> WatchRule {
    WatchRule {
        class: Some(class.to_owned()),
        to: vec![RuleHost {
            text: to.to_owned(),
            prefixes: vec![to.parse().unwrap()],
        }],
        ..WatchRule::default()
    }
}

fn flow(number: u16) -> FlowKey {
    let [high, low] = number.to_be_bytes();
    FlowKey {
        src: IpAddr::from([10, 1, high, low]),
        dst: IpAddr::from([10, 2, high % 4, 1]),
        sport: 5000,
        dport: 6000,
        protocol: 17,
        vlans: Vlans::NONE,
    }
}

/// What a flow has after so many packets of 100 bytes and 1,500 ns.
fn counts(node: u32, packets: u64) -> FlowCounts {
    let mut histogram = [0; LATENCY_SLOTS];
    histogram[11] = packets as u32;
    FlowCounts {
        node: NodeId(node),
        packets,
        bytes: 100 * packets,
        lost: packets / 10,
        recovered: packets / 100,
        reordered: packets / 5,
        duplicates: packets / 50,
        latency_sum_ns: 1500 * packets as i64,
        slots: FlowSlots::coarse(&histogram),
        ..FlowCounts::default()
    }
}

/// One that counts from now on.
fn tally(rules: &[WatchRule]) -> Tally {
    let mut tally = Tally::default();
    tally.set_classes(Classes::new(rules));
    tally.begin();
    tally.complete();
    tally
}

fn read(tally: &mut Tally, flows: &[(u16, FlowCounts)]) {
    tally.begin();
    for (number, counts) in flows {
        tally.look(flow(*number), counts.clone());
    }
    tally.complete();
}

/// Packets that a summary adds.
fn measured() -> Measured {
    let mut latency = LatencyHistogram::default();
    [500, 1_500, 3_000, 5_000]
        .into_iter()
        .for_each(|ns| latency.add(ns));
    Measured {
        summaries: 1,
        packets: 4,
        bytes: 400,
        lost: 3,
        recovered: 2,
        reordered: 1,
        duplicates: 1,
        squares: FlowSquares::default(),
        latency,
        corrected: ClockSums {
            packets: 4,
            latency_ns: 8_000,
            error_ns: 2_000,
            less_ns: 9_000,
            more_ns: 4_000,
        },
    }
}

fn collect_status() -> CollectStatus {
    let exporter = |node: Option<u32>, last_seen_ns| ExporterHealth {
        exporter: "192.0.2.1".parse().unwrap(),
        node: node.map(NodeId),
        hw_id: 0,
        reports: 10,
        lost: 2,
        duplicates: 1,
        restarts: 1,
        unnumbered: 0,
        last_seen_ns,
        reporting: true,
        silent_after_ns: 60_000_000_000,
        clock: Some("tai"),
        clock_synchronised: node.map(|node| node == 1),
        name: node.map(|node| format!("web-\"{node}")),
        name_origin: node.map(|_| NameOrigin::Told),
        name_contested: false,
        version: Some("0.2.0".to_owned()),
        labels: [("rack".to_owned(), "r7".to_owned())].into(),
        interfaces: [(2, "eth0".to_owned())].into(),
        lacks: Vec::new(),
    };
    CollectStatus {
        schema: COLLECT_SCHEMA,
        started_ns: 1_700_000_000_000_000_000,
        queues: vec![HostQueueRow {
            node: NodeId(7),
            dev: "eth1".to_owned(),
            queue: 2,
            counts: EpisodeCounts {
                episodes: 3,
                over_ns: 1_500_000_000,
                packets: 50,
                told: 40,
                suppressed: 10,
                drops: 6,
            },
        }],
        datagrams: 30,
        pods: Some(PodsStatus {
            named: 120,
            told_ns: 1_700_000_000_500_000_000,
            trouble: Some("HTTP status 500".to_owned()),
        }),
        engines: vec![
            EngineStatus {
                engine: "kafka",
                delivered: 20,
                queue_drops: 4,
                refused: 3,
                abandoned: 2,
                waiting: 1,
                retries: 5,
                trouble: Some("no broker answers".to_owned()),
                ..EngineStatus::default()
            },
            EngineStatus {
                engine: "otlp-metrics",
                unit: EngineUnit::Points,
                delivered: 1234,
                ..EngineStatus::default()
            },
        ],
        hosts_known: 6,
        hosts_reporting: 5,
        exporters_total: 4,
        exporters: vec![
            exporter(Some(1), 1_000_000_000),
            exporter(Some(1), 3_500_000_000),
            exporter(Some(2), 2_000_000_000),
            exporter(None, 0),
        ],
        segments: segments(),
        mx_pairs: vec![MxPairRow {
            source: NodeId(1),
            sink: NodeId(2),
            joined: 7,
            incomplete: 3,
            missing: vec![MxMissingHop {
                node: NodeId(9),
                reports: 2,
            }],
        }],
        coverage: vec![CoverageRow {
            source: NodeId(1),
            sink: Some(NodeId(2)),
            class: Some("storage".to_owned()),
            measured: Some(90),
            tagged: Some(95),
            missed: [("too_long".to_owned(), 10), ("no_sink_told".to_owned(), 5)].into(),
            measured_bytes: Some(9_000),
            tagged_bytes: Some(9_500),
            missed_bytes: [
                ("too_long".to_owned(), Some(15_000)),
                ("no_sink_told".to_owned(), None),
            ]
            .into(),
        }],
        traffic: {
            let mut traffic = PairTraffic::default();
            traffic.add((NodeId(1), NodeId(2)), Some("storage"), &measured());
            traffic.add((NodeId(1), NodeId(2)), None, &measured());
            traffic
        },
        drops: hostint_testing::report_samples::drop_rows(),
        hops: vec![(NodeId(7), host_hop())],
        tcp: hostint_testing::report_samples::host_tcp_rows(),
        verdict: Some(Box::new(hostint_testing::verdict_samples::degraded())),
        verdict_ns: 1_280_000,
        ..CollectStatus::default()
    }
}

pub fn sink_page() -> String {
    let mut tally = tally(&[rule("storage", "10.2.0.0/16")]);
    read(&mut tally, &[(1, counts(1, 1000)), (2, counts(7, 50))]);
    text(&sink::families(&status(), &tally, &[]))
}

pub fn collect_page() -> String {
    text(&collect::families(
        &collect_status(),
        &mut Rising::default(),
    ))
}

pub fn postcards_page() -> String {
    let status = status_samples::postcards();
    postcards::text(
        status.drops.as_ref().map(|it| &it.totals),
        status.hops.as_ref().map(|it| &it.totals),
        status.queues.as_ref().map(|it| &it.totals),
    )
}

/// The value of a series by its name and labels, as they are written.
fn value(page: &str, series: &str) -> f64 {
    let line = page
        .lines()
        .find_map(|line| line.strip_prefix(series)?.strip_prefix(' '));
    line.unwrap_or_else(|| panic!("{series} in:\n{page}"))
        .parse()
        .unwrap()
}

/// Packets between two interfaces of a host: four that left after 5 us, and one more that the queue dropped.
fn host_hop() -> InterfacePassage {
    let times = |ns: i64, packets: u64| {
        let mut latency = LatencyHistogram::default();
        (0..packets).for_each(|_| latency.add(ns));
        PassageTimes(latency)
    };
    InterfacePassage {
        in_ifindex: 2,
        out_ifindex: 3,
        in_interface: Some("eth0".to_owned()),
        out_interface: None,
        start: PassageStart::Interface,
        sent: times(5_000, 4),
        queued: times(1_000, 5),
    }
}

#[test]
fn hops_of_hosts_are_told_by_node_and_interfaces() {
    let page = collect_page();
    let series = |name: &str, end: &str, le: &str| {
        let labels = format!("in=\"eth0\",out=\"3\",start=\"interface\",end=\"{end}\",node=\"7\"");
        value(
            &page,
            &format!("hostint_hop_latency_seconds_{name}{{{labels}{le}}}"),
        )
    };
    assert_eq!(series("count", "driver", ""), 4.0);
    assert_eq!(series("count", "queue", ""), 5.0);
    assert_eq!(series("bucket", "driver", ",le=\"0.000004096\""), 0.0);
    assert_eq!(series("bucket", "driver", ",le=\"0.000008192\""), 4.0);
    assert_eq!(series("bucket", "queue", ",le=\"0.000001024\""), 5.0);
}

/// A hop that took 1 us three times and 5 ms once.
fn segments() -> Vec<SegmentTally> {
    let port = |port| NodePort {
        node: NodeId(28673),
        port,
    };
    let mut latency = LatencyHistogram::default();
    for ns in [1_000, 1_000, 1_000, 5_000_000] {
        latency.add(ns);
    }
    vec![SegmentTally {
        segment: Segment {
            kind: SegmentKind::Hop,
            from: port(2),
            to: port(3),
        },
        of_packets: true,
        latency,
        loss: Some(SegmentLoss {
            packets: 4,
            lost: 1,
        }),
    }]
}

#[test]
fn interfaces_at_the_ends_of_segments_have_their_names() {
    let one = r#"hostint_interface_info{end="28673:2",node="28673",port="2",name="eth0"} 1"#;
    let other = r#"hostint_interface_info{end="28673:3",node="28673",port="3",name="eth1"} 1"#;
    let told = |ports: &[(u16, &str)]| {
        ports
            .iter()
            .map(|(at, name)| (*at, (*name).to_owned()))
            .collect()
    };
    for (what, first, second, lines) in [
        ("nobody tells names", &[][..], &[][..], &[][..]),
        ("both ends", &[(2, "eth0"), (3, "eth1")], &[], &[one, other]),
        (
            "another port than those of segments",
            &[(2, "eth0"), (4, "eth2")],
            &[],
            &[one],
        ),
        (
            "two hosts with one node ID differ",
            &[(2, "eth0"), (3, "eth1")],
            &[(3, "wan")],
            &[one],
        ),
    ] {
        let mut status = collect_status();
        for (exporter, ports) in status.exporters.iter_mut().zip([first, second]) {
            exporter.node = Some(NodeId(28673));
            exporter.interfaces = told(ports);
        }
        let page = text(&collect::families(&status, &mut Rising::default()));
        let info = page.lines();
        let info = info.filter(|line| line.starts_with("hostint_interface_info{"));
        assert_eq!(info.collect::<Vec<_>>(), lines, "{what}");
    }
}

#[test]
fn names_types_and_help_are_what_users_built_upon() {
    let mut lines = String::new();
    for (title, page) in [
        ("run", text_of_roles([("sink", true)].into_iter())),
        ("sink", sink_page()),
        ("transit", transit::text(&status())),
        ("collect", collect_page()),
        ("postcards", postcards_page()),
    ] {
        lines += &format!("## {title}\n");
        for line in page.lines().filter(|line| line.starts_with('#')) {
            lines += line;
            lines += "\n";
        }
    }
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/metrics.txt");
    if std::env::var_os("HOSTINT_BLESS").is_some() {
        std::fs::write(&path, &lines).unwrap();
    }
    let kept = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        kept == lines,
        "not what was committed (if it is meant so: HOSTINT_BLESS=1 cargo test --test views metrics; then look at git diff)"
    );
}

#[test]
fn a_collector_has_the_episodes_of_each_queue_of_each_host() {
    let page = collect_page();
    let labels = "{node=\"7\",dev=\"eth1\",queue=\"2\"}";
    for (figure, wanted) in [
        ("episodes_total", 3.0),
        ("seconds_over_total", 1.5),
        ("packets_over_total", 50.0),
        ("packets_told_total", 40.0),
        ("packets_suppressed_total", 10.0),
        ("drops_total", 6.0),
    ] {
        let series = format!("hostint_host_queue_{figure}{labels}");
        assert_eq!(value(&page, &series), wanted, "{series}");
    }
}

#[test]
fn queues_have_their_episodes_and_the_time_over_the_trigger() {
    let page = postcards_page();
    for (series, wanted) in [
        (
            "hostint_queue_episodes_total{dev=\"eth1\",queue=\"0\"}",
            2.0,
        ),
        (
            "hostint_queue_seconds_over_total{dev=\"eth1\",queue=\"0\"}",
            0.0325,
        ),
        ("hostint_queue_over{dev=\"eth1\",queue=\"0\"}", 1.0),
        ("hostint_queue_over{dev=\"3\",queue=\"1\"}", 0.0),
        (
            "hostint_queue_packets_suppressed_total{dev=\"eth1\",queue=\"0\"}",
            1622.0,
        ),
        ("hostint_queue_not_judged_total{why=\"untimed\"}", 3.0),
        ("hostint_queue_lines_total", 5.0),
    ] {
        assert_eq!(value(&page, series), wanted, "{series}");
    }
}

#[test]
fn sums_are_those_of_the_flows_in_base_units() {
    let page = sink_page();
    for (series, wanted) in [
        ("hostint_node_packets_total{node=\"1\"}", 1000.0),
        ("hostint_node_bytes_total{node=\"1\"}", 100_000.0),
        ("hostint_node_lost_total{node=\"1\"}", 100.0),
        ("hostint_node_recovered_total{node=\"1\"}", 10.0),
        ("hostint_node_reordered_total{node=\"1\"}", 200.0),
        ("hostint_node_duplicates_total{node=\"1\"}", 20.0),
        ("hostint_node_packets_total{node=\"7\"}", 50.0),
        ("hostint_class_packets_total{class=\"storage\"}", 1050.0),
        ("hostint_node_latency_seconds_count{node=\"1\"}", 1000.0),
        ("hostint_node_latency_seconds_sum{node=\"1\"}", 0.0015),
        ("hostint_daemon_sweep_cpu_seconds_total", 1.5),
        ("hostint_daemon_started_time_seconds", 1.5),
        ("hostint_sink_flows", 2.0),
        ("hostint_sink_flows_max", 65_536.0),
        ("hostint_source_peers{state=\"silent\"}", 2.0),
        ("hostint_source_peers{state=\"granted\"}", 0.0),
        ("hostint_source_peer_paths{state=\"proved\"}", 0.0),
        ("hostint_clock_synchronised", 1.0),
    ] {
        assert_eq!(value(&page, series), wanted, "{series}");
    }
    let page = collect_page();
    for (series, wanted) in [
        ("hostint_collect_datagrams_total", 30.0),
        (
            "hostint_node_info{node=\"1\",name=\"web-\\\"1\",version=\"0.2.0\",contested=\"false\",label_rack=\"r7\"}",
            1.0,
        ),
        ("hostint_collect_hosts{state=\"reporting\"}", 5.0),
        ("hostint_collect_hosts{state=\"silent\"}", 1.0),
        ("hostint_engine_delivered_total{engine=\"kafka\"}", 20.0),
        (
            "hostint_push_delivered_total{engine=\"otlp-metrics\"}",
            1234.0,
        ),
        ("hostint_push_up{engine=\"otlp-metrics\"}", 1.0),
        ("hostint_exporter_reports_total{node=\"1\"}", 20.0),
        ("hostint_exporter_reports_lost_total{node=\"unknown\"}", 2.0),
        ("hostint_exporter_last_seen_time_seconds{node=\"1\"}", 3.5),
        ("hostint_exporter_clock_synchronised{node=\"2\"}", 0.0),
        ("hostint_pair_packets_total{source=\"1\",sink=\"2\"}", 8.0),
        ("hostint_pair_bytes_total{source=\"1\",sink=\"2\"}", 800.0),
        ("hostint_pair_lost_total{source=\"1\",sink=\"2\"}", 6.0),
        ("hostint_pair_recovered_total{source=\"1\",sink=\"2\"}", 4.0),
        (
            "hostint_pair_latency_seconds_sum{source=\"1\",sink=\"2\"}",
            0.00002,
        ),
        (
            "hostint_pair_latency_seconds_bucket{source=\"1\",sink=\"2\",le=\"0.000002048\"}",
            4.0,
        ),
        (
            "hostint_pair_corrected_packets_total{source=\"1\",sink=\"2\"}",
            8.0,
        ),
        (
            "hostint_pair_corrected_latency_seconds_total{source=\"1\",sink=\"2\"}",
            0.000_016,
        ),
        (
            "hostint_pair_corrected_error_seconds_total{source=\"1\",sink=\"2\"}",
            0.000_004,
        ),
        // No packet takes a negative time.
        (
            "hostint_pair_corrected_low_seconds_total{source=\"1\",sink=\"2\"}",
            0.0,
        ),
        (
            "hostint_pair_corrected_high_seconds_total{source=\"1\",sink=\"2\"}",
            0.000_024,
        ),
        (
            "hostint_collect_class_packets_total{class=\"storage\"}",
            4.0,
        ),
        ("hostint_collect_pairs", 1.0),
        ("hostint_collect_pairs_limit", MOST_METRIC_PAIRS as f64),
        ("hostint_collect_classes_limit", MOST_METRIC_CLASSES as f64),
    ] {
        assert_eq!(value(&page, series), wanted, "{series}");
    }
    assert!(!page.contains("last_seen_time_seconds{node=\"unknown\"}"));
}

#[test]
fn a_histogram_has_bounds_that_rise_and_counts_that_do() {
    let mut tally = tally(&[]);
    let mut one = counts(1, 32);
    one.slots = FlowSlots::coarse(&[1; LATENCY_SLOTS]);
    read(&mut tally, &[(1, one)]);
    let page = text(&sink::families(&status(), &tally, &[]));
    let begin = "hostint_node_latency_seconds_bucket{node=\"1\",le=\"";
    let buckets = page.lines().filter_map(|line| {
        let (bound, count) = line.strip_prefix(begin)?.split_once("\"} ")?;
        Some((bound.to_owned(), count.parse().unwrap()))
    });
    let buckets: Vec<(String, u64)> = buckets.collect();
    let count_at = |bound: &str| {
        buckets
            .iter()
            .find(|(text, _)| text == bound)
            .map(|at| at.1)
    };
    assert_eq!(buckets.len(), 23);
    // Slot n ends at 2^n ns.
    assert_eq!(count_at("0"), Some(1));
    assert_eq!(count_at("0.000001024"), Some(11));
    assert_eq!(count_at("0.001048576"), Some(21));
    assert_eq!(count_at("1.073741824"), Some(31));
    assert_eq!(count_at("+Inf"), Some(32));
    let bounds = buckets.iter().map(|(bound, _)| match bound.as_str() {
        "+Inf" => f64::INFINITY,
        bound => bound.parse().unwrap(),
    });
    assert!(Vec::from_iter(bounds).is_sorted());
    assert!(buckets.is_sorted_by_key(|(_, count)| *count));
}

/// A flow in the kernel's table, and what was sent in it over all its lives.
#[derive(Clone, Copy)]
struct Sent {
    node: u32,
    packets: u64,
}

#[test]
fn sums_never_fall_and_lose_nothing_while_flows_come_go_and_change_their_node() {
    let (mut random, seed) = Random::from_env();
    let rules = [
        [rule("storage", "10.2.0.0/24"), rule("voice", "10.2.1.0/24")],
        [rule("backup", "10.2.0.0/24"), rule("voice", "10.2.2.0/24")],
    ];
    let mut tally = Tally::default();
    tally.set_classes(Classes::new(&rules[0]));
    // What was there before anybody counted.
    let mut table: BTreeMap<u16, Sent> = BTreeMap::new();
    for number in 0..50 {
        let packets = 1000;
        table.insert(number * 16, Sent { node: 1, packets });
    }
    let (mut truth, mut before) = (0, BTreeMap::new());
    let read_all = |tally: &mut Tally, table: &BTreeMap<u16, Sent>| {
        let flows = table
            .iter()
            .map(|(number, sent)| (*number, counts(sent.node, sent.packets)));
        read(tally, &Vec::from_iter(flows));
    };
    read_all(&mut tally, &table);
    for step in 0..2000 {
        let number = random.below(4096) as u16;
        match random.below(8) {
            // Packets, of a new flow perhaps, or of another node.
            0..=4 => {
                let packets = random.below(100) as u64;
                let node = 1 + random.below(3) as u32;
                let sent = table
                    .entry(number % 256 * 16)
                    .or_insert(Sent { node, packets: 0 });
                if random.below(10) == 0 {
                    sent.node = node;
                }
                sent.packets += packets;
                truth += packets;
            }
            // It was idle.
            5 => {
                if let Some((number, sent)) = table.pop_first() {
                    tally.end(flow(number), counts(sent.node, sent.packets));
                }
            }
            6 if step % 100 == 0 => {
                tally.set_classes(Classes::new(&rules[random.below(2)]));
            }
            _ => read_all(&mut tally, &table),
        }
        let nodes = tally
            .nodes()
            .map(|(node, sums)| (format!("{node:?}"), sums.clone()));
        let classes = tally
            .classes()
            .map(|(class, sums)| (format!("{class:?}"), sums.clone()));
        for (which, now) in nodes.chain(classes) {
            let before = before
                .insert(which.clone(), now.clone())
                .unwrap_or_default();
            let falls = now.packets < before.packets
                || now.bytes < before.bytes
                || now.lost < before.lost
                || now.recovered < before.recovered
                || now.latency_sum_ns < before.latency_sum_ns
                || now
                    .histogram
                    .iter()
                    .zip(&before.histogram)
                    .any(|(now, before)| now < before);
            assert!(
                !falls,
                "seed {seed}, step {step}, {which}: {before:?} {now:?}"
            );
        }
    }
    read_all(&mut tally, &table);
    let packets = tally.nodes().map(|(_, sums)| sums.packets).sum::<u64>();
    assert_eq!(packets, truth, "seed {seed}");
    let slots = tally
        .nodes()
        .map(|(_, sums)| sums.histogram[11])
        .sum::<u64>();
    assert_eq!(slots, truth, "seed {seed}");
}

#[test]
fn what_flows_had_before_somebody_counted_is_nobodys() {
    let mut tally = Tally::default();
    // It goes before the first reading.
    tally.end(flow(9), counts(1, 500));
    read(&mut tally, &[(1, counts(1, 1000)), (2, counts(1, 10))]);
    assert_eq!(tally.nodes().count(), 0);
    read(
        &mut tally,
        &[(1, counts(1, 1001)), (2, counts(1, 10)), (3, counts(1, 5))],
    );
    tally.end(flow(2), counts(1, 12));
    let (_, sums) = tally.nodes().next().unwrap();
    assert_eq!(sums.packets, 1 + 2 + 5);
}

#[test]
fn kernel_records_begin_anew_in_several_ways() {
    // 32 bits of a slot run over.
    let mut tally = tally(&[]);
    let mut one = counts(1, u64::from(u32::MAX));
    read(&mut tally, &[(1, one)]);
    one = counts(1, u64::from(u32::MAX) + 3);
    read(&mut tally, &[(1, one)]);
    let sums = tally.nodes().next().unwrap().1.clone();
    assert_eq!(sums.histogram[11], u64::from(u32::MAX) + 3);
    // Somebody else removed the flow, and it came again with fewer packets.
    read(&mut tally, &[(1, counts(1, 7))]);
    assert_eq!(tally.nodes().next().unwrap().1.packets, sums.packets + 7);
    // Or it was not there at a reading meanwhile.
    read(&mut tally, &[]);
    read(&mut tally, &[(1, counts(1, 8))]);
    assert_eq!(tally.nodes().next().unwrap().1.packets, sums.packets + 15);
    // Clocks that disagree.
    let mut late = counts(1, 9);
    late.latency_sum_ns = -1_000_000;
    let before = tally.nodes().next().unwrap().1.latency_sum_ns;
    read(&mut tally, &[(1, late)]);
    assert_eq!(tally.nodes().next().unwrap().1.latency_sum_ns, before);
}

#[test]
fn nodes_and_classes_beyond_the_most_share_a_sum_and_no_address_is_told() {
    let names: Vec<String> = (0..MOST_CLASSES + 10).map(|n| format!("c{n}")).collect();
    let rules = names.iter().enumerate().map(|(n, name)| {
        let [high, low] = (n as u16).to_be_bytes();
        WatchRule {
            from: vec![RuleHost {
                text: String::new(),
                prefixes: vec![format!("10.1.{high}.{low}/32").parse().unwrap()],
            }],
            ..rule(name, "0.0.0.0/0")
        }
    });
    let mut tally = tally(&Vec::from_iter(rules));
    let flows = (0..MOST_NODES as u16 + 10).map(|n| (n, counts(n.into(), 2)));
    read(&mut tally, &Vec::from_iter(flows));
    let page = text(&sink::families(&status(), &tally, &[]));
    let series = |name: &str| page.lines().filter(|line| line.starts_with(name)).count();
    assert_eq!(series("hostint_node_packets_total{"), MOST_NODES + 1);
    assert_eq!(series("hostint_class_packets_total{"), MOST_CLASSES + 1);
    let node = format!("hostint_node_packets_total{{node=\"{OTHER}\"}}");
    assert_eq!(value(&page, &node), 20.0);
    let class = format!("hostint_class_packets_total{{class=\"{OTHER}\"}}");
    assert_eq!(value(&page, &class), 20.0);

    let mut status = collect_status();
    let first = status.exporters[0].clone();
    let exporters = (0..5000).map(|n| ExporterHealth {
        node: Some(NodeId(n)),
        ..first.clone()
    });
    status.exporters = exporters.collect();
    let collector = text(&collect::families(&status, &mut Rising::default()));
    let lines = collector.lines();
    let series = lines.filter(|line| line.starts_with("hostint_exporter_reports_total{"));
    assert_eq!(series.count(), MOST_NODES + 1);
    for n in 0..MOST_METRIC_PAIRS as u32 + 10 {
        let class = format!("c{n}");
        let pair = (NodeId(n), NodeId(n + 1));
        status.traffic.add(pair, Some(&class), &measured());
    }
    let collector = text(&collect::families(&status, &mut Rising::default()));
    let series = |name: &str| {
        let named = |line: &&str| line.starts_with(name);
        collector.lines().filter(named).count()
    };
    // One pair and one class were there before.
    let pairs = series("hostint_pair_packets_total{");
    assert_eq!(pairs, MOST_METRIC_PAIRS + 1);
    let classes = series("hostint_collect_class_packets_total{");
    assert_eq!(classes, MOST_METRIC_CLASSES + 1);
    let others = format!("hostint_pair_packets_total{{source=\"{OTHER}\",sink=\"{OTHER}\"}}");
    assert_eq!(value(&collector, &others), 40.0);

    for page in [page, collector] {
        for address in ["10.1.", "10.2.", "192.0.2.", "198.51.100."] {
            let told = page.lines().find(|line| line.contains(address));
            assert_eq!(told, None, "{address}");
        }
    }
}

#[test]
fn a_collectors_counters_never_fall_although_a_late_report_is_no_longer_lost() {
    let mut rising = Rising::default();
    let mut status = collect_status();
    for (lost, shown) in [(5, 5.0), (4, 5.0), (6, 6.0)] {
        status.reports_lost = lost;
        status.exporters[2].lost = lost;
        let page = text(&collect::families(&status, &mut rising));
        assert_eq!(value(&page, "hostint_collect_reports_lost_total"), shown);
        let series = "hostint_exporter_reports_lost_total{node=\"2\"}";
        assert_eq!(value(&page, series), shown);
    }
}

#[test]
fn what_a_node_tells_of_itself_stands_under_names_that_prometheus_allows() {
    for (what, told, shown) in [
        ("no label", &[][..], ""),
        (
            "rack, zone and role",
            &[("rack", "r7"), ("role", "db"), ("zone", "north")],
            ",label_rack=\"r7\",label_role=\"db\",label_zone=\"north\"",
        ),
        (
            "labels that are named like those of the metric",
            &[("name", "x"), ("node", "9"), ("__name__", "y")],
            ",label___name__=\"y\",label_name=\"x\",label_node=\"9\"",
        ),
        (
            "characters that no name of a label has",
            &[("", "e"), ("7 of é", "x"), ("k8s.io/zone", "a")],
            ",label_=\"e\",label_7_of__=\"x\",label_k8s_io_zone=\"a\"",
        ),
        (
            "keys that become equal",
            &[("a b", "1"), ("a-b", "2"), ("a.b", "3"), ("a_b_2", "4")],
            ",label_a_b=\"1\",label_a_b_2=\"2\",label_a_b_2_2=\"4\",label_a_b_3=\"3\"",
        ),
        (
            "a value with quotes, a backslash and a line break",
            &[("rack", "\"r\\7\"\n")],
            ",label_rack=\"\\\"r\\\\7\\\"\\n\"",
        ),
    ] {
        let mut status = collect_status();
        let owned = |(key, value): &(&str, &str)| ((*key).to_owned(), (*value).to_owned());
        status.exporters[0].labels = told.iter().map(owned).collect();
        let page = text(&collect::families(&status, &mut Rising::default()));
        let line = page
            .lines()
            .find(|line| line.starts_with("hostint_node_info{node=\"1\""));
        let wanted = format!(
            "hostint_node_info{{node=\"1\",name=\"web-\\\"1\",version=\"0.2.0\",contested=\"false\"{shown}}} 1"
        );
        assert_eq!(line, Some(wanted.as_str()), "{what}");
    }
}

#[test]
fn labels_are_escaped() {
    let mut status = status();
    if let Some(sink) = &mut status.sink {
        sink.attachments[0].dev = "e\"t\\h\n0".to_owned();
    }
    let page = text(&sink::families(&status, &Tally::default(), &[]));
    assert!(page.contains("dev=\"e\\\"t\\\\h\\n0\""), "{page}");
}

#[test]
fn every_state_of_a_lease_has_its_series() {
    let names: Vec<&str> = LeaseState::names().collect();
    let states: Vec<&str> = hostint_testing::status_samples::lease_states()
        .map(LeaseState::name)
        .collect();
    assert_eq!(names, states);
}

/// These need programs that `packaging/install-build-deps.sh --test` installs.
mod tools {
    use super::*;

    #[test]
    fn promtool_finds_nothing_to_complain_of() {
        for page in [sink_page(), collect_page()] {
            let mut promtool = Command::new("promtool")
                .args(["check", "metrics"])
                .stdin(Stdio::piped())
                .stdout(Stdio::piped())
                .stderr(Stdio::piped())
                .spawn()
                .unwrap();
            let mut input = promtool.stdin.take().unwrap();
            input.write_all(page.as_bytes()).unwrap();
            drop(input);
            let output = promtool.wait_with_output().unwrap();
            let said = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
            assert!(output.status.success() && said.is_empty(), "{said}");
        }
    }
}
