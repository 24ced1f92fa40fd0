//! The news of each flow that were told already, and the limit of flows that are told in a second.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use crate::model::{DropId, HostDrop};

const SECOND: Duration = Duration::from_secs(1);

/// What a flow told last is told to collectors this many times more, in case that a datagram is lost.
const REPEATS: u8 = 2;

/// What was told of a flow last, and how many times it was repeated.
struct ToldFlow {
    packets: u64,
    repeats: u8,
}

/// The packets of each flow that were told, and the rate of telling.
pub struct ToldDrops {
    /// The most in a second; 0: no limit.
    most: u64,
    flows: HashMap<DropId, ToldFlow>,
    second: Option<Instant>,
    in_second: u64,
    /// Flows told since the beginning.
    pub told: u64,
    /// The number of times that the limit put off a flow.
    pub put_off: u64,
}

impl ToldDrops {
    pub fn new(most: u64) -> Self {
        Self {
            most,
            flows: HashMap::new(),
            second: None,
            in_second: 0,
            told: 0,
            put_off: 0,
        }
    }

    pub fn set_most(&mut self, most: u64) {
        self.most = most;
    }

    /// Packets that were not told yet.
    pub fn news(&self, drop: &HostDrop) -> u64 {
        let told = self.flows.get(&drop.id()).map_or(0, |told| told.packets);
        // A record that was forgotten and began anew has fewer packets.
        match drop.count.packets.checked_sub(told) {
            Some(news) => news,
            None => drop.count.packets,
        }
    }

    /// Returns true if the flow has news that may be told now, and notes them as told.
    pub fn take(&mut self, drop: &HostDrop, now: Instant) -> bool {
        if self.news(drop) == 0 {
            return false;
        }
        if self
            .second
            .is_none_or(|begin| now.duration_since(begin) >= SECOND)
        {
            self.second = Some(now);
            self.in_second = 0;
        }
        if self.most > 0 && self.in_second >= self.most {
            self.put_off += 1;
            return false;
        }
        self.in_second += 1;
        self.told += 1;
        let told = ToldFlow {
            packets: drop.count.packets,
            repeats: 0,
        };
        self.flows.insert(drop.id(), told);
        true
    }

    /// Returns true if a flow without news is to be repeated, and notes that it is.
    pub fn repeat(&mut self, drop: &HostDrop) -> bool {
        let told = self.flows.get_mut(&drop.id());
        let told = told.filter(|told| told.packets == drop.count.packets);
        match told.filter(|told| told.repeats < REPEATS) {
            Some(told) => {
                told.repeats += 1;
                true
            }
            None => false,
        }
    }

    /// Forgets the flows that are gone from the table.
    pub fn keep(&mut self, is_there: impl Fn(&DropId) -> bool) {
        self.flows.retain(|id, _| is_there(id));
    }
}
