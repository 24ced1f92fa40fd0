//! The installed SQL queries, asked of tables with known reports and compared with plain sums.

use std::collections::BTreeMap;
use std::time::{SystemTime, UNIX_EPOCH};

use hostint::engines::clickhouse::ClickHouse;
use hostint::engines::{Engine, FedBatch, FedReport, Parcel, RunId};
use hostint::model::*;

use crate::fed_reports::numbered;
use crate::synthetic::{Sample, Synthetic};

#[path = "clickhouse_single.rs"]
mod single;

const QUERIES: &str = include_str!("../../packaging/clickhouse/queries.sql");

const STEP_NS: u64 = 30_000_000;
const RUN: RunId = RunId(0xfeed_0000_0000_0001);

/// Reports over some minutes, the engine's parcels of them, and what is asked about.
pub struct Known {
    /// An hour that is over: what is much older, a table drops.
    begin_s: u64,
    samples: Vec<Sample>,
    pub parcels: Vec<Parcel>,
}

/// What reports of something tell.
#[derive(Default)]
struct Sums {
    reports: u64,
    lost: u64,
    latencies: Vec<i64>,
    /// Per flow, numbers as they rise.
    numbers: BTreeMap<FlowKey, (i64, i64, u32)>,
}

impl Known {
    pub fn new(reports: usize) -> Self {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
        let begin_s = (now.as_secs() / 3600 - 1) * 3600;
        let mut synthetic = Synthetic::new(7, 4, 30);
        let samples: Vec<_> = (0..reports)
            .map(|n| {
                let time_ns = begin_s * 1_000_000_000 + n as u64 * STEP_NS;
                let mut sample = synthetic.report(n % 30, time_ns);
                // Some tell nothing of their clock, some that it runs free.
                sample.report.observation.clock = (n % 4 > 0).then_some(ClockState {
                    source: ClockSource::Tai,
                    synchronised: n % 7 > 0,
                });
                sample
            })
            .collect();
        let entries = samples.iter().zip(1..).map(|(sample, number)| FedReport {
            class: sample.class.map(Into::into),
            ..numbered(number, sample.report.clone(), Some(sample.arrival))
        });
        let entries: Vec<_> = entries.collect();
        let parcels = entries.chunks(2000).zip(1..).map(|(entries, number)| {
            let entries = entries.to_vec();
            let run = RUN;
            Parcel::of(
                number,
                FedBatch {
                    run,
                    entries,
                    bytes: 0,
                },
            )
        });
        Self {
            begin_s,
            parcels: parcels.collect(),
            samples,
        }
    }

    pub fn deliver(&self, engine: &mut ClickHouse) {
        for parcel in &self.parcels {
            engine.deliver(parcel).unwrap();
        }
    }

    fn until_s(&self) -> u64 {
        self.begin_s + self.samples.len() as u64 * STEP_NS / 1_000_000_000 + 10
    }

    fn sums<K: Ord>(&self, key: impl Fn(&Sample) -> Option<K>) -> BTreeMap<K, Sums> {
        let mut all = BTreeMap::<K, Sums>::new();
        for sample in &self.samples {
            if let Some(key) = key(sample) {
                all.entry(key).or_default().add(sample);
            }
        }
        all
    }

    /// Asks everything, and compares what can be summed here.
    pub fn check(&self, ask: &dyn Fn(&str) -> String) {
        let flow = FlowHash::of(&self.samples[0].report.observation.flow().unwrap());
        let find = |name: &str, order: &str, words: &str| {
            let values = [
                ("$since", self.begin_s.to_string()),
                ("$until", self.until_s().to_string()),
                ("$source", "1".to_owned()),
                ("$sink", "2".to_owned()),
                ("$flow", flow.0.to_string()),
                ("$order", order.to_owned()),
                ("$words", words.to_owned()),
            ];
            let mut sql = named(name);
            for (key, value) in values {
                sql = sql.replace(key, &value);
            }
            let answer = ask(&sql);
            let lines = answer
                .lines()
                .map(|line| line.split('\t').map(str::to_owned));
            lines.map(Iterator::collect).collect::<Vec<Vec<String>>>()
        };
        let query = |name: &str, order: &str| find(name, order, "10.0.1.1");
        for name in names() {
            let rows = query(&name, "packets");
            let wanted = !matches!(
                name.as_str(),
                "pairs-of-packets"
                    | "segments-of-paths"
                    | "flow-totals"
                    | "drops"
                    | "host-drops"
                    | "queue-episodes"
            );
            assert_eq!(!rows.is_empty(), wanted, "{name}: {rows:?}");
        }

        let pairs = self.sums(pair);
        let matrix = query("matrix", "");
        assert_eq!(matrix.len(), pairs.len());
        for (row, ((source, sink), sums)) in matrix.iter().zip(&pairs) {
            let exact = [*source, *sink].map(|node| node.to_string());
            assert_eq!(row[..2], exact);
            let counts = [sums.reports, sums.lost, sums.latencies.len() as u64];
            assert_eq!(
                row[2..5],
                counts.map(|count| count.to_string()),
                "{source} {sink}"
            );
            let ends = [sums.latencies.iter().min(), sums.latencies.iter().max()];
            assert_eq!(
                [&row[5], &row[8]].map(|cell| cell.parse().ok()),
                ends.map(|end| end.copied())
            );
            sums.near(0.5, &row[6], "matrix p50");
            sums.near(0.99, &row[7], "matrix p99");
        }
        for (row, ((source, sink), sums)) in query("matrix-exact", "").iter().zip(&pairs) {
            let packets = sums.packets();
            let counts = [
                u64::from(*source),
                u64::from(*sink),
                sums.numbers.len() as u64,
            ];
            let counts = [&counts[..], &[sums.reports, packets, sums.lost]].concat();
            let counts: Vec<_> = counts.iter().map(u64::to_string).collect();
            assert_eq!(row[..6], counts, "{source} {sink}");
            let loss: f64 = row[6].parse().unwrap();
            assert!((loss - sums.lost as f64 / packets as f64).abs() < 1e-12);
            sums.exactly(0.5, &row[7], "exact p50");
            sums.exactly(0.99, &row[8], "exact p99");
        }

        let begins = self.sums(|sample| {
            (pair(sample)? == (1, 2)).then_some(sample.arrival.received_ns / 10_000_000_000)
        });
        let series = query("pair-series", "");
        assert_eq!(series.len(), begins.len(), "periods of ten seconds");
        for (row, sums) in series.iter().zip(begins.values()) {
            let counts = [sums.reports, sums.lost, sums.latencies.len() as u64];
            assert_eq!(row[1..4], counts.map(|count| count.to_string()), "series");
            let mean = sums.latencies.iter().sum::<i64>() / sums.latencies.len() as i64;
            assert_eq!(row[4], mean.to_string(), "series: mean");
            sums.near(0.5, &row[5], "series p50");
        }

        let flows = self.sums(|sample| sample.report.observation.flow());
        for order in ["lost_packets", "p99_ns", "jitter_ns", "packets"] {
            let top = query("top-flows", order);
            assert_eq!(top.len(), flows.len(), "no more than 50");
            let column = match order {
                "packets" => 10,
                "lost_packets" => 11,
                "p99_ns" => 13,
                _ => 14,
            };
            let falling = top.iter().map(|row| row[column].parse::<i64>().unwrap());
            assert!(falling.is_sorted_by(|one, next| one >= next), "by {order}");
            for row in &top {
                let is = |flow: &FlowKey| {
                    let addresses = [flow.src, flow.dst].map(|address| address.to_string());
                    addresses == [row[1].clone(), row[3].clone()]
                        && flow.sport.to_string() == row[2]
                };
                let (flow, sums) = flows.iter().find(|(flow, _)| is(flow)).unwrap();
                assert_eq!(row[0], FlowHash::of(flow).0.to_string());
                let counts = [sums.reports, sums.packets(), sums.lost];
                assert_eq!(row[9..12], counts.map(|count| count.to_string()), "{flow}");
                sums.exactly(0.99, &row[13], "top p99");
            }
        }

        single::check_series(self, flow.0, &query("flow-series", ""));
        single::check_reports(self, flow.0, &query("reports", ""));
        single::check_exporters(self, &query("exporters", ""));
        let all = flows.len();
        for (words, some) in [
            ("10.0.1.1", true),
            ("::ffff:10.0.2.1 1026", true),
            ("STORAGE", true),
            ("3260 web", true),
            ("10.9.9.9", false),
        ] {
            let found = single::check_found(self, words, &find("find-flows", "", words));
            assert_eq!(found > 0, some, "{words}");
            assert!(found < all, "{words}");
        }

        let classes = self.sums(|sample| Some(sample.class.unwrap_or("")));
        for (row, (class, sums)) in query("classes", "").iter().zip(&classes) {
            let found = [&row[0], &row[1], &row[2]];
            let expected = [
                (*class).to_owned(),
                sums.reports.to_string(),
                sums.lost.to_string(),
            ];
            assert_eq!(found, expected.each_ref());
        }
        let all = self.samples.len().to_string();
        let deliveries = query("deliveries", "");
        let expected = [&RUN.0.to_string(), "1", &all, &all, "0"];
        assert_eq!(deliveries.len(), 1);
        assert_eq!(deliveries[0][..5], expected.map(str::to_owned));
    }
}

impl Sums {
    fn add(&mut self, sample: &Sample) {
        let observation = &sample.report.observation;
        self.reports += 1;
        self.latencies.extend(observation.latency_ns());
        let number = match &observation.body {
            Body::Latency(report) => report.sequence,
            Body::DropSummary(summary) => {
                self.lost += u64::from(summary.count);
                summary.before_seq.wrapping_add(summary.count)
            }
            body => panic!("{body:?}"),
        };
        let numbers = self.numbers.entry(observation.flow().unwrap());
        let (least, most, first) = numbers.or_insert((0, 0, number));
        let ahead = i64::from(number.wrapping_sub(*first) as i32);
        (*least, *most) = (ahead.min(*least), ahead.max(*most));
    }

    fn packets(&self) -> u64 {
        let spans = self.numbers.values();
        spans
            .map(|(least, most, _)| (most - least + 1) as u64)
            .sum()
    }

    /// As quantileExact defines it.
    fn exactly(&self, share: f64, cell: &str, what: &str) {
        let mut sorted = self.latencies.clone();
        sorted.sort_unstable();
        let at = ((share * sorted.len() as f64) as usize).min(sorted.len() - 1);
        assert_eq!(cell, sorted[at].to_string(), "{what}");
    }

    /// Of a t-digest: its rank is right to some hundredths, in small sets to a value or two.
    fn near(&self, share: f64, cell: &str, what: &str) {
        let value: f64 = cell.parse().unwrap();
        let below = self
            .latencies
            .iter()
            .filter(|one| (**one as f64) < value)
            .count() as f64;
        let count = self.latencies.len() as f64;
        let off = (below - share * count).abs();
        assert!(
            off <= 0.03 * count + 2.0,
            "{what}: {below} of {count} below {cell}"
        );
    }
}

fn pair(sample: &Sample) -> Option<(u32, u32)> {
    let observed = ReportFacts::new(&sample.report, Some(sample.arrival), || 0);
    observed.pair().map(|(source, sink)| (source.0, sink.0))
}

/// Names of all queries.
fn names() -> Vec<String> {
    let names = QUERIES
        .lines()
        .filter_map(|line| line.strip_prefix("-- name: "));
    names.map(str::to_owned).collect()
}

pub fn named(name: &str) -> String {
    let (_, behind) = QUERIES.split_once(&format!("-- name: {name}\n")).unwrap();
    crate::clickhouse::statements(behind).swap_remove(0)
}
