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

fn murmur2(bytes: &[u8]) -> u32 {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_hashed_as_by_kafka_s_java_clients() {
        // These are the cases of Kafka's own test (UtilsTest.testMurmur2).
        let cases: [(&str, i32); 6] = [
            ("21", -973_932_308),
            ("foobar", -790_332_482),
            ("a-little-bit-long-string", -985_981_536),
            ("a-little-bit-longer-string", -1_486_304_829),
            (
                "lkjh234lh9fiuh90y23oiuhsafujhadof229phr9h19h89h8",
                -58_897_971,
            ),
            ("abc", 479_470_107),
        ];
        for (key, hash) in cases {
            assert_eq!(murmur2(key.as_bytes()).cast_signed(), hash, "{key}");
        }
    }

    #[test]
    fn a_hash_below_zero_has_a_partition_too() {
        assert_eq!(
            partition_of(b"21", 12),
            (-973_932_308_i32 & i32::MAX) as usize % 12
        );
        assert_eq!(partition_of(b"21", 1), 0);
        assert_eq!(partition_of(b"21", 0), 0, "without partitions");
    }

    #[test]
    fn a_pair_of_nodes_has_one_key_in_both_directions() {
        let (one, two) = (NodeId(1), NodeId(0xffff_fffe));
        let key = [0, 0, 0, 1, 0xff, 0xff, 0xff, 0xfe];
        assert_eq!((pair_key(one, two), pair_key(two, one)), (key, key));
    }
}
