//! The partition of a message, chosen by its key as Kafka's own clients do.

use crate::engines::FedReport;
use crate::model::{FlowHash, NodeId};

/// Returns the key of a report: it is the same for both directions of a flow. A report without a flow has the key of
/// its reporting node.
pub fn key_of(entry: &FedReport) -> [u8; 8] {
    let observation = &entry.report.observation;
    observation
        .flow()
        .map_or_else(
            || observation.reporter().unwrap_or_default().0.into(),
            |flow| FlowHash::of(&flow).0,
        )
        .to_be_bytes()
}

/// Returns the key of a pair of nodes, which is the same for both directions.
pub fn pair_key(one: NodeId, other: NodeId) -> [u8; 8] {
    let (low, high) = (one.min(other).0, one.max(other).0);
    (u64::from(low) << 32 | u64::from(high)).to_be_bytes()
}

/// Returns the partition of a key, as the default partitioner of Kafka's Java clients chooses it.
pub fn partition_of(key: &[u8], partitions: usize) -> usize {
    let hash = (murmur2(key) & 0x7fff_ffff) as usize;
    hash.checked_rem(partitions).unwrap_or_default()
}

const MULTIPLIER: u32 = 0x5bd1_e995;
const SEED: u32 = 0x9747_b28c;

pub fn murmur2(bytes: &[u8]) -> u32 {
    let mut hash = SEED ^ bytes.len() as u32;
    let (words, rest) = bytes.as_chunks();
    for word in words {
        let mut word = u32::from_le_bytes(*word).wrapping_mul(MULTIPLIER);
        word ^= word >> 24;
        hash = hash.wrapping_mul(MULTIPLIER) ^ word.wrapping_mul(MULTIPLIER);
    }
    if !rest.is_empty() {
        hash ^= rest
            .iter()
            .rev()
            .fold(0, |word, byte| word << 8 | u32::from(*byte));
        hash = hash.wrapping_mul(MULTIPLIER);
    }
    hash ^= hash >> 13;
    hash = hash.wrapping_mul(MULTIPLIER);
    hash ^ hash >> 15
}
