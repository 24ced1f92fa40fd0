//! The tabs of the view.

/// The tab that is shown.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Tab {
    Flows,
    Counters,
    Peers,
    Why,
    Drops,
    Hops,
    Queues,
}

impl Tab {
    pub const ALL: [Self; 7] = [
        Self::Flows,
        Self::Counters,
        Self::Peers,
        Self::Why,
        Self::Drops,
        Self::Hops,
        Self::Queues,
    ];
}
