//! Packets counted where they come by, in blocks of the time that their source wrote into them: losses are differences.

use crate::model::{NodeId, NodePort, Path};

/// A block is this long, in ns of the source's clock.
pub const BLOCK_NS: u64 = 1 << 30;

/// Where on a host packets are counted.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum CrossingPlace {
    /// By the source.
    Tagged,
    /// At the ingress of a transit hop.
    Arrived,
    /// At its egress, in front of the queue.
    Departed,
    /// Behind the queue.
    Sent,
    /// By the sink.
    Received,
}

/// The packets of a source to one destination, which all hosts name by the same number.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct CrossingFlow {
    pub source: NodeId,
    pub dest: u32,
}

/// The counts of a place, one for each block of the report; `None` for a block in which it did not count from the
/// beginning to the end.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct CrossingCounts {
    pub flow: CrossingFlow,
    pub place: CrossingPlace,
    pub port: u16,
    pub packets: Vec<Option<u32>>,
    /// `None`: not known, or their TTLs differ.
    pub ttl: Option<SteadyTtl>,
}

/// The TTL or hop limit that all packets have from a block on.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct SteadyTtl {
    pub ttl: u8,
    pub from_block: u64,
}

/// The flows of which a report has all counts, both ends included: others in between have had no packets at this host.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct CoveredFlows {
    pub from: CrossingFlow,
    pub to: CrossingFlow,
}

/// What a host counted. Several reports tell of the same block; the last one is right.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct CrossingReport {
    pub node: NodeId,
    /// When it was made, by the host's clock.
    pub told_ns: u64,
    pub first_block: u64,
    /// The number of blocks.
    pub blocks: u8,
    /// Those of a flow stand together.
    pub counts: Vec<CrossingCounts>,
    /// `None`: there may be flows that the host has no room for.
    pub covered: Option<CoveredFlows>,
}

/// Packets of a segment of a path that came to its begin, and how many fewer came to its end. Packets that were doubled
/// there, or counted in another block, make the number smaller.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Crossed {
    pub packets: u64,
    pub lost: i64,
}

/// What losses are told of.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum CrossedPlace {
    /// 0 is the whole path, then come its segments in the order of the way.
    Segment(u8),
    /// The queue behind the hop with this number, from 0; a part of the wire that begins there.
    Queue(u8),
}

/// The packets that came by the places of a path between two looks at the counts.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct PathCrossed {
    pub path: Path,
    /// Places whose losses are known.
    pub places: Vec<(CrossedPlace, Crossed)>,
    /// The routers on wires that said nothing, by what is missing from the TTL; the number of a wire is that of
    /// [`CrossedPlace::Segment`].
    pub unseen: Vec<(u8, u8)>,
}

impl CrossingPlace {
    const ALL: [Self; 5] = [
        Self::Tagged,
        Self::Arrived,
        Self::Departed,
        Self::Sent,
        Self::Received,
    ];

    /// Its number in the kernel half and in reports.
    pub fn number(self) -> u8 {
        self as u8 + 1
    }

    pub fn of_number(number: u8) -> Option<Self> {
        Self::ALL.into_iter().find(|one| one.number() == number)
    }
}

impl CrossingFlow {
    const FIRST: Self = Self {
        source: NodeId(0),
        dest: 0,
    };
    const LAST: Self = Self {
        source: NodeId(u32::MAX),
        dest: u32::MAX,
    };
}

impl CoveredFlows {
    pub const ALL: Self = Self {
        from: CrossingFlow::FIRST,
        to: CrossingFlow::LAST,
    };

    pub fn has(&self, flow: CrossingFlow) -> bool {
        (self.from..=self.to).contains(&flow)
    }
}

impl CrossingCounts {
    /// The interface that it is about.
    pub fn at(&self, node: NodeId) -> NodePort {
        NodePort {
            node,
            port: self.port,
        }
    }
}

impl Crossed {
    pub fn merge(&mut self, other: Self) {
        self.packets = self.packets.saturating_add(other.packets);
        self.lost = self.lost.saturating_add(other.lost);
    }
}
