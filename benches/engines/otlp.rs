//! A report as an OTLP log, and a snapshot of a sink's metrics with 1,000 nodes as OTLP and as text.

use std::io::Write;

use flate2::Compression;
use flate2::write::GzEncoder;
use hostint::engines::otlp::{OtlpLogs, OtlpMetrics};
use hostint::engines::push::Push;
use hostint::engines::{FedBatch, FedReport, Parcel, RunId};
use hostint::model::metrics::{Identity, Snapshot};
use hostint::model::*;
use hostint::os::clock;
use hostint::views::metrics::{sink, text};
use hostint_testing::fed_reports::numbered;
use hostint_testing::random::Random;
use hostint_testing::status_samples::nothing;
use hostint_testing::synthetic::Synthetic;

const TIME_NS: u64 = 1_800_000_000_123_456_789;
const REPORTS: u64 = 1024;
const NODES: u16 = 1000;
const ROUNDS: usize = 15;

/// CPU time in ns of one call, the median of several.
fn cost<T>(mut run: impl FnMut() -> T) -> u64 {
    let mut times: Vec<u64> = (0..ROUNDS)
        .map(|_| {
            let before = clock::thread_cpu_ns();
            std::hint::black_box(run());
            clock::thread_cpu_ns() - before
        })
        .collect();
    times.sort_unstable();
    times[ROUNDS / 2]
}

fn identity() -> Identity {
    Identity {
        host: "host-a".to_owned(),
        instance: "host-a/2".to_owned(),
    }
}

fn parcel() -> Parcel {
    let mut synthetic = Synthetic::new(1, 8, 200);
    let entries = (0..REPORTS).map(|number| {
        let sample = synthetic.report(number as usize % 200, TIME_NS + number);
        FedReport {
            class: sample.class.map(Into::into),
            ..numbered(number, sample.report, Some(sample.arrival))
        }
    });
    let batch = FedBatch {
        run: RunId(0x0123_4567_89ab_cdef),
        entries: entries.collect(),
        bytes: 0,
    };
    Parcel::of(1, batch)
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

/// A sink that measures packets of many nodes, with latencies all over.
fn snapshot() -> Snapshot {
    let mut random = Random::seeded(1);
    let mut tally = Tally::default();
    tally.begin();
    tally.complete();
    tally.begin();
    for node in 0..NODES {
        let [high, low] = node.to_be_bytes();
        let flow = FlowKey {
            src: [10, 1, high, low].into(),
            dst: [10, 2, 0, 1].into(),
            sport: 1,
            dport: 2,
            protocol: 17,
            vlans: Vlans::NONE,
        };
        let mut histogram = [0; LATENCY_SLOTS];
        for slot in histogram.iter_mut().skip(12).take(8) {
            *slot = random.below(1_000_000) as u32;
        }
        let packets = histogram.iter().map(|count| u64::from(*count)).sum();
        let counts = FlowCounts {
            node: NodeId(node.into()),
            packets,
            bytes: packets * 1000,
            lost: random.below(1000) as u64,
            recovered: random.below(100) as u64,
            reordered: random.below(1000) as u64,
            duplicates: 0,
            latency_sum_ns: packets as i64 * 20_000,
            slots: FlowSlots::coarse(&histogram),
            ..FlowCounts::default()
        };
        tally.look(flow, counts);
    }
    tally.complete();
    let status = nothing();
    Snapshot {
        time_ns: TIME_NS,
        since_ns: TIME_NS,
        families: sink::families(&status, &tally, &[]),
    }
}

pub fn run() {
    let url = "http://127.0.0.1:1";
    let logs = OtlpLogs::new(url, Vec::new(), &identity()).unwrap();
    let parcel = parcel();
    let body = logs.encode(&parcel);
    let packed = gzip(&body);
    let (encode, pack) = (cost(|| logs.encode(&parcel)), cost(|| gzip(&body)));
    println!(
        "otlp-reports: {} ns a report, {} ns more for gzip; {} bytes, {} with gzip",
        encode / REPORTS,
        pack / REPORTS,
        body.len() as u64 / REPORTS,
        packed.len() as u64 / REPORTS
    );
    let snapshot = snapshot();
    let shown = |name: &str, unit: &str, push: &dyn Push| {
        let encoded = push.encode(&snapshot).unwrap();
        println!(
            "{name}: {:.1} ms a snapshot of {NODES} nodes, {} {unit}, {} bytes",
            cost(|| push.encode(&snapshot)) as f64 / 1e6,
            encoded.units,
            encoded.body.len()
        );
    };
    let metrics = OtlpMetrics::new(url, Vec::new(), &identity()).unwrap();
    shown("otlp-metrics", "points", &metrics);
    let page = text(&snapshot.families);
    println!(
        "text: {:.1} ms, {} bytes",
        cost(|| text(&snapshot.families)) as f64 / 1e6,
        page.len()
    );
}
