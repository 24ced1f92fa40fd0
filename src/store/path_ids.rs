//! The ids of paths in the store, and the subjects of roll-ups that they are part of.

use std::collections::HashMap;

use rusqlite::{Connection, OptionalExtension};

use super::bounds::signed;
use super::period::{MAX_SUBJECT, RollUpLevel};
use crate::model::{MOST_TRANSIT_HOPS, Path};

/// The bits of a subject that name the segment: the whole path, then its segments.
pub(super) const PLACE_BITS: u32 = 6;

/// Added to the place of a segment whose times are those of all packets.
pub(super) const ALL_PACKETS: i64 = 1 << (PLACE_BITS - 1);

/// The place of the queue behind the first hop, which is that of no segment.
pub(super) const FIRST_QUEUE: i64 = 2 * MOST_TRANSIT_HOPS as i64 + 2;

// There is room for the queues of all hops.
const _: () = assert!(FIRST_QUEUE + MOST_TRANSIT_HOPS as i64 <= ALL_PACKETS);

/// The most ids that are remembered. More are looked up again.
const MOST_KNOWN: usize = 1 << 16;

/// The subject of all packets of a path.
pub(super) fn all_packets_of(id: i64) -> i64 {
    id << PLACE_BITS | ALL_PACKETS
}

/// The subject of all packets of a path at a place.
pub(super) fn packets_of_place(id: i64, place: i64) -> i64 {
    all_packets_of(id) | place
}

#[derive(Debug)]
struct StoredPath {
    id: i64,
    until_ns: u64,
}

/// The ids of paths that were looked up.
#[derive(Debug, Default)]
pub struct PathIds(HashMap<(i64, Vec<u8>), StoredPath>);

impl PathIds {
    /// Returns the id of a path that was seen in these ten seconds, or `None` if the store has too many.
    pub(super) fn id(
        &mut self,
        conn: &Connection,
        flow: i64,
        path: &Path,
        begin_ns: u64,
    ) -> rusqlite::Result<Option<i64>> {
        let until_ns = begin_ns.saturating_add(RollUpLevel::TenSeconds.ns());
        if self.0.len() >= MOST_KNOWN {
            self.0.clear();
        }
        let key = (flow, path.to_bytes());
        let known = match self.0.get_mut(&key) {
            Some(known) => known,
            None => {
                let found = look_up(conn, flow, path, &key.1, (begin_ns, until_ns))?;
                self.0.entry(key).or_insert(found)
            }
        };
        if known.until_ns < until_ns {
            known.until_ns = until_ns;
            conn.prepare_cached("UPDATE path SET until_ns = ? WHERE id = ?")?
                .execute((signed(until_ns), known.id))?;
        }
        Ok(Some(known.id).filter(|id| *id <= MAX_SUBJECT >> PLACE_BITS))
    }
}

fn look_up(
    conn: &Connection,
    flow: i64,
    path: &Path,
    way: &[u8],
    (first_ns, until_ns): (u64, u64),
) -> rusqlite::Result<StoredPath> {
    let mut find =
        conn.prepare_cached("SELECT id, until_ns FROM path WHERE flow = ? AND way = ?")?;
    let found = find.query_row((flow, way), |row| {
        Ok(StoredPath {
            id: row.get(0)?,
            until_ns: row.get::<_, i64>(1)? as u64,
        })
    });
    if let Some(found) = found.optional()? {
        return Ok(found);
    }
    let id = conn
        .prepare_cached(
            "INSERT INTO path (flow, source, sink, way, first_ns, until_ns) VALUES (?, ?, ?, ?, ?, ?)",
        )?
        .insert((
            flow,
            path.source.node.0,
            path.sink.node.0,
            way,
            signed(first_ns),
            signed(until_ns),
        ))?;
    Ok(StoredPath { id, until_ns })
}
