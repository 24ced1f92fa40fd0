//! The clock topic: the extreme latencies of each pair of nodes in windows of ten seconds, by which clocks are
//! compared.

use std::collections::{HashMap, VecDeque};

use prost::Message;

use crate::engines::{Parcel, RunId};
use crate::model::{ClockState, NodeId, ReportFacts};

const WINDOW_NS: u64 = 10_000_000_000;

/// The time after its end during which a window takes late reports.
const LATE_NS: u64 = 2_000_000_000;

/// The most windows that are open. A pair of nodes has two at a time.
const MOST_OPEN: usize = 8192;

/// The most messages that wait to be delivered.
const MOST_WAITING: usize = 16_384;

/// packaging/proto/hostint/clocks/v1.proto, field by field.
#[derive(Clone, PartialEq, Message)]
pub struct Window {
    #[prost(fixed64, tag = "1")]
    pub run: u64,
    #[prost(uint64, tag = "2")]
    pub number: u64,
    #[prost(uint32, tag = "3")]
    pub source_node: u32,
    #[prost(uint32, tag = "4")]
    pub sink_node: u32,
    #[prost(fixed64, tag = "5")]
    pub begin_ns: u64,
    #[prost(fixed64, tag = "6")]
    pub end_ns: u64,
    #[prost(uint64, tag = "7")]
    pub reports: u64,
    #[prost(sint64, tag = "8")]
    pub latency_min_ns: i64,
    #[prost(sint64, tag = "9")]
    pub latency_max_ns: i64,
    #[prost(string, optional, tag = "10")]
    pub sink_clock: Option<String>,
    #[prost(bool, optional, tag = "11")]
    pub sink_clock_synchronised: Option<bool>,
    #[prost(uint64, tag = "12")]
    pub reports_beyond: u64,
}

#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
struct WindowKey {
    begin_ns: u64,
    source: NodeId,
    sink: NodeId,
    clock: Option<ClockState>,
}

#[derive(Debug)]
struct WindowSums {
    reports: u64,
    min_ns: i64,
    max_ns: i64,
}

/// The open windows, and the messages of those that have ended.
#[derive(Debug, Default)]
pub struct ClockWindows {
    run: u64,
    number: u64,
    open: HashMap<WindowKey, WindowSums>,
    newest_ns: u64,
    waiting: VecDeque<Window>,
    /// The number of reports for which there was no window.
    beyond: u64,
    /// The number of messages that will never be delivered.
    lost: u64,
}

impl ClockWindows {
    /// Adds the reports of a parcel. Each parcel may be added only once.
    pub fn add(&mut self, parcel: &Parcel) {
        let RunId(run) = parcel.run();
        self.run = run;
        for entry in parcel.entries() {
            let observed = ReportFacts::new(&entry.report, entry.arrival, || 0);
            let (Some((source, sink)), Some(latency)) = (observed.pair(), observed.latency_ns)
            else {
                continue;
            };
            self.newest_ns = self.newest_ns.max(observed.time_ns);
            let key = WindowKey {
                begin_ns: observed.time_ns - observed.time_ns % WINDOW_NS,
                source,
                sink,
                clock: entry.report.observation.clock,
            };
            self.count(key, latency);
        }
    }

    fn count(&mut self, key: WindowKey, latency: i64) {
        if self.open.len() >= MOST_OPEN && !self.open.contains_key(&key) {
            // The times of reports from a file advance faster than the clock.
            self.close(self.newest_ns);
            if self.open.len() >= MOST_OPEN {
                self.beyond += 1;
                return;
            }
        }
        let sums = self.open.entry(key).or_insert(WindowSums {
            reports: 0,
            min_ns: i64::MAX,
            max_ns: i64::MIN,
        });
        sums.reports += 1;
        sums.min_ns = sums.min_ns.min(latency);
        sums.max_ns = sums.max_ns.max(latency);
    }

    /// Makes messages of the windows that no longer take late reports at `now_ns`.
    pub fn close(&mut self, now_ns: u64) {
        let ended = self.open.extract_if(|key, _| {
            let end_ns = key.begin_ns.saturating_add(WINDOW_NS + LATE_NS);
            now_ns >= end_ns
        });
        for (key, sums) in ended {
            self.number += 1;
            self.waiting.push_back(Window {
                run: self.run,
                number: self.number,
                source_node: key.source.0,
                sink_node: key.sink.0,
                begin_ns: key.begin_ns,
                end_ns: key.begin_ns.saturating_add(WINDOW_NS),
                reports: sums.reports,
                latency_min_ns: sums.min_ns,
                latency_max_ns: sums.max_ns,
                sink_clock: (key.clock)
                    .and_then(|clock| clock.source.name())
                    .map(str::to_owned),
                sink_clock_synchronised: key.clock.map(|clock| clock.synchronised),
                reports_beyond: self.beyond,
            });
        }
        while self.waiting.len() > MOST_WAITING {
            self.waiting.pop_front();
            self.lost += 1;
        }
    }

    /// Returns the messages that wait to be delivered.
    pub fn waiting(&self) -> &VecDeque<Window> {
        &self.waiting
    }

    /// Replaces the waiting messages by those that are left after a delivery. `refused` of the others are lost.
    pub fn keep(&mut self, waiting: VecDeque<Window>, refused: usize) {
        self.waiting = waiting;
        self.lost += refused as u64;
    }

    /// Returns how many messages are lost.
    pub fn lost(&self) -> u64 {
        self.lost
    }

    /// Returns how many reports were in no window.
    pub fn beyond(&self) -> u64 {
        self.beyond
    }
}
