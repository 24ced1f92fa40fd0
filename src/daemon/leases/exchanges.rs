//! The times of lease questions and answers, which wait to be reported as evidence about clocks.

use crate::lease::LeaseUpdate;
use crate::model::{LeaseExchange, NodeId};

/// The most exchanges that wait. They are not taken if there are no collectors.
const MOST: usize = 4096;

/// The exchanges since they were last taken, with the nodes of the sinks that answered.
#[derive(Default)]
pub struct Exchanges(Vec<(NodeId, LeaseExchange)>);

impl Exchanges {
    pub(super) fn note(&mut self, taken: &LeaseUpdate) {
        if let (Some(answer), Some(exchange)) = (taken.lease.answer, taken.exchange)
            && self.0.len() < MOST
        {
            self.0.push((answer.node, exchange));
        }
    }

    /// Returns the exchanges since the last call, oldest first.
    pub fn take(&mut self) -> Vec<(NodeId, LeaseExchange)> {
        std::mem::take(&mut self.0)
    }
}
