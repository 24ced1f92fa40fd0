//! A path that many reports share: it has a number, by which it is found faster than by its nodes and ports.

use std::hash::{Hash, Hasher};
use std::ops::Deref;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::model::{LatencyReport, MOST_TRANSIT_HOPS, Path};

/// Two words for each node of the longest path.
const KEY_WORDS: usize = 2 * (MOST_TRANSIT_HOPS as usize + 2);

/// A path with a number that no other has. The same path may have several.
#[derive(Debug)]
pub struct KnownPath {
    number: u64,
    path: Path,
}

/// The nodes and ports of a reported packet's way, by which a path is looked up without making one.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct PathKey([u32; KEY_WORDS]);

impl KnownPath {
    pub fn new(path: Path) -> Arc<Self> {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        Arc::new(Self {
            number: NEXT.fetch_add(1, Ordering::Relaxed),
            path,
        })
    }

    pub fn number(&self) -> u64 {
        self.number
    }

    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Deref for KnownPath {
    type Target = Path;

    fn deref(&self) -> &Path {
        &self.path
    }
}

impl PartialEq for KnownPath {
    fn eq(&self, other: &Self) -> bool {
        self.path == other.path
    }
}

impl Eq for KnownPath {}

impl Hash for PathKey {
    /// Words of no hop, which are 0 in all paths of this length, are left out.
    fn hash<H: Hasher>(&self, state: &mut H) {
        let pairs = self.0.as_chunks::<2>().0.iter();
        let nodes = 2 + (self.0[1] >> 16) as usize;
        for [node, ports] in pairs.take(nodes) {
            state.write_u64(u64::from(*node) << 32 | u64::from(*ports));
        }
    }
}

impl PathKey {
    /// `None` if the packet has no path, as [`Path::of`] says.
    pub fn of(report: &LatencyReport) -> Option<Self> {
        let hops = &report.hops;
        let transit = hops.transit();
        if !(1..=usize::from(MOST_TRANSIT_HOPS)).contains(&transit.len()) {
            return None;
        }
        let mut words = [0; KEY_WORDS];
        let ports = |high: u16, low: u16| u32::from(high) << 16 | u32::from(low);
        let (source, sink) = (hops.source(), hops.sink());
        let ends = [
            (source.node, ports(transit.len() as u16, source.egress_port)),
            (sink.node, ports(0, sink.ingress_port)),
        ];
        let within = transit
            .iter()
            .map(|hop| (hop.node, ports(hop.ingress_port, hop.egress_port)));
        for (pair, (node, ports)) in words
            .as_chunks_mut::<2>()
            .0
            .iter_mut()
            .zip(ends.into_iter().chain(within))
        {
            *pair = [node.0, ports];
        }
        Some(Self(words))
    }
}
