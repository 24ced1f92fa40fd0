//! hostint's framed reports (NProto 15): a sub-kind, the length of what follows, and that.

use super::cursor::Cursor;
use super::error::DecodeError;
use super::report_extended::{decode_flow, emit_flow as emit_key};
use super::report_header::HEADER_BYTES;
use super::summary_totals::{decode_totals, emit_totals};
use crate::model::{Body, FlowKey, NodeId, Summary, SummarySubject};

/// A flow's totals, with a distribution of latencies.
const SUB_KIND_FLOW: u8 = 2;

/// The first byte of a framed report of v0.5: version 0 and NProto 15.
const FRAMED: u8 = 15;

/// True for a datagram that announces a framed report of this sub-kind.
pub(super) fn announces(datagram: &[u8], sub_kind: u8) -> bool {
    datagram.first() == Some(&FRAMED) && datagram.get(HEADER_BYTES) == Some(&sub_kind)
}

/// Reads the fixed header and the frame. Returns the sub-kind, and a cursor at the content, which fills the datagram.
pub(super) fn open(datagram: &[u8]) -> Result<(u8, Cursor<'_>), DecodeError> {
    let mut cursor = Cursor::new(datagram);
    cursor.array::<HEADER_BYTES>("report header")?;
    let sub_kind = cursor.u8("sub-kind of a framed report")?;
    cursor.expect_u8("reserved byte of a framed report", 0)?;
    let length = cursor.u16("length of a framed report")?;
    if usize::from(length) != cursor.rest().len() {
        return Err(DecodeError::Length {
            what: "content of a framed report",
            found: cursor.rest().len(),
            expected: "the number in its frame",
        });
    }
    Ok((sub_kind, cursor))
}

/// Reads a whole datagram whose fixed header announces a framed report.
pub(super) fn decode(datagram: &[u8], time_s: u32) -> Result<Body, DecodeError> {
    let (sub_kind, mut cursor) = open(datagram)?;
    match sub_kind {
        SUB_KIND_FLOW => Ok(Body::Summary(Box::new(flow_summary(&mut cursor, time_s)?))),
        found => Err(DecodeError::Kind {
            what: "sub-kind of a framed report",
            found,
            expected: "2",
        }),
    }
}

fn flow_summary(cursor: &mut Cursor<'_>, time_s: u32) -> Result<Summary, DecodeError> {
    let source_node = NodeId(cursor.u32("source node ID")?);
    let sink_node = NodeId(cursor.u32("sink node ID")?);
    let (source_port, sink_port) = (cursor.u16("source port")?, cursor.u16("sink port")?);
    let (flow, _) = decode_flow(cursor, 0)?;
    let (period_ns, totals) = decode_totals(cursor, "flow-summary report")?;
    Ok(Summary {
        time_s,
        period_ns,
        source_node,
        sink_node,
        subject: SummarySubject::Flow {
            flow,
            source_port,
            sink_port,
        },
        totals,
    })
}

/// Appends the frame of a flow's summary.
pub(super) fn emit_flow(
    summary: &Summary,
    flow: &FlowKey,
    (source_port, sink_port): (u16, u16),
    out: &mut Vec<u8>,
) {
    framed(SUB_KIND_FLOW, out, |out| {
        for node in [summary.source_node, summary.sink_node] {
            out.extend(node.0.to_be_bytes());
        }
        for port in [source_port, sink_port] {
            out.extend(port.to_be_bytes());
        }
        emit_key(flow, 0, out);
        emit_totals(summary, out);
    });
}

/// Appends a whole datagram that is about no packet, and has the number 0 because it is none of the reports.
pub(super) fn emit_unnumbered(sub_kind: u8, time_s: u32, content: &[u8], out: &mut Vec<u8>) {
    out.extend([FRAMED, 0, 0, 0]);
    out.extend(0u32.to_be_bytes());
    out.extend(time_s.to_be_bytes());
    framed(sub_kind, out, |out| out.extend(content));
}

/// Appends a frame around what `content` appends.
fn framed(sub_kind: u8, out: &mut Vec<u8>, content: impl FnOnce(&mut Vec<u8>)) {
    out.extend([sub_kind, 0, 0, 0]);
    let begin = out.len();
    content(out);
    // Reports are split below a datagram's size, so the length fits.
    let length = (out.len() - begin) as u16;
    if let Some(field) = out.get_mut(begin - 2..begin) {
        field.copy_from_slice(&length.to_be_bytes());
    }
}
