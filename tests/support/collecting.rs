//! A real collector that is sent synthetic reports, and the sums that an engine behind it must then hold.

use std::net::UdpSocket;
use std::process::Command;
use std::time::{Duration, Instant};

use hostint::model::*;
use serde_json::Value;

use crate::collector::Collector;
use crate::places;
use crate::synthetic::Synthetic;

const LATE: Duration = Duration::from_secs(120);

/// The most reports that wait at the collector's socket, which has room for them.
const UNDER_WAY: u64 = 2000;

const NODES: u32 = 8;
const FLOWS: usize = 200;

/// A collector, and what it is sent.
pub struct Collecting {
    pub collector: Collector,
    socket: UdpSocket,
    synthetic: Synthetic,
    pub sent: Sent,
}

/// What was sent, as sums that every engine can compute too.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Sent {
    pub reports: u64,
    pub latency_reports: u64,
    /// Over the latency reports.
    pub latency_ns: i64,
    pub drop_summaries: u64,
    /// Over the drop-summaries.
    pub lost: u64,
}

impl Collecting {
    pub fn start(args: &[&str]) -> Self {
        Self::start_with(Command::new(places::hostint()), args)
    }

    /// By a command that only lacks arguments, in another namespace say; [`Self::send`] is for its caller's namespace.
    pub fn start_with(command: Command, args: &[&str]) -> Self {
        Self {
            collector: Collector::start_with(command, &[&["--json"], args].concat()),
            socket: UdpSocket::bind("127.0.0.1:0").unwrap(),
            synthetic: Synthetic::new(1, NODES, FLOWS),
            sent: Sent::default(),
        }
    }

    /// Sends a number of reports, not faster than the collector reads them: none is lost before the engines.
    pub fn send(&mut self, reports: u64) {
        let already = self.status()["reports"].as_u64().unwrap() - self.sent.reports;
        assert_eq!(already, 0, "only these reports come");
        for n in 1..=reports {
            let now = std::time::SystemTime::now();
            let now = now.duration_since(std::time::UNIX_EPOCH).unwrap();
            let flow = (self.sent.reports % FLOWS as u64) as usize;
            let mut sample = self.synthetic.report(flow, now.as_nanos() as u64);
            self.sent.add(&sample.report);
            sample.report.sequence = self.sent.reports as u32;
            self.socket
                .send_to(&sample.datagram(), self.collector.reports)
                .unwrap();
            if n % UNDER_WAY == 0 {
                self.await_reading();
            }
        }
        self.await_status("it reads what is sent", |status| {
            status["reports"] == self.sent.reports
        });
    }

    /// Waits until nothing is left in the socket.
    fn await_reading(&self) {
        let sockets = format!("/proc/{}/net/udp", self.collector.daemon.child.id());
        let local = format!(":{:04X} ", self.collector.reports.port());
        let waits = |line: &str| line.contains(&local) && !line.contains(":00000000 00:");
        let end = Instant::now() + LATE;
        while std::fs::read_to_string(&sockets)
            .unwrap()
            .lines()
            .any(waits)
        {
            assert!(Instant::now() < end, "it does not read");
        }
    }

    /// As of a second ago at most.
    pub fn status(&self) -> Value {
        self.collector.status()
    }

    /// Counts of an engine.
    pub fn engine(&self, name: &str) -> Value {
        let status = self.status();
        let mut engines = status["engines"].as_array().unwrap().iter();
        let engine = engines.find(|engine| engine["engine"] == name);
        engine
            .unwrap_or_else(|| panic!("no {name}: {status}"))
            .clone()
    }

    pub fn await_status(&self, what: &str, holds: impl Fn(&Value) -> bool) {
        let end = Instant::now() + LATE;
        loop {
            let status = self.status();
            if holds(&status) {
                return;
            }
            assert!(Instant::now() < end, "never happened: {what}: {status}");
            std::thread::sleep(Duration::from_millis(2));
        }
    }

    /// Waits until an engine has acknowledged all that was sent.
    pub fn await_delivery(&self, name: &str) {
        self.await_status("all is delivered", |status| {
            let mut engines = status["engines"].as_array().unwrap().iter();
            engines.any(|one| one["engine"] == name && one["delivered"] == self.sent.reports)
        });
    }
}

impl Sent {
    fn add(&mut self, report: &Report) {
        self.reports += 1;
        match &report.observation.body {
            Body::Latency(latency) => {
                self.latency_reports += 1;
                self.latency_ns += latency.hops.latency_ns().unwrap();
            }
            Body::DropSummary(summary) => {
                self.drop_summaries += 1;
                self.lost += u64::from(summary.count);
            }
            body => panic!("{body:?}"),
        }
    }
}
