//! The installed SQL queries about single reports, compared row by row.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv6Addr};
use std::time::{Duration, UNIX_EPOCH};

use hostint::model::*;

use super::{Known, Sample, Sums, pair};

type Rows = Vec<Vec<String>>;

/// How ClickHouse prints a time in seconds.
fn shown(seconds: u64) -> String {
    let time = humantime::format_rfc3339_seconds(UNIX_EPOCH + Duration::from_secs(seconds));
    time.to_string().replace(['T', 'Z'], " ").trim().to_owned()
}

fn texts<T: ToString, const N: usize>(values: [T; N]) -> Vec<String> {
    values.map(|value| value.to_string()).into()
}

fn flow_of(sample: &Sample) -> FlowKey {
    sample.report.observation.flow().unwrap()
}

fn hash_of(sample: &Sample) -> u64 {
    FlowHash::of(&flow_of(sample)).0
}

/// As IPv6NumToString has it.
fn mapped(address: IpAddr) -> Ipv6Addr {
    match address {
        IpAddr::V4(address) => address.to_ipv6_mapped(),
        IpAddr::V6(address) => address,
    }
}

/// The flow by minutes.
pub fn check_series(known: &Known, hash: u64, rows: &Rows) {
    let minutes = known.sums(|sample| {
        let (source, sink) = pair(sample)?;
        let minute = sample.arrival.received_ns / 60_000_000_000 * 60;
        (hash_of(sample) == hash).then_some((minute, source, sink))
    });
    assert!(minutes.len() > 2);
    assert_eq!(rows.len(), minutes.len());
    for (row, ((minute, source, sink), sums)) in rows.iter().zip(&minutes) {
        assert_eq!(row[0], shown(*minute));
        let counts = [
            u64::from(*source),
            u64::from(*sink),
            sums.reports,
            sums.lost,
        ];
        assert_eq!(row[1..5], texts(counts), "minute {minute}");
        sums.exactly(0.5, &row[5], "flow-series p50");
        sums.exactly(0.99, &row[6], "flow-series p99");
        let most = sums.latencies.iter().max().unwrap();
        assert_eq!(row[7], most.to_string(), "minute {minute}");
    }
}

/// The flow's reports, the newest first.
pub fn check_reports(known: &Known, hash: u64, rows: &Rows) {
    let of_flow = known
        .samples
        .iter()
        .rev()
        .filter(|one| hash_of(one) == hash);
    let expected = of_flow.map(|sample| {
        let record = Record::new(&sample.report, Some(sample.arrival));
        let observed = ReportFacts::new(&sample.report, Some(sample.arrival), || 0);
        let flow = flow_of(sample);
        let (source, sink) = pair(sample).unwrap();
        let latency = observed.latency_ns.map(|latency| latency.to_string());
        let seq = match observed.shown {
            SequenceEvidence::Number(seq) | SequenceEvidence::Missing { last: seq, .. } => {
                seq.to_string()
            }
            other => panic!("{other:?}"),
        };
        vec![
            sample.arrival.received_ns.to_string(),
            record.kind.to_string(),
            source.to_string(),
            sink.to_string(),
            flow.src.to_string(),
            flow.sport.to_string(),
            flow.dst.to_string(),
            flow.dport.to_string(),
            latency.unwrap_or("\\N".to_owned()),
            seq,
            observed.lost.to_string(),
            String::new(),
            "\\N".to_owned(),
        ]
    });
    let expected: Rows = expected.collect();
    assert!(expected.iter().any(|row| row[1] == "latency"));
    assert!((100..1000).contains(&expected.len()), "all of them");
    assert_eq!(*rows, expected);
}

/// Flows that have the words in them, the last one first; how many there are.
pub fn check_found(known: &Known, words: &str, rows: &Rows) -> usize {
    let mut flows = BTreeMap::<String, (Vec<String>, Sums, u64, u64)>::new();
    for sample in &known.samples {
        let (flow, class) = (flow_of(sample), sample.class.unwrap_or(""));
        let ends = [mapped(flow.src), mapped(flow.dst)];
        let text = format!(
            "{} {} {} {} {class}",
            ends[0], flow.sport, ends[1], flow.dport
        );
        if !text.to_lowercase().contains(&words.to_lowercase()) {
            continue;
        }
        let time = sample.arrival.received_ns;
        let found = flows.entry(flow.to_string()).or_insert_with(|| {
            let mut says = vec![hash_of(sample).to_string(), flow.src.to_string()];
            says.extend([flow.sport.to_string(), flow.dst.to_string()]);
            says.extend([flow.dport.to_string(), flow.protocol.to_string()]);
            says.push(class.to_owned());
            (says, Sums::default(), time, time)
        });
        found.1.add(sample);
        found.3 = time;
    }
    let mut flows: Vec<_> = flows.into_values().collect();
    flows.sort_by_key(|(_, _, _, last)| Reverse(*last));
    let expected = flows.into_iter().map(|(mut says, sums, first, last)| {
        says.extend(texts([first, last, sums.reports]));
        says
    });
    let expected: Rows = expected.collect();
    assert_eq!(*rows, expected, "{words}");
    rows.len()
}

/// Who reports, the one that was heard of last at the end.
pub fn check_exporters(known: &Known, rows: &Rows) {
    struct Exporter {
        reports: u64,
        first: u64,
        last: u64,
        flows: std::collections::BTreeSet<u64>,
        free: u64,
    }
    let mut exporters = BTreeMap::<IpAddr, Exporter>::new();
    for sample in &known.samples {
        let time = sample.arrival.received_ns;
        let record = Record::new(&sample.report, Some(sample.arrival));
        let address = sample.arrival.exporter.ip();
        let of = exporters.entry(address).or_insert_with(|| Exporter {
            reports: 0,
            first: time,
            last: time,
            flows: Default::default(),
            free: 0,
        });
        of.reports += 1;
        of.last = time;
        of.flows.insert(hash_of(sample));
        of.free += u64::from(record.sink_clock_synchronised == Some(false));
    }
    let mut exporters: Vec<_> = exporters.into_iter().collect();
    exporters.sort_by_key(|(_, of)| of.last);
    assert!(exporters.len() > 1);
    let expected = exporters.iter().map(|(address, of)| {
        let mut says = vec![address.to_string()];
        let flows = of.flows.len() as u64;
        says.extend(texts([of.reports, of.first, of.last, flows, of.free]));
        says
    });
    assert_eq!(*rows, expected.collect::<Rows>());
}
