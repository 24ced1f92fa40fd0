//! Sums over the messages of a topic, to be compared with what was sent.

use std::collections::{BTreeMap, HashMap};

use hostint::engines::kafka::{Window, message as proto, partition_of};
use hostint_testing::collecting::Sent;
use prost::Message as _;

use super::cluster::Message;

/// The reports of a topic.
#[derive(Debug, Default)]
pub struct Consumed {
    /// By run and number: what came twice is one.
    pub reports: BTreeMap<(u64, u64), proto::Report>,
    pub messages: usize,
}

/// Source, sink, begin of the window.
pub type Pair = (u32, u32, u64);

/// How many reports, their least and their most latency.
pub type Sums = (u64, i64, i64);

impl Consumed {
    /// Every message is in the partition of its key, and both directions of a flow are in one.
    pub fn of(messages: &[Message], partitions: usize) -> Self {
        let mut flows = HashMap::new();
        let mut consumed = Self {
            messages: messages.len(),
            ..Self::default()
        };
        for message in messages {
            assert_eq!(message.partition, partition_of(&message.key, partitions));
            let report = proto::Report::decode(&message.value[..]).unwrap();
            if let Some(flow) = &report.flow {
                let mut ends = [(&flow.src, flow.sport), (&flow.dst, flow.dport)];
                ends.sort_unstable();
                let name = format!("{ends:?} {}", flow.protocol);
                let partition = *flows.entry(name).or_insert(message.partition);
                assert_eq!(partition, message.partition, "one partition for {flow:?}");
            }
            consumed.reports.insert((report.run, report.number), report);
        }
        consumed
    }

    pub fn sums(&self) -> Sent {
        let mut sums = Sent::default();
        for report in self.reports.values() {
            sums.reports += 1;
            match &report.kind[..] {
                "latency" => {
                    sums.latency_reports += 1;
                    sums.latency_ns += report.latency_ns.unwrap();
                }
                _ => {
                    sums.drop_summaries += 1;
                    sums.lost += u64::from(report.gap.unwrap().count);
                }
            }
        }
        sums
    }

    /// What the windows of clocks have to say of these reports.
    pub fn windows(&self) -> BTreeMap<Pair, Sums> {
        let mut windows = BTreeMap::new();
        for report in self.reports.values() {
            let Some(latency) = report.latency_ns else {
                continue;
            };
            let (source, sink) = (report.source.unwrap().node, report.sink.unwrap().node);
            let begin = report.received_ns.unwrap() / 10_000_000_000 * 10_000_000_000;
            add(&mut windows, (source, sink, begin), (1, latency, latency));
        }
        windows
    }
}

/// What a topic of clocks says.
pub fn windows(messages: &[Message]) -> BTreeMap<Pair, Sums> {
    let mut windows = BTreeMap::new();
    let mut seen = BTreeMap::new();
    for message in messages {
        let window = Window::decode(&message.value[..]).unwrap();
        let (source, sink) = (window.source_node, window.sink_node);
        let (low, high) = (source.min(sink), source.max(sink));
        let key = u64::from(low) << 32 | u64::from(high);
        assert_eq!(message.key, key.to_be_bytes());
        assert_eq!(window.end_ns - window.begin_ns, 10_000_000_000);
        if seen.insert((window.run, window.number), ()).is_none() {
            let sums = (window.reports, window.latency_min_ns, window.latency_max_ns);
            add(&mut windows, (source, sink, window.begin_ns), sums);
        }
    }
    let numbers: Vec<_> = seen.keys().map(|(_, number)| *number).collect();
    let all: Vec<_> = (1..=numbers.len() as u64).collect();
    assert_eq!(numbers, all, "none is missing");
    windows
}

fn add(windows: &mut BTreeMap<Pair, Sums>, pair: Pair, (reports, min, max): Sums) {
    let sums = windows.entry(pair).or_insert((0, i64::MAX, i64::MIN));
    *sums = (sums.0 + reports, sums.1.min(min), sums.2.max(max));
}
