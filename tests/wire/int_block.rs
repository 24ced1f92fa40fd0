//! The INT block in packets is read and written back, and malformed blocks are refused.

use hostint::model::{Hop, NodeId};
use hostint::wire::int_v05::{BLOCK_BYTES, IntBlock, ShimNotes};
use hostint_testing::golden::frame;

#[test]
fn int_blocks_are_read_and_written_back() {
    for (name, offset, proto) in [
        ("hostint_l4_udp_1wire", 14 + 20 + 8, 0),
        ("hostint_l4_tcp_1wire", 14 + 20 + 20, 0),
        ("hostint_ext_udp_1wire", 14 + 20 + 8, 17),
        ("hostint_ext_tcp_1wire", 14 + 20 + 8, 6),
    ] {
        let bytes = frame(name).split_off(offset);
        let block = IntBlock::decode(&bytes).unwrap_or_else(|e| panic!("{name}: {e}"));
        let source = Hop {
            node: NodeId(2),
            ingress_port: 13,
            egress_port: 13,
            ingress_ts: 0x3d85_cd15,
            egress_ts: 0x3d85_cd15,
            queue: None,
        };
        assert_eq!(block.source, source, "{name}");
        assert_eq!(block.sequence, 1, "{name}");
        assert_eq!(block.tail, [proto, 0, 0, 0], "{name}");
        assert_eq!(block.notes, ShimNotes::default(), "{name}");
        assert_eq!(block.emit(), bytes[..BLOCK_BYTES], "{name}");
        for length in 0..BLOCK_BYTES {
            assert!(IntBlock::decode(&bytes[..length]).is_err(), "{name} cut");
        }
        for (at, what) in [
            (0, "type"),
            (2, "length"),
            (4, "version"),
            (5, "instruction count"),
            (7, "hop count"),
            (8, "bitmap"),
        ] {
            let mut other = bytes.clone();
            other[at] ^= 0x11;
            assert!(IntBlock::decode(&other).is_err(), "{name}: other {what}");
        }
    }
}

#[test]
fn shim_notes_survive_the_wire() {
    let block = IntBlock::decode(&frame("hostint_ext_udp_1wire")[42..]).unwrap();
    for notes in [
        ShimNotes {
            tail_is_checksum: true,
            original_dscp: Some(0),
            age_code: 15,
        },
        ShimNotes {
            tail_is_checksum: false,
            original_dscp: Some(63),
            age_code: 0,
        },
        ShimNotes {
            tail_is_checksum: true,
            original_dscp: None,
            age_code: 1,
        },
    ] {
        let block = IntBlock { notes, ..block };
        assert_eq!(IntBlock::decode(&block.emit()), Ok(block));
    }
}
