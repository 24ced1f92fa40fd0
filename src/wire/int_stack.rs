//! INT-MD headers for the packet in a report: the stack of its hops, after TCP or UDP.

use super::metadata_items::{self, bits_of, layout_of, words_of};
use crate::model::{IntVersion, Metadata};

/// The domain of hostint's own words, in INT headers and in reports of v2.0.
pub const DOMAIN: u16 = 0x4849;

/// Domain-specific instructions: the flow's sequence number, bytes in the source's root queue.
pub(super) const SEQUENCE: u16 = 0x8000;
pub(super) const QUEUE_BYTES: u16 = 0x4000;
/// The queue occupancy of transit hops is in bytes. The instruction has no word.
pub(super) const HOPS_IN_BYTES: u16 = 0x0080;

const TYPE_MD: u8 = 1;
const SHIM_WORDS: usize = 1;

/// The content of a stack: hops, newest first, and below them words of the source alone (v2.x).
pub(super) struct Stack<'a> {
    pub(super) hops: &'a [Metadata],
    /// The instruction bits of the source's words, and the words.
    pub(super) source_words: (u16, &'a [u32]),
}

/// Shim, INT-MD header of v1.0 or v2.x, and stack; `None` if the stack is too long for the length field.
///
/// Every hop has all items that any hop has.
pub(super) fn emit(version: IntVersion, stack: &Stack<'_>) -> Option<Vec<u8>> {
    let layout = layout_of(version);
    let bits = stack.hops.iter().map(|hop| bits_of(layout, hop));
    let bits = bits.fold(0, |all, bits| all | bits);
    let hop_words = words_of(layout, bits);
    let (instructions, source_words) = stack.source_words;
    let stack_words = hop_words * stack.hops.len() + source_words.len();
    let hop_ml = u8::try_from(hop_words).ok().filter(|words| *words <= 31)?;
    let [high, low] = bits.to_be_bytes();
    let mut out = match version {
        IntVersion::V05 => return None,
        IntVersion::V10 => {
            let words = u8::try_from(SHIM_WORDS + 2 + stack_words).ok()?;
            vec![TYPE_MD, 0, words, 0, 0x10, 0, hop_ml, 0, high, low, 0, 0]
        }
        IntVersion::V2 => {
            let words = u8::try_from(3 + stack_words).ok()?;
            let mut out = vec![TYPE_MD << 4, words, 0, 0, 0x20, 0, hop_ml, 0, high, low];
            let domain = if instructions == 0 { 0 } else { DOMAIN };
            for field in [domain, instructions, 0] {
                out.extend(field.to_be_bytes());
            }
            out
        }
    };
    for hop in stack.hops {
        metadata_items::emit(layout, bits, hop, &mut out);
    }
    for word in source_words {
        out.extend(word.to_be_bytes());
    }
    Some(out)
}
