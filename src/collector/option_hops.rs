//! Which node a hop of TCP option 114 is: hops report between which hosts they fill it in, and at which TTL.

use std::collections::HashMap;
use std::net::IpAddr;

use crate::model::option_hops::OptionHopsReport;
use crate::model::{Arrival, Body, NodeId, Report};

/// The most hops of pairs that are known.
const MOST: usize = 1 << 17;

/// A hop that was not reported for this time is forgotten: it tells each minute.
const FORGOTTEN_NS: u64 = 300_000_000_000;

/// A source, a destination, and the number of a hop between.
type HopName = (IpAddr, IpAddr, u8);

/// What is known of a hop.
#[derive(Clone, Copy, Debug)]
struct KnownHop {
    /// `None`: several nodes say that they are this hop, as on paths that change.
    node: Option<NodeId>,
    /// The last node that said so, and when.
    last: NodeId,
    told_ns: u64,
}

/// The nodes of hops.
#[derive(Debug)]
pub struct OptionHops {
    most: usize,
    known: HashMap<HopName, KnownHop>,
    swept_ns: u64,
}

impl Default for OptionHops {
    fn default() -> Self {
        Self::new(MOST)
    }
}

impl OptionHops {
    /// Knows at most `most` hops of pairs.
    pub fn new(most: usize) -> Self {
        Self {
            most,
            known: HashMap::new(),
            swept_ns: 0,
        }
    }

    /// Learns what a hop reports.
    pub fn learn(&mut self, report: &OptionHopsReport, arrival: Arrival) {
        let now_ns = arrival.received_ns;
        for pair in report.pairs.iter().filter(|pair| pair.hop() != 0) {
            let name = (pair.source, pair.dest, pair.hop());
            if !self.known.contains_key(&name) && !self.has_room(now_ns) {
                continue;
            }
            let fresh = KnownHop {
                node: Some(report.node),
                last: report.node,
                told_ns: now_ns,
            };
            let known = self.known.entry(name).or_insert(fresh);
            let is_other = known.last != report.node && !is_forgotten(known, now_ns);
            *known = KnownHop {
                node: match is_other {
                    true => None,
                    false => known
                        .node
                        .filter(|node| *node == report.node)
                        .or(fresh.node),
                },
                ..fresh
            };
        }
    }

    fn has_room(&mut self, now_ns: u64) -> bool {
        if self.known.len() >= self.most && now_ns.saturating_sub(self.swept_ns) >= FORGOTTEN_NS {
            self.swept_ns = now_ns;
            self.known.retain(|_, known| !is_forgotten(known, now_ns));
        }
        self.known.len() < self.most
    }

    /// Returns a report about a connection with the node of its worst hop, if that is known.
    pub fn named(&self, report: &Report, now_ns: u64) -> Option<Report> {
        let Body::Connection(reported) = &report.observation.body else {
            return None;
        };
        let sample = &reported.connection.sample;
        let worst = sample.option.as_ref()?.worst.as_ref()?;
        let name = (sample.flow.src, sample.flow.dst, worst.sample.hop);
        let known = self.known.get(&name);
        let node = known
            .filter(|known| !is_forgotten(known, now_ns))
            .and_then(|known| known.node)?;
        let mut report = report.clone();
        if let Body::Connection(reported) = &mut report.observation.body
            && let Some(option) = &mut reported.connection.sample.option
            && let Some(worst) = &mut option.worst
        {
            worst.node = Some(node);
        }
        Some(report)
    }
}

fn is_forgotten(known: &KnownHop, now_ns: u64) -> bool {
    known.told_ns.saturating_add(FORGOTTEN_NS) < now_ns
}
