//! What strangers write into reports takes a bounded part of the collector's memory.

use hostint::model::{CellCounts, CellGrowth, CellId, NodeId, VerdictSlot};
use hostint::verdict::VerdictEngine;

const SLOT_NS: u64 = 10_000_000_000;
/// The most cells that are judged.
const MOST: u32 = 65_536;

/// A slot in which each of these sources sends a packet to node 0.
fn slot(number: u64, sources: std::ops::Range<u32>) -> VerdictSlot {
    let cells = sources.map(|source| {
        let id = CellId {
            source: NodeId(source),
            sink: NodeId(0),
            class: None,
        };
        let counts = CellCounts { sent: 1, lost: 0 };
        let growth = CellGrowth {
            counts,
            ..CellGrowth::default()
        };
        (id, growth)
    });
    VerdictSlot {
        end_ns: number * SLOT_NS,
        cells: cells.collect(),
        ..VerdictSlot::default()
    }
}

#[test]
fn cells_beyond_the_limit_are_not_judged() {
    let mut engine = VerdictEngine::default();
    let full = engine.slot(&slot(1, 1..MOST + 1));
    assert_eq!(full.judged.pairs, u64::from(MOST));
    let beyond = engine.slot(&slot(2, MOST + 1..MOST + 11));
    assert_eq!(beyond.judged.pairs, 0, "there is no room");
}
