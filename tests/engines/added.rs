//! The packets that a summary adds are in the rows and messages of all engines that have a place for them.

use hostint::engines::clickhouse::{COLUMNS, append_rows};
use hostint::engines::otlp::OtlpLogs;
use hostint::engines::otlp::messages::{Any, LogRecord, LogsRequest};
use hostint::engines::{FedBatch, FedReport, Parcel, RunId, kafka};
use hostint::model::crossings::{Crossed, CrossedPlace, PathCrossed};
use hostint::model::metrics::Identity;
use hostint::model::*;
use hostint_testing::fed_reports::fed;
use hostint_testing::path_samples::{path_parts, two_hops};
use prost::Message;

fn added() -> Measured {
    let mut latency = LatencyHistogram::default();
    [5_000, 6_000, 6_000, -20]
        .into_iter()
        .for_each(|ns| latency.add(ns));
    Measured {
        summaries: 1,
        packets: 4,
        bytes: 4_000,
        lost: 3,
        recovered: 2,
        reordered: 1,
        duplicates: 0,
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

fn parcel(added: Option<Measured>) -> Parcel {
    parcel_with(added, LatencyClocks::Unreported)
}

fn parcel_with(added: Option<Measured>, clocks: LatencyClocks) -> Parcel {
    let summary = Summary {
        time_s: 1_700_000_000,
        period_ns: 10_000_000_000,
        source_node: NodeId(1),
        sink_node: NodeId(2),
        subject: SummarySubject::Group { class: None },
        totals: SubjectTotals {
            packets: 1_000,
            ..SubjectTotals::default()
        },
    };
    parcel_of(Body::Summary(Box::new(summary)), added, clocks)
}

fn parcel_of(body: Body, added: Option<Measured>, clocks: LatencyClocks) -> Parcel {
    let entry = FedReport {
        clocks,
        added: added.map(Box::new),
        ..fed(body)
    };
    let batch = FedBatch {
        run: RunId(1),
        entries: vec![entry],
        bytes: 0,
    };
    Parcel::of(1, batch)
}

/// The bytes of one column in the only row.
fn column(parcel: &Parcel, name: &str) -> Vec<u8> {
    let column = COLUMNS.iter().find(|column| column.name == name);
    let mut row = Vec::new();
    append_rows(
        parcel.run(),
        parcel.entries(),
        &[column.unwrap()],
        0,
        &mut row,
    );
    row
}

#[test]
fn clickhouse_has_counts_and_slots() {
    let with = parcel(Some(added()));
    for (name, count) in [
        ("flow_packets", 1_000_u64),
        ("added_packets", 4),
        ("added_bytes", 4_000),
        ("added_lost", 3),
        ("added_recovered", 2),
        ("added_reordered", 1),
        ("added_duplicates", 0),
        ("added_latency_sum_ns", 16_980),
        ("added_corrected_packets", 4),
        ("added_corrected_sum_ns", 8_000),
        ("added_corrected_error_ns", 2_000),
        ("added_corrected_less_ns", 9_000),
        ("added_corrected_more_ns", 4_000),
    ] {
        assert_eq!(column(&with, name), count.to_le_bytes(), "{name}");
    }
    assert_eq!(column(&with, "added_latency_steps"), [32]);
    let least = [&[0][..], &(-20_i64).to_le_bytes()].concat();
    assert_eq!(column(&with, "added_latency_min_ns"), least);
    let slots: Vec<_> = added().latency.slots().collect();
    assert_eq!(slots.len(), 3);
    let bounds = slots.iter().flat_map(|slot| slot.0.to_le_bytes());
    let bounds: Vec<u8> = [3].into_iter().chain(bounds).collect();
    assert_eq!(column(&with, "added_slots.bound_ns"), bounds);
    let packets = slots.iter().flat_map(|slot| slot.1.to_le_bytes());
    let packets: Vec<u8> = [3].into_iter().chain(packets).collect();
    assert_eq!(column(&with, "added_slots.packets"), packets);
    // The first summary after this collector turned to a sink adds nothing that is known.
    let without = parcel(None);
    assert_eq!(column(&without, "added_packets"), 0_u64.to_le_bytes());
    assert_eq!(column(&without, "added_latency_min_ns"), [1], "NULL");
    assert_eq!(column(&without, "added_corrected_packets"), [0; 8]);
    assert_eq!(column(&without, "added_slots.packets"), [0], "no slots");
}

#[test]
fn clickhouse_has_the_hops_of_a_packet_in_its_order() {
    let way = two_hops();
    let mut report = way.report(1, 5_000, 1_700_000_000_000_000_000);
    let mut transit = report.hops.transit().to_vec();
    // The second hop does not know when the packet arrived.
    transit[0].ingress_ts = u32::MAX;
    report.hops = HopStack::over(*report.hops.source(), &transit, *report.hops.sink());
    let parcel = parcel_of(Body::Latency(report), None, LatencyClocks::Unreported);
    for (name, values) in [
        ("hops.node", [1, 28_673, 28_674, 2]),
        ("hops.latency_ns", [0, 1_000, 0, 0]),
        ("hops.ingress_port", [7, 2, 4, 8]),
        ("hops.egress_port", [7, 3, 5, 8]),
    ] {
        let values = values.iter().flat_map(|value: &u32| value.to_le_bytes());
        let bytes: Vec<u8> = [4].into_iter().chain(values).collect();
        assert_eq!(column(&parcel, name), bytes, "{name}");
    }
}

#[test]
fn clickhouse_has_the_corrected_latency_or_none() {
    let corrected = CorrectedLatency {
        latency_ns: 6_140,
        error_ns: 2_000,
        bound_ns: [0, 120_000],
    };
    let known = parcel_with(None, LatencyClocks::Known(corrected));
    let unknown = parcel_with(None, LatencyClocks::Unknown);
    for (name, value) in [
        ("latency_corrected_ns", 6_140_i64),
        ("latency_error_ns", 2_000),
        ("latency_low_ns", 0),
        ("latency_high_ns", 120_000),
    ] {
        let told = [&[0][..], &value.to_le_bytes()].concat();
        assert_eq!(column(&known, name), told, "{name}");
        assert_eq!(column(&unknown, name), [1], "{name}: NULL");
    }
}

#[test]
fn kafka_has_a_message_of_its_own() {
    let with = parcel(Some(added()));
    let message = kafka::message(RunId(1), with.entries().next().unwrap());
    let read = kafka::message::Report::decode(&message.encode_to_vec()[..]).unwrap();
    let told = read.added.unwrap();
    assert_eq!((told.packets, told.bytes), (4, 4_000));
    assert_eq!((told.lost, told.recovered), (3, 2));
    assert_eq!((told.reordered, told.duplicates), (1, 0));
    let latency = told.latency.unwrap();
    assert_eq!((latency.samples, latency.sum_ns), (4, 16_980));
    assert_eq!(latency.slot_counts, [1, 1, 2]);
    let corrected = kafka::message::Corrected {
        packets: 4,
        sum_ns: 8_000,
        error_ns: 2_000,
        less_ns: 9_000,
        more_ns: 4_000,
    };
    assert_eq!(told.corrected, Some(corrected));
    let unknown = parcel(Some(Measured {
        corrected: ClockSums::default(),
        ..added()
    }));
    let message = kafka::message(RunId(1), unknown.entries().next().unwrap());
    assert_eq!(message.added.unwrap().corrected, None);
    let without = parcel(None);
    let message = kafka::message(RunId(1), without.entries().next().unwrap());
    assert_eq!(message.added, None);
}

/// The only report of a parcel as an event.
fn event(parcel: &Parcel) -> LogRecord {
    let identity = Identity {
        host: "here".to_owned(),
        instance: "here".to_owned(),
    };
    let engine = OtlpLogs::new("http://127.0.0.1:1", Vec::new(), &identity).unwrap();
    let request = LogsRequest::decode(&engine.encode(parcel)[..]).unwrap();
    request.resources[0].scopes[0].records[0].clone()
}

#[test]
fn otlp_has_attributes() {
    let attributes = |parcel: &Parcel| {
        let added = event(parcel).attributes.into_iter().filter_map(|one| {
            let name = one.key.strip_prefix("hostint.added.")?.to_owned();
            match one.value?.value? {
                Any::Int(value) => Some((name, value)),
                other => panic!("{other:?}"),
            }
        });
        added.collect::<Vec<_>>()
    };
    let expected = [
        ("packets", 4),
        ("bytes", 4_000),
        ("lost", 3),
        ("recovered", 2),
        ("reordered", 1),
        ("duplicates", 0),
        ("latency.min_ns", -20),
        ("latency.mean_ns", 4_245),
        ("latency.p50_ns", 5_119),
        ("latency.p90_ns", 6_000),
        ("latency.p99_ns", 6_000),
        ("latency.max_ns", 6_000),
        ("latency.sum_ns", 16_980),
        ("latency.steps", 32),
        ("corrected.packets", 4),
        ("corrected.mean_ns", 2_000),
        ("corrected.error_ns", 500),
        ("corrected.low_ns", 0),
        ("corrected.high_ns", 3_000),
    ];
    let told = attributes(&parcel(Some(added())));
    let told: Vec<_> = (told.iter())
        .map(|(name, value)| (name.as_str(), *value))
        .collect();
    assert_eq!(told, expected);
    assert!(attributes(&parcel(None)).is_empty());
}

#[test]
fn parts_of_paths_are_rows_and_messages_of_their_own() {
    let text = |text: &str| [&[text.len() as u8][..], text.as_bytes()].concat();
    let some = |bytes: &[u8]| [&[0][..], bytes].concat();
    let nodes = [1_u32, 28_673, 28_674, 2];
    let list: Vec<u8> = [4]
        .into_iter()
        .chain(nodes.iter().flat_map(|node| node.to_le_bytes()))
        .collect();
    let [times, losses] = path_parts();
    let hash = times.0.path.hash_text();
    // A part, its kind of report, and name, end, packets and lost packets of it.
    let cases = [
        (
            times,
            "path-times",
            "hop",
            (28_673_u32, 3_u16),
            3_u64,
            0_u64,
        ),
        (losses, "path-losses", "queue", (28_673, 3), 100, 7),
    ];
    for ((part, added), kind, name, to, packets, lost) in cases {
        let from = part.record().from;
        let body = Body::PathPart(Box::new(part));
        let parcel = parcel_of(body, Some(added), LatencyClocks::Unreported);
        for (column_name, expected) in [
            ("kind", text(kind)),
            ("path_hash", text(&hash)),
            ("path_part", text(name)),
            ("path_nodes", list.clone()),
            ("path_from_node", some(&from.node.0.to_le_bytes())),
            ("path_from_port", some(&from.port.to_le_bytes())),
            ("path_to_node", some(&to.0.to_le_bytes())),
            ("path_to_port", some(&to.1.to_le_bytes())),
            ("added_packets", packets.to_le_bytes().to_vec()),
            ("added_lost", lost.to_le_bytes().to_vec()),
            // Rows of a pair are those of its flows and classes.
            ("source_node", vec![1]),
            ("sink_node", vec![1]),
        ] {
            assert_eq!(
                column(&parcel, column_name),
                expected,
                "{kind}: {column_name}"
            );
        }
        let severity = if lost > 0 { "WARN" } else { "INFO" };
        assert_eq!(event(&parcel).severity_text, severity, "{kind}");
        let message = kafka::message(RunId(1), parcel.entries().next().unwrap());
        let told = message.path_part.unwrap();
        assert_eq!((told.nodes, told.part.as_str()), (nodes.to_vec(), name));
        let counts = message.added.unwrap();
        assert_eq!((counts.packets, counts.lost), (packets, lost), "{kind}");
    }
    let other = parcel(Some(added()));
    for (name, none) in [("path_hash", 0), ("path_nodes", 0), ("path_from_node", 1)] {
        assert_eq!(column(&other, name), [none], "{name} of another kind");
    }
}

#[test]
fn parts_of_paths_have_what_came_since_and_no_more() {
    let path = path_parts()[0].0.path.clone();
    let crossed = |places: &[(CrossedPlace, u64, i64)]| PathCrossed {
        path: path.clone(),
        places: (places.iter())
            .map(|(place, packets, lost)| {
                let crossed = Crossed {
                    packets: *packets,
                    lost: *lost,
                };
                (*place, crossed)
            })
            .collect(),
        unseen: Vec::new(),
    };
    let known = crossed(&[
        (CrossedPlace::Segment(0), 100, 3),
        (CrossedPlace::Segment(1), 100, 0),
        (CrossedPlace::Segment(2), 0, 0),
        // Two that were thought lost came after all.
        (CrossedPlace::Segment(3), 0, -2),
        (CrossedPlace::Queue(1), 50, 1),
        (CrossedPlace::Segment(6), 9, 9),
        (CrossedPlace::Queue(2), 9, 9),
    ]);
    let parts = PathPart::of_crossed(&known, 5);
    let told: Vec<_> = (parts.iter())
        .map(|(part, added)| {
            let record = part.record();
            let counts = (added.packets, added.lost, added.recovered);
            (record.part, record.from.node.0, record.to.node.0, counts)
        })
        .collect();
    let expected = [
        ("path", 1, 2, (100, 3, 0)),
        ("wire", 1, 28_673, (100, 0, 0)),
        ("wire", 28_673, 28_674, (0, 0, 2)),
        ("queue", 28_674, 28_674, (50, 1, 0)),
    ];
    let expected = expected.map(|(part, from, to, counts)| (part.to_owned(), from, to, counts));
    assert_eq!(
        told, expected,
        "places without packets, and those that no path has, are left out"
    );
}
