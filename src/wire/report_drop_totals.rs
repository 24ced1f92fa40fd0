//! hostint's report of all packets that a host dropped (NProto 15, sub-kind 5). It is about no packet, and has no number:
//! it repeats sums.

use super::cursor::Cursor;
use super::error::DecodeError;
use super::report_framed;
use super::report_header::HEADER_BYTES;
use super::report_host_drop::{count, emit_count, position};
use super::report_names::{MOST_NAME, emit_name, name};
use super::summary_totals::MOST_SUMMARY_BYTES;
use crate::model::drop_totals_report::{DropSubject, DropSum, DropTotalsReport};
use crate::model::{KernelReason, NodeId};

const SUB_KIND: u8 = 5;

const IGNORED: u8 = 1;
const WITHOUT_PACKET: u8 = 2;
const TAGGED: u8 = 4;
const FLAGS: u8 = IGNORED | WITHOUT_PACKET | TAGGED;

/// Bytes before the sums, the frame included.
const FIXED_BYTES: usize = HEADER_BYTES + 4 + 4 + 2 + 2 + 8;
/// Bytes of a sum without names, and of the lengths of these.
const SUM_BYTES: usize = 4 + 3 * 4 + 3 * 8 + 3;

/// True for a datagram that announces such sums.
pub(super) fn is_one(datagram: &[u8]) -> bool {
    report_framed::announces(datagram, SUB_KIND)
}

/// Reads a whole datagram. What follows the sums is left for later versions.
pub(super) fn decode(datagram: &[u8]) -> Result<DropTotalsReport, DecodeError> {
    let (_, mut cursor) = report_framed::open(datagram)?;
    let node = NodeId(cursor.u32("node ID")?);
    let period_s = cursor.u16("period of the sums")?;
    let sums = cursor.u16("number of sums")?;
    let epoch_ns = cursor.u64("time that the counts begin")?;
    // Each sum has some bytes, so the datagram bounds them.
    let sums = (0..sums)
        .map(|_| sum(&mut cursor))
        .collect::<Result<_, _>>()?;
    Ok(DropTotalsReport {
        node,
        period_s,
        epoch_ns,
        sums,
    })
}

fn sum(cursor: &mut Cursor<'_>) -> Result<DropSum, DecodeError> {
    let flags = cursor.u8("flags of a sum")?;
    cursor.check("unknown flags of a sum", 1, (flags & !FLAGS).into(), 0)?;
    let position = position(cursor)?;
    let reserved = cursor.u16("reserved bytes of a sum")?;
    cursor.check("reserved bytes of a sum", 2, reserved.into(), 0)?;
    let number = cursor.u32("number of the reason")?;
    let netns = cursor.u32("network namespace")?;
    let source = NodeId(cursor.u32("source node ID")?);
    let count = count(cursor)?;
    Ok(DropSum {
        subject: DropSubject {
            reason: KernelReason {
                number,
                name: name(cursor, "name of the reason")?,
            },
            place: name(cursor, "place of the drops")?,
            interface: name(cursor, "name of the interface")?,
            netns,
            position,
            tagged_by: (flags & TAGGED != 0).then_some(source),
            ignored: flags & IGNORED != 0,
            without_packet: flags & WITHOUT_PACKET != 0,
        },
        count,
    })
}

fn bytes_of(sum: &DropSum) -> usize {
    let subject = &sum.subject;
    let names = [&subject.reason.name, &subject.place, &subject.interface];
    let lengths = names
        .iter()
        .map(|name| name.as_ref().map_or(0, String::len));
    SUM_BYTES + lengths.map(|length| length.min(MOST_NAME)).sum::<usize>()
}

/// Splits a report into parts that fit into a datagram each. One without sums says that nothing changed.
pub fn parts(report: &DropTotalsReport) -> Vec<DropTotalsReport> {
    let (first, rest) = report.sums.split_at(report.sums.len().min(1));
    let mut parts = vec![DropTotalsReport {
        sums: first.to_vec(),
        ..report.clone()
    }];
    let mut used = FIXED_BYTES + first.iter().map(bytes_of).sum::<usize>();
    for one in rest {
        let bytes = bytes_of(one);
        match parts.last_mut() {
            Some(part) if used + bytes <= MOST_SUMMARY_BYTES => {
                part.sums.push(one.clone());
                used += bytes;
            }
            _ => {
                used = FIXED_BYTES + bytes;
                parts.push(DropTotalsReport {
                    sums: vec![one.clone()],
                    ..report.clone()
                });
            }
        }
    }
    parts
}

/// Appends the datagram of a part, which has the number 0 because it is none of the reports.
pub fn emit(report: &DropTotalsReport, time_s: u32, out: &mut Vec<u8>) {
    let mut content = Vec::new();
    content.extend(report.node.0.to_be_bytes());
    content.extend(report.period_s.to_be_bytes());
    // A part has fewer than a hundred sums.
    content.extend((report.sums.len() as u16).to_be_bytes());
    content.extend(report.epoch_ns.to_be_bytes());
    for DropSum { subject, count } in &report.sums {
        let mut flags = 0;
        for (set, flag) in [
            (subject.ignored, IGNORED),
            (subject.without_packet, WITHOUT_PACKET),
            (subject.tagged_by.is_some(), TAGGED),
        ] {
            if set {
                flags |= flag;
            }
        }
        content.extend([flags, subject.position.number(), 0, 0]);
        let source = subject.tagged_by.unwrap_or(NodeId(0));
        for word in [subject.reason.number, subject.netns, source.0] {
            content.extend(word.to_be_bytes());
        }
        emit_count(*count, &mut content);
        for name in [&subject.reason.name, &subject.place, &subject.interface] {
            emit_name(name.as_deref(), &mut content);
        }
    }
    report_framed::emit_unnumbered(SUB_KIND, time_s, &content, out);
}
