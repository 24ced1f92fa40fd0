//! A model of a hop that fills in TCP option 114: the option is found from the first byte on, and all sums are made anew.

use super::{TCP, layout};
use crate::checksum::{complement, pseudo_header, put16, sum};

const KIND: u8 = 114;
const LEN: usize = 12;
const SYN_OR_RST: u8 = 0x06;

/// What a hop finds in a packet.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Found {
    /// Nothing that is of its concern.
    Nothing,
    /// Options that do not fit.
    Malformed,
    /// The option in a segment without data.
    NoData,
    /// A request, whose first byte is here.
    Request(usize),
}

/// What a hop has to say.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct LoggedLease {
    /// `None`: the hop knows neither its queue nor its free bandwidth.
    pub value: Option<u8>,
    /// In units of 256 ns.
    pub latency: u32,
    pub speed_code: u8,
}

/// Goes over the options one after the other.
fn place(options: &[u8]) -> Result<Option<usize>, ()> {
    let mut at = 0;
    while let Some(kind) = options.get(at) {
        match kind {
            // MD5 and TCP-AO sign what follows, too.
            0 | 19 | 29 => return Ok(None),
            1 => at += 1,
            kind => {
                let len = usize::from(*options.get(at + 1).ok_or(())?);
                if len < 2 || at + len > options.len() {
                    return Err(());
                }
                if *kind == KIND {
                    return if len == LEN { Ok(Some(at)) } else { Err(()) };
                }
                at += len;
            }
        }
    }
    Ok(None)
}

/// Looks for a request. A superpacket is as long as its frame.
pub fn find(frame: &[u8], is_superpacket: bool) -> Found {
    let Ok(at) = layout::find(frame) else {
        return Found::Nothing;
    };
    if at.protocol != TCP || at.later_fragment || frame.len() < at.l4 + 20 {
        return Found::Nothing;
    }
    let header = usize::from(frame[at.l4 + 12] >> 4) * 4;
    if frame[at.l4 + 13] & SYN_OR_RST != 0 || header < 20 + LEN {
        return Found::Nothing;
    }
    let Some(options) = frame.get(at.l4 + 20..at.l4 + header) else {
        return Found::Nothing;
    };
    let there = frame.len() - at.l3;
    let len = if is_superpacket { there } else { at.ip_len };
    let headers = at.header_len() + header;
    match place(options) {
        Ok(None) => Found::Nothing,
        Err(()) => Found::Malformed,
        Ok(Some(_)) if len > there || len < headers => Found::Malformed,
        Ok(Some(_)) if len == headers => Found::NoData,
        Ok(Some(place)) => Found::Request(at.l4 + 20 + place),
    }
}

/// Fills in the request at this place of a frame whose checksum is right.
pub fn fill(frame: &[u8], option: usize, said: &LoggedLease) -> Vec<u8> {
    let at = layout::find(frame).expect("a request");
    let ttl = frame[at.l3 + if at.v6 { 7 } else { 8 }];
    let mut frame = frame.to_vec();
    let it = &mut frame[option..option + LEN];
    let before = u32::from_be_bytes([0, it[5], it[6], it[7]]);
    let latency = (before + said.latency).min(0x00ff_ffff).to_be_bytes();
    it[5..8].copy_from_slice(&latency[1..]);
    if let Some(value) = said.value
        && (value > it[3] || it[4] == 0)
    {
        it[2] = it[2] & 0xf0 | said.speed_code;
        it[3] = value;
        it[4] = ttl;
    }
    let end = at.l3 + at.ip_len;
    put16(&mut frame, at.l4 + 16, 0);
    let segment = &frame[at.l4..end];
    let pseudo = pseudo_header(&frame[at.addresses()], TCP, segment.len());
    let check = complement(pseudo + sum(segment));
    put16(&mut frame, at.l4 + 16, check);
    frame
}
