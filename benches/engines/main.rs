//! What handing reports on to engines costs: `cargo bench --bench engines -- [NAME]`, of all
//! or of clickhouse, clickhouse-disk, ipfix, kafka or otlp. Needs no privileges.

use std::hint::black_box;

use hostint::engines::{FedBatch, FedReport, Parcel, RunId};
use hostint::os::clock;
use hostint_testing::fed_reports::numbered;
use hostint_testing::wanted::Wanted;

mod clickhouse;
mod ipfix;
mod kafka;
mod otlp;

const ROUNDS: usize = 7;
const NODES: u32 = 8;
const FLOWS: usize = 200;

/// Median of the rounds: ns of this thread's CPU time, for each of so many.
fn ns_each(count: usize, mut work: impl FnMut()) -> f64 {
    let rounds = (0..=ROUNDS).map(|_| {
        let begin = clock::thread_cpu_ns();
        work();
        black_box((clock::thread_cpu_ns() - begin) as f64 / count as f64)
    });
    let mut rounds: Vec<_> = rounds.skip(1).collect();
    rounds.sort_by(f64::total_cmp);
    rounds[ROUNDS / 2]
}

/// Synthetic reports from a time on, each so many ns after the one before; the first has this number.
fn parcel(
    network: &mut hostint_testing::synthetic::Synthetic,
    first: u64,
    count: u64,
    begin_ns: u64,
    step_ns: u64,
) -> Parcel {
    let entries = (first..first + count).map(|number| {
        let sample = network.report(number as usize % FLOWS, begin_ns + number * step_ns);
        FedReport {
            class: sample.class.map(Into::into),
            ..numbered(number, sample.report, Some(sample.arrival))
        }
    });
    let entries: Vec<_> = entries.collect();
    let batch = FedBatch {
        run: RunId(0x0123_4567_89ab_cdef),
        bytes: 0,
        entries,
    };
    Parcel::of(first, batch)
}

fn network() -> hostint_testing::synthetic::Synthetic {
    hostint_testing::synthetic::Synthetic::new(1, NODES, FLOWS)
}

fn main() {
    Wanted::run(&[
        ("clickhouse", clickhouse::rows),
        ("clickhouse-disk", clickhouse::disk),
        ("ipfix", ipfix::run),
        ("kafka", kafka::messages),
        ("otlp", otlp::run),
    ]);
}
