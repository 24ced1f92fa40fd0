//! The news of each flow that were reported already, and the limit of flows that are reported in a second.

use std::collections::HashMap;
use std::hash::Hash;
use std::time::{Duration, Instant};

const SECOND: Duration = Duration::from_secs(1);

/// What a flow reported last is told to collectors this many times more, in case that a datagram is lost.
const REPEATS: u8 = 2;

/// What was told of a flow last, and how many times it was repeated.
struct ReportedFlow {
    packets: u64,
    repeats: u8,
    at: Instant,
}

/// A limit of what is reported in a second.
pub struct ReportRate {
    /// 0: no limit.
    most: u64,
    second: Option<Instant>,
    in_second: u64,
}

impl ReportRate {
    pub fn new(most: u64) -> Self {
        Self {
            most,
            second: None,
            in_second: 0,
        }
    }

    pub fn set_most(&mut self, most: u64) {
        self.most = most;
    }

    /// Returns true if one more may be reported now, and counts it.
    pub fn take(&mut self, now: Instant) -> bool {
        if self
            .second
            .is_none_or(|begin| now.duration_since(begin) >= SECOND)
        {
            self.second = Some(now);
            self.in_second = 0;
        }
        let has_room = self.most == 0 || self.in_second < self.most;
        self.in_second += u64::from(has_room);
        has_room
    }
}

/// The packets of each flow that were reported, and the rate of reports.
pub struct ReportedFlows<Id> {
    rate: ReportRate,
    flows: HashMap<Id, ReportedFlow>,
    /// Flows told since the beginning.
    pub reports: u64,
    /// The number of times that the limit put off a flow.
    pub put_off: u64,
}

impl<Id: Eq + Hash> ReportedFlows<Id> {
    pub fn new(most: u64) -> Self {
        Self {
            rate: ReportRate::new(most),
            flows: HashMap::new(),
            reports: 0,
            put_off: 0,
        }
    }

    pub fn set_most(&mut self, most: u64) {
        self.rate.set_most(most);
    }

    /// The packets of a flow that were not reported yet, of those it has. `read` is the time when its record was read
    /// from the table; an event has none, because it may be older than what was reported.
    pub fn news(&self, id: &Id, packets: u64, read: Option<Instant>) -> u64 {
        let Some(before) = self.flows.get(id) else {
            return packets;
        };
        packets.checked_sub(before.packets).unwrap_or_else(|| {
            // A record that was forgotten and began anew has fewer packets.
            let is_newer = read.is_some_and(|read| read > before.at);
            if is_newer { packets } else { 0 }
        })
    }

    /// True if the flow was not reported for this time.
    pub fn is_due(&self, id: &Id, period: Duration, now: Instant) -> bool {
        let before = self.flows.get(id);
        before.is_none_or(|before| now.saturating_duration_since(before.at) >= period)
    }

    /// Returns true if the flow has news that may be reported now, and notes them as told.
    pub fn take(&mut self, id: Id, packets: u64, read: Option<Instant>, now: Instant) -> bool {
        if self.news(&id, packets, read) == 0 {
            return false;
        }
        if !self.rate.take(now) {
            self.put_off += 1;
            return false;
        }
        self.reports += 1;
        let before = ReportedFlow {
            packets,
            repeats: 0,
            at: now,
        };
        self.flows.insert(id, before);
        true
    }

    /// Returns true if a flow without news is to be repeated, and notes that it is.
    pub fn repeat(&mut self, id: &Id, packets: u64) -> bool {
        let before = self.flows.get_mut(id);
        let before = before.filter(|before| before.packets == packets);
        match before.filter(|before| before.repeats < REPEATS) {
            Some(before) => {
                before.repeats += 1;
                true
            }
            None => false,
        }
    }

    /// Forgets the flows that are gone from the table.
    pub fn keep(&mut self, is_there: impl Fn(&Id) -> bool) {
        self.flows.retain(|id, _| is_there(id));
    }
}
