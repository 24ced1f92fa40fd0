//! Metadata items by the bits that announce them: INT's instruction bitmaps and v2.0's RepMdBits.

use super::cursor::Cursor;
use super::error::DecodeError;
use crate::model::{IntVersion, Metadata, NodeId, Quirk, ReservedWord};

/// One item of a node's metadata.
#[derive(Clone, Copy)]
pub(super) enum Item {
    Node,
    Ports,
    HopLatency,
    Queue,
    Ingress32,
    Ingress64,
    Egress32,
    Egress64,
    Level2Ports,
    /// Two numbers of 16 bits.
    ShortLevel2Ports,
    Congestion,
    TxUtilization,
    Buffer,
    ChecksumComplement,
    Drop,
    /// A bit without a meaning, which still takes a word.
    Reserved(u8),
}

use Item::{
    Buffer, ChecksumComplement, Congestion, Drop, Egress32, Egress64, HopLatency, Ingress32,
    Ingress64, Level2Ports, Node, Ports, Queue, Reserved, ShortLevel2Ports, TxUtilization,
};

/// The item of each bit, most significant first.
pub(super) type ItemLayout = [Item; 16];

const INT_V05: ItemLayout = [
    Node,
    Ports,
    HopLatency,
    Queue,
    Ingress32,
    Egress32,
    Congestion,
    TxUtilization,
    Reserved(8),
    Reserved(9),
    Reserved(10),
    Reserved(11),
    Reserved(12),
    Reserved(13),
    Reserved(14),
    Reserved(15),
];

const INT_V10: ItemLayout = [
    Node,
    Ports,
    HopLatency,
    Queue,
    Ingress32,
    Egress32,
    Level2Ports,
    TxUtilization,
    Reserved(8),
    Reserved(9),
    Reserved(10),
    Reserved(11),
    Reserved(12),
    Reserved(13),
    Reserved(14),
    ChecksumComplement,
];

const INT_V2: ItemLayout = [
    Node,
    Ports,
    HopLatency,
    Queue,
    Ingress64,
    Egress64,
    Level2Ports,
    TxUtilization,
    Buffer,
    Reserved(9),
    Reserved(10),
    Reserved(11),
    Reserved(12),
    Reserved(13),
    Reserved(14),
    ChecksumComplement,
];

/// Layouts of INT v1.0 that some devices have instead: with the stamps of v2.x, with short level 2 ports, or both.
pub(super) const OTHER_V10: [(Quirk, ItemLayout); 3] = [
    (Quirk::IntLongStamps, with_long_stamps(INT_V10)),
    (Quirk::IntShortPorts, with_short_ports(INT_V10)),
    (
        Quirk::IntLongStamps,
        with_short_ports(with_long_stamps(INT_V10)),
    ),
];

const fn with_long_stamps(mut layout: ItemLayout) -> ItemLayout {
    (layout[4], layout[5]) = (Ingress64, Egress64);
    layout
}

const fn with_short_ports(mut layout: ItemLayout) -> ItemLayout {
    layout[6] = ShortLevel2Ports;
    layout
}

/// Telemetry Report v2.0: like INT v2.x, except that the node stands in the group header and the last bit is the drop.
pub(super) const REPORT_V20: ItemLayout = {
    let mut layout = INT_V2;
    layout[0] = Reserved(0);
    layout[15] = Drop;
    layout
};

/// The value that stands for no value, in one word and in two.
const NONE_32: u32 = u32::MAX;
const NONE_64: u64 = u64::MAX;

/// Occupancies of queues and buffers have 24 bits.
const MOST_DEPTH: u32 = 0x00ff_ffff;

pub(super) fn layout_of(version: IntVersion) -> &'static ItemLayout {
    match version {
        IntVersion::V05 => &INT_V05,
        IntVersion::V10 => &INT_V10,
        IntVersion::V2 => &INT_V2,
    }
}

/// The items of a bitmap, in the order in which they stand.
fn items(layout: &ItemLayout, bits: u16) -> impl DoubleEndedIterator<Item = Item> {
    layout
        .iter()
        .enumerate()
        .filter(move |(bit, _)| bits & (0x8000 >> bit) != 0)
        .map(|(_, item)| *item)
}

/// Number of words that the items of a bitmap take.
pub(super) fn words_of(layout: &ItemLayout, bits: u16) -> usize {
    items(layout, bits).map(Item::words).sum()
}

/// Reads one node's items, with `domain_words` domain-specific words before the item of the last bit, or after it with
/// `domain_last`.
pub(super) fn decode(
    cursor: &mut Cursor<'_>,
    layout: &ItemLayout,
    bits: u16,
    domain_words: usize,
    domain_last: bool,
) -> Result<Metadata, DecodeError> {
    let mut metadata = Metadata::default();
    let last = if domain_last { bits } else { bits & !1 };
    for item in items(layout, last) {
        item.decode(cursor, &mut metadata)?;
    }
    for _ in 0..domain_words {
        metadata
            .domain_words
            .push(cursor.u32("domain-specific metadata")?);
    }
    for item in items(layout, bits & !last) {
        item.decode(cursor, &mut metadata)?;
    }
    Ok(metadata)
}

/// The bits of the items that a node has.
pub(super) fn bits_of(layout: &ItemLayout, metadata: &Metadata) -> u16 {
    let present = |(bit, item): (usize, &Item)| item.value(metadata).map(|_| 0x8000 >> bit);
    layout.iter().enumerate().filter_map(present).sum()
}

/// Appends the items of a bitmap, all ones for those that the node does not have.
pub(super) fn emit(layout: &ItemLayout, bits: u16, metadata: &Metadata, out: &mut Vec<u8>) {
    for item in items(layout, bits) {
        item.emit(metadata, out);
    }
}

impl Item {
    fn words(self) -> usize {
        match self {
            Ingress64 | Egress64 | Level2Ports => 2,
            _ => 1,
        }
    }

    /// Reads one item; all ones mean that the node does not have it.
    pub(super) fn decode(
        self,
        cursor: &mut Cursor<'_>,
        metadata: &mut Metadata,
    ) -> Result<(), DecodeError> {
        if self.words() == 2 {
            let value = cursor.u64("metadata")?;
            if value != NONE_64 {
                self.store_long(value, metadata);
            }
        } else {
            let value = cursor.u32("metadata")?;
            if value != NONE_32 {
                self.store(value, metadata);
            }
        }
        Ok(())
    }

    /// Appends one item, all ones if the node does not have it.
    pub(super) fn emit(self, metadata: &Metadata, out: &mut Vec<u8>) {
        let value = self.value(metadata).unwrap_or(NONE_64).to_be_bytes();
        out.extend(&value[8 - 4 * self.words()..]);
    }

    /// The value of an item. If an item has two halves, a missing half is all ones.
    pub(super) fn value(self, metadata: &Metadata) -> Option<u64> {
        let m = metadata;
        let queue = |id: Option<u8>, depth: Option<u32>| {
            let depth = depth?.min(MOST_DEPTH);
            Some(u64::from(id.unwrap_or(u8::MAX)) << 24 | u64::from(depth))
        };
        match self {
            Node => m.node.map(|node| node.0.into()),
            Ports => {
                let present = m.ingress_port.or(m.egress_port).is_some();
                let [high, low] =
                    [m.ingress_port, m.egress_port].map(|port| port.unwrap_or(u16::MAX));
                present.then_some(u64::from(high) << 16 | u64::from(low))
            }
            ShortLevel2Ports => {
                let present = m.level2_ingress_port.or(m.level2_egress_port).is_some();
                let [high, low] = [m.level2_ingress_port, m.level2_egress_port]
                    .map(|port| port.unwrap_or(u32::MAX) as u16);
                present.then_some(u64::from(high) << 16 | u64::from(low))
            }
            Level2Ports => {
                let present = m.level2_ingress_port.or(m.level2_egress_port).is_some();
                let [high, low] = [m.level2_ingress_port, m.level2_egress_port]
                    .map(|port| port.unwrap_or(u32::MAX));
                present.then_some(u64::from(high) << 32 | u64::from(low))
            }
            HopLatency => m.hop_latency_ns.map(u64::from),
            Queue => queue(m.queue_id, m.queue_occupancy),
            Congestion => queue(m.congestion_queue_id, m.queue_congestion),
            Buffer => queue(m.buffer_id, m.buffer_occupancy),
            Ingress32 => m.ingress_ts.map(|ts| u64::from(ts as u32)),
            Egress32 => m.egress_ts.map(|ts| u64::from(ts as u32)),
            Ingress64 => m.ingress_ts,
            Egress64 => m.egress_ts,
            TxUtilization => m.tx_utilization.map(u64::from),
            ChecksumComplement => m.checksum_complement.map(u64::from),
            Drop => {
                let alone = m.queue_id.filter(|_| m.queue_occupancy.is_none());
                let id = m.drop_queue_id.or(alone).unwrap_or(u8::MAX);
                let reason = u64::from(m.drop_reason?);
                Some(u64::from(id) << 24 | reason << 16)
            }
            Reserved(bit) => {
                let word = m.reserved.iter().find(|word| word.bit == bit);
                word.map(|word| word.word.into())
            }
        }
    }

    fn store_long(self, value: u64, metadata: &mut Metadata) {
        let (high, low) = ((value >> 32) as u32, value as u32);
        match self {
            Ingress64 => metadata.ingress_ts = Some(value),
            Egress64 => metadata.egress_ts = Some(value),
            _ => {
                metadata.level2_ingress_port = Some(high);
                metadata.level2_egress_port = Some(low);
            }
        }
    }

    fn store(self, value: u32, metadata: &mut Metadata) {
        let [first, second, ..] = value.to_be_bytes();
        let (high, low, low24) = ((value >> 16) as u16, value as u16, value & 0x00ff_ffff);
        match self {
            Node => metadata.node = Some(NodeId(value)),
            Ports => {
                metadata.ingress_port = Some(high);
                metadata.egress_port = Some(low);
            }
            ShortLevel2Ports => {
                metadata.level2_ingress_port = Some(high.into());
                metadata.level2_egress_port = Some(low.into());
            }
            HopLatency => metadata.hop_latency_ns = Some(value),
            Queue => {
                metadata.queue_id = Some(first);
                metadata.queue_occupancy = Some(low24);
            }
            Ingress32 => metadata.ingress_ts = Some(value.into()),
            Egress32 => metadata.egress_ts = Some(value.into()),
            Congestion => {
                metadata.congestion_queue_id = Some(first);
                metadata.queue_congestion = Some(low24);
            }
            TxUtilization => metadata.tx_utilization = Some(value),
            Buffer => {
                metadata.buffer_id = Some(first);
                metadata.buffer_occupancy = Some(low24);
            }
            ChecksumComplement => metadata.checksum_complement = Some(value),
            Drop => {
                match metadata.queue_id {
                    None => metadata.queue_id = Some(first),
                    Some(_) => metadata.drop_queue_id = Some(first),
                }
                metadata.drop_reason = Some(second);
            }
            Reserved(bit) => metadata.reserved.push(ReservedWord { bit, word: value }),
            Ingress64 | Egress64 | Level2Ports => {}
        }
    }
}
