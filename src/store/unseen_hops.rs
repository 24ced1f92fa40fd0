//! The routers on wires of paths that pushed no entry.

use rusqlite::Connection;

use crate::model::{Path, PathFigures};

/// Their table: the numbers as packets told them last by their TTL.
pub const TABLE: &str = "path_unseen (
     path INTEGER NOT NULL,
     place INTEGER NOT NULL,
     routers INTEGER NOT NULL,
     PRIMARY KEY (path, place)
 ) WITHOUT ROWID";

/// Notes the numbers of a path, by the places of its wires.
pub fn set(conn: &Connection, path: i64, unseen: &[(u8, u8)]) -> rusqlite::Result<()> {
    let mut put = conn.prepare_cached("INSERT OR REPLACE INTO path_unseen VALUES (?, ?, ?)")?;
    for (place, routers) in unseen {
        put.execute((path, place, routers))?;
    }
    Ok(())
}

/// Forgets those of paths that were last seen before a time.
pub fn forget(conn: &Connection, before_ns: i64) -> rusqlite::Result<()> {
    conn.execute(
        "DELETE FROM path_unseen WHERE path IN (SELECT id FROM path WHERE until_ns <= ?)",
        [before_ns],
    )?;
    Ok(())
}

/// Gives each wire the number of routers that pushed no entry, as packets of the pair told it.
pub fn join(
    conn: &Connection,
    paths: &mut [PathFigures],
    ways: &[(i64, Path)],
) -> rusqlite::Result<()> {
    let mut ask = conn.prepare_cached("SELECT place, routers FROM path_unseen WHERE path = ?")?;
    for path in paths {
        let known = ways.iter().find(|(_, way)| *way == path.path);
        let Some((id, _)) = known else { continue };
        let mut rows = ask.query([id])?;
        while let Some(row) = rows.next()? {
            let at = usize::from(row.get::<_, u8>(0)?).wrapping_sub(1);
            if let Some(segment) = path.segments.get_mut(at) {
                segment.unseen_hops = Some(row.get(1)?);
            }
        }
    }
    Ok(())
}
