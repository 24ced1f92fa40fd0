//! The hosts whose TCP option 114 a hop fills in are told in datagrams and read back, and nothing else is taken for them.

use hostint::model::NodeId;
use hostint::model::option_hops::*;
use hostint::wire::report::{NodeNotice, decode};
use hostint::wire::report_option_hops::emit;

/// Bytes of a datagram that every path carries.
const MOST_BYTES: usize = 1232;

fn pair(source: &str, dest: &str, ttl: u8) -> OptionHopPair {
    OptionHopPair {
        source: source.parse().unwrap(),
        dest: dest.parse().unwrap(),
        ttl,
    }
}

fn report(pairs: Vec<OptionHopPair>) -> OptionHopsReport {
    OptionHopsReport {
        node: NodeId(9),
        told_ns: 1_700_000_000_123_456_789,
        pairs,
    }
}

fn read_option_hops(datagram: &[u8]) -> OptionHopsReport {
    match decode(datagram).unwrap().notice {
        Some(NodeNotice::OptionHops(read)) => read,
        other => panic!("{other:?}"),
    }
}

#[test]
fn pairs_that_are_told_are_those_that_are_read() {
    let told = report(vec![
        pair("192.0.2.1", "198.51.100.2", 62),
        pair("2001:db8::1", "2001:db8::2", 255),
    ]);
    let [datagram] = &emit(&told)[..] else {
        panic!("one datagram");
    };
    let group = decode(datagram).unwrap();
    assert_eq!(group.node, Some(NodeId(9)));
    assert!(group.reports.is_empty(), "it is none of the reports");
    assert_eq!(group.notice, Some(NodeNotice::OptionHops(told)));
    let expected = [
        &[15, 0, 0, 0, 0, 0, 0, 0][..],
        &1_700_000_000_u32.to_be_bytes(),
        &[7, 0, 0, 88, 0, 0, 0, 9],
        &1_700_000_000_123_456_789_u64.to_be_bytes(),
        &[0, 2, 0, 0],
        &[0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 255, 255, 192, 0, 2, 1],
        &[0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 255, 255, 198, 51, 100, 2],
        &[62, 0, 0, 0],
        &[0x20, 1, 0xd, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1],
        &[0x20, 1, 0xd, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2],
        &[255, 0, 0, 0],
    ]
    .concat();
    assert_eq!(*datagram, expected, "as the manual has it");
}

#[test]
fn many_pairs_are_told_in_several_datagrams() {
    let pairs = (0..=255).map(|ttl| pair("192.0.2.1", "198.51.100.2", ttl));
    let pairs: Vec<_> = pairs.collect();
    let mut read = Vec::new();
    for datagram in emit(&report(pairs.clone())) {
        assert!(datagram.len() <= MOST_BYTES, "{} bytes", datagram.len());
        read.extend(read_option_hops(&datagram).pairs);
    }
    assert_eq!(read, pairs);
    assert!(emit(&report(Vec::new())).is_empty());
}

#[test]
fn other_bytes_are_refused() {
    let [datagram] = &emit(&report(vec![pair("192.0.2.1", "198.51.100.2", 62)]))[..] else {
        panic!("one datagram");
    };
    for length in 16..datagram.len() {
        assert!(decode(&datagram[..length]).is_err(), "{length} bytes");
    }
    for (sentence, at, value) in [
        ("one pair more than there are", 29, 2),
        ("a reserved byte", 31, 1),
        ("a reserved byte of a pair", 65, 1),
    ] {
        let mut changed = datagram.clone();
        changed[at] = value;
        assert!(decode(&changed).is_err(), "{sentence}");
    }
}

#[test]
fn echoes_name_a_hop_by_four_bits() {
    for (ttl, hop) in [
        (63, 1),
        (62, 2),
        (49, 15),
        (64, 0),
        (48, 0),
        (127, 1),
        (255, 1),
    ] {
        assert_eq!(
            pair("192.0.2.1", "198.51.100.2", ttl).hop(),
            hop,
            "TTL {ttl}"
        );
    }
}
