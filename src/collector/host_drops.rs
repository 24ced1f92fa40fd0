//! What hosts dropped: the packets that each report adds to those that earlier ones told of, and their sums.

use std::collections::{BTreeMap, HashMap};

use super::last_counts::{EpochCounts, LastCounts, MOST, Sender};
use super::run_start::begins_in_run;
use crate::model::drop_totals_report::{DropSubject, DropSum, DropTotalsReport};
use crate::model::{Arrival, DropCount, DropId, HostDropReport, HostDropRow, NodeId};

const NS_PER_S: u64 = 1_000_000_000;

/// A host that is known for this time told all its sums at least once, even if a datagram was lost.
const ALL_TOLD_NS: u64 = 130 * NS_PER_S;

impl EpochCounts for DropCount {
    fn progress(self) -> u64 {
        self.packets
    }

    fn since(self, before: Self) -> Self {
        Self::since(self, before)
    }

    fn is_zero(self) -> bool {
        Self::is_zero(self)
    }
}

/// What hosts dropped since the collector started.
#[derive(Debug, Default)]
pub struct HostDrops {
    started_ns: u64,
    flows: LastCounts<DropId, DropCount>,
    sums: LastCounts<DropSubject, DropCount>,
    /// The epoch of each host, and when it was first told.
    senders: HashMap<Sender, (u64, u64)>,
    rows: BTreeMap<(NodeId, DropSubject), DropCount>,
    /// Counts for which there was no row.
    without_row: u64,
}

impl HostDrops {
    /// Leaves packets out that were dropped before this time.
    pub fn start_at(&mut self, started_ns: u64) {
        self.started_ns = started_ns;
    }

    fn begins_here(&self, epoch_ns: u64) -> bool {
        begins_in_run(epoch_ns, self.started_ns)
    }

    /// Returns the packets that a report about a flow adds. `None`: it is late, or only a base, or there is no room.
    pub fn flow(&mut self, report: &HostDropReport, arrival: Arrival) -> Option<DropCount> {
        let drop = &report.drop;
        let key = ((arrival.exporter.ip(), report.node), drop.id());
        let epoch = (drop.first_ns, self.begins_here(drop.first_ns));
        self.flows.more(key, epoch, drop.count, arrival.received_ns)
    }

    /// Returns what the sums of a host add.
    pub fn sums(&mut self, report: &DropTotalsReport, arrival: Arrival) -> Vec<DropSum> {
        let sender = (arrival.exporter.ip(), report.node);
        let now_ns = arrival.received_ns;
        let epoch = (
            report.epoch_ns,
            self.is_whole(sender, report.epoch_ns, now_ns),
        );
        let mut added = Vec::new();
        for sum in &report.sums {
            let key = (sender, sum.subject.clone());
            let Some(count) = self.sums.more(key, epoch, sum.count, now_ns) else {
                continue;
            };
            let subject = sum.subject.clone();
            let row = (report.node, shown(&subject));
            if self.rows.len() < MOST || self.rows.contains_key(&row) {
                self.rows.entry(row).or_default().add(count);
            } else {
                self.without_row += 1;
            }
            added.push(DropSum { subject, count });
        }
        added
    }

    /// True if sums that the host did not tell before are packets that this collector has to add: they began after it, or
    /// the host has told all others.
    fn is_whole(&mut self, sender: Sender, epoch_ns: u64, now_ns: u64) -> bool {
        if self.begins_here(epoch_ns) {
            return true;
        }
        if self.senders.len() >= MOST && !self.senders.contains_key(&sender) {
            return false;
        }
        let known = self.senders.entry(sender).or_insert((epoch_ns, now_ns));
        if known.0 != epoch_ns {
            *known = (epoch_ns, now_ns);
        }
        now_ns.saturating_sub(known.1) > ALL_TOLD_NS
    }

    /// The counts that hosts reported, and for which there was no room.
    pub fn untracked(&self) -> u64 {
        self.flows.refused + self.sums.refused + self.without_row
    }

    /// All sums by node, reason and position, whatever node tagged the packets.
    pub fn by_reason(&self) -> Vec<HostDropRow> {
        let mut sums: BTreeMap<(NodeId, DropSubject), DropCount> = BTreeMap::new();
        for ((node, subject), count) in &self.rows {
            let subject = DropSubject {
                tagged_by: None,
                ..subject.clone()
            };
            sums.entry((*node, subject)).or_default().add(*count);
        }
        let row = |((node, subject), count)| HostDropRow {
            node,
            subject,
            count,
        };
        sums.into_iter().map(row).collect()
    }

    /// The sums with most packets, most first.
    pub fn rows(&self, most: usize) -> Vec<HostDropRow> {
        let mut rows: Vec<_> = self.rows.iter().collect();
        rows.sort_by_key(|(_, count)| std::cmp::Reverse(count.packets));
        rows.truncate(most);
        let row = |((node, subject), count): (&(NodeId, DropSubject), &DropCount)| HostDropRow {
            node: *node,
            subject: subject.clone(),
            count: *count,
        };
        rows.into_iter().map(row).collect()
    }
}

/// A subject as it is shown: places, interfaces and namespaces are added up, so that there are few rows.
fn shown(subject: &DropSubject) -> DropSubject {
    DropSubject {
        place: subject.place.clone().filter(|_| subject.without_packet),
        interface: None,
        netns: 0,
        ..subject.clone()
    }
}
