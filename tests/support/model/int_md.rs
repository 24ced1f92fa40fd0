//! A model of INT v2.1 (MD) behind TCP and UDP: a source's packet, hostint's or another one's, and what a transit hop makes
//! of it.

use super::layout;
use super::{DOMAIN, MOST_PUSHED, UDP, change_ip, fixed_l4_len, l4_rest, set_l4_check};
use crate::checksum::{be16, be32, put16};

/// Shim and metadata header.
pub const HEAD: usize = 16;
/// The whole block of hostint's sources, and an entry of a hop in it.
pub const OWN_LEN: usize = 48;
pub const OWN_HOP_LEN: usize = 24;
/// Node, ports, latency, queue and both times: all that a hop of hostint knows.
pub const ALL_KNOWN: u16 = 0xfc00;
/// What hostint's sources ask for: node id, ports, hop latency, queue, ingress timestamp; or the same without the queue.
const OWN_BITMAPS: [u16; 2] = [0xf800, 0xe800];
/// Words of the shim's length that are not of entries.
const AROUND: usize = 5;
/// Sequence number and tail.
const OWN_DS_BITMAP: u16 = 0x9000;

/// What varies in a block of hostint's source.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Own {
    pub budget: u8,
    /// Entries have no queue.
    pub without_queue: bool,
    pub age_code: u8,
    pub node: u32,
    pub port: u16,
    pub queue_packets: u32,
    pub timestamp: u64,
    pub sequence: u32,
    pub tail: u32,
}

impl Own {
    /// As a source writes it for the first packet of a flow.
    pub fn single() -> Self {
        Self {
            node: 2,
            port: 13,
            sequence: 1,
            ..Self::default()
        }
    }

    fn header(&self, tos: u8) -> Header {
        let mut stack = self.node.to_be_bytes().to_vec();
        stack.extend(self.port.to_be_bytes());
        stack.extend(self.port.to_be_bytes());
        stack.extend([0xff; 4]);
        if !self.without_queue {
            stack.extend(self.queue_packets.to_be_bytes());
        }
        stack.extend(self.timestamp.to_be_bytes());
        stack.extend(self.sequence.to_be_bytes());
        stack.extend(self.tail.to_be_bytes());
        Header {
            original: u16::from(tos & !3),
            remaining: self.budget,
            domain: DOMAIN,
            ds_bitmap: OWN_DS_BITMAP,
            ds_flags: self.age_code.into(),
            stack,
            ..Header::asking(OWN_BITMAPS[usize::from(self.without_queue)])
        }
    }

    pub fn bytes(&self, tos: u8) -> Vec<u8> {
        self.header(tos).bytes()
    }

    /// The frame with this block and this mark; checksums are as right as they were.
    pub fn insert(&self, frame: &[u8], (value, mask): (u8, u8)) -> Vec<u8> {
        let at = layout::find(frame).expect("TCP or UDP");
        let tos = at.tos & !mask | value;
        grown(frame, head_at(frame), &self.bytes(at.tos), tos, |_| {})
    }
}

/// Whether bytes are a block of hostint's sources, with any number of entries that a sink reads.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Resemblance {
    Valid,
    BadShim,
    BadVersion,
    BadBitmap,
    None,
}

/// Reads the first sixteen bytes.
pub fn resemblance(block: &[u8]) -> Resemblance {
    let (kind, version) = (block[0] >> 4, block[4] >> 4);
    if block[0] == 1 && version <= 1 {
        return Resemblance::BadVersion;
    }
    if !(1..=3).contains(&kind) || version != 2 && kind != 1 {
        return Resemblance::None;
    }
    if version != 2 {
        return Resemblance::BadVersion;
    }
    if block[0] != 0x10 || block[1] < 3 {
        return Resemblance::BadShim;
    }
    let (bitmap, hop_words) = (be16(block, 8), block[6]);
    let is_short = hop_words == 0 || hop_words < words(bitmap);
    // A sink does not discard, as D asks for; hops set E and M.
    let discards = block[4] & 8 != 0;
    if block[4] & 1 != 0 || block[5] != 0 || hop_words > 31 || discards && !is_short {
        return Resemblance::BadVersion;
    }
    let own = OWN_BITMAPS.contains(&bitmap)
        && hop_words == words(bitmap)
        && (be16(block, 10), be16(block, 12)) == (DOMAIN, OWN_DS_BITMAP)
        && be16(block, 14) & 0xfff0 == 0
        && entries(block).is_some_and(|all| (1..=1 + MOST_PUSHED).contains(&all));
    match own {
        true => Resemblance::Valid,
        false => Resemblance::BadBitmap,
    }
}

/// The number of entries in a block, if they fill it.
fn entries(block: &[u8]) -> Option<usize> {
    let (stack, entry) = (
        usize::from(block[1]).checked_sub(AROUND)?,
        usize::from(block[6]),
    );
    stack.is_multiple_of(entry).then(|| stack / entry)
}

/// The headers and the stack that a source writes.
#[derive(Clone, Debug)]
pub struct Header {
    /// Type, NPT and two reserved bits.
    pub shim: u8,
    pub original: u16,
    /// Version, D, E, M and four reserved bits.
    pub version: u8,
    pub reserved: u8,
    pub hop_words: u8,
    pub remaining: u8,
    pub bitmap: u16,
    pub domain: u16,
    pub ds_bitmap: u16,
    pub ds_flags: u16,
    pub stack: Vec<u8>,
    /// What the shim says instead of the true length.
    pub length: Option<u8>,
}

impl Header {
    /// One that asks for these instructions, without entries.
    pub fn asking(bitmap: u16) -> Self {
        Self {
            shim: 0x10,
            original: 0,
            version: 0x20,
            reserved: 0,
            hop_words: words(bitmap),
            remaining: 4,
            bitmap,
            domain: 0,
            ds_bitmap: 0,
            ds_flags: 0,
            stack: Vec::new(),
            length: None,
        }
    }

    pub fn bytes(&self) -> Vec<u8> {
        let length = self.length.unwrap_or((3 + self.stack.len() / 4) as u8);
        let mut bytes = vec![self.shim, length];
        bytes.extend(self.original.to_be_bytes());
        bytes.extend([self.version, self.reserved, self.hop_words, self.remaining]);
        for field in [self.bitmap, self.domain, self.ds_bitmap, self.ds_flags] {
            bytes.extend(field.to_be_bytes());
        }
        bytes.extend(&self.stack);
        bytes
    }
}

/// The words that each instruction has: two for the times and the ports of level 2.
pub fn words(bitmap: u16) -> u8 {
    (0..16)
        .filter(|bit| bitmap & (0x8000 >> bit) != 0)
        .map(|bit| if (4..=6).contains(&bit) { 2 } else { 1 })
        .sum()
}

/// What a hop knows of itself and the packet.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Known {
    pub node: u32,
    pub ports: u32,
    pub latency_ns: u32,
    pub queue: u32,
    pub ingress_ns: u64,
    pub egress_ns: u64,
}

impl Known {
    /// The entry: what is not known, and what nobody knows, is all ones.
    pub fn entry(&self, bitmap: u16, hop_words: u8) -> Vec<u8> {
        let mut bytes = Vec::new();
        for bit in 0..16 {
            if bitmap & (0x8000 >> bit) == 0 {
                continue;
            }
            match bit {
                0 => bytes.extend(self.node.to_be_bytes()),
                1 => bytes.extend(self.ports.to_be_bytes()),
                2 => bytes.extend(self.latency_ns.to_be_bytes()),
                3 => bytes.extend(self.queue.to_be_bytes()),
                4 => bytes.extend(self.ingress_ns.to_be_bytes()),
                5 => bytes.extend(self.egress_ns.to_be_bytes()),
                6 => bytes.extend([0xff; 8]),
                _ => bytes.extend([0xff; 4]),
            }
        }
        bytes.resize(usize::from(hop_words) * 4, 0xff);
        bytes
    }

    /// What the newest entry of a packet says; fields that it does not have are 0.
    pub fn of_newest(frame: &[u8]) -> Self {
        Self::of_newest_behind(frame, head_at(frame))
    }

    /// The same of a stack whose shim is there.
    pub fn of_newest_behind(frame: &[u8], head: usize) -> Self {
        let bitmap = be16(frame, head + 8);
        let mut known = Self::default();
        let mut at = head + HEAD;
        for bit in (0..6).filter(|bit| bitmap & (0x8000 >> bit) != 0) {
            let word = be32(frame, at);
            let long = || u64::from(word) << 32 | u64::from(be32(frame, at + 4));
            match bit {
                0 => known.node = word,
                1 => known.ports = word,
                2 => known.latency_ns = word,
                3 => known.queue = word,
                4 => known.ingress_ns = long(),
                _ => known.egress_ns = long(),
            }
            at += if bit < 4 { 4 } else { 8 };
        }
        known
    }
}

/// Where the shim is.
pub fn head_at(frame: &[u8]) -> usize {
    let at = layout::find(frame).expect("TCP or UDP");
    at.l4 + fixed_l4_len(at.protocol)
}

/// The frame with these headers, marked by the DSCP if it is given; checksums are as right as they were.
pub fn insert(frame: &[u8], header: &Header, dscp: Option<u8>) -> Vec<u8> {
    let at = layout::find(frame).expect("TCP or UDP");
    let tos = dscp.map_or(at.tos, |dscp| dscp << 2 | at.tos & 3);
    grown(frame, head_at(frame), &header.bytes(), tos, |_| {})
}

/// The frame with one more entry.
pub fn push(frame: &[u8], entry: &[u8]) -> Vec<u8> {
    let tos = layout::find(frame).expect("TCP or UDP").tos;
    let head = head_at(frame);
    grown(frame, head + HEAD, entry, tos, |frame| {
        frame[head + 1] += (entry.len() / 4) as u8;
        frame[head + 7] -= 1;
    })
}

/// The frame with these bits of the metadata header's first byte set, and a checksum that is as right as before.
pub fn with_flags(frame: &[u8], flags: u8) -> Vec<u8> {
    let tos = layout::find(frame).expect("TCP or UDP").tos;
    let head = head_at(frame);
    grown(frame, head, &[], tos, |frame| frame[head + 4] |= flags)
}

pub(super) fn grown(
    frame: &[u8],
    place: usize,
    bytes: &[u8],
    tos: u8,
    change: impl FnOnce(&mut [u8]),
) -> Vec<u8> {
    let at = layout::find(frame).expect("TCP or UDP");
    let addresses = frame[at.addresses()].to_vec();
    let rest = l4_rest(&addresses, at.protocol, &frame[at.l4..at.l3 + at.ip_len]);
    let has_check = at.protocol != UDP || be16(frame, at.l4 + 6) != 0;
    let ip_len = at.ip_len + bytes.len();
    let mut grown = frame.to_vec();
    change(&mut grown);
    grown.splice(place..place, bytes.iter().copied());
    change_ip(&mut grown, &at, tos, ip_len, at.protocol);
    if at.protocol == UDP {
        put16(&mut grown, at.l4 + 4, (ip_len - at.header_len()) as u16);
    }
    if has_check {
        set_l4_check(
            &addresses,
            at.protocol,
            &mut grown[at.l4..at.l3 + ip_len],
            rest,
        );
    }
    grown
}
