//! The spreading of reports: each goes to one of the collectors that are present.

use super::destination::Destination;
use super::rendezvous;
use crate::model::{NodeId, Observation};

#[derive(Debug)]
pub(super) struct Spread {
    /// The node that probes the collectors.
    pub(super) node: NodeId,
    /// Each candidate's place in the list of collectors, and its identity, from which its weights are computed.
    candidates: Vec<(usize, u64)>,
}

impl Spread {
    pub(super) fn new(node: NodeId) -> Self {
        Self {
            node,
            candidates: Vec::new(),
        }
    }

    /// Updates the candidates. The caller calls this when a collector is added or removed, falls silent or answers
    /// again. If all are silent, all are candidates: perhaps only their answers are lost.
    pub(super) fn refresh(&mut self, collectors: &[Destination]) {
        let all_silent = collectors.iter().all(Destination::is_silent);
        self.candidates = collectors
            .iter()
            .enumerate()
            .filter(|(_, collector)| all_silent || !collector.is_silent())
            .map(|(place, collector)| (place, rendezvous::identity(collector.address)))
            .collect();
    }

    /// Returns the place in the list of the collector that gets the observation.
    pub(super) fn choose(&self, observation: &Observation) -> Option<usize> {
        let identities = self.candidates.iter().map(|(_, identity)| *identity);
        let chosen = rendezvous::choose(rendezvous::key_of(observation), identities)?;
        self.candidates.get(chosen).map(|(place, _)| *place)
    }
}
