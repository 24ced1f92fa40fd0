//! What became of each piece of traffic, by the time at which it began.

use std::collections::BTreeSet;
use std::net::IpAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use super::Kind;

#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    Whole,
    /// No answer, or no connection any more, and why.
    Lost(String),
    /// Bytes came that nobody sent.
    Changed(String),
}

/// A question and its answer, a connection, or a time in which a stream stood still.
#[derive(Clone, Debug)]
pub struct Sample {
    pub kind: Kind,
    pub at: Duration,
    pub lasted: Duration,
    pub outcome: Outcome,
}

pub struct Log {
    began: Instant,
    stop: AtomicBool,
    samples: Mutex<Vec<Sample>>,
    /// When something arrived at a server, and who sent it.
    arrivals: Mutex<Vec<(Kind, Duration, IpAddr)>>,
    /// When the machine had no time for us, and for how long.
    lags: Mutex<Vec<(Duration, Duration)>>,
}

impl Default for Log {
    fn default() -> Self {
        Self {
            began: Instant::now(),
            stop: AtomicBool::new(false),
            samples: Mutex::default(),
            arrivals: Mutex::default(),
            lags: Mutex::default(),
        }
    }
}

impl Log {
    pub fn now(&self) -> Duration {
        self.began.elapsed()
    }

    pub(super) fn stop(&self) {
        self.stop.store(true, Ordering::Relaxed);
    }

    pub(super) fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    pub(super) fn add(&self, kind: Kind, at: Duration, outcome: Outcome) {
        let lasted = self.now() - at;
        self.samples.lock().unwrap().push(Sample {
            kind,
            at,
            lasted,
            outcome,
        });
    }

    pub(super) fn arrive(&self, kind: Kind, from: IpAddr) {
        let now = self.now();
        self.arrivals.lock().unwrap().push((kind, now, from));
    }

    /// All of a kind that began in this time.
    pub fn samples(&self, kind: Kind, from: Duration, to: Duration) -> Vec<Sample> {
        let samples = self.samples.lock().unwrap();
        let of_time = |sample: &&Sample| sample.kind == kind && (from..to).contains(&sample.at);
        samples.iter().filter(of_time).cloned().collect()
    }

    /// How much of a kind arrived at its server in this time, and the addresses that it came from.
    pub fn arrived(&self, kind: Kind, from: Duration, to: Duration) -> (usize, BTreeSet<IpAddr>) {
        let arrivals = self.arrivals.lock().unwrap();
        let mut addresses = BTreeSet::new();
        let of_time = arrivals
            .iter()
            .filter(|(of, at, _)| *of == kind && (from..to).contains(at));
        let count = of_time.map(|arrival| addresses.insert(arrival.2)).count();
        (count, addresses)
    }

    /// The longest time in which the machine had no time for us.
    pub fn longest_lag(&self, from: Duration, to: Duration) -> Duration {
        let lags = self.lags.lock().unwrap();
        let of_time = lags.iter().filter(|(at, _)| (from..to).contains(at));
        of_time.map(|(_, lasted)| *lasted).max().unwrap_or_default()
    }
}

/// Notes when a thread that wants to sleep for a moment slept longer.
pub(super) fn watch_the_machine(log: &Arc<Log>) -> JoinHandle<()> {
    const MOMENT: Duration = Duration::from_millis(10);
    let log = log.clone();
    std::thread::spawn(move || {
        while !log.is_stopped() {
            let at = log.now();
            std::thread::sleep(MOMENT);
            let late = log.now() - at - MOMENT;
            if late > MOMENT * 3 {
                log.lags.lock().unwrap().push((at, late));
            }
        }
    })
}
