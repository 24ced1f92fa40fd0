//! The same incidents by their reports: hosts send what they counted, a collector receives it, and its slots are judged.
//!
//! `HOSTINT_LONG=1 cargo test --release --test verdict by_wire -- --nocapture` prints the table of all of them.

use hostint::collector::{ReportHub, ReportNews, ReportTaker};
use hostint::model::{Classes, NetworkVerdict};
use hostint::verdict::VerdictEngine;
use hostint_testing::invented::{ClockReports, InventedDatagram, InventedReports};
use std::io;

use super::incidents::{chosen, is_long, judge};
use super::referee::{Judge, Slot};

/// Without HOSTINT_LONG, this number of cases is judged, of networks with at most this number of hosts.
const FEW: usize = 3;
const FEW_HOSTS: usize = 12;

/// Takes nothing.
struct Nobody;

impl ReportTaker for Nobody {
    fn accept(&mut self, _news: ReportNews<'_>) -> io::Result<()> {
        Ok(())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A collector whose slots are judged, and hosts that send to it.
struct ByWire {
    reports: InventedReports,
    clocks: ClockReports,
    /// What is sent in a later slot than the one that it is about.
    waiting: Vec<InventedDatagram>,
    hub: ReportHub<Nobody>,
    engine: VerdictEngine,
    said: NetworkVerdict,
}

impl Default for ByWire {
    fn default() -> Self {
        Self {
            reports: InventedReports::default(),
            clocks: ClockReports::default(),
            waiting: Vec::new(),
            hub: ReportHub::new(Nobody, None, Classes::default()),
            engine: VerdictEngine::default(),
            said: NetworkVerdict::default(),
        }
    }
}

impl ByWire {
    fn end_slot(&mut self, now_ns: u64) {
        let exporters = self.hub.ledgers.exporters.health(usize::MAX, now_ns);
        let slot = self.hub.ledgers.take_slot(now_ns, &exporters).0;
        self.said = self.engine.slot(&slot);
    }
}

impl Judge for ByWire {
    /// What is said when a slot is over: of what arrived until then.
    fn judge(&mut self, (slot, clocks): Slot) -> NetworkVerdict {
        self.waiting.extend(self.clocks.slot(&slot, clocks));
        self.waiting.extend(self.reports.slot(&slot));
        self.waiting.sort_by_key(|one| one.arrival.received_ns);
        let now = self
            .waiting
            .partition_point(|one| one.arrival.received_ns < slot.end_ns);
        for one in self.waiting.drain(..now) {
            self.hub.ledgers.slot.is_due(one.arrival.received_ns);
            self.hub.datagram(&one.bytes, one.arrival).unwrap();
        }
        self.end_slot(slot.end_ns);
        self.said.clone()
    }
}

#[test]
fn the_cause_is_named_by_reports() {
    let mut lines = chosen();
    if !is_long() && std::env::var_os("HOSTINT_CASES").is_none() {
        lines.retain(|line| line.hosts <= FEW_HOSTS);
        lines.truncate(FEW);
    }
    let [right, ..] = judge::<ByWire>(&lines, 100);
    assert!(right >= 95.0, "right: {right} %");
}
