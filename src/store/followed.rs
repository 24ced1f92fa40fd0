//! The flows that are followed: what their next reports have to be compared with.

use std::collections::HashMap;

use super::ids::Name;
use super::numbers::Numbers;
use super::totals::Totals;

/// A flow that reports told nothing of for so long makes room for others.
const QUIET_NS: u64 = 120_000_000_000;

/// A flow that is followed.
#[derive(Debug, Default)]
pub struct Followed {
    pub numbers: Numbers,
    pub totals: Totals,
    /// Where its figures are gathered.
    pub row: Option<Place>,
    seen_ns: u64,
}

/// A row among those gathered for a transaction, and when its ten seconds begin.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Place {
    pub transaction: u64,
    pub begin_ns: u64,
    pub row: usize,
}

impl Place {
    /// Whether both are of the same transaction and the same ten seconds.
    pub fn same(&self, other: &Self) -> bool {
        (self.transaction, self.begin_ns) == (other.transaction, other.begin_ns)
    }
}

/// As many flows as may be followed.
#[derive(Debug)]
pub struct Flows {
    flows: HashMap<Name, Followed>,
    most: usize,
    /// Whoever is quiet was forgotten as of then.
    swept_ns: u64,
}

impl Flows {
    pub fn new(most: usize) -> Self {
        Self {
            flows: HashMap::new(),
            most,
            swept_ns: 0,
        }
    }

    /// `None` if more flows are followed than may be.
    pub fn follow(&mut self, name: &Name, time_ns: u64) -> Option<&mut Followed> {
        if self.flows.len() >= self.most && !self.flows.contains_key(name) && !self.sweep(time_ns) {
            return None;
        }
        let flow = self.flows.entry(*name).or_default();
        flow.seen_ns = flow.seen_ns.max(time_ns);
        Some(flow)
    }

    /// Makes room, not more than once a second; whether there is some.
    fn sweep(&mut self, now_ns: u64) -> bool {
        if now_ns.abs_diff(self.swept_ns) > 1_000_000_000 {
            self.swept_ns = now_ns;
            self.flows
                .retain(|_, flow| flow.seen_ns.saturating_add(QUIET_NS) > now_ns);
        }
        self.flows.len() < self.most
    }
}
