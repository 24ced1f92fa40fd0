//! One node's entry in a metadata stack, and the stack of these entries.

use crate::model::{HopQueue, NodeId};

/// One node's entry: ports are the low 16 bits of interface indices, timestamps the low 32 bits of nanoseconds since
/// the Unix epoch.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct Hop {
    pub node: NodeId,
    pub ingress_port: u16,
    pub egress_port: u16,
    pub ingress_ts: u32,
    pub egress_ts: u32,
    /// The queue that the packet came to, of transit hops that say it.
    pub queue: Option<HopQueue>,
}

/// The hops of one packet, newest first: at least 1, at most [`HopStack::MAX_HOPS`].
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct HopStack {
    newest: Hop,
    older: Vec<Hop>,
}

impl HopStack {
    /// More hops would not fit the 8-bit word count of an INT v0.5 shim header.
    pub const MAX_HOPS: usize = 62;

    /// The stack of a packet that went from an INT source over these transit hops, newest first, to an INT sink. More
    /// than fit are left out, the oldest of them first.
    pub fn over(source: Hop, transit: &[Hop], sink: Hop) -> Self {
        let fitting = transit.iter().take(Self::MAX_HOPS - 2).copied();
        Self {
            newest: sink,
            older: fitting.chain([source]).collect(),
        }
    }

    /// `None` if there are no hops, or more than [`Self::MAX_HOPS`].
    pub fn newest_first(hops: &[Hop]) -> Option<Self> {
        let (newest, older) = hops.split_first()?;
        (hops.len() <= Self::MAX_HOPS).then(|| Self {
            newest: *newest,
            older: older.to_vec(),
        })
    }

    /// The same of hops that are the newest one, and those before it.
    pub fn of(newest: Hop, older: Vec<Hop>) -> Option<Self> {
        (older.len() < Self::MAX_HOPS).then_some(Self { newest, older })
    }

    /// The newest hop: in a report, the INT sink that sent it.
    pub fn sink(&self) -> &Hop {
        &self.newest
    }

    /// The oldest hop: the INT source.
    pub fn source(&self) -> &Hop {
        self.older.last().unwrap_or(&self.newest)
    }

    /// Hops between source and sink, newest first.
    pub fn transit(&self) -> &[Hop] {
        self.older.split_last().map_or(&[], |(_, transit)| transit)
    }

    /// Every hop, newest first.
    pub fn iter(&self) -> impl Iterator<Item = &Hop> {
        std::iter::once(&self.newest).chain(&self.older)
    }

    /// The number of hops, at least 1.
    pub fn count(&self) -> usize {
        1 + self.older.len()
    }

    /// Nanoseconds from the source's to the sink's ingress timestamp; `None` if there is a single hop.
    ///
    /// The latency is signed, because two clocks may disagree by more than the packet's travel time. It is right if the
    /// true value lies within ±2.147 s, half the range of 32 bits of nanoseconds.
    pub fn latency_ns(&self) -> Option<i64> {
        let source = self.older.last()?;
        let elapsed = self.newest.ingress_ts.wrapping_sub(source.ingress_ts);
        Some(i64::from(elapsed as i32))
    }
}
