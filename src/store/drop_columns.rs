//! The columns that tables of drops have in common.

use rusqlite::Row;

use super::ids::{name_bytes, name_of};
use crate::model::{DropCount, FlowKey, TunnelId, TunnelKind};

/// The bytes of a tunnel behind those of a flow inside: its kind and its number.
const TUNNEL_BYTES: usize = 5;

/// A flow as a key. Without a tunnel it is the key of a flow of which no node is known.
pub fn flow_bytes(flow: &FlowKey, tunnel: Option<TunnelId>) -> Vec<u8> {
    let mut bytes = name_bytes(&(*flow, None, None));
    if let Some(TunnelId { kind, id }) = tunnel {
        bytes.push(kind.number());
        bytes.extend(id.to_be_bytes());
    }
    bytes
}

/// The flow of a key, and its tunnel.
pub fn flow_of(bytes: &[u8]) -> Option<(FlowKey, Option<TunnelId>)> {
    if let Some((flow, ..)) = name_of(bytes) {
        return Some((flow, None));
    }
    let (flow, tunnel) = bytes.split_last_chunk::<TUNNEL_BYTES>()?;
    let [kind, id @ ..] = *tunnel;
    let tunnel = TunnelId {
        kind: TunnelKind::from_number(kind)?,
        id: u32::from_be_bytes(id),
    };
    Some((name_of(flow)?.0, Some(tunnel)))
}

/// The sums over a column of counts. They end at the greatest number, because hosts may tell anything.
pub const COUNTS: &str =
    "CAST(min(total(packets), 9e18) AS INTEGER), CAST(min(total(segments), 9e18) AS INTEGER),
     CAST(min(total(bytes), 9e18) AS INTEGER)";

pub fn count(row: &Row<'_>, at: usize) -> rusqlite::Result<DropCount> {
    let number = |at| row.get::<_, i64>(at).map(i64::unsigned_abs);
    Ok(DropCount {
        packets: number(at)?,
        segments: number(at + 1)?,
        bytes: number(at + 2)?,
    })
}

pub fn text(row: &Row<'_>, at: usize) -> rusqlite::Result<Option<String>> {
    let text: String = row.get(at)?;
    Ok(Some(text).filter(|text| !text.is_empty()))
}
