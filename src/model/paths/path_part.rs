//! What a collector adds up of a part of a path for its engines: a link, a hop, a queue, or the whole. No host sends it.

use serde::{Deserialize, Serialize};

use crate::model::crossings::{Crossed, CrossedPlace, PathCrossed};
use crate::model::{Measured, NodeId, NodePort, Path, PathGrowth, Segment};

/// What is told of a part of a path.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum PathFact {
    /// How long packets took.
    Times,
    /// How many packets came to its begin, and did not come to its end.
    Losses,
}

/// A part of a path of which packets are reported.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct PathPart {
    /// When that was known, in whole seconds since the Unix epoch.
    pub time_s: u32,
    pub path: Path,
    pub place: CrossedPlace,
    pub fact: PathFact,
}

/// The name of a part.
#[derive(Clone, Debug, Eq, PartialEq, Deserialize, Serialize)]
pub struct PathPartRecord {
    pub path_hash: String,
    /// In the order of the way, from source to sink.
    pub nodes: Vec<NodeId>,
    /// `path` for the whole, `wire`, `guest`, `hop`, `queue`, `stack` or `read`
    pub part: String,
    pub from: NodePort,
    pub to: NodePort,
}

impl PathPart {
    /// The parts for which packets were added, with what was added.
    pub fn of_growth(growth: &PathGrowth, time_s: u32) -> Vec<(Self, Measured)> {
        // Hosts tell their flows, too.
        let is_passage = growth.path.is_passage();
        let times = growth.times.iter();
        let times = times.filter(|time| !is_passage && !time.latency.is_empty());
        let part = times.map(|time| {
            let part = Self {
                time_s,
                path: growth.path.clone(),
                place: CrossedPlace::Segment(time.place),
                fact: PathFact::Times,
            };
            let added = Measured {
                summaries: 1,
                packets: time.latency.samples(),
                latency: time.latency.clone(),
                corrected: time.corrected,
                ..Measured::default()
            };
            (part, added)
        });
        part.filter(|(part, _)| part.is_known()).collect()
    }

    /// The same of packets that came by the ends of parts.
    pub fn of_crossed(known: &PathCrossed, time_s: u32) -> Vec<(Self, Measured)> {
        let some = |crossed: &Crossed| crossed.packets > 0 || crossed.lost != 0;
        let places = known.places.iter().filter(|(_, crossed)| some(crossed));
        let part = places.map(|(place, crossed)| {
            let part = Self {
                time_s,
                path: known.path.clone(),
                place: *place,
                fact: PathFact::Losses,
            };
            let added = Measured {
                summaries: 1,
                packets: crossed.packets,
                lost: crossed.lost.max(0).unsigned_abs(),
                // Packets that were thought lost were on the way.
                recovered: crossed.lost.min(0).unsigned_abs(),
                ..Measured::default()
            };
            (part, added)
        });
        part.filter(|(part, _)| part.is_known()).collect()
    }

    fn is_known(&self) -> bool {
        self.place == CrossedPlace::Segment(0) || self.segment().is_some()
    }

    /// `None` for the whole path.
    pub fn segment(&self) -> Option<Segment> {
        match self.place {
            CrossedPlace::Segment(place) => {
                let at = usize::from(place).checked_sub(1)?;
                self.path.segments().get(at).copied()
            }
            CrossedPlace::Queue(behind) => self.path.queue_behind(behind.into()),
        }
    }

    pub fn record(&self) -> PathPartRecord {
        let segment = self.segment();
        PathPartRecord {
            path_hash: self.path.hash_text(),
            nodes: self.path.nodes().collect(),
            part: segment.map_or("path", |one| one.kind.name()).to_owned(),
            from: segment.map_or(self.path.source, |one| one.from),
            to: segment.map_or(self.path.sink, |one| one.to),
        }
    }

    /// The approximate memory of it.
    pub fn bytes(&self) -> usize {
        size_of::<Self>() + size_of_val(self.path.hops.as_slice())
    }
}
