//! The memory of flows' totals: IPFIX elements count packets since the last record, but summaries since a flow began.

use std::collections::HashMap;

use crate::model::{Body, FlowKey, NodeId, SummarySubject};

/// At least this many flows are remembered, and at most twice as many.
const FLOWS: usize = 32 << 10;

type TotalsKey = (FlowKey, NodeId, NodeId);

/// A flow's totals in the last record.
#[derive(Clone, Copy, Debug)]
struct KnownTotals {
    first_ns: u64,
    packets: u64,
    octets: u64,
}

/// The totals of flows that were exported recently.
#[derive(Debug, Default)]
pub(super) struct TotalsMemory {
    /// The time of the first report. The packets of flows before it may have been exported by an earlier run.
    began_ns: Option<u64>,
    recent: HashMap<TotalsKey, KnownTotals>,
    /// Older flows, which are forgotten when there are too many recent ones.
    older: HashMap<TotalsKey, KnownTotals>,
}

impl TotalsMemory {
    pub(super) fn begin(&mut self, time_ns: u64) {
        self.began_ns.get_or_insert(time_ns);
    }

    /// Returns the packets and octets that were not exported before, if the report is a flow's summary. Each part of a
    /// summary has all totals, and only the first one has news.
    pub(super) fn news(&mut self, body: &Body) -> Option<(u64, u64)> {
        match body {
            Body::Summary(summary) => {
                let SummarySubject::Flow { flow, .. } = summary.subject else {
                    return None;
                };
                let key = (flow, summary.source_node, summary.sink_node);
                let totals = &summary.totals;
                let now = KnownTotals {
                    first_ns: totals.epoch_ns,
                    packets: totals.packets,
                    octets: totals.bytes,
                };
                Some(self.exceed(key, now))
            }
            Body::Packet(_)
            | Body::DropSummary(_)
            | Body::Latency(_)
            | Body::HostDrop(_)
            | Body::FlowPassage(_)
            | Body::Queue(_)
            | Body::Connection(_)
            | Body::PathPart(_)
            | Body::HostDropSum(_) => None,
        }
    }

    /// Returns by how many packets and octets these totals exceed those of the last record, and remembers them.
    fn exceed(&mut self, key: TotalsKey, mut now: KnownTotals) -> (u64, u64) {
        let before = self
            .recent
            .get(&key)
            .or_else(|| self.older.get(&key))
            .copied();
        let news = match before {
            // The summary is late, and belongs to an earlier flow with the same key.
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
