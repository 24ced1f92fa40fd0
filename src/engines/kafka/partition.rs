//! Which partition a message goes to: by its key, as Kafka's own clients choose.

use crate::engines::Entry;
use crate::model::{FlowHash, NodeId};

/// The key of a report: of a flow the same in both directions; without a flow, that of the reporting node.
pub fn key_of(entry: &Entry) -> [u8; 8] {
    let observation = &entry.report.observation;
    let key = observation.flow().map(|flow| FlowHash::of(&flow).0);
    let node = || observation.reporter().unwrap_or_default();
    key.unwrap_or_else(|| node().0.into()).to_be_bytes()
}

/// The key of what concerns two nodes, whichever is the source.
pub fn pair_key(one: NodeId, other: NodeId) -> [u8; 8] {
    let (low, high) = (one.min(other).0, one.max(other).0);
    (u64::from(low) << 32 | u64::from(high)).to_be_bytes()
}

/// The partition, of so many, of a key: that of the default partitioner of Kafka's Java clients.
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
        let bytes = rest.iter().rev();
        hash ^= bytes.fold(0, |word, byte| word << 8 | u32::from(*byte));
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
        // Those of its own tests (UtilsTest.testMurmur2).
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
        assert_eq!(partition_of(b"21", 0), 0, "of none the first");
    }

    #[test]
    fn a_pair_of_nodes_has_one_key_in_both_directions() {
        let (one, two) = (NodeId(1), NodeId(0xffff_fffe));
        let key = [0, 0, 0, 1, 0xff, 0xff, 0xff, 0xfe];
        assert_eq!((pair_key(one, two), pair_key(two, one)), (key, key));
    }
}
