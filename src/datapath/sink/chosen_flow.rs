//! A flow that is chosen to be summarised.

use std::cmp::Ordering;

use crate::model::SummaryEvent;

/// A flow with its rank: losses, then bytes since the last pass.
#[derive(Debug)]
pub(super) struct ChosenFlow {
    pub(super) rank: (u64, u64),
    pub(super) summary: Box<SummaryEvent>,
}

impl PartialEq for ChosenFlow {
    fn eq(&self, other: &Self) -> bool {
        self.rank == other.rank
    }
}

impl Eq for ChosenFlow {}

impl PartialOrd for ChosenFlow {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for ChosenFlow {
    fn cmp(&self, other: &Self) -> Ordering {
        self.rank.cmp(&other.rank)
    }
}
