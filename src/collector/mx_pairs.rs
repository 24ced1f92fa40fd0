//! The packets in INT-MX of each pair: how many reports lack a hop, and which hop told nothing.

use std::cmp::Reverse;
use std::collections::HashMap;

use crate::model::{LatencyReport, MxMissingHop, MxPairRow, NodeId};

/// The most pairs that are kept, and the most hops of a pair that are told apart. Those that come later count in the sums
/// of all alone.
const MOST_PAIRS: usize = 4_096;
const MOST_HOPS: usize = 32;

#[derive(Debug, Default)]
struct CountedPair {
    joined: u64,
    incomplete: u64,
    missing: Vec<MxMissingHop>,
}

/// The pairs.
#[derive(Debug, Default)]
pub(super) struct MxPairs(HashMap<(NodeId, NodeId), CountedPair>);

impl MxPairs {
    pub(super) fn joined(&mut self, report: &LatencyReport) {
        if let Some(pair) = self.of(report) {
            pair.joined += 1;
        }
    }

    /// Counts a report that lacks these hops.
    pub(super) fn incomplete(&mut self, report: &LatencyReport, missing: &[NodeId]) {
        let Some(pair) = self.of(report) else { return };
        pair.incomplete += 1;
        for node in missing {
            let has_room = pair.missing.len() < MOST_HOPS;
            match pair.missing.iter_mut().find(|hop| hop.node == *node) {
                Some(hop) => hop.reports += 1,
                None if has_room => pair.missing.push(MxMissingHop {
                    node: *node,
                    reports: 1,
                }),
                None => {}
            }
        }
    }

    fn of(&mut self, report: &LatencyReport) -> Option<&mut CountedPair> {
        let key = (report.hops.source().node, report.hops.sink().node);
        if self.0.len() >= MOST_PAIRS && !self.0.contains_key(&key) {
            return None;
        }
        Some(self.0.entry(key).or_default())
    }

    /// Returns at most `most` pairs, those with most reports that lack a hop first.
    pub(super) fn rows(&self, most: usize) -> Vec<MxPairRow> {
        let mut rows: Vec<MxPairRow> = (self.0.iter())
            .map(|((source, sink), pair)| {
                let mut missing = pair.missing.clone();
                missing.sort_by_key(|hop| (Reverse(hop.reports), hop.node));
                MxPairRow {
                    source: *source,
                    sink: *sink,
                    joined: pair.joined,
                    incomplete: pair.incomplete,
                    missing,
                }
            })
            .collect();
        rows.sort_by_key(|row| (Reverse(row.incomplete), row.source, row.sink));
        rows.truncate(most);
        rows
    }
}
