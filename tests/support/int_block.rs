//! INT blocks on the wire: 36 bytes, valid unless told otherwise.

pub const BLOCK_LEN: usize = 36;
pub const FLAG_CHECKSUM: u8 = 0x80;
pub const FLAG_DSCP: u8 = 0x40;
/// Max hops is a budget for transit hops.
pub const FLAG_BUDGET: u8 = 0x20;

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Block(pub [u8; BLOCK_LEN]);

impl Block {
    /// As a hostint source writes it over TCP or UDP; the frame fills in the DSCP.
    pub fn hostint() -> Self {
        Self::host_int().flags(FLAG_CHECKSUM | FLAG_DSCP)
    }

    /// As a hostint source writes it behind an extra UDP header; the frame fills in the protocol.
    pub fn hostint_extension() -> Self {
        Self::host_int().flags(FLAG_CHECKSUM)
    }

    /// As an original Host-INT source writes it: reserved fields 0.
    pub fn host_int() -> Self {
        let mut block = [0; BLOCK_LEN];
        block[..4].copy_from_slice(&[3, 0, 9, 0]);
        block[4..12].copy_from_slice(&[0, 4, 2, 1, 0xcc, 0, 0, 0]);
        Block(block).node(2).port(13).sequence(1)
    }

    pub fn byte(mut self, at: usize, value: u8) -> Self {
        self.0[at] = value;
        self
    }

    fn word(mut self, at: usize, value: u32) -> Self {
        self.0[at..at + 4].copy_from_slice(&value.to_be_bytes());
        self
    }

    pub fn flags(self, flags: u8) -> Self {
        self.byte(1, flags)
    }

    /// States that the flow's numbering is younger than 2^(code-1) * 2^24 ns.
    pub fn age(self, code: u8) -> Self {
        self.flags(self.0[1] & 0xf0 | code)
    }

    pub fn node(self, node: u32) -> Self {
        self.word(12, node)
    }

    pub fn port(self, port: u16) -> Self {
        self.word(16, u32::from(port) << 16 | u32::from(port))
    }

    pub fn timestamp(self, ns: u32) -> Self {
        self.word(20, ns).word(24, ns)
    }

    pub fn sequence(self, number: u32) -> Self {
        self.word(28, number)
    }

    pub fn tail(self, value: u32) -> Self {
        self.word(32, value)
    }

    /// Does the L4 checksum count the tail?
    pub fn counts_tail(&self) -> bool {
        self.0[1] & FLAG_CHECKSUM != 0
    }
}
