//! hostint's report about all packets of a class from a source node: group-summary (NProto 14).

use super::class_name;
use super::cursor::Cursor;
use super::error::DecodeError;
use super::report_header::HEADER_BYTES;
use super::summary_totals::{decode_totals, emit_totals};
use crate::model::{FlowSquares, MOST_CLASS_BYTES, NodeId, SubjectTotals, Summary, SummarySubject};

/// Reads a whole datagram whose fixed header announces a group-summary report.
pub(super) fn decode(datagram: &[u8], time_s: u32) -> Result<Summary, DecodeError> {
    let mut cursor = Cursor::new(datagram);
    cursor.array::<HEADER_BYTES>("report header")?;
    let source_node = NodeId(cursor.u32("source node ID")?);
    let sink_node = NodeId(cursor.u32("sink node ID")?);
    let length = cursor.u8("length of the class")?;
    let class = class_name::take(&mut cursor, length)?;
    let squares = decode_squares(&mut cursor)?;
    let (period_ns, totals) = decode_totals(&mut cursor, "group-summary report")?;
    Ok(Summary {
        time_s,
        period_ns,
        source_node,
        sink_node,
        subject: SummarySubject::Group { class },
        totals: SubjectTotals { squares, ..totals },
    })
}

fn decode_squares(cursor: &mut Cursor<'_>) -> Result<FlowSquares, DecodeError> {
    let mut squares = [0; 3];
    for sum in &mut squares {
        *sum = i128::from_be_bytes(cursor.array("sum of squares of flows")?);
    }
    Ok(FlowSquares::from_all(squares))
}

/// A class with a longer name is reported as none.
pub(super) fn emit(summary: &Summary, class: Option<&str>, out: &mut Vec<u8>) {
    for node in [summary.source_node, summary.sink_node] {
        out.extend(node.0.to_be_bytes());
    }
    let class = class.filter(|class| class.len() <= MOST_CLASS_BYTES);
    let class = class.unwrap_or_default();
    out.push(class.len() as u8);
    out.extend(class.as_bytes());
    for sum in summary.totals.squares.all() {
        out.extend(sum.to_be_bytes());
    }
    emit_totals(summary, out);
}
