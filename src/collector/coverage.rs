//! Coverage of pairs and classes: packets that sinks measured, those that they did not, and those that sources did not tag.

use std::collections::{BTreeMap, HashMap};
use std::net::IpAddr;

use super::run_start::begins_in_run;
use super::tagged_balance::TaggedBalance;
use crate::model::coverage::{
    CoverageGrowth, CoverageReport, CoverageRow, MissedReason, NO_SINK_TOLD, PairEnd, TAGGED, named,
};
use crate::model::{Arrival, Body, Measured, NodeId, Report, SummarySubject, Volume};

/// The most pairs of nodes, with their classes, that are kept, and the most that hosts told of.
const MOST: usize = 65_536;

/// When there is no room, counts of a host that were not reported for this time make some.
const QUIET_NS: u64 = 600_000_000_000;

/// All counts are looked at for such ones at most once in this time.
const LOOK_NS: u64 = 60_000_000_000;

const NS_PER_S: u64 = 1_000_000_000;

/// A host that is known for this time told all its counts at least once, even if a datagram was lost.
const ALL_TOLD_NS: u64 = 130 * NS_PER_S;

type RowKey = (NodeId, Option<NodeId>, Option<Box<str>>);

#[derive(Debug, Default)]
struct Row {
    measured: Option<Volume>,
    tagged: Option<Volume>,
    missed: BTreeMap<MissedReason, Volume>,
    /// Tagged packets of which no sink reported. A growth is negative when a sink tells of them later.
    untold: i64,
}

/// What packets are added to.
#[derive(Clone, Copy)]
enum Sum {
    Measured,
    Missed(MissedReason),
}

/// What a host tells of a pair and class. Its roles count apart.
type ReportedKey = (HostKey, PairEnd, Option<Box<str>>);

/// The host, and whether its sink reports.
type HostKey = (IpAddr, NodeId, bool);

/// The totals that a host reported last.
#[derive(Debug)]
struct LastReported {
    epoch_ns: u64,
    by_reason: BTreeMap<MissedReason, Volume>,
    seen_ns: u64,
}

/// The coverage since the collector started.
#[derive(Debug, Default)]
pub struct Coverage {
    started_ns: u64,
    rows: BTreeMap<RowKey, Row>,
    /// The same since they were last taken.
    fresh: BTreeMap<RowKey, Row>,
    told: HashMap<ReportedKey, LastReported>,
    /// When counts that were quiet were last looked for.
    looked_ns: u64,
    balances: HashMap<(NodeId, NodeId), TaggedBalance>,
    /// The epoch of each role of a host, and when it was first told.
    hosts: HashMap<HostKey, (u64, u64)>,
}

impl Coverage {
    /// Leaves packets out that were counted before this time.
    pub fn start_at(&mut self, started_ns: u64) {
        self.started_ns = started_ns;
    }

    /// Adds the packets that a summary of a class adds. Those that were lost were measured as such.
    pub fn measured(&mut self, report: &Report, measured: &Measured, now_ns: u64) {
        let Body::Summary(summary) = &report.observation.body else {
            return;
        };
        let SummarySubject::Group { class } = &summary.subject else {
            return;
        };
        let lost = measured.lost.saturating_sub(measured.recovered);
        let key = (
            summary.source_node,
            Some(summary.sink_node),
            class.as_deref().map(Box::from),
        );
        let packets = measured.packets + lost;
        // The bytes of packets that were lost are not known.
        let volume = Volume::of(packets, measured.bytes);
        self.add(&key, Sum::Measured, volume);
        let pair = (summary.source_node, summary.sink_node);
        if let Some(balance) = self.balance(pair, now_ns) {
            let untold = balance.accounted(packets, summary.period_ns, now_ns);
            self.add_unreported(pair, untold);
        }
    }

    /// Adds what a host reported.
    pub fn missed(&mut self, report: &CoverageReport, arrival: Arrival) {
        let now_ns = arrival.received_ns;
        for one in &report.missed {
            let is_sink = matches!(one.other, PairEnd::FromSource(_));
            let host = (arrival.exporter.ip(), report.node, is_sink);
            let is_whole = self.is_whole(host, report.epoch_ns, now_ns);
            let class: Option<Box<str>> = one.class.as_deref().map(Box::from);
            let (source, sink) = one.other.pair(report.node);
            let key = (source, sink, class.clone());
            let told = (host, one.other, class);
            let Some(before) = self.before(&told, (report.epoch_ns, is_whole), now_ns) else {
                continue;
            };
            let mut by_reason = one.by_reason.clone();
            // A datagram may be late.
            for (reason, volume) in before.iter().flatten() {
                let now = by_reason.entry(*reason).or_default();
                *now = now.later(*volume);
            }
            let last = LastReported {
                epoch_ns: report.epoch_ns,
                by_reason,
                seen_ns: now_ns,
            };
            self.told.insert(told, last);
            let Some(before) = before else {
                continue;
            };
            for (reason, volume) in &one.by_reason {
                let more = volume.since(before.get(reason).copied().unwrap_or_default());
                if !more.is_nothing() {
                    self.add(&key, Sum::Missed(*reason), more);
                }
                if let Some(sink) = sink {
                    let times = (report.period_ns(), now_ns);
                    self.weigh((source, sink), *reason, more.packets, times);
                }
            }
        }
    }

    /// Compares what the ends of a pair told of its tagged packets. Without growth, too: time passes.
    fn weigh(
        &mut self,
        pair: (NodeId, NodeId),
        reason: MissedReason,
        packets: u64,
        (period_ns, now_ns): (u64, u64),
    ) {
        if !matches!(reason, MissedReason::TAGGED | MissedReason::Sink(_)) {
            return;
        }
        let Some(balance) = self.balance(pair, now_ns) else {
            return;
        };
        let untold = match reason {
            MissedReason::Source(_) => balance.tagged(packets, now_ns),
            MissedReason::Sink(_) => balance.accounted(packets, period_ns, now_ns),
        };
        self.add_unreported(pair, untold);
    }

    /// True if counts that the host did not tell before are packets that this collector has to add: they began after
    /// it, or the host has told all others.
    fn is_whole(&mut self, host: HostKey, epoch_ns: u64, now_ns: u64) -> bool {
        if begins_in_run(epoch_ns, self.started_ns) {
            return true;
        }
        if self.hosts.len() >= MOST && !self.hosts.contains_key(&host) {
            return false;
        }
        let known = self.hosts.entry(host).or_insert((epoch_ns, now_ns));
        if known.0 != epoch_ns {
            *known = (epoch_ns, now_ns);
        }
        now_ns.saturating_sub(known.1) > ALL_TOLD_NS
    }

    /// The totals that the host reported before. `Some(None)`: the new ones are only a base, because packets since
    /// their epoch may have been counted by an earlier run. `None`: they are late, or there is no room for them.
    fn before(
        &mut self,
        told: &ReportedKey,
        (epoch_ns, is_whole): (u64, bool),
        now_ns: u64,
    ) -> Option<Option<BTreeMap<MissedReason, Volume>>> {
        match self.told.get(told) {
            Some(last) if epoch_ns < last.epoch_ns => None,
            Some(last) if epoch_ns == last.epoch_ns => Some(Some(last.by_reason.clone())),
            Some(_) => Some(Some(BTreeMap::new())),
            None => {
                let is_due = now_ns.saturating_sub(self.looked_ns) >= LOOK_NS;
                if self.told.len() >= MOST && is_due {
                    self.looked_ns = now_ns;
                    let is_quiet =
                        |last: &LastReported| last.seen_ns.saturating_add(QUIET_NS) < now_ns;
                    self.told.retain(|_, last| !is_quiet(last));
                }
                (self.told.len() < MOST).then(|| is_whole.then(BTreeMap::new))
            }
        }
    }

    /// Adds packets to a sum, unless there is no room for another pair and class.
    fn add(&mut self, key: &RowKey, sum: Sum, more: Volume) {
        if self.rows.len() >= MOST && !self.rows.contains_key(key) {
            return;
        }
        for rows in [&mut self.rows, &mut self.fresh] {
            let row = rows.entry(key.clone()).or_default();
            match sum {
                Sum::Measured => row.measured.get_or_insert_default().add(more),
                Sum::Missed(MissedReason::TAGGED) => {
                    row.tagged.get_or_insert_default().add(more);
                }
                Sum::Missed(reason) => row.missed.entry(reason).or_default().add(more),
            }
        }
    }

    /// Returns `None` if there is no room for another pair.
    fn balance(&mut self, pair: (NodeId, NodeId), now_ns: u64) -> Option<&mut TaggedBalance> {
        let has_room = self.balances.len() < MOST || self.balances.contains_key(&pair);
        let started_ns = self.started_ns;
        has_room.then(|| {
            let begin = || TaggedBalance::new(started_ns, now_ns);
            self.balances.entry(pair).or_insert_with(begin)
        })
    }

    /// Adds packets of a pair of which no sink told to the classes that lack most: a sink's rules may not name those of
    /// the source.
    fn add_unreported(&mut self, (source, sink): (NodeId, NodeId), mut untold: i64) {
        while untold != 0 {
            let first = (source, Some(sink), None);
            let rows = self.rows.range(first..);
            let rows = rows.take_while(|((from, to, _), _)| (*from, *to) == (source, Some(sink)));
            let lacking = rows.map(|(key, row)| (row.room_for(untold), key));
            let Some((room, key)) = lacking.max_by_key(|(room, _)| *room) else {
                return;
            };
            // What no class lacks was lacking before the collector started.
            let packets = match room {
                ..=0 => untold,
                room => untold.signum() * untold.abs().min(room),
            };
            let key = key.clone();
            for rows in [&mut self.rows, &mut self.fresh] {
                rows.entry(key.clone()).or_default().untold += packets;
            }
            untold -= packets;
        }
    }

    /// Takes what was added since this was last called: at most `most` sums, the largest ones.
    pub fn take_growth(&mut self, most: usize) -> Vec<CoverageGrowth> {
        let mut grown = Vec::new();
        for ((source, sink, class), row) in std::mem::take(&mut self.fresh) {
            let measured = row.measured.map(|volume| (None, volume));
            let tagged = row.tagged.map(|volume| (Some(TAGGED), volume));
            let missed = row.missed.into_iter();
            let missed = missed.map(|(reason, volume)| (Some(reason.name()), volume));
            let sums = measured.into_iter().chain(tagged).chain(missed);
            let signed = |count| i64::try_from(count).unwrap_or(i64::MAX);
            let sums = sums
                .map(|(reason, volume)| (reason, signed(volume.packets), volume.bytes.map(signed)));
            let untold = (row.untold != 0).then_some((Some(NO_SINK_TOLD), row.untold, None));
            let class = class.map(String::from);
            let sums = sums.chain(untold);
            grown.extend(sums.map(|(reason, packets, bytes)| CoverageGrowth {
                source,
                sink,
                class: class.clone(),
                reason,
                packets,
                bytes,
            }));
        }
        grown.sort_by_key(|one| std::cmp::Reverse(one.packets));
        grown.truncate(most);
        grown
    }

    /// The rows with most packets that were not measured, then by nodes and class.
    pub fn rows(&self, most: usize) -> Vec<CoverageRow> {
        let mut rows: Vec<_> = self.rows.iter().collect();
        rows.sort_by_key(|(_, row)| std::cmp::Reverse(row.missing()));
        rows.truncate(most);
        let row = |((source, sink, class), row): (&RowKey, &Row)| {
            let mut missed = named(&row.missed);
            if row.untold() > 0 {
                missed.insert(NO_SINK_TOLD, Volume::of_packets(row.untold()));
            }
            let missed = || missed.iter().map(|(why, of)| ((*why).to_owned(), *of));
            CoverageRow {
                source: *source,
                sink: *sink,
                class: class.as_deref().map(str::to_owned),
                measured: row.measured.map(|volume| volume.packets),
                tagged: row.tagged.map(|volume| volume.packets),
                missed: missed().map(|(why, of)| (why, of.packets)).collect(),
                measured_bytes: row.measured.and_then(|volume| volume.bytes),
                tagged_bytes: row.tagged.and_then(|volume| volume.bytes),
                missed_bytes: missed().map(|(why, of)| (why, of.bytes)).collect(),
            }
        };
        rows.into_iter().map(row).collect()
    }
}

impl Row {
    fn untold(&self) -> u64 {
        u64::try_from(self.untold).unwrap_or(0)
    }

    /// Packets that were not measured.
    fn missing(&self) -> u64 {
        let counted = self.missed.values().map(|volume| volume.packets);
        counted.sum::<u64>() + self.untold()
    }

    /// How many packets of which no sink reported are missing here, or are too many if `untold` is negative.
    fn room_for(&self, untold: i64) -> i64 {
        if untold < 0 {
            return self.untold;
        }
        let [tagged, measured] =
            [self.tagged, self.measured].map(|of| of.map_or(0, |of| of.packets).cast_signed());
        tagged.saturating_sub(measured).saturating_sub(self.untold)
    }
}
