//! Traffic sums by node and by class that never fall, although the flows they are summed over come and go.

use std::collections::{BTreeMap, HashMap};

use crate::model::flow_growth::{FlowBase, FlowGrowth};
use crate::model::{
    Classes, FlowCounts, FlowKey, GroupTotals, LATENCY_SLOTS, NodeId, SubjectTotals,
    SummarySubject, power_of,
};

/// Most nodes and classes with sums of their own; all others share one.
pub const MOST_NODES: usize = 1024;
pub const MOST_CLASSES: usize = 256;
/// Most groups (a class from a source node) with totals of their own. Flows of further classes count in the group
/// without class of their source node; those of further nodes are in no group, and are counted as left out.
pub const MOST_GROUPS: usize = 16_384;

/// Sums over flows.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Traffic {
    pub packets: u64,
    pub bytes: u64,
    pub lost: u64,
    pub recovered: u64,
    pub reordered: u64,
    pub duplicates: u64,
    /// Negative latencies, which show that the clocks disagree, add nothing.
    pub latency_sum_ns: u64,
    pub histogram: [u64; LATENCY_SLOTS],
}

/// The traffic that a flow had since it was looked at before.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct TallyNews {
    pub lost: u64,
    pub bytes: u64,
}

/// A flow as the last reading found it.
struct FlowReading {
    counts: FlowBase,
    class: Option<u16>,
    /// The edition of the classes that its class was looked up in.
    edition: u32,
    reading: u32,
}

/// The sums, and the counts that they already include.
#[derive(Default)]
pub struct Tally {
    classes: Classes,
    edition: u32,
    /// Boxed, because up to half of a large table is empty.
    flows: HashMap<FlowKey, Box<FlowReading>>,
    nodes: BTreeMap<NodeId, Traffic>,
    other_nodes: Option<Traffic>,
    by_class: Vec<(String, Traffic)>,
    other_classes: Option<Traffic>,
    groups: BTreeMap<(NodeId, Option<usize>), GroupTotals>,
    /// Flows that began later are counted from their first packet on.
    since_ns: Option<u64>,
    begun: bool,
    reading: u32,
    seen: usize,
}

impl Traffic {
    fn add(&mut self, more: &FlowGrowth) {
        self.packets += more.packets;
        self.bytes += more.bytes;
        self.lost += more.faults.lost;
        self.recovered += more.faults.recovered;
        self.reordered += more.faults.reordered;
        self.duplicates += more.faults.duplicates;
        self.latency_sum_ns += u64::try_from(more.latency_sum_ns).unwrap_or(0);
        for (bound_ns, count) in &more.slots {
            self.histogram[power_of(*bound_ns)] += u64::from(*count);
        }
    }
}

impl Tally {
    /// A tally that counts all packets of flows that begin from now on.
    pub fn since(now_ns: u64) -> Self {
        Self {
            since_ns: Some(now_ns),
            ..Self::default()
        }
    }

    /// Sets new classes; earlier counts stay with the classes they were counted under.
    pub fn set_classes(&mut self, classes: Classes) {
        self.edition = self.edition.wrapping_add(1);
        for name in classes.names() {
            self.class_number(name);
        }
        self.classes = classes;
    }

    fn class_number(&mut self, name: &str) -> usize {
        let known = self.by_class.iter().position(|(known, _)| known == name);
        known.unwrap_or_else(|| {
            if self.by_class.len() < MOST_CLASSES {
                self.by_class.push((name.to_owned(), Traffic::default()));
                return self.by_class.len() - 1;
            }
            MOST_CLASSES
        })
    }

    /// Begins a reading of all flows. The first reading only records what is already there.
    pub fn begin(&mut self) {
        self.reading = self.reading.wrapping_add(1);
        self.seen = 0;
    }

    /// Takes one flow of a reading.
    pub fn look(&mut self, flow: FlowKey, now: FlowCounts) {
        self.seen += 1;
        self.count(flow, now);
    }

    /// Counts from now on, because each flow was taken once.
    pub fn begin_counting(&mut self) {
        self.begun = true;
    }

    /// Takes one flow between readings.
    pub fn look_between(&mut self, flow: FlowKey, now: FlowCounts) -> TallyNews {
        self.count(flow, now)
    }

    /// True once all flows were taken: from then on, traffic is counted.
    pub fn has_begun(&self) -> bool {
        self.begun
    }

    /// Returns the totals of groups that changed since they were last returned, or shortly before. A group may have two:
    /// see [`GroupTotals`].
    pub fn groups_to_report(&mut self) -> Vec<(NodeId, SummarySubject, SubjectTotals)> {
        let names = &self.by_class;
        let reported = self.groups.iter_mut().flat_map(|((node, class), group)| {
            let class = class.and_then(|number| names.get(number));
            let class = class.map(|(name, _)| name.clone());
            let subject = SummarySubject::Group { class };
            let totals = group.news();
            totals.map(move |totals| (*node, subject.clone(), totals))
        });
        reported.collect()
    }

    /// Removes a flow, with its last counts. Must not be called during a reading.
    pub fn end(&mut self, flow: FlowKey, last: FlowCounts) {
        self.count(flow, last);
        self.flows.remove(&flow);
    }

    /// Ends the reading.
    pub fn complete(&mut self) {
        self.begun = true;
        // Forgets flows that another process removed.
        if self.flows.len() > self.seen {
            let reading = self.reading;
            self.flows.retain(|_, seen| seen.reading == reading);
        }
    }

    fn class_now(&mut self, flow: &FlowKey) -> Option<u16> {
        let edition = self.edition;
        let known = self.flows.get(flow);
        if let Some(seen) = known.filter(|seen| seen.edition == edition) {
            return seen.class;
        }
        let name = self.classes.class_of(flow).map(str::to_owned)?;
        u16::try_from(self.class_number(&name)).ok()
    }

    fn count(&mut self, flow: FlowKey, now: FlowCounts) -> TallyNews {
        let (edition, reading) = (self.edition, self.reading);
        let class = self.class_now(&flow);
        let seen = self.flows.entry(flow).or_insert_with(|| {
            Box::new(FlowReading {
                counts: FlowBase::default(),
                class,
                edition,
                reading,
            })
        });
        (seen.class, seen.edition, seen.reading) = (class, edition, reading);
        // A flow with the same key, but another than in the last reading, counts from 0.
        let before = &seen.counts;
        let is_other = now.packets < before.packets || now.first_ns != before.first_ns;
        if is_other {
            seen.counts = FlowBase::default();
        }
        let more = now.since(&seen.counts);
        let (node, first_ns) = (now.node, now.first_ns);
        seen.counts = now.into_base();
        let is_new = self.since_ns.is_some_and(|since| first_ns >= since);
        if !self.begun && !is_new {
            return TallyNews::default();
        }
        self.node(node).add(&more);
        let class = class.map(usize::from);
        if let Some(number) = class {
            let sums = match self.by_class.get_mut(number) {
                Some((_, sums)) => sums,
                None => self.other_classes.get_or_insert_default(),
            };
            sums.add(&more);
        }
        let began_ns = if is_new { first_ns } else { more.last_ns };
        if let Some(group) = self.group(node, class) {
            group.add(&more, began_ns);
        }
        TallyNews {
            lost: more.faults.lost,
            bytes: more.bytes,
        }
    }

    fn group(&mut self, node: NodeId, class: Option<usize>) -> Option<&mut GroupTotals> {
        let class = class.filter(|number| *number < MOST_CLASSES);
        let full = self.groups.len() >= MOST_GROUPS;
        let key = match full && !self.groups.contains_key(&(node, class)) {
            true => (node, None),
            false => (node, class),
        };
        if full && !self.groups.contains_key(&key) {
            return None;
        }
        Some(self.groups.entry(key).or_default())
    }

    fn node(&mut self, node: NodeId) -> &mut Traffic {
        if self.nodes.len() >= MOST_NODES && !self.nodes.contains_key(&node) {
            return self.other_nodes.get_or_insert_default();
        }
        self.nodes.entry(node).or_default()
    }

    /// Sums by source node; nodes beyond the limit share the sum without a node.
    pub fn nodes(&self) -> impl Iterator<Item = (Option<NodeId>, &Traffic)> {
        let nodes = self.nodes.iter().map(|(node, sums)| (Some(*node), sums));
        nodes.chain(self.other_nodes.iter().map(|sums| (None, sums)))
    }

    /// Sums by class; classes beyond the limit share the sum without a class.
    pub fn classes(&self) -> impl Iterator<Item = (Option<&str>, &Traffic)> {
        let classes = self
            .by_class
            .iter()
            .map(|(name, sums)| (Some(name.as_str()), sums));
        classes.chain(self.other_classes.iter().map(|sums| (None, sums)))
    }
}
