//! The part of the flow's model that keeps numbers far from the newest one on probation.

use std::collections::BTreeSet;

use super::sequence::WINDOW;

/// After this silence numbers behind may be a new numbering.
pub const QUIET_NS: u64 = 1_000_000_000;
const CONFIRM_AHEAD: u64 = 4;
const CONFIRM_BEHIND: u64 = 16;
const RATE_FACTOR: u64 = 8;
const RATE_PACKETS: u64 = 4;

/// Far numbers that are not believed yet.
#[derive(Clone, Debug, Default)]
pub struct Far {
    pub numbers: BTreeSet<u64>,
    pub packets: u64,
    pub began: u64,
    pub hole: u64,
    /// The newest number when the last of them arrived.
    pub head: u64,
    /// Packets since then whose numbers are not believed.
    pub strays: u64,
    pub waits: bool,
}

impl Far {
    pub fn first(&self) -> u64 {
        self.numbers.first().copied().unwrap_or_default()
    }

    pub fn last(&self) -> u64 {
        self.numbers.last().copied().unwrap_or_default()
    }

    pub fn silence(&self) -> u64 {
        self.began - self.hole
    }

    pub fn is_ahead(&self) -> bool {
        self.first() > self.head
    }

    /// Returns how many of the numbers arrived before, and whether they are confirmed now.
    pub fn note(&mut self, numbers: &[u64], head: u64, last_ns: u64, now: u64) -> (u64, bool) {
        if self.head != head {
            if self.first() <= head || now >= self.began + QUIET_NS {
                self.packets = 0;
            }
            self.head = head;
            self.strays = 0;
        }
        let (seq, last) = (numbers[0], numbers[numbers.len() - 1]);
        if self.packets == 0 || self.last().max(last) - self.first().min(seq) >= WINDOW {
            *self = Far {
                began: now,
                hole: if last_ns == 0 { now } else { last_ns },
                waits: true,
                head,
                strays: self.strays,
                ..Far::default()
            };
        }
        let fresh = numbers.iter().filter(|n| self.numbers.insert(**n)).count() as u64;
        self.strays += fresh;
        self.packets += u64::from(fresh > 0);
        let sure = self.is_ahead() || self.silence() > QUIET_NS;
        let needed = if sure { CONFIRM_AHEAD } else { CONFIRM_BEHIND };
        (numbers.len() as u64 - fresh, self.packets >= needed)
    }

    pub fn is_due(&self, now: u64, timeout: u64) -> bool {
        self.packets > 0 && self.waits && now >= self.began + timeout
    }

    /// Do the numbers before them that are missing fit into the time in which they were sent?
    pub fn fits_rate(&self, head: u64, first_ns: u64, packets: u64) -> bool {
        let packets = packets - self.packets;
        self.is_ahead() && self.head == head && packets >= RATE_PACKETS && {
            let skipped = self.first() - head - 1;
            self.silence() / skipped >= (self.hole - first_ns) / packets / RATE_FACTOR
        }
    }
}
