//! Kafka: a report from the collector to the socket, by compression: CPU time of the engine's thread, bytes that the
//! broker gets.

use std::sync::atomic::Ordering::Relaxed;

use hostint::engines::Engine;
use hostint::engines::kafka::{Compression, Kafka, KafkaSettings, message};
use hostint_testing::kafka_stub::{PARTITIONS, Stub, TOPIC};
use prost::Message;

use super::{network, ns_each, parcel};

/// As many as the engine likes at once.
const PARCEL: u64 = 8192;

pub fn messages() {
    let mut network = network();
    let parcels: Vec<_> = (0..32)
        .map(|n| {
            parcel(
                &mut network,
                1 + n * PARCEL,
                PARCEL,
                1_800_000_000_000_000_000,
                100_000,
            )
        })
        .collect();
    println!("\nkafka: parcels of {PARCEL} reports, {PARTITIONS} partitions\n");
    println!("{:24} {:>10} {:>14}", "", "ns/report", "bytes/report");
    let first = &parcels[0];
    let mut bytes = 0;
    let ns = ns_each(first.len(), || {
        let encode = |entry| message(first.run(), entry).encode_to_vec().len();
        bytes = first.entries().map(encode).sum();
    });
    let each = bytes as f64 / first.len() as f64;
    println!("{:24} {ns:10.0} {each:14.1}", "message alone");
    let kinds = [
        ("none", Compression::NoCompression),
        ("gzip", Compression::Gzip),
        ("lz4", Compression::Lz4),
        ("snappy", Compression::Snappy),
        ("zstd", Compression::Zstd),
    ];
    for (name, compression) in kinds {
        let stub = Stub::start(None);
        let mut kafka = Kafka::new(KafkaSettings {
            brokers: vec![stub.at.clone()],
            topic: TOPIC.to_owned(),
            clock_topic: None,
            compression,
            tls: None,
            login: None,
            warn: |_| {},
        });
        let (mut next, mut reports) = (0, 0);
        let ns = ns_each(PARCEL as usize, || {
            kafka.deliver(&parcels[next]).unwrap();
            reports += PARCEL;
            next += 1;
        });
        let each = stub.got.load(Relaxed) as f64 / reports as f64;
        println!("{:24} {ns:10.0} {each:14.1}", format!("delivered, {name}"));
    }
}
