//! A Kafka message holds every value of a report, and follows the shipped schema.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use hostint::engines::kafka::{Window, key_of, message as proto, partition_of};
use hostint::engines::{FedReport, RunId};
use hostint::model::*;
use hostint_testing::fed_reports::{fed, record_pods};
use hostint_testing::path_samples::path_parts;
use hostint_testing::report_samples;
use prost::Message;

use super::read_back;

#[test]
fn a_record_comes_back_from_its_message() {
    let mut kinds = BTreeSet::new();
    for record in report_samples::all() {
        for clocks in [LatencyClocks::Unreported, LatencyClocks::Unknown, KNOWN] {
            let record = record.clone().with_clocks(clocks).naming(&names());
            let record = record.with_pods(&record_pods());
            let bytes = proto::Report::from(record.clone()).encode_to_vec();
            let message = proto::Report::decode(&bytes[..]).unwrap();
            assert_eq!(read_back::record(&message), record);
        }
        kinds.insert(record.kind);
    }
    for (part, _) in path_parts() {
        let report = fed(Body::PathPart(Box::new(part))).report;
        let record = Record::new(&report, None).naming(&names());
        let bytes = proto::Report::from(record.clone()).encode_to_vec();
        let message = proto::Report::decode(&bytes[..]).unwrap();
        assert_eq!(read_back::record(&message), record);
    }
    for kind in [
        "latency",
        "drop-summary",
        "flow-summary",
        "drop",
        "local",
        "packet",
        "ethernet",
    ] {
        assert!(kinds.contains(kind), "a sample of {kind}: {kinds:?}");
    }
}

const KNOWN: LatencyClocks = LatencyClocks::Known(CorrectedLatency {
    latency_ns: 6_140,
    error_ns: 1_900,
    bound_ns: [0, 240_000],
});

/// Of some of the samples' nodes, and of a hop's interfaces.
fn names() -> NodeNames {
    let names = [(1, "web-3"), (2, "db-1 é")].into_iter();
    let names = names.map(|(node, name)| (NodeId(node), name.to_owned()));
    let eth = |port: u16| {
        let node = NodeId(28673);
        (NodePort { node, port }, format!("eth{port}"))
    };
    let ports = (1..=4).map(eth).collect();
    names.collect::<NodeNames>().with_ports(ports)
}

/// The packets that a summary adds.
fn added() -> Measured {
    let mut latency = LatencyHistogram::default();
    [5_000, 6_000, 6_000]
        .into_iter()
        .for_each(|ns| latency.add(ns));
    Measured {
        summaries: 1,
        packets: 3,
        bytes: 300,
        lost: 2,
        recovered: 1,
        reordered: 1,
        duplicates: 1,
        squares: FlowSquares::from_all([4, 8, 16]),
        latency,
        corrected: ClockSums {
            packets: 3,
            latency_ns: 9_000,
            error_ns: 3_000,
            less_ns: 9_000,
            more_ns: 600_000,
        },
    }
}

/// Of each kind of report the sample that says most, and a window of clocks.
fn goldens() -> BTreeMap<String, (&'static str, Vec<u8>)> {
    let mut goldens: BTreeMap<String, (&str, Vec<u8>)> = BTreeMap::new();
    for record in report_samples::all() {
        let kind = record.kind.to_string();
        let pods = match &kind[..] {
            "host-drop" => record_pods().to_vec(),
            _ => Vec::new(),
        };
        let record = record.naming(&names()).with_pods(&pods);
        let record = record.with_clocks(match &kind[..] {
            "latency" => KNOWN,
            _ => LatencyClocks::Unknown,
        });
        let mut message = proto::Report::from(record);
        (message.run, message.number) = (0x0123_4567_89ab_cdef, 7);
        message.added = (kind == "group-summary").then(|| (&added()).into());
        let bytes = message.encode_to_vec();
        let longest = goldens
            .entry(kind)
            .or_insert(("reports.v1.Report", Vec::new()));
        if bytes.len() > longest.1.len() {
            longest.1 = bytes;
        }
    }
    let [(body, dropped), _] = report_samples::host_drop_sums();
    let sum = FedReport {
        number: 7,
        dropped: Some(Box::new(dropped)),
        names: std::sync::Arc::new(names()),
        ..fed(body)
    };
    let message = proto(RunId(0x0123_4567_89ab_cdef), &sum);
    goldens.insert(
        "host-drop-sum".to_owned(),
        ("reports.v1.Report", message.encode_to_vec()),
    );
    for (part, added) in path_parts() {
        let entry = FedReport {
            number: 7,
            added: Some(Box::new(added)),
            dropped: None,
            names: std::sync::Arc::new(names()),
            ..fed(Body::PathPart(Box::new(part)))
        };
        let kind = entry.report.observation.kind().to_owned();
        let message = proto(RunId(0x0123_4567_89ab_cdef), &entry);
        let bytes = message.encode_to_vec();
        goldens.insert(kind, ("reports.v1.Report", bytes));
    }
    let window = Window {
        run: 0x0123_4567_89ab_cdef,
        number: 7,
        source_node: 1,
        sink_node: 2,
        begin_ns: 1_700_000_000_000_000_000,
        end_ns: 1_700_000_010_000_000_000,
        reports: 1000,
        latency_min_ns: -20_000,
        latency_max_ns: 2_000_000,
        sink_clock: Some("nic".to_owned()),
        sink_clock_synchronised: Some(true),
        reports_beyond: 3,
    };
    goldens.insert(
        "clocks".to_owned(),
        ("clocks.v1.Window", window.encode_to_vec()),
    );
    goldens
}

fn schema(message: &str) -> PathBuf {
    let (package, _) = message.rsplit_once('.').unwrap();
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("packaging/proto/hostint")
        .join(format!("{}.proto", package.replace('.', "/")))
}

fn protoc(how: &str, message: &str, input: &[u8]) -> Vec<u8> {
    let schema = schema(message);
    let mut child = Command::new("protoc")
        .arg(format!("--{how}=hostint.{message}"))
        .arg(format!("-I{}", schema.parent().unwrap().display()))
        .arg(&schema)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("needs protobuf-compiler");
    child.stdin.take().unwrap().write_all(input).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "protoc --{how} {message}");
    output.stdout
}

fn hex(bytes: &[u8]) -> String {
    let lines = bytes.chunks(32).map(|line| {
        let digits: String = line.iter().map(|byte| format!("{byte:02x}")).collect();
        digits + "\n"
    });
    lines.collect()
}

fn flow(src: &str, sport: u16, dst: &str, dport: u16) -> FlowKey {
    FlowKey {
        src: src.parse().unwrap(),
        dst: dst.parse().unwrap(),
        sport,
        dport,
        protocol: 6,
        vlans: Vlans::NONE,
    }
}

fn about(flow: Option<FlowKey>, node: Option<NodeId>) -> FedReport {
    fed(Body::Packet(Box::new(PacketReport {
        node,
        packet: flow.map(|flow| Packet {
            flow: Some(flow),
            ..Packet::default()
        }),
        ..PacketReport::default()
    })))
}

#[test]
fn a_report_goes_where_its_flow_or_its_node_goes() {
    struct Case {
        name: &'static str,
        entry: FedReport,
        key: u64,
    }
    let there = flow("10.0.0.1", 40_000, "10.0.0.2", 443);
    let back = flow("10.0.0.2", 443, "10.0.0.1", 40_000);
    let cases = [
        Case {
            name: "a flow",
            entry: about(Some(there), Some(NodeId(3))),
            key: 0x87e3_1272_6d49_683f,
        },
        Case {
            name: "the same, back, from another node",
            entry: about(Some(back), Some(NodeId(4))),
            key: 0x87e3_1272_6d49_683f,
        },
        Case {
            name: "no flow: the node",
            entry: about(None, Some(NodeId(0xffff_fff0))),
            key: 0xffff_fff0,
        },
        Case {
            name: "neither",
            entry: about(None, None),
            key: 0,
        },
    ];
    for case in cases {
        let key = key_of(&case.entry);
        assert_eq!(u64::from_be_bytes(key), case.key, "{}", case.name);
        assert!(partition_of(&key, 7) < 7, "{}", case.name);
    }
}

/// These need programs that `packaging/install-build-deps.sh --test` installs.
mod tools {
    use super::*;

    #[test]
    fn the_schema_that_is_shipped_is_what_is_sent() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/kafka");
        let bless = std::env::var_os("HOSTINT_BLESS").is_some();
        let mut texts = String::new();
        for (name, (message, bytes)) in goldens() {
            let text = String::from_utf8(protoc("decode", message, &bytes)).unwrap();
            for (kind, content) in [("hex", hex(&bytes)), ("txt", text.clone())] {
                let file = folder.join(format!("{name}.{kind}"));
                if bless {
                    std::fs::write(&file, &content).unwrap();
                }
                let kept = std::fs::read_to_string(&file).unwrap();
                assert_eq!(kept, content, "{}", file.display());
            }
            assert_eq!(protoc("encode", message, text.as_bytes()), bytes, "{name}");
            texts += &text;
        }
        // A field that only one of both had would be shown by its number, or not at all.
        let shown: BTreeSet<_> = texts
            .lines()
            .map(|line| line.trim().split([':', ' ']).next().unwrap())
            .collect();
        for message in ["reports.v1.Report", "clocks.v1.Window"] {
            let schema = std::fs::read_to_string(schema(message)).unwrap();
            for line in schema
                .lines()
                .filter(|line| line.starts_with("  ") && line.ends_with(';'))
            {
                let (before, _) = line.split_once(" =").unwrap();
                let field = before.rsplit(' ').next().unwrap();
                assert!(shown.contains(field), "no sample of {message} has {field}");
            }
        }
        let numbered: Vec<_> = shown
            .iter()
            .filter(|name| name.parse::<u32>().is_ok())
            .collect();
        assert!(numbered.is_empty(), "not in the schema: {numbered:?}");
    }
}

#[test]
fn a_message_names_the_nodes_of_its_report() {
    let mut named = BTreeSet::new();
    for sample in report_samples::all() {
        let mut entry = fed(sample.report().unwrap().observation.body);
        entry.names = std::sync::Arc::new(names());
        let message = hostint::engines::kafka::message(RunId(1), &entry);
        let ends = [&message.source, &message.sink];
        let mut nodes: BTreeSet<u32> = ends
            .iter()
            .filter_map(|end| end.as_ref())
            .map(|end| end.node)
            .collect();
        nodes.extend(message.transit.iter().map(|hop| hop.node));
        let int = message.int_headers.iter().flat_map(|header| &header.hops);
        nodes.extend(int.filter_map(|hop| hop.node));
        nodes.extend(message.host_drop.as_ref().and_then(|drop| drop.tagged_by));
        nodes.extend(message.reporter_node);
        let told: BTreeSet<u32> = message.names.iter().map(|one| one.node).collect();
        let known = nodes.into_iter().filter(|node| *node == 1 || *node == 2);
        assert_eq!(told, known.collect(), "{}", message.kind);
        named.extend(message.names.into_iter().map(|one| one.name));
    }
    assert_eq!(Vec::from_iter(named), ["db-1 é", "web-3"]);
}
