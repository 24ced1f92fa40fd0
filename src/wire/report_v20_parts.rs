//! Where each individual report of a Telemetry Report v2.0 begins and ends, also if their lengths are wrong.
//!
//! Zeros at the end are padding. A length of 0 of a report that has contents, as published programs for BMv2 and Tofino
//! write it, is read if its packet and nothing else can follow; the packet ends where its IP header says if another report
//! begins there. Where lengths lead into anything else, only the reports before that count.

use super::cursor::Cursor;
use super::error::DecodeError;
use super::metadata_items::{REPORT_V20, words_of};
use crate::model::{FirstHeader, Flags, Quirk};

/// Bits of a group's sequence number.
pub const SEQUENCE_BITS: u32 = 22;

/// Most individual reports in one group: a datagram of the smallest ones would hold 16000.
pub const MAX_REPORTS: usize = 1024;

/// Bytes of a group's header.
pub const GROUP_BYTES: usize = 8;

/// RepType.
pub(super) const INNER_ONLY: u8 = 0;
pub(super) const INT: u8 = 1;
/// The last ones of the standard.
const LAST_TYPE: u8 = 2;
const LAST_INNER_TYPE: u8 = 5;

/// InType: those of packets.
const PACKETS: [(u8, FirstHeader); 3] = [
    (3, FirstHeader::Ethernet),
    (4, FirstHeader::Ipv4),
    (5, FirstHeader::Ipv6),
];
const NO_INNER: u8 = 0;
const TLVS: u8 = 1;
/// Data whose format a domain knows.
const DOMAIN_DATA: u8 = 2;

/// Fixed words after the first word of a report of type INT.
pub(super) const INT_WORDS: usize = 2;
/// A Report Length of this many words or more extends to the datagram's end.
pub(super) const TO_THE_END: u8 = 0xff;

/// What follows a report of length 0 can be read in two ways, or in none.
const TWO_READINGS: DecodeError = DecodeError::Length {
    what: "individual report",
    found: 0,
    expected: "that of its contents, because a packet or further reports can follow",
};
const NO_READING: DecodeError = DecodeError::Length {
    what: "individual report",
    found: 0,
    expected: "that of its contents",
};

/// The first word of an individual report.
#[derive(Clone, Copy, Debug)]
pub(super) struct Head {
    pub(super) report_type: u8,
    pub(super) inner_type: u8,
    pub(super) metadata_words: usize,
    pub(super) flags: Flags,
    words: u8,
}

/// An individual report: what its first word says, and the place of the rest in the datagram.
#[derive(Clone, Copy, Debug)]
pub(super) struct ReportPart {
    pub(super) head: Head,
    pub(super) begin: usize,
    pub(super) end: usize,
    pub(super) quirk: Option<Quirk>,
}

/// Returns the individual reports, and why what is behind them is none.
pub(super) fn parts(datagram: &[u8]) -> (Vec<ReportPart>, Option<DecodeError>) {
    let mut parts = Vec::new();
    let mut offset = GROUP_BYTES;
    let stopped = loop {
        let rest = datagram.get(offset..).unwrap_or_default();
        if !parts.is_empty() && is_padding(rest) {
            break None;
        }
        if parts.len() == MAX_REPORTS {
            break Some(DecodeError::TooMany { limit: MAX_REPORTS });
        }
        match next(datagram, offset) {
            Ok(part) => {
                offset = part.end;
                parts.push(part);
            }
            Err(why) => break Some(why),
        }
    };
    if stopped.is_some() && parts.len() < MAX_REPORTS {
        // A wrong length may lead into a packet, whose bytes can look like reports.
        let mut is_first = true;
        parts.retain(|part| std::mem::take(&mut is_first) || is_certain(datagram, part));
    }
    (parts, stopped)
}

fn is_padding(bytes: &[u8]) -> bool {
    bytes.iter().all(|byte| *byte == 0)
}

/// The individual report at an offset, whose length is right or can be nothing else.
fn next(datagram: &[u8], offset: usize) -> Result<ReportPart, DecodeError> {
    let mut cursor = Cursor::behind(datagram, offset);
    let head = Head::read(&mut cursor)?;
    let begin = cursor.offset();
    if head.says_nothing() {
        return Err(DecodeError::Kind {
            what: "individual report of zeros, with contents behind it: report type (RepType)",
            found: 0,
            expected: "padding at the datagram's end",
        });
    }
    if head.has_nothing() && head.words > 0 {
        return Err(DecodeError::Length {
            what: "individual report without contents",
            found: 4 * usize::from(head.words),
            expected: "0",
        });
    }
    if head.words == 0 && head.least_words() > 0 {
        return without_length(datagram, head, begin);
    }
    let bytes = match head.words {
        TO_THE_END => cursor.rest().len(),
        words => 4 * usize::from(words),
    };
    cursor.take("individual report", bytes)?;
    Ok(ReportPart {
        head,
        begin,
        end: cursor.offset(),
        quirk: None,
    })
}

/// A report that has contents and states a length of 0.
fn without_length(
    datagram: &[u8],
    mut head: Head,
    begin: usize,
) -> Result<ReportPart, DecodeError> {
    let rest = datagram.get(begin..).unwrap_or_default();
    let main_bytes = 4 * head.main_words();
    let mut part = ReportPart {
        head,
        begin,
        end: begin + main_bytes,
        quirk: Some(Quirk::ReportLengthZero),
    };
    let Some(inner) = rest.get(main_bytes..) else {
        return Err(NO_READING);
    };
    if is_padding(inner) {
        return Ok(part);
    }
    let stated = PACKETS.iter().find(|(code, _)| *code == head.inner_type);
    let of_packet = match stated {
        Some((code, first)) if is_packet(*first, inner) => Some(*code),
        Some(_) => {
            let mut others = PACKETS.iter().filter(|(_, first)| is_packet(*first, inner));
            let (one, another) = (others.next(), others.next());
            one.filter(|_| another.is_none()).map(|(code, _)| *code)
        }
        None => Some(TLVS).filter(|tlvs| *tlvs == head.inner_type && are_tlvs(inner)),
    };
    // Main contents are there in any case.
    let are_reports = main_bytes == 0 && are_reports(datagram, begin);
    match (of_packet, are_reports) {
        (Some(code), false) => {
            if code != head.inner_type {
                head.inner_type = code;
                part.quirk = Some(Quirk::ReportInnerType);
            }
            part.head = head;
            let stated = PACKETS.iter().find(|(stated, _)| *stated == code);
            let stated = stated.and_then(|(_, first)| packet_bytes(*first, inner));
            part.end = stated
                .and_then(|bytes| end_before_report(datagram, part.end + bytes))
                .unwrap_or(datagram.len());
            Ok(part)
        }
        (None, true) if head.inner_type != DOMAIN_DATA => Ok(part),
        (_, true) => Err(TWO_READINGS),
        (None, false) => Err(NO_READING),
    }
}

/// True if all lengths from an offset on lead to the end, and all reports there can have them.
fn are_reports(datagram: &[u8], mut offset: usize) -> bool {
    loop {
        let rest = datagram.get(offset..).unwrap_or_default();
        if is_padding(rest) {
            return true;
        }
        let mut cursor = Cursor::behind(datagram, offset);
        let Ok(head) = Head::read(&mut cursor) else {
            return false;
        };
        let is_known = head.report_type <= LAST_TYPE && head.inner_type <= LAST_INNER_TYPE;
        let words = usize::from(head.words);
        let is_enough = words >= head.least_words() && !head.says_nothing();
        let is_enough = is_enough && (words == 0 || !head.has_nothing());
        let bytes = match head.words {
            TO_THE_END => cursor.rest().len(),
            _ => 4 * words,
        };
        if !is_known || !is_enough || cursor.take("individual report", bytes).is_err() {
            return false;
        }
        offset = cursor.offset();
    }
}

/// Returns where a packet ends that ends here by its own header, if another report of a packet begins there, or behind zeros
/// that fill the last word.
fn end_before_report(datagram: &[u8], end: usize) -> Option<usize> {
    let ends = [end, end.next_multiple_of(4)];
    let mut ends = ends.into_iter().filter(|whole| {
        let filled = datagram.get(end..*whole);
        filled.is_some_and(is_padding) && begins_report(datagram, *whole)
    });
    ends.next()
}

/// True if a report of a packet begins here, which that packet bears out.
fn begins_report(datagram: &[u8], offset: usize) -> bool {
    let mut cursor = Cursor::behind(datagram, offset);
    let Ok(head) = Head::read(&mut cursor) else {
        return false;
    };
    let begin = cursor.offset();
    let end = match head.words {
        0 | TO_THE_END => datagram.len(),
        words => begin + 4 * usize::from(words),
    };
    let part = ReportPart {
        head,
        begin,
        end,
        quirk: None,
    };
    is_certain(datagram, &part)
}

/// True if TLVs fill these bytes.
fn are_tlvs(bytes: &[u8]) -> bool {
    let mut cursor = Cursor::new(bytes);
    while let Ok([kind, words, _, _]) = cursor.array("TLV header") {
        if kind >> 4 == 0 || cursor.take("TLV", 4 * usize::from(words)).is_err() {
            return false;
        }
    }
    cursor.rest().is_empty()
}

/// The bytes that a packet has by its IP header.
fn packet_bytes(first: FirstHeader, bytes: &[u8]) -> Option<usize> {
    match (first, bytes) {
        (FirstHeader::Ethernet, _) => {
            let inner = bytes.get(14..)?;
            let first = match *bytes.get(12..)?.first_chunk()? {
                [0x08, 0x00] => FirstHeader::Ipv4,
                [0x86, 0xdd] => FirstHeader::Ipv6,
                _ => return None,
            };
            packet_bytes(first, inner).map(|bytes| 14 + bytes)
        }
        (FirstHeader::Ipv4, [_, _, high, low, ..]) => {
            Some(u16::from_be_bytes([*high, *low]).into())
        }
        (FirstHeader::Ipv6, [_, _, _, _, high, low, ..]) => {
            Some(40 + usize::from(u16::from_be_bytes([*high, *low])))
        }
        _ => None,
    }
}

/// True if the contents of a report are of the types that it states.
fn is_certain(datagram: &[u8], part: &ReportPart) -> bool {
    let Some(bytes) = datagram.get(part.begin..part.end) else {
        return false;
    };
    let head = part.head;
    let Some(inner) = bytes.get(4 * head.main_words()..) else {
        return false;
    };
    let has_bits = match (head.report_type, bytes.first_chunk()) {
        (INT, Some(bits)) => {
            words_of(&REPORT_V20, u16::from_be_bytes(*bits)) <= head.metadata_words
        }
        (INNER_ONLY, _) => head.metadata_words == 0,
        _ => false,
    };
    let packet = PACKETS.iter().find(|(code, _)| *code == head.inner_type);
    has_bits && packet.is_some_and(|(_, first)| is_packet(*first, inner))
}

/// True for bytes that begin with a header of this type, and one of IP behind Ethernet's.
fn is_packet(first: FirstHeader, bytes: &[u8]) -> bool {
    match first {
        FirstHeader::Ethernet => {
            let Some([high, low]) = bytes.get(12..).and_then(<[u8]>::first_chunk) else {
                return false;
            };
            let inner = bytes.get(14..).unwrap_or_default();
            match u16::from_be_bytes([*high, *low]) {
                0x0800 => is_packet(FirstHeader::Ipv4, inner),
                0x86dd => is_packet(FirstHeader::Ipv6, inner),
                // VLAN tags, ARP and MPLS
                0x8100 | 0x88a8 | 0x0806 | 0x8847 | 0x8848 => true,
                _ => false,
            }
        }
        FirstHeader::Ipv4 => match bytes.first_chunk() {
            Some([first, _, high, low]) => {
                let length = usize::from(u16::from_be_bytes([*high, *low]));
                let header = 4 * usize::from(first & 0x0f);
                first >> 4 == 4 && header >= 20 && length >= header && bytes.len() >= 20
            }
            None => false,
        },
        FirstHeader::Ipv6 => bytes.len() >= 40 && bytes.first().is_some_and(|byte| byte >> 4 == 6),
    }
}

impl Head {
    fn read(cursor: &mut Cursor<'_>) -> Result<Self, DecodeError> {
        let [types, words, metadata_words, flags] = cursor.array("individual report header")?;
        Ok(Self {
            report_type: types >> 4,
            inner_type: types & 0x0f,
            metadata_words: metadata_words.into(),
            flags: Flags {
                dropped: flags & 0x80 != 0,
                congested_queue: flags & 0x40 != 0,
                tracked_flow: flags & 0x20 != 0,
                intermediate: flags & 0x10 != 0,
            },
            words,
        })
    }

    /// A word of zeros.
    fn says_nothing(self) -> bool {
        self.has_nothing()
            && self.words == 0
            && self.metadata_words == 0
            && self.flags == Flags::default()
    }

    /// Neither main contents nor inner ones.
    fn has_nothing(self) -> bool {
        (self.report_type, self.inner_type) == (INNER_ONLY, NO_INNER)
    }

    /// The words of the main contents, as far as they have a format.
    fn main_words(self) -> usize {
        match self.report_type {
            INT => INT_WORDS + self.metadata_words,
            _ => 0,
        }
    }

    /// The fewest words that a report of these types has.
    fn least_words(self) -> usize {
        let has_inner = (1..=LAST_INNER_TYPE).contains(&self.inner_type);
        match self.report_type {
            INT => self.main_words() + usize::from(has_inner),
            INNER_ONLY => usize::from(has_inner),
            _ => 0,
        }
    }
}
