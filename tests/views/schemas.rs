//! The JSON that hostint writes for programs keeps its shape: schemas only grow.
//!
//! `HOSTINT_BLESS=1 cargo test --test views schemas` adds new lines to tests/golden/schemas.txt; it takes none away.

use std::collections::HashSet;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::process::Command;
use std::sync::LazyLock;

use crate::path::{path, unknown_path, with_depth, with_losses, with_queue};
use hostint::control::{ControlAnswer, Form, Query, Request};
use hostint::datapath::host::counters;
use hostint::model::coverage::{CoverageReport, MissedPackets, MissedReason, PairEnd};
use hostint::model::drop_totals_report::{DropSum, DropTotalsReport};
use hostint::model::preflight::{FilePlace, Finding, Preflight};
use hostint::model::*;
use hostint::views::history::View;
use hostint::views::hosts::KnownHosts;
use hostint::views::postcards_json::PostcardsJson;
use hostint::views::tcp_json::TcpJson;
use hostint::views::{dests, rules};
use hostint::web::{EventEntry, HttpListener, HttpServer, PageSources, page};
use hostint_testing::shape::{Change, Schemas, Shape, change, misfits, say, shape_of};
use hostint_testing::{places, report_samples};
use serde::Serialize;
use serde_json::{Value, json};

fn values<T: Serialize>(samples: &[T]) -> Vec<Value> {
    let of = |one| serde_json::to_value(one).unwrap();
    samples.iter().map(of).collect()
}

fn status() -> Shape {
    let mut shape = shape_of(&values(&hostint_testing::status_samples::all()));
    let names = |all: &'static [counters::CounterMeaning]| all.iter().map(|one| one.name);
    say(&mut shape, "sink.counters[].name", names(counters::SINK));
    say(&mut shape, "sink.daemon[].name", names(counters::DAEMON));
    say(
        &mut shape,
        "source.counters[].name",
        names(counters::SOURCE),
    );
    say(&mut shape, "source.counters[].name", names(counters::PEER));
    let states = hostint_testing::status_samples::lease_states().map(LeaseState::name);
    say(&mut shape, "source.peers[].state", states);
    say(&mut shape, "source.peers[].state", ["idle"]);
    let why = values(&hostint_testing::status_samples::reasons());
    for (path, key) in [("why[].topic", "topic"), ("why[].severity", "severity")] {
        say(
            &mut shape,
            path,
            why.iter().filter_map(|one| one[key].as_str()),
        );
    }
    shape
}

fn tunnel(outer: FlowKey) -> Tunnel {
    let kind = TunnelKind::Vxlan;
    let which = TunnelId { kind, id: 1 };
    Tunnel { which, outer }
}

/// One with all that may be known, and one with the least.
fn host_drops() -> Shape {
    let least = HostDrop {
        flow: FlowKey {
            src: [192, 0, 2, 1].into(),
            dst: [192, 0, 2, 2].into(),
            sport: 1,
            dport: 2,
            protocol: 17,
            vlans: Vlans::default(),
        },
        flow_before_nat: None,
        tunnel: None,
        reason: KernelReason {
            number: 2,
            name: None,
        },
        place: None,
        in_interface: None,
        out_interface: None,
        in_ifindex: 0,
        out_ifindex: 0,
        pods: PacketPods::default(),
        count: DropCount::default(),
        first_ns: 1,
        last_ns: 2,
        age_ns: None,
        queue_packets: 0,
        queue_bytes: 0,
        superpacket: false,
        netns: 1,
        cgroup: None,
        position: DropPosition::Apart,
        int: None,
        ifindex: 0,
        place_address: 0,
    };
    let most = HostDrop {
        flow_before_nat: Some(least.flow),
        tunnel: Some(tunnel(least.flow)),
        reason: named_reason(),
        place: Some("nf_hook_slow".to_owned()),
        in_interface: Some("eth0".to_owned()),
        out_interface: Some("eth1".to_owned()),
        age_ns: Some(1),
        cgroup: Some(1),
        position: DropPosition::BehindTag,
        int: Some(DroppedInt {
            source: NodeId(1),
            sequence: 1,
        }),
        ..least.clone()
    };
    let lines = [&least, &most].map(PostcardsJson::of);
    shape_of(&values(&lines))
}

fn named_reason() -> KernelReason {
    KernelReason {
        number: 8,
        name: Some("NETFILTER_DROP".to_owned()),
    }
}

/// One with all that may be known, and one with the least.
fn tcp_connections() -> Shape {
    let least = TcpReport {
        id: 1,
        why: TcpNews::Open,
        limited: Limit::Unknown,
        class: None,
        times: LimitedTimes::default(),
        samples: 1,
        sample: TcpSample {
            flow: FlowKey {
                src: [192, 0, 2, 1].into(),
                dst: [192, 0, 2, 2].into(),
                sport: 1,
                dport: 2,
                protocol: 6,
                vlans: Vlans::default(),
            },
            time_ns: 1,
            begun_ns: None,
            cgroup: None,
            socket: 1,
            monotonic_ns: 1,
            begun_monotonic_ns: None,
            class: 0,
            tcp: TcpFigures::default(),
            option: None,
        },
    };
    let mut all = least.clone();
    all.class = Some("web".to_owned());
    for limit in Limit::ALL {
        all.times.add(limit, 1);
    }
    all.sample.begun_ns = Some(1);
    all.sample.cgroup = Some(1);
    let tcp = &mut all.sample.tcp;
    tcp.srtt_us = Some(1);
    tcp.rttvar_us = Some(1);
    tcp.min_rtt_us = Some(1);
    tcp.ssthresh_segments = Some(1);
    tcp.delivered_ce = Some(1);
    tcp.dsack_dups = Some(1);
    tcp.reord_seen = Some(1);
    tcp.rto_count = Some(1);
    tcp.bytes_retrans = Some(1);
    tcp.delivery_rate_bytes_s = Some(1);
    tcp.pacing_rate_bytes_s = Some(1);
    tcp.max_pacing_rate_bytes_s = Some(1);
    tcp.held_up = Some(HeldUp::default());
    let lines = [&least, &all].map(TcpJson::connection);
    let mut shape = shape_of(&values(&lines));
    let news = [
        TcpNews::Open,
        TcpNews::Change,
        TcpNews::Sample,
        TcpNews::End,
        TcpNews::Gone,
    ];
    let news = values(&news);
    say(&mut shape, "why", news.iter().filter_map(Value::as_str));
    say(&mut shape, "limited", Limit::ALL.map(Limit::name));
    shape
}

fn tcp_totals() -> Shape {
    let count = |class| LimitedCount {
        limited: Limit::Path,
        class,
        connections: 1,
    };
    let totals = TcpTotals {
        limited: vec![count(None), count(Some("web".to_owned()))],
        ..TcpTotals::default()
    };
    let mut shape = shape_of(&values(&[TcpJson::totals(&totals)]));
    say(&mut shape, "limited[].limited", Limit::ALL.map(Limit::name));
    shape
}

fn tcp_captured() -> Shape {
    let worst = [133, 120].map(|value| WorstHop::from_value(value, 1, Some(10), 1));
    let hop = |worst| CapturedHop {
        hop: 1,
        samples: 1,
        first_ns: 1,
        last_ns: 1,
        worst,
    };
    let all = CapturedConnection {
        flow: report_samples::known_connections()[0]
            .connection
            .sample
            .flow,
        first_ns: 1,
        last_ns: 1,
        requests: 1,
        filled: 1,
        echoes: 1,
        samples: 1,
        worst_filled: Some(worst[0]),
        worst_echo: Some(worst[0]),
        hops: vec![hop(worst[0]), hop(worst[1])],
    };
    let free = CapturedConnection {
        worst_filled: Some(worst[1]),
        worst_echo: Some(worst[1]),
        ..all.clone()
    };
    let unknown = WorstHop {
        link_gbit_s: None,
        ..worst[0]
    };
    let no_link = CapturedConnection {
        worst_filled: Some(unknown),
        worst_echo: Some(unknown),
        hops: vec![hop(unknown)],
        ..all.clone()
    };
    let least = CapturedConnection {
        worst_filled: None,
        worst_echo: None,
        ..all.clone()
    };
    let all = [all, free, no_link, least];
    shape_of(&values(&all.each_ref().map(TcpJson::captured)))
}

fn drop_totals() -> Shape {
    let count = DropCount::default();
    let place = PlaceDrops {
        reason: named_reason(),
        place: Some("nf_hook_slow".to_owned()),
        interface: Some("eth0".to_owned()),
        netns: 1,
        tagged_by: Some(NodeId(1)),
        ignored: false,
        count,
    };
    let unnamed = PlaceDrops {
        reason: KernelReason {
            number: 2,
            name: None,
        },
        place: None,
        interface: None,
        ..place.clone()
    };
    let reasons = [&place, &unnamed].map(|place| ReasonDrops {
        reason: place.reason.clone(),
        ignored: false,
        count,
    });
    let counter = |interface| DropsWithoutPacket {
        counter: "ListenOverflows".to_owned(),
        interface,
        count: 1,
    };
    let totals = DropTotals {
        reasons: reasons.into(),
        places: vec![place, unnamed],
        without_packet: vec![counter(None), counter(Some("eth0".to_owned()))],
        ..DropTotals::default()
    };
    shape_of(&values(&[PostcardsJson::of(&totals)]))
}

fn host_hops() -> Shape {
    let least = FlowPassage {
        flow: FlowKey {
            src: [192, 0, 2, 1].into(),
            dst: [192, 0, 2, 2].into(),
            sport: 1,
            dport: 2,
            protocol: 17,
            vlans: Vlans::default(),
        },
        flow_before_nat: None,
        tunnel: None,
        reasons: vec![PassageReason::New],
        start: PassageStart::Interface,
        in_interface: None,
        out_interface: None,
        in_ifindex: 2,
        out_ifindex: 3,
        pods: PacketPods::default(),
        packets: 1,
        bytes: 128,
        first_ns: 1,
        last_ns: 1,
        hop_ns: 1,
        mean_hop_ns: 1,
        max_hop_ns: 1,
    };
    let most = FlowPassage {
        flow_before_nat: Some(least.flow),
        tunnel: Some(tunnel(least.flow)),
        in_interface: Some("eth0".to_owned()),
        out_interface: Some("eth1".to_owned()),
        ..least.clone()
    };
    shape_of(&values(&[&least, &most].map(PostcardsJson::of)))
}

fn hop_totals() -> Shape {
    let totals = hostint_testing::status_samples::hops().totals;
    shape_of(&values(&[PostcardsJson::of(&totals)]))
}

fn queue_episodes() -> Shape {
    let told = report_samples::reported_episodes(1);
    let lines: Vec<_> = told
        .iter()
        .map(|one| PostcardsJson::of(&one.episode))
        .collect();
    shape_of(&values(&lines))
}

fn queue_totals() -> Shape {
    let totals = hostint_testing::status_samples::queues().totals;
    shape_of(&values(&[PostcardsJson::of(&totals)]))
}

/// A schema for each kind of report, but one for all that are about a packet.
fn reports() -> Vec<(String, Shape)> {
    let known = LatencyClocks::Known(CorrectedLatency {
        latency_ns: 2,
        error_ns: 1,
        bound_ns: [0, 3],
    });
    let names: NodeNames = (0..1_000)
        .map(|node| (NodeId(node), node.to_string()))
        .collect();
    let ports = (0..100).flat_map(|node| (0..100).map(move |port| (NodeId(node), port)));
    let ports = ports.map(|(node, port)| (NodePort { node, port }, port.to_string()));
    let names = names.with_ports(ports.collect());
    let samples = hostint_testing::report_samples::all().into_iter();
    let samples: Vec<Record> = samples
        .flat_map(|record| {
            let clocks = [LatencyClocks::Unreported, LatencyClocks::Unknown, known];
            let told = clocks.map(|clocks| record.clone().with_clocks(clocks));
            told.into_iter().chain([record.naming(&names)])
        })
        .collect();
    let records = values(&samples);
    let kinds = |one: &Value| match one["kind"].as_str().unwrap() {
        kind @ ("latency" | "drop-summary" | "flow-summary" | "group-summary") => kind.to_owned(),
        _ => "packet".to_owned(),
    };
    [
        "latency",
        "drop-summary",
        "flow-summary",
        "group-summary",
        "packet",
    ]
    .into_iter()
    .map(|name| {
        let of_kind: Vec<&Value> = records.iter().filter(|one| kinds(one) == name).collect();
        let mut shape = shape_of(of_kind.iter().copied());
        for path in ["kind", "version", "sink_clock"] {
            say(
                &mut shape,
                path,
                of_kind.iter().filter_map(|one| one[path].as_str()),
            );
        }
        let headers: Vec<&Value> = of_kind
            .iter()
            .filter_map(|one| one["int"].as_array())
            .flatten()
            .collect();
        for (path, key) in [("int[].type", "type"), ("int[].version", "version")] {
            say(
                &mut shape,
                path,
                headers.iter().filter_map(|one| one[key].as_str()),
            );
        }
        (format!("{RECORD_SCHEMA} {name}"), shape)
    })
    .collect()
}

fn destinations() -> Shape {
    let dest = Dest {
        prefix: "192.0.2.0/24".parse().unwrap(),
        name: "host-b".to_owned(),
        fixed: false,
    };
    let text = dests::render(&[dest], true);
    shape_of(&[serde_json::from_str(&text).unwrap()])
}

fn watchlist() -> Shape {
    let place = RuleHost {
        text: "host-b".to_owned(),
        prefixes: vec!["192.0.2.2/32".parse().unwrap()],
    };
    let port = "3260-3269".parse().unwrap();
    let most = WatchRule {
        class: Some("storage".to_owned()),
        action: WatchAction::Exclude,
        priority: 200,
        from: vec![place.clone()],
        to: vec![place],
        protocols: vec![Transport::Tcp],
        from_ports: vec![port],
        to_ports: vec![port],
        dscp: vec![46],
        devs: vec!["eth1".to_owned()],
        fixed: true,
        one_flow_in: 10,
        one_packet_in: 10,
        always: true,
        from_file: true,
    };
    let text = rules::render(&[most, WatchRule::default()], true);
    shape_of(&[serde_json::from_str(&text).unwrap()])
}

fn preflight() -> Shape {
    let mut of_dev = Finding::fail("hooks", "not free").advise("free it");
    of_dev.dev = Some("eth0".to_owned());
    of_dev.place = Some(FilePlace {
        line: 2,
        table: "sink".to_owned(),
        key: "dev".to_owned(),
    });
    let findings = vec![
        Finding::ok("kernel", "new"),
        Finding::note("clock", "off"),
        of_dev,
    ];
    let list = serde_json::to_value(Preflight::new(findings)).unwrap();
    let mut shape = shape_of([&list]);
    let findings = list["findings"].as_array().unwrap();
    let verdicts = findings.iter().filter_map(|one| one["verdict"].as_str());
    say(&mut shape, "findings[].verdict", verdicts);
    shape
}

fn config_check() -> Shape {
    let check = |name: &str, content: Option<&str>, flags: &[&str]| -> Value {
        let folder = std::path::Path::new(env!("CARGO_TARGET_TMPDIR"));
        let path = folder.join(format!("schemas-{}-{name}.toml", std::process::id()));
        if let Some(content) = content {
            std::fs::write(&path, content).unwrap();
        }
        let output = Command::new(places::hostint())
            .args(["check", "--json"])
            .args(flags)
            .arg(&path)
            .output()
            .unwrap();
        let _ = std::fs::remove_file(&path);
        serde_json::from_slice(&output.stdout).unwrap()
    };
    shape_of(&[
        check("fine", Some("[sink]\nnode-id = 3\n"), &[]),
        check("here", Some("[sink]\ndev = \"nosuch\"\n"), &["--here"]),
        check("wrong", Some("[sink]\ndscp-mask = 0\nstrikt = true\n"), &[]),
        check("broken", Some("[sink]\n[[watch]\n"), &[]),
        check("absent", None, &[]),
    ])
}

fn history() -> Shape {
    let figures = |latency: bool| {
        let mut spread = LatencyHistogram::default();
        spread.add(23_400);
        Figures {
            reports: 1,
            packets: 2,
            lost: 1,
            reordered: latency.then_some(0),
            latency: spread.figures().filter(|_| latency),
            measured: latency.then(|| {
                MeasuredFigures::from(&Measured {
                    summaries: 1,
                    latency: spread,
                    ..Measured::default()
                })
            }),
        }
    };
    let flow = |most: bool| FlowFigures {
        id: 1,
        flow: FlowKey {
            src: "192.0.2.1".parse().unwrap(),
            dst: "198.51.100.2".parse().unwrap(),
            sport: 40000,
            dport: 5001,
            protocol: 17,
            vlans: Vlans {
                outer: u16::from(most),
                inner: u16::from(most),
            },
        },
        source: most.then_some(NodeId(1)),
        sink: most.then_some(NodeId(2)),
        class: most.then(|| "storage".to_owned()),
        first_ns: 1,
        last_ns: 2,
        pods: if most { pods() } else { FlowPods::default() },
        loss_split: most.then(|| split(most)),
        figures: figures(most),
    };
    let point = |latency| Point {
        begin_ns: 1,
        figures: figures(latency),
    };
    let series = Series {
        period_ns: 10_000_000_000,
        points: vec![point(true), point(false)],
    };
    let of_all = |known: bool| {
        Some(LossOfAll {
            measured_ppm: 1,
            least_ppb: known.then_some(1),
            most_ppb: known.then_some(1),
        })
    };
    let pair = |latency| PairFigures {
        last_ns: Some(1),
        source: NodeId(1),
        sink: NodeId(2),
        flows: 1,
        loss_split: Some(split(latency)),
        loss_of_all: of_all(latency),
        figures: figures(latency),
    };
    let class = |latency| ClassFigures {
        class: "storage".to_owned(),
        loss_of_all: of_all(latency),
        figures: figures(latency),
    };
    let views = [
        Answer::Flows {
            flows: vec![flow(true), flow(false)],
        },
        Answer::Pairs {
            pairs: vec![pair(true), pair(false)],
            shown: MatrixFigure::P99,
            limit: 1,
        },
        Answer::Classes {
            classes: vec![class(true), class(false)],
        },
        Answer::Flow {
            flow: Box::new(flow(true)),
            series: series.clone(),
        },
        Answer::Flow {
            flow: Box::new(flow(false)),
            series: series.clone(),
        },
        Answer::Series { series },
        // Of a schema of their own.
        Answer::Reports {
            reports: Vec::new(),
        },
        Answer::Segments {
            segments: with_losses(path(100)).segments,
        },
        Answer::Extent {
            info: Extent::default(),
        },
        drops(),
        Answer::Hops {
            hops: named_hops(),
            passages: named_passages(),
        },
        Answer::Queues {
            queues: report_samples::reported_episodes(1),
        },
        Answer::Connections {
            connections: report_samples::known_connections(),
        },
        tcp_sums(TcpGrouping::Limit),
        tcp_sums(TcpGrouping::Pair),
        Answer::TcpHops {
            tcp_hops: report_samples::tcp_hops(),
        },
    ];
    shape_of_views(&views)
}

fn paths() -> Shape {
    let pair = PathQuery::Pair {
        source: NodeId(1),
        sink: NodeId(2),
    };
    let told = PairDrops {
        source_reports: true,
        sink_reports: true,
        between: 1,
        ..PairDrops::default()
    };
    let at = vec![LossAt {
        node: NodeId(28673),
        segments: 1,
    }];
    let loss = LossByHost {
        split: LossSplit::new(2, &told),
        at,
    };
    shape_of_views(&[
        Answer::Paths {
            of: pair,
            paths: vec![
                with_depth(with_losses(with_queue(path(100), 60_000))),
                unknown_path(),
            ],
            loss: Some(loss),
        },
        Answer::Paths {
            of: PathQuery::Flow(7),
            paths: Vec::new(),
            loss: None,
        },
    ])
}

fn verdicts() -> Shape {
    use hostint_testing::verdict_samples::{AS_OF_NS, cause, degraded, verdict};
    let note = cause(CauseKind::Restarted, vec![CauseSubject::Node(NodeId(7))]);
    let mut unknown = verdict(VerdictState::CannotTell, Vec::new(), vec![note]);
    unknown.cannot_tell = vec![UnknownReason::NoTraffic];
    let past = PastVerdict {
        begin_ns: AS_OF_NS,
        until_ns: AS_OF_NS,
        state: VerdictState::Healthy,
        text: "healthy".to_owned(),
    };
    let mut silenced = degraded();
    silenced.causes[0].silenced_until_ns = Some(AS_OF_NS);
    silenced.limits[0].from = Some([NodeId(1)].into());
    silenced.limits[0].class = None;
    let silence = NetworkEvent {
        kind: EventKind::Silence,
        time_ns: AS_OF_NS,
        until_ns: Some(AS_OF_NS + 1),
        text: "migration".to_owned(),
        host: Some("web-1".to_owned()),
        to: Some("db-7".to_owned()),
        labels: [("rack".to_owned(), "r2".to_owned())].into(),
    };
    shape_of_views(&[
        Answer::Verdict {
            verdict: Some(Box::new(degraded())),
            past: vec![past],
            events: vec![silence],
        },
        Answer::Verdict {
            verdict: Some(Box::new(silenced)),
            past: Vec::new(),
            events: Vec::new(),
        },
        Answer::Verdict {
            verdict: Some(Box::new(unknown)),
            past: Vec::new(),
            events: Vec::new(),
        },
        Answer::Verdict {
            verdict: None,
            past: Vec::new(),
            events: Vec::new(),
        },
    ])
}

fn shape_of_views(views: &[Answer]) -> Shape {
    let span = Span {
        since_ns: 1,
        until_ns: 2,
    };
    let seen = [HostSeen {
        node: Some(NodeId(1)),
        address: [192, 0, 2, 1].into(),
        name: Some("web-3".to_owned()),
        name_contested: false,
        interfaces: [(2, "eth0".to_owned())].into(),
        last_ns: 1,
        silent_after_ns: 1,
    }];
    let hosts = KnownHosts::new(&seen, Some(HostsReporting::at(&seen, 10, 0)));
    let object = |view: &Answer| serde_json::from_str(&View(view).json(span, &hosts)).unwrap();
    let objects: Vec<Value> = views.iter().map(object).collect();
    shape_of(&objects)
}

/// Both hosts tell drops, or none does.
fn split(told: bool) -> LossSplit {
    let drops = PairDrops {
        source_reports: told,
        sink_reports: told,
        ..PairDrops::default()
    };
    LossSplit::new(5, &drops)
}

fn pods() -> FlowPods {
    let name = PodName {
        namespace: "shop".to_owned(),
        pod: "web-5d9c-x7k2p".to_owned(),
        workload: "web".to_owned(),
        workload_kind: "Deployment".to_owned(),
    };
    FlowPods {
        src_pod: Some(name.clone()),
        dst_pod: Some(name),
    }
}

fn behind() -> PassagePods {
    PassagePods {
        in_pod_name: pods().src_pod,
        out_pod_name: pods().dst_pod,
    }
}

/// One of them in a cluster.
fn named_hops() -> Vec<ForwardedFlow> {
    let mut hops = report_samples::forwarded_flows(1);
    (hops[0].ends, hops[0].behind) = (pods(), behind());
    hops
}

fn named_passages() -> Vec<PassageFigures> {
    let mut passages = report_samples::passages();
    passages[0].behind = behind();
    passages
}

fn drops() -> Answer {
    let most = DropFigures {
        node: Some(NodeId(1)),
        reason: Some("QDISC_DROP".to_owned()),
        place: Some("__dev_queue_xmit".to_owned()),
        interface: Some("eth1".to_owned()),
        flow: Some(FlowKey {
            src: [192, 0, 2, 1].into(),
            dst: [192, 0, 2, 2].into(),
            sport: 1,
            dport: 2,
            protocol: 17,
            vlans: Vlans::NONE,
        }),
        tunnel: Some(TunnelId {
            kind: TunnelKind::Vxlan,
            id: 42,
        }),
        position: Some(DropPosition::BehindTag),
        pod_name: pods().src_pod,
        pods: pods(),
        ..DropFigures::default()
    };
    let point = DropPoint {
        begin_ns: 1,
        reason: "QDISC_DROP".to_owned(),
        packets: 1,
    };
    Answer::Drops {
        by: DropGrouping::Flow,
        drops: vec![most, DropFigures::default()],
        drop_series: DropSeries {
            period_ns: 1,
            points: vec![point],
        },
    }
}

fn tcp_sums(by: TcpGrouping) -> Answer {
    Answer::TcpSums {
        by,
        tcp_sums: report_samples::tcp_sums(by),
        limit_series: LimitSeries {
            period_ns: 1,
            points: vec![LimitPoint {
                begin_ns: 1,
                limited: Limit::Path,
                us: 1,
            }],
        },
    }
}

/// A collector's page of a history that nobody lived.
fn serve_page(history: &hostint_testing::history_samples::Synthetic) -> HttpServer {
    let listener = HttpListener::bind(([127, 0, 0, 1], 0).into()).unwrap();
    let status = history.clone();
    let routes = page(PageSources {
        histories: vec![Box::new(history.clone())],
        status: Box::new(move || status.status()),
        now_ns: hostint_testing::history_samples::now_ns,
        bound: listener.address().unwrap().unwrap(),
        collects_on: vec!["0.0.0.0:32766".parse().unwrap()],
        events: EventEntry {
            token: None,
            take: Box::new(|_| true),
        },
        answer_call: |_, _| HistoryReply::default(),
    });
    listener.serve(routes).unwrap()
}

fn ask(server: &HttpServer, path: &str) -> Value {
    let at = server.address().unwrap();
    let mut stream = TcpStream::connect(at).unwrap();
    let request = format!("GET {path} HTTP/1.1\r\nhost: {at}\r\nconnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    let (_, body) = answer.split_once("\r\n\r\n").unwrap();
    serde_json::from_str(body).unwrap()
}

/// What the page gets at each path about the history.
fn api() -> impl Iterator<Item = (String, Shape)> {
    let server = serve_page(&hostint_testing::history_samples::Synthetic::of(8));
    let shapes = [
        "extent",
        "pairs",
        "pairs?by=rack",
        "pairs?by=host",
        "flows",
        "series",
        "series?form=short",
        "reports",
        "drops",
        "hops",
        "queues",
        "tcp",
        "tcp?flow=1",
    ]
    .map(|path| {
        let mut answer = ask(&server, &format!("/api/{path}"));
        for (list, absent) in [
            ("flows", &["source", "sink", "class", "latency"][..]),
            ("points", &["latency", "reordered"]),
        ] {
            let all = answer.get_mut(list).and_then(Value::as_array_mut);
            if let Some(all) = all.filter(|all| all[0].is_object()) {
                let mut least = all[0].clone();
                absent.iter().for_each(|key| least[key] = Value::Null);
                all.push(least);
            }
        }
        if path == "reports" {
            // Of a schema of their own.
            answer["reports"] = json!([]);
        }
        (format!("hostint.api/1 {path}"), shape_of(&[answer]))
    });
    shapes.into_iter()
}

fn short_collect_status() -> Shape {
    let server = serve_page(&hostint_testing::history_samples::Synthetic::of_peers(8, 2));
    let mut status = ask(&server, "/api/status?form=short");
    // Their keys are ports.
    status["exporters"]["interfaces"] = json!([{}]);
    shape_of(&[status])
}

fn collect_status() -> Shape {
    let server = serve_page(&hostint_testing::history_samples::Synthetic::of(8));
    let mut status = ask(&server, "/api/status");
    let mut silent = status["exporters"][0].clone();
    for key in ["name", "name_origin", "version"] {
        status["exporters"][0][key] = json!("text");
    }
    for key in ["node", "clock", "clock_synchronised"] {
        silent[key] = Value::Null;
    }
    status["exporters"].as_array_mut().unwrap().push(silent);
    // Their keys are reasons.
    for row in status["coverage"].as_array_mut().unwrap() {
        row["missed"] = json!({});
        row["missed_bytes"] = json!({});
    }
    shape_of(&[status])
}

fn coverage() -> Shape {
    let missed = |sink: Option<u32>, class: Option<&str>| MissedPackets {
        other: PairEnd::ToSink(sink.map(NodeId)),
        class: class.map(str::to_owned),
        // A host of the version before tells no bytes.
        by_reason: match class {
            Some(_) => [].into(),
            None => [(MissedReason::TAGGED, Volume::of_packets(1))].into(),
        },
    };
    let report = CoverageReport {
        node: NodeId(1),
        period_s: 10,
        epoch_ns: 1,
        missed: vec![missed(Some(2), Some("web")), missed(None, None)],
    };
    let records = report.records([192, 0, 2, 1].into(), 1).into_iter();
    let records = records.map(|record| serde_json::to_value(record).unwrap());
    shape_of(&records.collect::<Vec<_>>())
}

fn drop_sums() -> Shape {
    let rows = hostint_testing::report_samples::drop_rows().into_iter();
    let report = DropTotalsReport {
        node: NodeId(1),
        period_s: 10,
        epoch_ns: 1,
        sums: rows
            .map(|HostDropRow { subject, count, .. }| DropSum { subject, count })
            .collect(),
    };
    let record = report.record([192, 0, 2, 1].into(), 1);
    shape_of(&[serde_json::to_value(record).unwrap()])
}

fn request() -> Shape {
    let status = Request::Status(Query {
        form: Form::Text,
        flows: 1,
        peers: 1,
        sort: "loss".to_owned(),
        all: true,
    });
    // Only what is asked for, or what is to change, has to be said.
    let least = [json!({"ask": "status"}), json!({"change": "reload"})];
    let mut samples: Vec<Value> = [status, Request::Reload]
        .map(|one| serde_json::from_slice(&one.to_line().unwrap()).unwrap())
        .into();
    for one in least {
        assert!(Request::parse(one.to_string().as_bytes()).is_ok(), "{one}");
        samples.push(one);
    }
    shape_of(&samples)
}

fn answer() -> Shape {
    let most = ControlAnswer {
        runs: Some(true),
        // Of a schema of its own.
        status: Some(json!({})),
        text: Some("node id 2".to_owned()),
        ..ControlAnswer::refused("why not")
    };
    shape_of(&values(&[most, ControlAnswer::done()]))
}

fn schemas() -> &'static Schemas {
    static ALL: LazyLock<Schemas> = LazyLock::new(make_schemas);
    &ALL
}

fn make_schemas() -> Schemas {
    let mut all: Schemas = reports().into_iter().chain(api()).collect();
    for (name, shape) in [
        ("hostint.status/1", status()),
        ("hostint.dests/1", destinations()),
        ("hostint.rules/1", watchlist()),
        ("hostint.doctor/1", preflight()),
        ("hostint.config-check/1", config_check()),
        ("hostint.control/1 request", request()),
        ("hostint.control/1 answer", answer()),
        ("hostint.history/1", history()),
        ("hostint.path/1", paths()),
        ("hostint.verdict/1", verdicts()),
        ("hostint.collect-status/1", collect_status()),
        ("hostint.collect-status/1 short", short_collect_status()),
        ("hostint.coverage/1", coverage()),
        ("hostint.drops/1", drop_sums()),
        ("hostint.postcards/1 host-drop", host_drops()),
        ("hostint.postcards/1 drop-totals", drop_totals()),
        ("hostint.postcards/1 host-hop", host_hops()),
        ("hostint.postcards/1 hop-totals", hop_totals()),
        ("hostint.postcards/1 queue", queue_episodes()),
        ("hostint.postcards/1 queue-totals", queue_totals()),
        ("hostint.tcp/1 tcp-connection", tcp_connections()),
        ("hostint.tcp/1 tcp-totals", tcp_totals()),
        ("hostint.tcp/1 tcp-captured", tcp_captured()),
    ] {
        all.insert(name.to_owned(), shape);
    }
    all
}

#[test]
fn schemas_only_grow() {
    let path = hostint_testing::shape::kept_in();
    let mut kept =
        hostint_testing::shape::parse(&std::fs::read_to_string(&path).unwrap_or_default());
    let now = schemas();
    let Change { broken, new } = change(&kept, now);
    if std::env::var_os("HOSTINT_BLESS").is_some() {
        for (name, shape) in now {
            let kept = kept.entry(name.clone()).or_default();
            for (path, kind) in shape {
                let before = kept.entry(path.clone()).or_insert_with(|| kind.clone());
                if before.strip_suffix('?') == Some(kind) {
                    before.clone_from(kind);
                }
            }
        }
        std::fs::write(&path, hostint_testing::shape::print(&kept)).unwrap();
    }
    assert!(
        broken.is_empty(),
        "schemas only grow, and programs that read them rely on lines that are gone or changed \
         (bring them back; what has to break gets a new version, as hostint.status/2, and its old lines are \
         taken out of {} by hand):\n{}",
        path.display(),
        broken.join("\n")
    );
    assert!(
        new.is_empty() || std::env::var_os("HOSTINT_BLESS").is_some(),
        "schemas have new lines: describe them in the man pages, then bless them \
         (HOSTINT_BLESS=1 cargo test --test views schemas):\n{}",
        new.join("\n")
    );
}

#[test]
fn every_schema_in_the_source_is_tested() {
    fn walk(folder: &std::path::Path, found: &mut Vec<String>) {
        for entry in std::fs::read_dir(folder).unwrap().map(Result::unwrap) {
            if entry.file_type().unwrap().is_dir() {
                walk(&entry.path(), found);
                continue;
            }
            let Ok(text) = std::fs::read_to_string(entry.path()) else {
                // A capture names no schema.
                continue;
            };
            for part in text.split("\"hostint.").skip(1) {
                let name = part.split(['"', '\\']).next().unwrap();
                if name.contains('/') {
                    found.push(format!("hostint.{name}"));
                }
            }
        }
    }
    let mut named = Vec::new();
    walk(
        &std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src"),
        &mut named,
    );
    named.sort_unstable();
    named.dedup();
    let all = schemas();
    let mut tested: Vec<&str> = all
        .keys()
        .filter_map(|name| name.split(' ').next())
        .collect();
    tested.dedup();
    assert_eq!(named, tested, "schemas in src, and those tested here");
}

#[test]
fn every_key_is_in_a_manual_page() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("man");
    let mut manual = String::new();
    for entry in std::fs::read_dir(folder).unwrap().map(Result::unwrap) {
        if entry.file_type().unwrap().is_file() {
            manual += &std::fs::read_to_string(entry.path())
                .unwrap()
                .replace("\\-", "-");
        }
    }
    let words: HashSet<&str> = manual
        .split(|c: char| !c.is_ascii_alphanumeric() && c != '_')
        .collect();
    let mut missing = Vec::new();
    for (name, shape) in schemas() {
        // Settings are named like the flags: hostint-status(8) says so.
        let paths = shape
            .keys()
            .filter(|path| !path.contains('=') && !path.starts_with("sink.settings."));
        for path in paths {
            let key = path.rsplit('.').next().unwrap().trim_end_matches("[]");
            if !words.contains(key) {
                missing.push(format!("[{name}] {path}"));
            }
        }
    }
    assert!(
        missing.is_empty(),
        "no manual page has a word of these: {missing:#?}"
    );
}

#[test]
fn a_change_breaks_readers_or_does_not() {
    struct Case {
        name: &'static str,
        before: Vec<Value>,
        after: Vec<Value>,
        broken: &'static [&'static str],
        new: &'static [&'static str],
    }
    let cases = [
        Case {
            name: "nothing changes",
            before: vec![json!({"a": 1, "b": [{"c": "x"}]})],
            after: vec![json!({"b": [{"c": "y"}, {"c": "z"}], "a": 2})],
            broken: &[],
            new: &[],
        },
        Case {
            name: "a key is new",
            before: vec![json!({"a": [{"b": 1}]})],
            after: vec![json!({"a": [{"b": 1, "c": true}]})],
            broken: &[],
            new: &["[s] a[].c boolean"],
        },
        Case {
            name: "a key is gone",
            before: vec![json!({"a": 1, "b": 1})],
            after: vec![json!({"a": 1})],
            broken: &["[s] b integer: is gone"],
            new: &[],
        },
        Case {
            name: "a number becomes text",
            before: vec![json!({"a": 1})],
            after: vec![json!({"a": "1"})],
            broken: &["[s] a integer: is string now"],
            new: &[],
        },
        Case {
            name: "an integer gets a fraction",
            before: vec![json!({"a": [1]})],
            after: vec![json!({"a": [1.5]})],
            broken: &["[s] a[] integer: is number now"],
            new: &[],
        },
        Case {
            name: "what was always there may be absent",
            before: vec![json!({"a": 1})],
            after: vec![json!({"a": 1}), json!({})],
            broken: &["[s] a integer: is integer? now"],
            new: &[],
        },
        Case {
            name: "what was always there may be null",
            before: vec![json!({"a": 1})],
            after: vec![json!({"a": 1}), json!({"a": null})],
            broken: &["[s] a integer: is integer? now"],
            new: &[],
        },
        Case {
            name: "what could be absent is always there",
            before: vec![json!({"a": {"b": 1}}), json!({"a": {}})],
            after: vec![json!({"a": {"b": 1}})],
            broken: &[],
            new: &["[s] a.b integer: was integer?"],
        },
    ];
    for case in cases {
        let of = |samples: &[Value]| Schemas::from([("s".to_owned(), shape_of(samples))]);
        let (before, after) = (of(&case.before), of(&case.after));
        let found = change(&before, &after);
        assert_eq!(found.broken, case.broken, "{}", case.name);
        assert_eq!(found.new, case.new, "{}", case.name);
        assert_eq!(
            hostint_testing::shape::parse(&hostint_testing::shape::print(&after)),
            after,
            "{}",
            case.name
        );
    }
    let mut words = shape_of(&[json!({"a": "one"})]);
    say(&mut words, "a", ["one"]);
    assert_eq!(misfits(&words, &json!({"a": "one"})), [""; 0]);
    assert_eq!(
        misfits(&words, &json!({"a": "two"})),
        ["a=two: not in the schema"]
    );
}

#[test]
fn output_fits_its_schema_or_not() {
    let samples = [
        json!({"a": [{"b": 1}, {"b": 1, "c": "x"}]}),
        json!({"a": [], "d": {"e": true}}),
    ];
    let schema = shape_of(&samples);
    for (output, expected) in [
        (json!({"a": []}), &[][..]),
        (json!({"a": [{"b": 7, "c": null}], "d": null}), &[]),
        (json!({}), &["a array: is missing"]),
        (json!({"a": [{"c": "x"}]}), &["a[].b integer: is missing"]),
        (json!({"a": [], "d": {}}), &["d.e boolean: is missing"]),
        (json!({"a": [], "f": 1}), &["f integer: not in the schema"]),
        (json!({"a": [{"b": null}]}), &["a[].b integer: is null"]),
        (json!({"a": [{"b": 0.5}]}), &["a[].b integer: is number"]),
    ] {
        assert_eq!(misfits(&schema, &output), expected, "{output}");
    }
}
