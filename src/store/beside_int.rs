//! What INT counted of a connection's segments while it lived.

use rusqlite::Connection;

use super::bounds::signed;
use super::drop_answers::dropped_behind_strip;
use super::ids::name_bytes;
use super::period::RollUpTable;
use super::plan::Horizons;
use super::rows::rows_of_one;
use super::sums::Sums;
use crate::model::{BesideInt, BesideIntUnknown, ConnectionFigures, NodeId, Span};

const SECOND: u64 = 1_000_000_000;

/// INT's counts of the last packets arrive within this time after the end.
const COUNTED_WITHIN_NS: u64 = 60 * SECOND;

/// Old counts are kept by the hour, so another connection of this time may be among them.
const APART_NS: u64 = 3600 * SECOND;

/// Compares a connection that lived in this time with the flows that INT measured of its segments.
pub fn beside_int(
    conn: &Connection,
    known: &ConnectionFigures,
    flows: &[(i64, NodeId)],
    lived: Span,
) -> rusqlite::Result<BesideInt> {
    let unknown = |unknown| Ok(BesideInt::Unknown { unknown });
    if let Some(reason) = known.not_whole() {
        return unknown(reason);
    }
    let (id, sink) = match flows {
        [] => return unknown(BesideIntUnknown::NotMeasured),
        [one] => *one,
        _ => return unknown(BesideIntUnknown::OtherPackets),
    };
    let counted = Span {
        since_ns: lived.since_ns.saturating_sub(10 * SECOND),
        until_ns: lived.until_ns.saturating_add(COUNTED_WITHIN_NS),
    };
    if has_others(conn, known, counted)? {
        return unknown(BesideIntUnknown::OtherPackets);
    }
    let mut sums = Sums::default();
    let segments = Horizons::read(conn, RollUpTable::Flow)?.of_one(counted);
    rows_of_one(conn, (RollUpTable::Flow, id), &segments, |_, row| {
        sums.merge(row)
    })?;
    let flow = known.connection.sample.flow;
    let dropped = dropped_behind_strip(conn, &flow, (known.node, sink), counted)?;
    Ok(known.beside(&sums.measured, dropped))
}

/// True if INT's counts may have packets of another connection of the same addresses and ports.
fn has_others(
    conn: &Connection,
    known: &ConnectionFigures,
    counted: Span,
) -> rusqlite::Result<bool> {
    let connection = &known.connection;
    let flow = name_bytes(&(connection.sample.flow.without_vlans(), None, None));
    let mut ask = conn.prepare_cached(
        "SELECT count(*) FROM tcp_connection
         WHERE flow = ? AND node = ? AND id <> ? AND last_ns >= ? AND first_ns < ?",
    )?;
    let others: i64 = ask.query_row(
        (
            flow,
            i64::from(known.node.0),
            signed(connection.id),
            signed(counted.since_ns.saturating_sub(APART_NS)),
            signed(counted.until_ns.saturating_add(APART_NS)),
        ),
        |row| row.get(0),
    )?;
    Ok(others > 0)
}
