//! Each report to one of the collectors, among those that are there.

use super::destination::Destination;
use super::rendezvous;
use crate::model::{NodeId, Observation};

#[derive(Debug)]
pub(super) struct Spread {
    /// Who asks collectors whether they are there.
    pub(super) node: NodeId,
    /// Places in the list of collectors, and what weights come from.
    candidates: Vec<(usize, u64)>,
}

impl Spread {
    pub(super) fn new(node: NodeId) -> Self {
        Self {
            node,
            candidates: Vec::new(),
        }
    }

    /// To be called when one comes, goes, falls silent or answers again. If all are silent, each still has its share:
    /// nothing is kept from a collector because only its answers are lost.
    pub(super) fn refresh(&mut self, collectors: &[Destination]) {
        let all_silent = collectors.iter().all(Destination::is_silent);
        let there = collectors
            .iter()
            .enumerate()
            .filter(|(_, collector)| all_silent || !collector.is_silent());
        self.candidates = there
            .map(|(place, collector)| (place, rendezvous::identity(collector.address)))
            .collect();
    }

    /// The place in the list of the collector that gets it.
    pub(super) fn choose(&self, observation: &Observation) -> Option<usize> {
        let identities = self.candidates.iter().map(|(_, identity)| *identity);
        let chosen = rendezvous::choose(rendezvous::key_of(observation), identities)?;
        self.candidates.get(chosen).map(|(place, _)| *place)
    }
}
