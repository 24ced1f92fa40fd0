//! The packets that a summary adds are in the rows and messages of all engines that have a place for them.

use hostint::engines::clickhouse::{COLUMNS, append_rows};
use hostint::engines::otlp::OtlpLogs;
use hostint::engines::otlp::messages::{Any, LogsRequest};
use hostint::engines::{FedBatch, FedReport, Parcel, RunId, kafka};
use hostint::model::metrics::Identity;
use hostint::model::*;
use hostint_testing::path_samples::two_hops;
use prost::Message;

fn added() -> Measured {
    let mut latency = LatencyHistogram::new();
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
    parcel_with(added, LatencyClocks::Untold)
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
        number: 1,
        report: Report {
            sequence: 1,
            observation: Observation {
                hw_id: HwId::default(),
                flags: Flags::default(),
                clock: None,
                body,
            },
        },
        arrival: None,
        clocks,
        class: None,
        drop_reason: None,
        names: std::sync::Arc::default(),
        added: added.map(Box::new),
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
    append_rows(parcel, &[column.unwrap()], 0, &mut row);
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
    let parcel = parcel_of(Body::Latency(report), None, LatencyClocks::Untold);
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

#[test]
fn otlp_has_attributes() {
    let identity = Identity {
        host: "here".to_owned(),
        instance: "here".to_owned(),
    };
    let engine = OtlpLogs::new("http://127.0.0.1:1", Vec::new(), &identity).unwrap();
    let attributes = |parcel: &Parcel| {
        let request = LogsRequest::decode(&engine.encode(parcel)[..]).unwrap();
        let told = request.resources[0].scopes[0].records[0].attributes.clone();
        let added = told.into_iter().filter_map(|one| {
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
