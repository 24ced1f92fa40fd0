//! All flows of a source that are in doubt, until the sink's word settles them.

use std::collections::HashMap;

use crate::model::{AddressPair, FlowAsked, FlowKey};

/// Flows by what their sink is asked about. A flow's name has its VLANs, which the sink is not asked about.
#[derive(Default)]
pub struct DoubtedFlows {
    flows: HashMap<(AddressPair, FlowAsked), Vec<FlowKey>>,
    count: usize,
}

impl DoubtedFlows {
    /// The most flows that wait for a word.
    pub const MOST: usize = 1024;

    /// What the sink is asked about the flow.
    pub fn question(flow: &FlowKey) -> (AddressPair, FlowAsked) {
        let pair = AddressPair {
            source: flow.src,
            dest: flow.dst,
        };
        let asked = FlowAsked {
            sport: flow.sport,
            dport: flow.dport,
            protocol: flow.protocol,
        };
        (pair, asked)
    }

    /// Forgets all if there is no room: those that are still doubted come again.
    pub fn make_room(&mut self) {
        if self.count == Self::MOST {
            *self = Self::default();
        }
    }

    /// Adds a flow, once, if there is room.
    pub fn add(&mut self, flow: FlowKey) {
        if self.count == Self::MOST {
            return;
        }
        let flows = self.flows.entry(Self::question(&flow)).or_default();
        if !flows.contains(&flow) {
            flows.push(flow);
            self.count += 1;
        }
    }

    /// Takes out the flow of a pair, once for each VLAN that it was seen in.
    pub fn settle(&mut self, pair: AddressPair, asked: FlowAsked) -> Vec<FlowKey> {
        let settled = self.flows.remove(&(pair, asked)).unwrap_or_default();
        self.count -= settled.len();
        settled
    }
}
