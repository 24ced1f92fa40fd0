//! The losses of flows that their summaries reported.
//!
//! A loss is declared some time after the flow's last packet, and is reported although the flow's traffic may not pay
//! for it.

use std::collections::HashMap;

use crate::datapath::abi::{flow_key, sink_flow};
use crate::model::{FlowKey, SummaryEvent, SummarySubject};

/// The losses that were reported last, and the time when the flow began.
#[derive(Debug, Default)]
pub(in crate::datapath) struct ReportedLosses(HashMap<FlowKey, (u64, u64)>);

impl ReportedLosses {
    /// The losses of a flow that no summary has reported.
    pub(in crate::datapath) fn untold(&self, key: &flow_key, flow: &sink_flow) -> u64 {
        match self.0.get(&key.into()) {
            Some((epoch_ns, lost)) if *epoch_ns == flow.epoch_ns() => flow.lost.abs_diff(*lost),
            _ => flow.lost,
        }
    }

    /// Notes what this summary reports.
    pub(in crate::datapath) fn note(&mut self, summary: &SummaryEvent) {
        let totals = &summary.totals;
        if let SummarySubject::Flow { flow, .. } = &summary.subject
            && totals.lost > 0
        {
            self.0.insert(*flow, (totals.epoch_ns, totals.lost));
        }
    }

    pub(in crate::datapath) fn forget(&mut self, flow: &FlowKey) {
        self.0.remove(flow);
    }
}
