//! Reports are added up as they are handed on, by subject and ten seconds: what a transaction adds to the roll-ups.

use std::collections::HashMap;
use std::sync::Arc;

use super::followed::{Flows, Followed, Place};
use super::ids::Name;
use super::keeper::Entry;
use super::period::Level;
use super::sums::Sums;
use crate::model::{NodeId, ReportFacts, SequenceEvidence};

/// What the histogram of a row has on the heap, at least.
const HEAP_BYTES: usize = 64;

/// What a subject's reports of the same ten seconds say. There may be several rows of the same.
#[derive(Debug)]
pub struct Row<Subject> {
    pub subject: Subject,
    pub begin_ns: u64,
    pub sums: Sums,
}

/// A flow, as its reports name it.
#[derive(Debug)]
pub struct OfFlow {
    pub name: Name,
    /// As of its last report.
    pub class: Option<Arc<str>>,
    pub first_ns: u64,
    pub last_ns: u64,
}

/// The first summary of a flow that is followed. What of it is new, the store has to tell.
#[derive(Debug)]
pub struct FirstTotal {
    pub name: Name,
    pub class: Option<Arc<str>>,
    pub begin_ns: u64,
    /// When the flow began at the sink.
    pub since_ns: u64,
    pub reordered: u64,
}

/// What there is to add.
#[derive(Debug, Default)]
pub struct Gathered {
    pub reports: u64,
    /// Of these, those of flows beyond the most that are followed.
    pub beyond_flows: u64,
    pub newest_ns: u64,
    pub flows: Vec<Row<OfFlow>>,
    pub pairs: Vec<Row<(NodeId, NodeId)>>,
    pub classes: Vec<Row<Arc<str>>>,
    pub all: Vec<Row<()>>,
    pub first_totals: Vec<FirstTotal>,
}

impl Gathered {
    /// The memory that it takes, about.
    pub fn bytes(&self) -> usize {
        self.flows.len() * (size_of::<Row<OfFlow>>() + HEAP_BYTES)
            + self.pairs.len() * (size_of::<Row<(NodeId, NodeId)>>() + HEAP_BYTES)
            + self.classes.len() * (size_of::<Row<Arc<str>>>() + HEAP_BYTES)
            + self.all.len() * (size_of::<Row<()>>() + HEAP_BYTES)
            + self.first_totals.len() * size_of::<FirstTotal>()
    }
}

/// Adds reports up.
#[derive(Debug)]
pub struct Gatherer {
    flows: Flows,
    gathered: Gathered,
    /// How often what was gathered was taken.
    transaction: u64,
    pairs: HashMap<(u64, NodeId, NodeId), usize>,
    classes: HashMap<(u64, Arc<str>), usize>,
    all: HashMap<u64, usize>,
}

impl Gatherer {
    pub fn new(most_flows: usize) -> Self {
        Self {
            flows: Flows::new(most_flows),
            gathered: Gathered::default(),
            transaction: 0,
            pairs: HashMap::new(),
            classes: HashMap::new(),
            all: HashMap::new(),
        }
    }

    pub fn gathered(&self) -> &Gathered {
        &self.gathered
    }

    pub fn take(&mut self) -> Gathered {
        self.transaction += 1;
        self.pairs.clear();
        self.classes.clear();
        self.all.clear();
        std::mem::take(&mut self.gathered)
    }

    /// Adds a report, and marks it if its flow is not followed.
    pub fn add(&mut self, entry: &mut Entry) {
        let observed = &entry.observed;
        let begin_ns = Level::TenSeconds.floor(observed.time_ns);
        let to = &mut self.gathered;
        to.reports += 1;
        to.newest_ns = to.newest_ns.max(observed.time_ns);
        let name = observed
            .flow
            .map(|flow| (flow, observed.source, observed.sink));
        let followed =
            name.and_then(|name| Some((name, self.flows.follow(&name, observed.time_ns)?)));
        entry.beyond = followed.is_none() && name.is_some();
        to.beyond_flows += u64::from(entry.beyond);
        let one = match followed {
            None => One::of_nobody(observed),
            Some((name, flow)) => {
                let one = One::of(flow, observed);
                if let (
                    SequenceEvidence::Total {
                        since_ns,
                        reordered,
                    },
                    Some(None),
                ) = (observed.shown, one.reordered)
                {
                    to.first_totals.push(FirstTotal {
                        name,
                        class: entry.class.clone(),
                        begin_ns,
                        since_ns,
                        reordered,
                    });
                }
                let place = Place {
                    transaction: self.transaction,
                    begin_ns,
                    row: to.flows.len(),
                };
                let place = flow.row.filter(|row| row.same(&place)).unwrap_or(place);
                flow.row = Some(place);
                if place.row == to.flows.len() {
                    let subject = OfFlow {
                        name,
                        class: None,
                        first_ns: observed.time_ns,
                        last_ns: observed.time_ns,
                    };
                    to.flows.push(Row::new(subject, begin_ns));
                }
                if let Some(row) = to.flows.get_mut(place.row) {
                    row.subject.also(entry);
                    one.add(&mut row.sums, observed);
                }
                one
            }
        };
        if let Some((source, sink)) = observed.pair() {
            let row = *self
                .pairs
                .entry((begin_ns, source, sink))
                .or_insert_with(|| {
                    to.pairs.push(Row::new((source, sink), begin_ns));
                    to.pairs.len() - 1
                });
            one.add_to(&mut to.pairs, row, observed);
        }
        if let Some(class) = &entry.class {
            let row = *self
                .classes
                .entry((begin_ns, class.clone()))
                .or_insert_with(|| {
                    to.classes.push(Row::new(class.clone(), begin_ns));
                    to.classes.len() - 1
                });
            one.add_to(&mut to.classes, row, observed);
        }
        let row = *self.all.entry(begin_ns).or_insert_with(|| {
            to.all.push(Row::new((), begin_ns));
            to.all.len() - 1
        });
        one.add_to(&mut to.all, row, observed);
    }
}

impl<Subject> Row<Subject> {
    fn new(subject: Subject, begin_ns: u64) -> Self {
        Self {
            subject,
            begin_ns,
            sums: Sums::default(),
        }
    }
}

impl OfFlow {
    fn also(&mut self, entry: &Entry) {
        let time_ns = entry.observed.time_ns;
        self.first_ns = self.first_ns.min(time_ns);
        self.last_ns = self.last_ns.max(time_ns);
        if self.class != entry.class {
            self.class.clone_from(&entry.class);
        }
    }
}

/// What a report tells beyond those before it.
#[derive(Debug, Clone, Copy)]
struct One {
    packets: u64,
    /// Of a summary; `Some(None)` if it is the first one.
    reordered: Option<Option<u64>>,
}

impl One {
    fn of(flow: &mut Followed, observed: &ReportFacts) -> Self {
        let time_ns = observed.time_ns;
        let (mut packets, mut more) = (0, None);
        match observed.shown {
            SequenceEvidence::Packet => packets = 1,
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

    /// Without a flow.
    fn of_nobody(observed: &ReportFacts) -> Self {
        let packets = match observed.shown {
            SequenceEvidence::Packet | SequenceEvidence::Number(_) => 1,
            SequenceEvidence::Missing { count, .. } => count.into(),
            SequenceEvidence::Total { .. } => 0,
        };
        Self {
            packets,
            reordered: None,
        }
    }

    fn add(self, sums: &mut Sums, observed: &ReportFacts) {
        sums.report(self.packets, observed.lost.into(), observed.latency_ns);
        if let Some(more) = self.reordered {
            sums.summary(more.unwrap_or(0));
        }
    }

    fn add_to<Subject>(self, rows: &mut [Row<Subject>], row: usize, observed: &ReportFacts) {
        if let Some(row) = rows.get_mut(row) {
            self.add(&mut row.sums, observed);
        }
    }
}
