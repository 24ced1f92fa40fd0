//! What is new in a flow's totals since the ones before: elements count what came since, summaries since a flow began.

use std::collections::HashMap;

use crate::model::{FlowKey, FlowSummary, NodeId};

/// So many flows are remembered at least; twice as many at most.
const FLOWS: usize = 32 << 10;

type Key = (FlowKey, NodeId, NodeId);

/// A flow's totals as they were told last.
#[derive(Clone, Copy, Debug)]
struct Told {
    first_ns: u64,
    packets: u64,
    octets: u64,
}

/// Totals of flows that were told lately.
#[derive(Debug, Default)]
pub(super) struct Traffic {
    /// When the first report came. What flows had before it, an engine of an earlier run may have been told.
    began_ns: Option<u64>,
    recent: HashMap<Key, Told>,
    /// Those before, which are forgotten when the recent ones are too many.
    older: HashMap<Key, Told>,
}

impl Traffic {
    pub(super) fn begin(&mut self, time_ns: u64) {
        self.began_ns.get_or_insert(time_ns);
    }

    /// Packets and octets that nobody told before.
    pub(super) fn news(&mut self, summary: &FlowSummary) -> (u64, u64) {
        let totals = &summary.totals;
        let key = (summary.flow, summary.source_node, summary.sink_node);
        let before = self.recent.get(&key).or_else(|| self.older.get(&key));
        let before = before.copied();
        let mut now = Told {
            first_ns: totals.first_ns,
            packets: totals.packets,
            octets: totals.bytes,
        };
        let news = match before {
            // Of a flow that had the name before, come late.
            Some(before) if now.first_ns < before.first_ns => return (0, 0),
            Some(before) if now.first_ns == before.first_ns => {
                now.packets = now.packets.max(before.packets);
                now.octets = now.octets.max(before.octets);
                (now.packets - before.packets, now.octets - before.octets)
            }
            None if self.began_ns.is_none_or(|began| now.first_ns < began) => (0, 0),
            _ => (now.packets, now.octets),
        };
        if self.recent.len() >= FLOWS && !self.recent.contains_key(&key) {
            self.older = std::mem::take(&mut self.recent);
        }
        self.recent.insert(key, now);
        news
    }
}
