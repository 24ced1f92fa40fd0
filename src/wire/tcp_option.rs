//! TCP option 114 in the header of a segment, byte for byte as TCP-INT 0.4 has it: `model::tcp_option` has the table.

use super::cursor::Cursor;
use super::error::DecodeError;
use crate::model::WorstHop;

const KIND: u8 = 114;
const LEN: usize = 12;
const HEADER: usize = 20;
const ACK: u8 = 0x10;
const END_OF_OPTIONS: u8 = 0;
const NO_OPERATION: u8 = 1;

/// A segment that carries the option.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct OptionSegment {
    pub sport: u16,
    pub dport: u16,
    pub sequence: u32,
    /// What it acknowledges.
    pub ack: Option<u32>,
    /// The bytes of its header.
    pub header: usize,
    /// What hops filled in; `None`: none did.
    pub filled: Option<WorstHop>,
    pub echo: Option<WorstHop>,
}

/// Finds the option in a segment, which begins with its TCP header. `None`: it has none.
///
/// # Errors
/// The header is cut, or its options do not fit.
pub fn find(segment: &[u8]) -> Result<Option<OptionSegment>, DecodeError> {
    let mut cursor = Cursor::new(segment);
    let sport = cursor.u16("source port")?;
    let dport = cursor.u16("destination port")?;
    let sequence = cursor.u32("sequence number")?;
    let ack = cursor.u32("acknowledgement")?;
    let [words, flags] = cursor.array("length of the TCP header")?;
    let header = usize::from(words >> 4) * 4;
    if header < HEADER {
        return Err(DecodeError::Length {
            what: "TCP header",
            found: header,
            expected: "20 to 60",
        });
    }
    cursor.take("TCP header", HEADER - cursor.offset())?;
    let options = cursor.take("TCP options", header - HEADER)?;
    let Some(option) = in_options(options)? else {
        return Ok(None);
    };
    let [
        _,
        _,
        key_speed,
        value,
        hop,
        a,
        b,
        c,
        reported,
        reported_hop,
        low,
        high,
    ] = *option;
    let latency = u32::from_be_bytes([0, a, b, c]);
    Ok(Some(OptionSegment {
        sport,
        dport,
        sequence,
        ack: (flags & ACK != 0).then_some(ack),
        header,
        filled: WorstHop::from_request(value, key_speed, hop, latency),
        echo: WorstHop::from_echo(reported, reported_hop, u16::from_le_bytes([low, high])),
    }))
}

fn in_options(options: &[u8]) -> Result<Option<&[u8; LEN]>, DecodeError> {
    let mut rest = options;
    while let [kind, behind @ ..] = rest {
        if *kind == END_OF_OPTIONS {
            break;
        }
        if *kind == NO_OPERATION {
            rest = behind;
            continue;
        }
        let len = behind.first().copied().map_or(0, usize::from);
        let option = rest.get(..len).filter(|_| len >= 2);
        let option = option.ok_or(DecodeError::Length {
            what: "TCP option",
            found: len,
            expected: "2 to the rest of the header",
        })?;
        if *kind == KIND {
            let whole = option.try_into().map_err(|_| DecodeError::Length {
                what: "TCP option 114",
                found: len,
                expected: "12",
            })?;
            return Ok(Some(whole));
        }
        rest = rest.get(len..).unwrap_or_default();
    }
    Ok(None)
}
