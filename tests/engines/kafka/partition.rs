//! The partition of a message: as Kafka's own clients choose it.

use hostint::engines::kafka::partition::{murmur2, pair_key, partition_of};
use hostint::model::NodeId;

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
