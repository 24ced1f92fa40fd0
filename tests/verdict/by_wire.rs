//! The same incidents by their reports: hosts send what they counted, a collector receives it, and its slots are judged.
//!
//! `HOSTINT_LONG=1 cargo test --release --test verdict by_wire -- --nocapture` prints the table of all of them.

use hostint::collector::ReportHub;
use hostint::model::*;
use hostint::verdict::VerdictEngine;
use hostint_testing::invented::{
    CLASS_PORTS, ClockReports, InventedDatagram, InventedReports, SLOT_NS,
};
use hostint_testing::nobody::Nobody;

use super::incidents::{chosen, is_long, judge};
use super::referee::{Judge, Slot};

/// Without HOSTINT_LONG, this number of cases is judged, of networks with at most this number of hosts.
const FEW: usize = 2;
const FEW_HOSTS: usize = 12;

/// The classes of the hosts' rules.
fn classes() -> Classes {
    let rules = CLASS_PORTS.map(|(class, port)| WatchRule {
        class: class.map(str::to_owned),
        to_ports: vec![PortRange::new(port, port).unwrap()],
        ..WatchRule::default()
    });
    Classes::new(&rules)
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
            hub: ReportHub::new(Nobody, None, classes()),
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

/// The packets of each cell's flows that a collector counts, which knows no classes, of these cells of a pair.
fn of_flows(classes: &[Option<&str>]) -> Vec<u64> {
    let host = HostInSlot {
        reports: true,
        ..HostInSlot::default()
    };
    let counts = CellCounts { sent: 100, lost: 0 };
    let cells = classes.iter().map(|class| {
        let id = CellId {
            source: NodeId(1),
            sink: NodeId(2),
            class: class.map(Box::from),
        };
        let mut growth = CellGrowth {
            counts,
            latency: LatencyHistogram::of_counts(
                LatencyResolution::Fine,
                (1_000, 1_000),
                100_000,
                [(1_000, 100)],
            ),
            ..CellGrowth::default()
        };
        growth.parts[0] = counts;
        (id, growth)
    });
    let slot = VerdictSlot {
        end_ns: 1_767_571_200_000_000_000 + SLOT_NS,
        cells: cells.collect(),
        hosts: [(NodeId(1), host.clone()), (NodeId(2), host)].into(),
        ..VerdictSlot::default()
    };
    let mut hub = ReportHub::new(Nobody, None, Classes::default());
    let begin_ns = slot.end_ns;
    hub.ledgers.slot.is_due(begin_ns);
    for one in InventedReports::default().slot(&slot) {
        hub.datagram(&one.bytes, one.arrival).unwrap();
    }
    let (taken, _) = hub.ledgers.take_slot(begin_ns + SLOT_NS, &[]);
    let of_parts = |growth: &CellGrowth| growth.parts.iter().map(|part| part.sent).sum();
    taken.cells.values().map(of_parts).collect()
}

#[test]
fn flows_of_an_unknown_class_are_those_of_the_only_class() {
    assert_eq!(of_flows(&[Some("storage")]), [100]);
    assert_eq!(
        of_flows(&[None, Some("storage")]),
        [200, 0],
        "those without one"
    );
    assert_eq!(
        of_flows(&[Some("storage"), Some("voice")]),
        [0, 0],
        "nobody knows whose"
    );
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
