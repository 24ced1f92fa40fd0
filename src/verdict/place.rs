//! Places that could be at fault, each the reason why packets of some cells would go bad together.

use std::collections::BTreeMap;

use crate::model::{CauseKind, CauseSubject, CellId, HostInSlot, NodeId};

/// The label that says which hosts share a first switch.
const RACK: &str = "rack";

/// A place that could be at fault.
#[derive(Clone, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct FaultPlace {
    pub kind: CauseKind,
    pub subjects: Vec<CauseSubject>,
}

impl FaultPlace {
    fn new(kind: CauseKind, subjects: impl Into<Vec<CauseSubject>>) -> Self {
        let subjects = subjects.into();
        Self { kind, subjects }
    }

    /// By how much more likely others must be before this one is named, as a logarithm: some are rarer, some are many.
    pub fn penalty(&self) -> f64 {
        match self.kind {
            CauseKind::LabelIn | CauseKind::LabelOut => 1.0,
            CauseKind::Class => 2.0,
            // If no packets stay in a rack, both have the same ones.
            CauseKind::Everywhere => 2.0 + 0.5 * self.subjects.len() as f64,
            CauseKind::Between | CauseKind::ClassIn | CauseKind::ClassOut => 5.0,
            CauseKind::Pair => 6.0,
            _ => 0.0,
        }
    }

    /// The same for some of its flows alone: those of a pair are some flows of a host, too.
    pub fn some_penalty(&self) -> f64 {
        match self.kind {
            CauseKind::LabelIn | CauseKind::LabelOut | CauseKind::Everywhere => 3.0,
            _ => 8.0,
        }
    }

    /// It has packets of most hosts, and so imitates two narrow places at once.
    pub fn is_wide(&self) -> bool {
        matches!(self.kind, CauseKind::Class | CauseKind::Everywhere)
    }

    /// The node of a place at a host.
    pub fn node(&self) -> Option<NodeId> {
        self.subjects.iter().find_map(|subject| match subject {
            CauseSubject::Node(node) => Some(*node),
            _ => None,
        })
    }
}

/// The labels of hosts.
pub type Labels = BTreeMap<NodeId, BTreeMap<String, String>>;

/// The labels in a slot.
pub fn labels_of(hosts: &BTreeMap<NodeId, HostInSlot>) -> Labels {
    let labelled = hosts.iter().filter(|(_, host)| !host.labels.is_empty());
    labelled
        .map(|(node, host)| (*node, host.labels.clone()))
        .collect()
}

/// All places that could make the packets of a cell go bad.
pub fn places_of(cell: &CellId, labels: &Labels) -> Vec<FaultPlace> {
    let (source, sink) = (
        CauseSubject::Node(cell.source),
        CauseSubject::Node(cell.sink),
    );
    let mut places = vec![
        FaultPlace::new(CauseKind::HostIn, [sink.clone()]),
        FaultPlace::new(CauseKind::HostOut, [source.clone()]),
        FaultPlace::new(CauseKind::Pair, [source.clone(), sink.clone()]),
    ];
    if cell.class.is_some() {
        let class = CauseSubject::Class(cell.class.clone());
        places.extend([
            FaultPlace::new(CauseKind::Class, [class.clone()]),
            FaultPlace::new(CauseKind::ClassIn, [class.clone(), sink]),
            FaultPlace::new(CauseKind::ClassOut, [class, source]),
        ]);
    }
    places.push(FaultPlace::new(CauseKind::Everywhere, []));
    let ends = [cell.source, cell.sink].map(|node| labels.get(&node));
    let [Some(from), Some(to)] = ends else {
        return places;
    };
    if from
        .get(RACK)
        .is_some_and(|rack| to.get(RACK).is_some_and(|other| other != rack))
    {
        let racks = CauseSubject::Label {
            label: RACK.to_owned(),
            value: String::new(),
        };
        places.push(FaultPlace::new(CauseKind::Everywhere, [racks]));
    }
    for (label, value) in from {
        let Some(other) = to.get(label).filter(|other| *other != value) else {
            continue;
        };
        let of = |value: &String| CauseSubject::Label {
            label: label.clone(),
            value: value.clone(),
        };
        places.push(FaultPlace::new(CauseKind::LabelOut, [of(value)]));
        places.push(FaultPlace::new(CauseKind::LabelIn, [of(other)]));
        places.push(FaultPlace::new(CauseKind::Between, [of(value), of(other)]));
    }
    places
}
