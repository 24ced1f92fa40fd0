//! The flows whose losses were judged since a pass over the flow table.

use std::collections::HashSet;

use crate::model::FlowKey;

/// The most flows whose judged losses are remembered. Beyond that, the next pass looks at all flows.
const MOST_JUDGED: usize = 65_536;

/// Flows whose losses were judged.
#[derive(Debug, Default)]
pub(in crate::datapath) struct JudgedFlows {
    flows: HashSet<FlowKey>,
    /// There were more.
    overflowed: bool,
}

impl JudgedFlows {
    pub(in crate::datapath) fn note(&mut self, flow: FlowKey) {
        if self.flows.len() < MOST_JUDGED {
            self.flows.insert(flow);
        } else {
            self.overflowed |= !self.flows.contains(&flow);
        }
    }

    pub(in crate::datapath) fn add(&mut self, others: Self) {
        self.overflowed |= others.overflowed;
        others.flows.into_iter().for_each(|flow| self.note(flow));
    }

    pub(in crate::datapath) fn remove(&mut self, flow: &FlowKey) {
        self.flows.remove(flow);
    }

    /// True if some were not remembered.
    pub(in crate::datapath) fn are_too_many(&self) -> bool {
        self.overflowed
    }

    pub(in crate::datapath) fn into_flows(self) -> Vec<FlowKey> {
        self.flows.into_iter().collect()
    }
}
