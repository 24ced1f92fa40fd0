//! The pods that had an address, one after the other.

use std::sync::Arc;

use crate::model::{PodName, PodPeriod, Span};

/// What a report tells happened up to some time before it, and events about pods may be late: two pods that had the address
/// within this time are not told apart by the time of a report alone.
const SETTLED_NS: u64 = 15_000_000_000;
/// The time for which what was said last holds, if the API server says nothing more.
const HOLDS_NS: u64 = 360_000_000_000;
/// The end of a flow of which single reports are not kept any more is known that exactly.
const COARSE_NS: u64 = 3_600_000_000_000;
/// The most that are remembered of an address.
const MOST: usize = 8;

/// The time that something is told of, and that from which on it is known to have been the same flow.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct FlowTime {
    pub last_ns: u64,
    pub begun_ns: Option<u64>,
}

impl FlowTime {
    pub fn at(last_ns: u64) -> Self {
        Self {
            last_ns,
            begun_ns: None,
        }
    }
}

/// The periods of an address, by their begin.
#[derive(Clone, Debug, Default)]
pub struct AddressHolders(Vec<PodPeriod>);

impl AddressHolders {
    /// Periods of one address, in any order.
    pub fn of(mut periods: Vec<PodPeriod>) -> Self {
        periods.sort_by_key(|period| period.since_ns);
        Self(periods)
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// A pod has the address from now on. It may have been told late, and after one that had the address later. Returns the
    /// periods that are new or end otherwise than before.
    pub fn begin(&mut self, mut period: PodPeriod) -> Vec<PodPeriod> {
        if let Some(known) = self.0.iter_mut().rfind(|known| known.uid == period.uid) {
            return known.rename(&period.name).into_iter().collect();
        }
        let mut changed = Vec::new();
        if let Some(last) = self.0.last_mut() {
            if last.is_open() && last.since_ns > period.since_ns {
                return changed;
            }
            period.since_ns = period.since_ns.max(last.since_ns);
            if last.until_ns > period.since_ns {
                last.until_ns = period.since_ns;
                changed.push(last.clone());
            }
        }
        if self.0.len() >= MOST {
            self.0.remove(0);
        }
        self.0.push(period.clone());
        changed.push(period);
        changed
    }

    /// The pod has the address no more. Returns its period if that lasted till now.
    pub fn end(&mut self, uid: &str, now_ns: u64) -> Option<PodPeriod> {
        let open = self.0.iter_mut().rfind(|period| &*period.uid == uid)?;
        if !open.is_open() {
            return None;
        }
        open.until_ns = now_ns.max(open.since_ns);
        Some(open.clone())
    }

    /// Forgets periods that ended before this time.
    pub fn forget(&mut self, before_ns: u64) {
        self.0.retain(|period| period.until_ns >= before_ns);
    }

    /// The names of all pods that had the address in a span.
    pub fn within(&self, span: Span) -> impl Iterator<Item = &PodName> {
        let touched = move |one: &&PodPeriod| {
            one.since_ns < span.until_ns && one.until_ns.saturating_add(SETTLED_NS) >= span.since_ns
        };
        self.0.iter().filter(touched).map(|period| &*period.name)
    }

    /// The name of the pod that had the address, if it is certain which one that was. `current_ns` is the last time at which
    /// the API server said something.
    pub fn at(&self, time: FlowTime, current_ns: u64) -> Option<&Arc<PodName>> {
        let FlowTime { last_ns, begun_ns } = time;
        let began = self.0.partition_point(|period| period.since_ns <= last_ns);
        let known = self.0.get(..began)?;
        let (newest, older) = known.split_last()?;
        let holds_until = |period: &PodPeriod| match period.is_open() {
            true => current_ns.saturating_add(HOLDS_NS),
            false => period.until_ns.saturating_add(SETTLED_NS),
        };
        let is_settled = last_ns >= newest.since_ns.saturating_add(SETTLED_NS);
        let Some(begun_ns) = begun_ns else {
            let before = older.last().map_or(0, holds_until);
            let is_certain = is_settled || before < newest.since_ns;
            return (is_certain && last_ns <= holds_until(newest)).then_some(&newest.name);
        };
        // A flow belongs to one pod, as a rule, for as long as it is one.
        let overlap = |period: &&PodPeriod| holds_until(period) >= begun_ns;
        let before = older.iter().rfind(overlap);
        let holder = match before {
            _ if newest.since_ns <= begun_ns => newest,
            Some(before) if !is_settled && before.since_ns <= begun_ns => before,
            Some(_) => return None,
            None => newest,
        };
        let late_ns = holds_until(holder).saturating_add(COARSE_NS);
        (last_ns <= late_ns).then_some(&holder.name)
    }
}
