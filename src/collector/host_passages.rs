//! The times of all packets through hosts since the collector started, and the names of the interfaces.

use std::collections::{BTreeMap, HashMap};

use crate::model::{
    FlowPassageReport, InterfacePassage, LatencyHistogram, NodeId, PassageId, PassageTimes,
    PathGrowth, QUEUED_PLACE, SENT_PLACE, SOCKETS_NAME, SOCKETS_PORT,
};

/// The most pairs of interfaces that are followed, and the most names. Later ones count nowhere.
const MOST: usize = 16_384;
const MOST_NAMES: usize = 65_536;

/// What hosts tell of packets that they forward.
#[derive(Debug, Default)]
pub struct HostPassages {
    /// Times to the driver, and to the queue.
    passages: BTreeMap<PassageId, [LatencyHistogram; 2]>,
    /// By host and the low 16 bits of the index.
    names: HashMap<(NodeId, u16), String>,
}

impl HostPassages {
    /// Learns how a host names the interfaces of a flow.
    pub fn learn(&mut self, report: &FlowPassageReport) {
        let hop = &report.hop;
        for (ifindex, name) in [
            (hop.in_ifindex, &hop.in_interface),
            (hop.out_ifindex, &hop.out_interface),
        ] {
            let key = (report.node, ifindex as u16);
            let Some(name) = name.as_ref().filter(|_| ifindex != 0) else {
                continue;
            };
            let has_room = self.names.len() < MOST_NAMES || self.names.contains_key(&key);
            if has_room && self.names.get(&key) != Some(name) {
                self.names.insert(key, name.clone());
            }
        }
    }

    /// Adds the packets that a report adds.
    pub fn add(&mut self, id: PassageId, growth: &PathGrowth) {
        if self.passages.len() >= MOST && !self.passages.contains_key(&id) {
            return;
        }
        let [sent, queued] = self.passages.entry(id).or_default();
        for time in &growth.times {
            match time.place {
                SENT_PLACE => sent.merge(&time.latency),
                QUEUED_PLACE => queued.merge(&time.latency),
                _ => {}
            }
        }
    }

    /// Returns at most `most` pairs of interfaces, those with most packets first.
    pub fn rows(&self, most: usize) -> Vec<(NodeId, InterfacePassage)> {
        let mut rows: Vec<_> = self.passages.iter().collect();
        let packets =
            |times: &[LatencyHistogram; 2]| times.iter().map(LatencyHistogram::samples).max();
        rows.sort_by_key(|(_, times)| std::cmp::Reverse(packets(times)));
        rows.truncate(most);
        let name = |id: &PassageId, port| match port {
            SOCKETS_PORT => Some(SOCKETS_NAME.to_owned()),
            _ => self.names.get(&(id.node, port)).cloned(),
        };
        let row = |(id, [sent, queued]): (&PassageId, &[LatencyHistogram; 2])| {
            let passage = InterfacePassage {
                in_ifindex: id.in_port.into(),
                out_ifindex: id.out_port.into(),
                in_interface: name(id, id.in_port),
                out_interface: name(id, id.out_port),
                start: id.start,
                sent: PassageTimes(sent.clone()),
                queued: PassageTimes(queued.clone()),
            };
            (id.node, passage)
        };
        rows.into_iter().map(row).collect()
    }
}
