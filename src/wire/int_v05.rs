//! INT v0.5 as Host-INT writes it: the 36-byte block in packets and the stack in reports.
//!
//! A block is the v0.5 TCP/UDP shim header (type 3), metadata header and stack, followed by a sequence number that the
//! instruction count does not cover; in packets, v0.5's tail follows.

use super::cursor::Cursor;
use super::error::DecodeError;
use crate::model::{Hop, HopQueue, HopStack, NodeId};

/// Shim type of Host-INT blocks.
pub const SHIM_TYPE: u8 = 3;
/// Shim length in words of the block in packets: shim, header, one hop, sequence number, tail.
pub const BLOCK_WORDS: u8 = 9;
/// Bytes of the block in packets.
pub const BLOCK_BYTES: usize = 36;
/// Version nibble of the metadata header (INT v0.5).
pub const VERSION: u8 = 0;
/// Set bits in [`INSTRUCTIONS`], which is the number of words per hop.
pub const INSTRUCTION_COUNT: u8 = 4;
/// Instruction bits 0, 1, 4 and 5: node ID, ports, ingress and egress timestamp.
pub const INSTRUCTIONS: u16 = 0xCC00;
/// The same with bit 3: the queue's number and occupancy. Reports have it, and packets do not.
const INSTRUCTIONS_WITH_QUEUE: u16 = 0xDC00;
/// The largest hop count that Host-INT announces.
pub const MAX_HOPS: u8 = 2;

/// Words of a block around its hops: shim 1, metadata header 2, sequence number 1.
const FRAME_WORDS: usize = 4;

/// What the hops of a report's INT part say of their queues, each in a word of its own; all ones say nothing.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(super) enum QueueWords {
    /// There is no word.
    #[default]
    Absent,
    Occupancy,
    Bytes,
}

impl QueueWords {
    /// More hops with five words each would not fit the 8-bit word count of the shim header.
    const MOST_HOPS: usize = 50;

    /// What a report of this stack has: the first hop that says something decides on the unit.
    pub(super) fn of(stack: &HopStack) -> Self {
        let fits = stack.count() <= Self::MOST_HOPS;
        match stack.iter().find_map(|hop| hop.queue).filter(|_| fits) {
            None => Self::Absent,
            Some(HopQueue::Occupancy(_)) => Self::Occupancy,
            Some(HopQueue::Bytes(_)) => Self::Bytes,
        }
    }

    fn hop_words(self) -> u8 {
        match self {
            Self::Absent => INSTRUCTION_COUNT,
            Self::Occupancy | Self::Bytes => INSTRUCTION_COUNT + 1,
        }
    }

    fn most_hops(self) -> usize {
        match self {
            Self::Absent => HopStack::MAX_HOPS,
            Self::Occupancy | Self::Bytes => Self::MOST_HOPS,
        }
    }

    fn instructions(self) -> u16 {
        match self {
            Self::Absent => INSTRUCTIONS,
            Self::Occupancy | Self::Bytes => INSTRUCTIONS_WITH_QUEUE,
        }
    }

    fn word(self, queue: Option<HopQueue>) -> u32 {
        match (self, queue) {
            (Self::Occupancy, Some(queue @ HopQueue::Occupancy(_))) => queue.in_24_bits(),
            (Self::Bytes, Some(HopQueue::Bytes(bytes))) => bytes,
            _ => u32::MAX,
        }
    }

    fn read(self, word: u32) -> Option<HopQueue> {
        match self {
            Self::Absent => None,
            Self::Occupancy => HopQueue::of_int(word),
            Self::Bytes => HopQueue::of_ioam(word),
        }
    }
}

/// The meaning of the reserved shim bytes between hosts that run hostint; Host-INT leaves them 0.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct ShimNotes {
    /// The tail is a word that keeps the L4 checksum right.
    pub tail_is_checksum: bool,
    /// The packet's DSCP before it was marked, 6 bits.
    pub original_dscp: Option<u8>,
    /// A code for the flow's age, 4 bits.
    pub age_code: u8,
}

const NOTE_TAIL_IS_CHECKSUM: u8 = 0x80;
const NOTE_ORIGINAL_DSCP: u8 = 0x40;
const NOTE_AGE: u8 = 0x0f;

/// The INT block of a packet between source and sink.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct IntBlock {
    pub notes: ShimNotes,
    pub source: Hop,
    pub sequence: u32,
    /// In extension-udp the first byte is the original IP protocol; otherwise see [`ShimNotes::tail_is_checksum`].
    pub tail: [u8; 4],
}

impl IntBlock {
    /// Reads the block at the beginning of `bytes` and ignores the rest.
    pub fn decode(bytes: &[u8]) -> Result<Self, DecodeError> {
        let mut cursor = Cursor::new(bytes);
        cursor.expect_u8("shim type", SHIM_TYPE)?;
        let flags = cursor.u8("shim notes")?;
        cursor.expect_u8("shim length", BLOCK_WORDS)?;
        let dscp = cursor.u8("shim DSCP")?;
        decode_header(&mut cursor, 1, QueueWords::Absent)?;
        Ok(Self {
            notes: ShimNotes {
                tail_is_checksum: flags & NOTE_TAIL_IS_CHECKSUM != 0,
                original_dscp: (flags & NOTE_ORIGINAL_DSCP != 0).then_some(dscp >> 2),
                age_code: flags & NOTE_AGE,
            },
            source: decode_hop(&mut cursor, QueueWords::Absent)?,
            sequence: cursor.u32("sequence number")?,
            tail: cursor.array("tail")?,
        })
    }

    pub fn emit(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(BLOCK_BYTES);
        let mut flags = self.notes.age_code & NOTE_AGE;
        if self.notes.tail_is_checksum {
            flags |= NOTE_TAIL_IS_CHECKSUM;
        }
        if self.notes.original_dscp.is_some() {
            flags |= NOTE_ORIGINAL_DSCP;
        }
        let dscp = self.notes.original_dscp.unwrap_or(0) << 2;
        out.extend([SHIM_TYPE, flags, BLOCK_WORDS, dscp]);
        emit_header(1, QueueWords::Absent, &mut out);
        emit_hop(&self.source, QueueWords::Absent, &mut out);
        out.extend(self.sequence.to_be_bytes());
        out.extend(self.tail);
        out
    }
}

/// Number of hops in an INT part of this size, if the size is possible.
pub(super) fn hops_in(bytes: usize, queues: QueueWords) -> Option<usize> {
    let hops = bytes.checked_sub(4 * FRAME_WORDS)?;
    let hop_bytes = 4 * usize::from(queues.hop_words());
    let count = hops / hop_bytes;
    (hops % hop_bytes == 0 && (1..=queues.most_hops()).contains(&count)).then_some(count)
}

/// Reads a report's INT part of exactly `hops` hops: stack and sequence number.
pub(super) fn decode_stack(
    cursor: &mut Cursor<'_>,
    hops: usize,
    queues: QueueWords,
) -> Result<(HopStack, u32), DecodeError> {
    cursor.expect_u8("shim type", SHIM_TYPE)?;
    cursor.u8("reserved shim byte")?;
    let words = cursor.u8("shim length")?;
    cursor.check(
        "shim length",
        1,
        words.into(),
        words_of(hops, queues).into(),
    )?;
    cursor.u8("reserved shim byte")?;
    let count = decode_header(cursor, count_of(hops), queues)?;
    let hops = usize::from(count);
    let wrong = DecodeError::Length {
        what: "hop stack",
        found: hops * 4 * usize::from(queues.hop_words()),
        expected: "1 to 62 hops of 16",
    };
    if !(1..=HopStack::MAX_HOPS).contains(&hops) {
        return Err(wrong);
    }
    let newest = decode_hop(cursor, queues)?;
    let mut older = Vec::with_capacity(hops - 1);
    for _ in 1..hops {
        older.push(decode_hop(cursor, queues)?);
    }
    let stack = HopStack::of(newest, older).ok_or(wrong)?;
    Ok((stack, cursor.u32("sequence number")?))
}

/// Writes a report's INT part. Reserved bytes are 0, whatever they were in the packet.
pub(super) fn emit_stack(stack: &HopStack, queues: QueueWords, sequence: u32, out: &mut Vec<u8>) {
    out.extend([SHIM_TYPE, 0, words_of(stack.count(), queues), 0]);
    emit_header(count_of(stack.count()), queues, out);
    for hop in stack.iter() {
        emit_hop(hop, queues, out);
    }
    out.extend(sequence.to_be_bytes());
}

/// A [`HopStack`] always has few enough hops for these two fields.
fn words_of(hops: usize, queues: QueueWords) -> u8 {
    u8::try_from(FRAME_WORDS + usize::from(queues.hop_words()) * hops).unwrap_or(u8::MAX)
}

fn count_of(hops: usize) -> u8 {
    u8::try_from(hops).unwrap_or(u8::MAX)
}

/// Reads a metadata header that must announce `hops` hops. Reserved bits, the replication and error flags and the
/// maximum hop count are ignored, because a report does not need them.
fn decode_header(cursor: &mut Cursor<'_>, hops: u8, queues: QueueWords) -> Result<u8, DecodeError> {
    let version = cursor.u8("INT version")? >> 4;
    cursor.check("INT version", 1, version.into(), VERSION.into())?;
    let instructions = cursor.u8("instruction count")? & 0x1f;
    cursor.check(
        "instruction count",
        1,
        instructions.into(),
        queues.hop_words().into(),
    )?;
    cursor.u8("max hop count")?;
    cursor.expect_u8("total hop count", hops)?;
    let bitmap = cursor.u16("instruction bitmap")?;
    let instructions = queues.instructions();
    cursor.check("instruction bitmap", 2, bitmap.into(), instructions.into())?;
    cursor.u16("reserved")?;
    Ok(hops)
}

fn emit_header(hops: u8, queues: QueueWords, out: &mut Vec<u8>) {
    out.extend([VERSION << 4, queues.hop_words(), MAX_HOPS.max(hops), hops]);
    out.extend(queues.instructions().to_be_bytes());
    out.extend([0, 0]);
}

fn decode_hop(cursor: &mut Cursor<'_>, queues: QueueWords) -> Result<Hop, DecodeError> {
    Ok(Hop {
        node: NodeId(cursor.u32("node ID")?),
        ingress_port: cursor.u16("ingress port")?,
        egress_port: cursor.u16("egress port")?,
        queue: match queues {
            QueueWords::Absent => None,
            QueueWords::Occupancy | QueueWords::Bytes => queues.read(cursor.u32("queue")?),
        },
        ingress_ts: cursor.u32("ingress timestamp")?,
        egress_ts: cursor.u32("egress timestamp")?,
    })
}

fn emit_hop(hop: &Hop, queues: QueueWords, out: &mut Vec<u8>) {
    out.extend(hop.node.0.to_be_bytes());
    out.extend(hop.ingress_port.to_be_bytes());
    out.extend(hop.egress_port.to_be_bytes());
    if queues != QueueWords::Absent {
        out.extend(queues.word(hop.queue).to_be_bytes());
    }
    out.extend(hop.ingress_ts.to_be_bytes());
    out.extend(hop.egress_ts.to_be_bytes());
}
