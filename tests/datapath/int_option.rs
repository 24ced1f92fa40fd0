//! The option that holds INT, as the wire has it, behind TCP's own options or behind a datagram's data.

/// Bytes of the option.
pub const LEN: usize = 24;

/// The option, as the wire has it.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct IntOption {
    pub flags: u8,
    pub size: u16,
    pub sequence: u32,
    pub time: u32,
    pub base: u32,
    pub node: u32,
}

pub const EMPTY: IntOption = IntOption {
    flags: 0,
    size: 0,
    sequence: 0,
    time: 0,
    base: 0,
    node: 0,
};

impl IntOption {
    pub fn bytes(self, kind: u8) -> Vec<u8> {
        let mut bytes = vec![kind, LEN as u8, 0x48, 0x49, self.flags, 0];
        bytes.extend(self.size.to_be_bytes());
        for word in [self.sequence, self.time, self.base, self.node] {
            bytes.extend(word.to_be_bytes());
        }
        bytes
    }

    pub fn read(kind: u8, bytes: &[u8]) -> Self {
        assert_eq!(bytes[..4], [kind, LEN as u8, 0x48, 0x49], "{bytes:x?}");
        let word = |at: usize| u32::from_be_bytes(bytes[at..at + 4].try_into().unwrap());
        Self {
            flags: bytes[4],
            size: u16::from_be_bytes([bytes[6], bytes[7]]),
            sequence: word(8),
            time: word(12),
            base: word(16),
            node: word(20),
        }
    }
}
