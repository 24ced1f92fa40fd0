//! What reports about TCP connections tell of option 114 (NProto 13, behind the names).

use super::cursor::Cursor;
use super::error::DecodeError;
use crate::model::{OptionFigures, OptionOff, WorstHop, WorstSample};

/// Figures of the worst hop that may have no value. One without has zeros.
mod has {
    pub const LINK: u8 = 1;
    pub const QUEUE: u8 = 2;
    pub const FREE: u8 = 4;
    pub const ALL: u8 = 7;
}

/// The greatest number of a hop.
const MOST_HOP: u8 = 15;

fn word_if(
    cursor: &mut Cursor<'_>,
    is_there: bool,
    what: &'static str,
) -> Result<Option<u32>, DecodeError> {
    let word = cursor.u32(what)?;
    if is_there {
        return Ok(Some(word));
    }
    cursor.check(what, 4, word, 0)?;
    Ok(None)
}

pub(super) fn decode(cursor: &mut Cursor<'_>) -> Result<OptionFigures, DecodeError> {
    let requests = cursor.u32("requests of option 114")?;
    let samples = cursor.u32("samples of option 114")?;
    let echoes = cursor.u32("echoes of option 114")?;
    let no_room = cursor.u32("segments without room for option 114")?;
    let off = match cursor.u8("why option 114 is off")? {
        0 => None,
        1 => Some(OptionOff::Timeout),
        found => {
            return Err(DecodeError::Kind {
                what: "why option 114 is off",
                found,
                expected: "0 or 1",
            });
        }
    };
    let hop = cursor.u8("worst hop")?;
    if hop > MOST_HOP {
        return Err(DecodeError::Kind {
            what: "worst hop",
            found: hop,
            expected: "0 to 15",
        });
    }
    let bits = cursor.u8("figures of the worst hop")?;
    let unknown = if hop == 0 { bits } else { bits & !has::ALL };
    cursor.check("unknown figures of the worst hop", 1, unknown.into(), 0)?;
    let reserved = cursor.u8("reserved byte of option 114")?;
    cursor.check("reserved byte of option 114", 1, reserved.into(), 0)?;
    let sample = WorstHop {
        hop,
        link_gbit_s: word_if(cursor, bits & has::LINK != 0, "speed of the worst link")?,
        queue_bytes: word_if(cursor, bits & has::QUEUE != 0, "longest queue")?,
        free_gbit_s: word_if(cursor, bits & has::FREE != 0, "least free bandwidth")?,
        latency_ns: cursor.u64("latency of all hops")?,
    };
    let age_ns = cursor.u64("age of the worst sample")?;
    Ok(OptionFigures {
        requests,
        samples,
        echoes,
        no_room,
        off,
        worst: (hop != 0).then_some(WorstSample {
            sample,
            age_ns,
            node: None,
        }),
    })
}

pub(super) fn emit(option: &OptionFigures, out: &mut Vec<u8>) {
    for count in [
        option.requests,
        option.samples,
        option.echoes,
        option.no_room,
    ] {
        out.extend(count.to_be_bytes());
    }
    let worst = option.worst.as_ref();
    let sample = worst.map(|worst| worst.sample);
    let figures = [
        (has::LINK, sample.and_then(|sample| sample.link_gbit_s)),
        (has::QUEUE, sample.and_then(|sample| sample.queue_bytes)),
        (has::FREE, sample.and_then(|sample| sample.free_gbit_s)),
    ];
    let set = figures.iter().filter(|(_, figure)| figure.is_some());
    let off = match option.off {
        None => 0,
        Some(OptionOff::Timeout) => 1,
    };
    out.extend([
        off,
        sample.map_or(0, |sample| sample.hop),
        set.fold(0, |bits, (bit, _)| bits | bit),
        0,
    ]);
    for (_, figure) in figures {
        out.extend(figure.unwrap_or_default().to_be_bytes());
    }
    out.extend(sample.map_or(0, |sample| sample.latency_ns).to_be_bytes());
    out.extend(worst.map_or(0, |worst| worst.age_ns).to_be_bytes());
}
