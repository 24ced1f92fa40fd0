//! The gatherer: it adds reports up by subject and ten seconds, for a transaction to add to the roll-ups.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use super::batch::QueuedReport;
use super::gathered_path::GatheredPath;
use super::gathered_paths::GatheredPaths;
use super::ids::FlowName;
use super::path_period::PathPeriod;
use super::period::RollUpLevel;
use super::sums::Sums;
use super::tracked_flows::{RowPlace, TrackedFlow, TrackedFlows};
use crate::model::crossings::PathCrossed;
use crate::model::{
    Measured, NodeId, PassedPath, PathGrowth, ReportFacts, SeededHash, SequenceEvidence,
    TimeColumns,
};

/// The least memory of a row's histogram.
const HEAP_BYTES: usize = 64;

/// The sums of a subject's reports in the same ten seconds. There may be several rows with the same subject and time.
#[derive(Debug)]
pub struct GatheredRow<Subject> {
    pub subject: Subject,
    pub begin_ns: u64,
    pub sums: Sums,
}

/// The flow of a row, as its reports name it.
#[derive(Debug)]
pub struct FlowSubject {
    pub name: FlowName,
    /// The class of its last report.
    pub class: Option<Arc<str>>,
    pub first_ns: u64,
    pub last_ns: u64,
}

/// The first summary of a tracked flow. Only the store can tell which part of it is new.
#[derive(Debug)]
pub struct FirstTotal {
    pub name: FlowName,
    pub class: Option<Arc<str>>,
    pub begin_ns: u64,
    /// The time when the flow began at the sink.
    pub since_ns: u64,
    pub reordered: u64,
}

/// The sums to add to the roll-ups.
#[derive(Debug, Default)]
pub struct Gathered {
    pub reports: u64,
    /// Those of the reports whose flow is not tracked because there is no room.
    pub beyond_flows: u64,
    pub newest_ns: u64,
    pub flows: Vec<GatheredRow<FlowSubject>>,
    pub pairs: Vec<GatheredRow<(NodeId, NodeId)>>,
    pub classes: Vec<GatheredRow<Arc<str>>>,
    pub all: Vec<GatheredRow<()>>,
    pub first_totals: Vec<FirstTotal>,
    pub paths: Vec<GatheredPath>,
    /// Paths of which reported times are still to be counted.
    path_periods: Vec<PathPeriod>,
    /// How many reports told of a path for which there was no room.
    pub paths_dropped: u64,
    /// The memory of the rows' histograms of packets, at most.
    measured_bytes: usize,
}

/// The most rows in which the packets of a summary count.
const MEASURED_ROWS: usize = 3;

impl Gathered {
    /// Counts the reported times of paths. It takes some time, and is for a thread that holds no lock.
    pub fn count_paths(&mut self) {
        let mut columns = TimeColumns::default();
        for period in std::mem::take(&mut self.path_periods) {
            self.paths.append(&mut period.into_rows(&mut columns));
        }
    }

    /// True if a report is not newer than this.
    pub fn is_any_before(&self, time_ns: u64) -> bool {
        self.all.iter().any(|row| row.begin_ns <= time_ns)
    }

    /// Returns the approximate memory of the sums.
    pub fn bytes(&self) -> usize {
        self.flows.len() * (size_of::<GatheredRow<FlowSubject>>() + HEAP_BYTES)
            + self.pairs.len() * (size_of::<GatheredRow<(NodeId, NodeId)>>() + HEAP_BYTES)
            + self.classes.len() * (size_of::<GatheredRow<Arc<str>>>() + HEAP_BYTES)
            + self.all.len() * (size_of::<GatheredRow<()>>() + HEAP_BYTES)
            + self.first_totals.len() * size_of::<FirstTotal>()
            + self.measured_bytes
    }

    /// Adds a report to its flow, in a row that begins at this place if the flow has none there. Returns its row, and what
    /// it adds.
    fn add_to_flow(
        &mut self,
        entry: &QueuedReport,
        (name, flow): (&FlowName, &mut TrackedFlow),
        next: RowPlace,
    ) -> (usize, Increment) {
        let observed = &entry.observed;
        let one = Increment::of(flow, observed);
        if let (
            SequenceEvidence::Total {
                since_ns,
                reordered,
            },
            Some(None),
        ) = (observed.shown, one.reordered)
        {
            self.first_totals.push(FirstTotal {
                name: *name,
                class: entry.class.clone(),
                begin_ns: next.begin_ns,
                since_ns,
                reordered,
            });
        }
        let place = flow.row.filter(|row| row.same(&next)).unwrap_or(next);
        flow.row = Some(place);
        if place.row == self.flows.len() {
            let subject = FlowSubject {
                name: *name,
                class: None,
                first_ns: observed.time_ns,
                last_ns: observed.time_ns,
            };
            self.flows.push(GatheredRow::new(subject, next.begin_ns));
        }
        if let Some(row) = self.flows.get_mut(place.row) {
            row.subject.also(entry);
            one.add(&mut row.sums, observed, entry.measured.as_deref());
        }
        (place.row, one)
    }
}

/// The sums of the present transaction, and the flows that are tracked.
#[derive(Debug)]
pub struct Gatherer {
    flows: TrackedFlows,
    gathered: Gathered,
    /// How many times the sums have been taken.
    transaction: u64,
    pairs: HashMap<(u64, NodeId, NodeId), usize, SeededHash>,
    classes: HashMap<(u64, Arc<str>), usize, SeededHash>,
    all: HashMap<u64, usize, SeededHash>,
    paths: GatheredPaths,
}

impl Gatherer {
    pub fn new(most_flows: usize, queue_bytes: usize) -> Self {
        Self {
            flows: TrackedFlows::new(most_flows),
            gathered: Gathered::default(),
            transaction: 0,
            pairs: HashMap::default(),
            classes: HashMap::default(),
            all: HashMap::default(),
            paths: GatheredPaths::new(queue_bytes),
        }
    }

    /// Takes the sums that are to be written now, whose paths are still to be counted. With `all`, no paths go on waiting.
    pub fn take(&mut self, all: bool) -> Gathered {
        self.transaction += 1;
        self.pairs.clear();
        self.classes.clear();
        self.all.clear();
        (self.gathered.path_periods, self.gathered.paths_dropped) = self.paths.take(all);
        std::mem::take(&mut self.gathered)
    }

    /// Returns the time until paths that wait are to be written. `None`: none of them waits.
    pub fn paths_due(&self) -> Option<Duration> {
        self.paths.due()
    }

    /// Adds a report, and notes its rows in it.
    pub fn add(&mut self, entry: &mut QueuedReport, path: Option<PassedPath<'_>>) {
        let observed = &entry.observed;
        let begin_ns = RollUpLevel::TenSeconds.floor(observed.time_ns);
        self.gathered.reports += 1;
        self.gathered.newest_ns = self.gathered.newest_ns.max(observed.time_ns);
        let name = observed
            .flow
            .map(|flow| (flow, observed.source, observed.sink));
        let mut followed =
            name.and_then(|name| Some((name, self.flows.follow(&name, observed.time_ns)?)));
        let is_beyond = followed.is_none() && name.is_some();
        self.gathered.beyond_flows += u64::from(is_beyond);
        let one = match &mut followed {
            None => Increment::without_flow(observed),
            Some((name, flow)) => {
                let place = RowPlace {
                    transaction: self.transaction,
                    begin_ns,
                    row: self.gathered.flows.len(),
                };
                let (row, one) = self.gathered.add_to_flow(entry, (name, flow), place);
                entry.rows.flow = Some(row);
                one
            }
        };
        if let Some(passed) = path {
            let flow = followed.as_mut();
            let flow = flow.map(|(name, flow)| (&*name, &mut flow.path_row));
            self.paths.add(begin_ns, flow, passed);
        }
        self.add_to_groups(begin_ns, entry, one);
    }

    /// Adds a report to its pair, its class and all of them.
    fn add_to_groups(&mut self, begin_ns: u64, entry: &mut QueuedReport, one: Increment) {
        let observed = &entry.observed;
        let to = &mut self.gathered;
        let measured_bytes = entry.measured.as_ref().map_or(0, |sums| sums.bytes());
        to.measured_bytes += MEASURED_ROWS * measured_bytes;
        // The packets of a flow's summary are those of its group's summary again.
        let measured = entry.measured.as_deref();
        let measured = measured.filter(|_| observed.flow.is_none());
        if let Some((source, sink)) = observed.pair() {
            let row = *self
                .pairs
                .entry((begin_ns, source, sink))
                .or_insert_with(|| {
                    to.pairs.push(GatheredRow::new((source, sink), begin_ns));
                    to.pairs.len() - 1
                });
            entry.rows.pair = Some(row);
            one.add_to(&mut to.pairs, row, observed, measured);
        }
        if let Some(class) = &entry.class {
            let row = *self
                .classes
                .entry((begin_ns, class.clone()))
                .or_insert_with(|| {
                    to.classes.push(GatheredRow::new(class.clone(), begin_ns));
                    to.classes.len() - 1
                });
            entry.rows.class = Some(row);
            one.add_to(&mut to.classes, row, observed, measured);
        }
        let row = *self.all.entry(begin_ns).or_insert_with(|| {
            to.all.push(GatheredRow::new((), begin_ns));
            to.all.len() - 1
        });
        entry.rows.all = row;
        one.add_to(&mut to.all, row, observed, measured);
    }

    /// Adds the times of all packets of a path.
    pub fn add_path(&mut self, growth: &PathGrowth, time_ns: u64) {
        let begin_ns = RollUpLevel::TenSeconds.floor(time_ns);
        self.gathered.newest_ns = self.gathered.newest_ns.max(time_ns);
        self.paths.grow(begin_ns, growth);
    }

    /// Adds the packets of a path that came by the ends of segments.
    pub fn cross_path(&mut self, crossed: &PathCrossed, time_ns: u64) {
        let begin_ns = RollUpLevel::TenSeconds.floor(time_ns);
        self.gathered.newest_ns = self.gathered.newest_ns.max(time_ns);
        self.paths.cross(begin_ns, crossed);
    }

    /// Returns the approximate memory of the sums.
    pub fn bytes(&self) -> usize {
        self.gathered.bytes() + self.paths.bytes()
    }
}

impl<Subject> GatheredRow<Subject> {
    fn new(subject: Subject, begin_ns: u64) -> Self {
        Self {
            subject,
            begin_ns,
            sums: Sums::default(),
        }
    }
}

impl FlowSubject {
    fn also(&mut self, entry: &QueuedReport) {
        let time_ns = entry.observed.time_ns;
        self.first_ns = self.first_ns.min(time_ns);
        self.last_ns = self.last_ns.max(time_ns);
        if self.class != entry.class {
            self.class.clone_from(&entry.class);
        }
    }
}

/// The packets that a report adds to those that earlier reports told of.
#[derive(Debug, Clone, Copy)]
struct Increment {
    packets: u64,
    /// For a summary, the packets out of order; `Some(None)` if it is the flow's first one.
    reordered: Option<Option<u64>>,
}

impl Increment {
    fn of(flow: &mut TrackedFlow, observed: &ReportFacts) -> Self {
        let time_ns = observed.time_ns;
        let (mut packets, mut more) = (0, None);
        match observed.shown {
            SequenceEvidence::Packet => packets = 1,
            SequenceEvidence::Nothing => {}
            SequenceEvidence::Number(number) => packets = flow.numbers.packet(number, time_ns),
            SequenceEvidence::Missing { last, count } => {
                packets = flow.numbers.missing(last, count, time_ns)
            }
            SequenceEvidence::Total {
                since_ns,
                reordered,
            } => more = Some(flow.totals.more(since_ns, reordered)),
        }
        Self {
            packets,
            reordered: more,
        }
    }

    /// Returns the increment of a report whose flow is not tracked.
    fn without_flow(observed: &ReportFacts) -> Self {
        let packets = match observed.shown {
            SequenceEvidence::Packet | SequenceEvidence::Number(_) => 1,
            SequenceEvidence::Missing { count, .. } => count.into(),
            SequenceEvidence::Nothing | SequenceEvidence::Total { .. } => 0,
        };
        Self {
            packets,
            reordered: None,
        }
    }

    fn add(self, sums: &mut Sums, observed: &ReportFacts, measured: Option<&Measured>) {
        sums.report(self.packets, observed.lost.into(), observed.latency_ns);
        if let Some(more) = self.reordered {
            sums.summary(more.unwrap_or(0));
        }
        if let Some(measured) = measured {
            sums.measured.merge(measured);
        }
    }

    fn add_to<Subject>(
        self,
        rows: &mut [GatheredRow<Subject>],
        row: usize,
        observed: &ReportFacts,
        measured: Option<&Measured>,
    ) {
        if let Some(row) = rows.get_mut(row) {
            self.add(&mut row.sums, observed, measured);
        }
    }
}
