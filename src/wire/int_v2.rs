//! INT v2.x metadata headers with their stacks.

use super::cursor::Cursor;
use super::error::DecodeError;
use super::hop_stack::read_stack;
use super::int_refusal;
use super::metadata_items::{layout_of, words_of};
use crate::model::{IntDomain, IntHeader, IntType, IntVersion};

/// A v2.x header of `words` words, its stack included.
pub(super) fn header(kind: u8, bytes: &[u8], words: usize) -> Result<IntHeader, DecodeError> {
    let [first, flags, hop_ml, remaining, high, low, ..] = int_refusal::fixed::<12>(bytes)?;
    let bits = u16::from_be_bytes([high, low]);
    if first >> 4 != 2 {
        return Err(int_refusal::version(first >> 4));
    }
    let domain = domain(bytes)?;
    if bits == 0 && domain.instructions == 0 {
        return Err(int_refusal::NOTHING_ASKED);
    }
    let stack_words = words.checked_sub(3).ok_or(int_refusal::SHIM_TOO_SHORT)?;
    let mut header = IntHeader::new(IntVersion::V2, IntType::Md, bits);
    header.discard = first & 8 != 0;
    header.domain = Some(domain).filter(|domain| *domain != IntDomain::default());
    let rest = bytes.get(12..).unwrap_or_default();
    let layout = layout_of(IntVersion::V2);
    let reserved = |found: [u8; 3]| {
        let found = u32::from_be_bytes([0, found[0], found[1], found[2]]);
        match found {
            0 => Ok(()),
            _ => Err(int_refusal::field("reserved bits of INT v2", 4, found, 0)),
        }
    };
    match kind {
        1 | 2 => {
            reserved([first & 1, flags, hop_ml & 0xe0])?;
            let (hop_words, least) = (usize::from(hop_ml), words_of(layout, bits));
            if hop_words < least {
                let what = "hop length (Hop ML) of INT v2, by its bitmap,";
                return Err(int_refusal::field(what, 6, hop_ml, least));
            }
            // Only a domain has words that the source alone writes.
            let are_hops = stack_words.checked_rem(hop_words).unwrap_or(stack_words) == 0;
            if domain.id == 0 && domain.instructions == 0 && !are_hops {
                let what = int_refusal::V2_STACK;
                return Err(int_refusal::not_whole_hops(what, stack_words));
            }
            if kind == 2 {
                header.kind = IntType::Destination;
            }
            header.hops_exceeded = first & 4 != 0;
            header.mtu_exceeded = first & 2 != 0;
            header.remaining_hops = Some(remaining);
            read_stack(&mut header, layout, rest, hop_words, stack_words, true);
        }
        3 => {
            reserved([first & 7, flags, hop_ml | remaining])?;
            header.kind = IntType::Mx;
            read_stack(&mut header, layout, rest, 0, stack_words, true);
        }
        found => {
            return Err(DecodeError::Kind {
                what: "INT type",
                found,
                expected: "1 (MD), 2 (destination) or 3 (MX)",
            });
        }
    }
    Ok(header)
}

fn domain(header: &[u8]) -> Result<IntDomain, DecodeError> {
    let mut cursor = Cursor::behind(header, 6);
    Ok(IntDomain {
        id: cursor.u16("INT domain")?,
        instructions: cursor.u16("INT domain")?,
        flags: cursor.u16("INT domain")?,
    })
}
