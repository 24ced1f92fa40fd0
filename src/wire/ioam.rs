//! IOAM in IPv6 hop-by-hop options, as a source writes it: include/hostint/ioam.h has the layout.

use crate::model::NodeId;

/// Bytes in front of the room for entries.
const HEAD_LEN: usize = 60;
const ENTRY_LEN: usize = 20;
const ENTRY_WORDS: u16 = 5;
const NAMESPACE: [u8; 2] = [0x48, 0x49];
/// Of IOAM's options.
const OPTION_TYPE: u8 = 0x31;

/// The hop-by-hop header in front of a packet of this protocol, with room for this number of entries.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct IoamHeader {
    pub next: u8,
    pub node: NodeId,
    pub sequence: u32,
    pub entries: u8,
}

impl IoamHeader {
    /// Bytes of a header with room for this number of entries.
    pub fn len(entries: u8) -> usize {
        (HEAD_LEN + usize::from(entries) * ENTRY_LEN).next_multiple_of(8)
    }

    /// A header whose times are 0, for a single packet.
    pub fn emit(&self) -> Vec<u8> {
        let room = self.entries * ENTRY_LEN as u8;
        let free = ENTRY_WORDS * u16::from(self.entries);
        let words = (Self::len(self.entries) / 8 - 1) as u8;
        let mut bytes = vec![self.next, words, 1, 0];
        bytes.extend([0x1e, 22, 0x68, 0x69, 0, 0, 0, 0]); // own option: "hi", version, flags, port
        bytes.extend(self.node.0.to_be_bytes());
        bytes.extend([0; 10]); // time, base, size
        bytes.extend(1u16.to_be_bytes()); // segments
        bytes.extend([OPTION_TYPE, 18, 0, 3]); // edge to edge
        bytes.extend(NAMESPACE);
        bytes.extend([0x70, 0]); // number, seconds, fraction
        bytes.extend(self.sequence.to_be_bytes());
        bytes.extend([0; 8]);
        bytes.extend([OPTION_TYPE, 10 + room, 0, 0]); // pre-allocated trace
        bytes.extend(NAMESPACE);
        bytes.extend((ENTRY_WORDS << 11 | free).to_be_bytes());
        bytes.extend([0xf2, 0, 0, 0]); // hop limit and node, ports, seconds, fraction, queue
        bytes.resize(HEAD_LEN + usize::from(room), 0);
        if self.entries.is_multiple_of(2) {
            bytes.extend([1, 2, 0, 0]);
        }
        bytes
    }
}
