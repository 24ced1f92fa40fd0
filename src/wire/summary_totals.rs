//! The totals of summaries and their distribution of latencies, the same in each kind of report; and their parts.

use super::cursor::Cursor;
use super::error::DecodeError;
use crate::model::{
    LatencyHistogram, LatencyResolution, SlotRange, SubjectTotals, Summary, SummarySubject,
};

/// Most bytes of a report in parts: an IPv6 packet of 1280 bytes, which every network takes, less its headers.
pub const MOST_SUMMARY_BYTES: usize = 1232;

/// Bytes of a report of a flow without slots. One of a group without class and slots has fewer.
const FIXED_BYTES: usize = 12 + 16 + 44 + 11 * 8 + DISTRIBUTION_BYTES;
const DISTRIBUTION_BYTES: usize = 8 + 5 * 8;

/// Reads the period and the totals, up to the end of the datagram.
pub(super) fn decode_totals(
    cursor: &mut Cursor<'_>,
    what: &'static str,
) -> Result<(u64, SubjectTotals), DecodeError> {
    let period_ns = cursor.u64("period of summaries")?;
    let mut totals = SubjectTotals {
        epoch_ns: cursor.u64("time that the totals begin")?,
        last_ns: cursor.u64("time of the last packet")?,
        packets: cursor.u64("packets")?,
        bytes: cursor.u64("bytes")?,
        lost: cursor.u64("lost packets")?,
        recovered: cursor.u64("recovered packets")?,
        reordered: cursor.u64("reordered packets")?,
        duplicates: cursor.u64("duplicates")?,
        late: cursor.u64("late packets")?,
        restarts: cursor.u64("restarts")?,
        ..SubjectTotals::default()
    };
    (totals.latency, totals.slots) = decode_distribution(cursor)?;
    if !cursor.rest().is_empty() {
        return Err(DecodeError::Length {
            what,
            found: cursor.offset() + cursor.rest().len(),
            expected: "no bytes behind its slots",
        });
    }
    Ok((period_ns, totals))
}

pub(super) fn emit_totals(summary: &Summary, out: &mut Vec<u8>) {
    let totals = &summary.totals;
    for total in [
        summary.period_ns,
        totals.epoch_ns,
        totals.last_ns,
        totals.packets,
        totals.bytes,
        totals.lost,
        totals.recovered,
        totals.reordered,
        totals.duplicates,
        totals.late,
        totals.restarts,
    ] {
        out.extend(total.to_be_bytes());
    }
    emit_distribution(&totals.latency, totals.slots, out);
}

pub(super) fn decode_distribution(
    cursor: &mut Cursor<'_>,
) -> Result<(LatencyHistogram, SlotRange), DecodeError> {
    let begin = cursor.offset();
    let steps = cursor.u8("latency slots for each power of two")?;
    let resolution = LatencyResolution::from_steps(steps).ok_or(DecodeError::Kind {
        what: "latency slots for each power of two",
        found: steps,
        expected: "1, 8 or 32",
    })?;
    cursor.expect_u8("reserved byte of a distribution", 0)?;
    let range = SlotRange {
        from: cursor.u16("first latency slot")?.cast_signed(),
        to: cursor.u16("end of the latency slots")?.cast_signed(),
    };
    let pairs = cursor.u16("number of latency slots")?;
    let samples = cursor.u64("number of latencies")?;
    let sum = i128::from_be_bytes(cursor.array("sum of latencies")?);
    let least = cursor.u64("least latency")?.cast_signed();
    let greatest = cursor.u64("greatest latency")?.cast_signed();
    let mut slots = Vec::new();
    let mut before = range.from;
    for _ in 0..pairs {
        let ahead = cursor.varint("latency slot")?;
        let slot = i16::try_from(ahead)
            .ok()
            .and_then(|ahead| before.checked_add(ahead));
        let slot = slot.ok_or(DecodeError::Histogram { offset: begin })?;
        slots.push((slot, cursor.varint("count of a latency slot")?));
        before = slot;
    }
    let whole = (resolution, samples, sum, (least, greatest));
    LatencyHistogram::of_part(whole, slots, range)
        .map(|latency| (latency, range))
        .map_err(|_| DecodeError::Histogram { offset: begin })
}

pub(super) fn emit_distribution(latency: &LatencyHistogram, range: SlotRange, out: &mut Vec<u8>) {
    let (least, greatest) = latency.ends().unwrap_or_default();
    let slots = latency.numbered_slots();
    out.extend([latency.resolution().steps(), 0]);
    out.extend(range.from.to_be_bytes());
    out.extend(range.to.to_be_bytes());
    // There are fewer than 4000 slots.
    out.extend((slots.len() as u16).to_be_bytes());
    out.extend(latency.samples().to_be_bytes());
    out.extend(latency.whole_sum_ns().to_be_bytes());
    out.extend(least.to_be_bytes());
    out.extend(greatest.to_be_bytes());
    let mut before = range.from;
    for (slot, count) in slots {
        put_varint(slot.abs_diff(before).into(), out);
        put_varint(*count, out);
        before = *slot;
    }
}

/// Appends a number in groups of seven bits, lowest first; the top bit of a byte says that another follows.
fn put_varint(mut value: u64, out: &mut Vec<u8>) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

fn varint_bytes(value: u64) -> usize {
    value.checked_ilog2().unwrap_or(0) as usize / 7 + 1
}

/// Splits a whole summary into parts, each of which fits into a datagram.
pub fn parts(summary: &Summary) -> Vec<Summary> {
    let class = match &summary.subject {
        SummarySubject::Group { class } => class.as_ref().map_or(0, String::len),
        SummarySubject::Flow { .. } => 0,
    };
    let room = MOST_SUMMARY_BYTES.saturating_sub(FIXED_BYTES + class);
    // The first slot of a part is reported by its distance from the part's beginning.
    const FIRST_BYTES: usize = 2;
    let slots = summary.totals.latency.numbered_slots();
    let (mut ends, mut used, mut before) = (Vec::new(), FIRST_BYTES, None);
    for (place, (slot, count)) in slots.iter().enumerate() {
        let ahead = before.map_or(0, |before: i16| slot.abs_diff(before).into());
        let bytes = varint_bytes(ahead) + varint_bytes(*count);
        if used + bytes > room {
            ends.push(place);
            used = FIRST_BYTES;
        }
        used += bytes;
        before = Some(*slot);
    }
    ends.push(slots.len());
    let mut from = 0;
    let of_slots = ends.into_iter().map(|to| {
        let range = SlotRange {
            from: match from {
                0 => SlotRange::ALL.from,
                from => slots[from].0,
            },
            to: slots.get(to).map_or(SlotRange::ALL.to, |slot| slot.0),
        };
        let part = summary.totals.latency.part(from..to);
        from = to;
        Summary {
            totals: SubjectTotals {
                latency: part,
                slots: range,
                ..summary.totals.clone()
            },
            ..summary.clone()
        }
    });
    of_slots.collect()
}
