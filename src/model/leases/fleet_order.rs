//! Orders to a fleet: all hosts that a key and leases connect end what they do to packets, or begin again.

/// An order is obeyed for this time after it was given, by both hosts' clocks.
pub const ORDER_NS: u64 = 30_000_000_000;

/// An order of one host, which others pass on as it is.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct FleetOrder {
    /// Off, or on again.
    pub is_off: bool,
    /// It is higher than that of every order before.
    pub epoch: u64,
    /// When it was given, in ns since the Unix epoch.
    pub ordered_ns: u64,
}

/// What a host does with an order.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum OrderVerdict {
    Obeyed,
    /// It was obeyed before: another host passed it on, too.
    Known,
    /// A later one was obeyed, or another one with its epoch.
    Replayed,
    /// It was not given just now.
    Untimely,
}

impl FleetOrder {
    /// The next order after the last one that this host knows.
    pub fn next(is_off: bool, last: Self, now_ns: u64) -> Self {
        Self {
            is_off,
            epoch: now_ns.max(last.epoch.saturating_add(1)),
            ordered_ns: now_ns,
        }
    }

    pub fn judge(self, last: Self, now_ns: u64) -> OrderVerdict {
        if now_ns.abs_diff(self.ordered_ns) > ORDER_NS {
            return OrderVerdict::Untimely;
        }
        match self.epoch.cmp(&last.epoch) {
            std::cmp::Ordering::Greater => OrderVerdict::Obeyed,
            std::cmp::Ordering::Equal if self == last => OrderVerdict::Known,
            _ => OrderVerdict::Replayed,
        }
    }
}
