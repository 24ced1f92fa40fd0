//! Answers about the pods and containers that miss packets which their hosts dropped.

use rusqlite::Connection;

use super::bounds::{has_table, touched};
use super::drop_columns::{COUNTS, count, text};
use crate::model::{DropFigures, DropQuery, NodeId, Span};

/// The sums by pod and reason, most packets first.
pub fn figures(
    conn: &Connection,
    query: &DropQuery,
    span: Span,
) -> rusqlite::Result<Vec<DropFigures>> {
    // The table is younger than the others.
    if !has_table(conn, "drop_pod")? {
        return Ok(Vec::new());
    }
    let [since, until] = touched(span);
    let node = query.node.map_or(-1, |node| i64::from(node.0));
    let limit = i64::try_from(query.limit).unwrap_or(i64::MAX);
    let mut ask = conn.prepare_cached(&format!(
        "SELECT node, pod, reason, {COUNTS} FROM drop_pod
         WHERE begin_ns >= ? AND begin_ns < ? AND ? IN (-1, node)
         GROUP BY 1, 2, 3 ORDER BY 4 DESC, 2, 3 LIMIT ?"
    ))?;
    let rows = ask.query_map([since, until, node, limit], |row| {
        Ok(DropFigures {
            node: u32::try_from(row.get::<_, i64>(0)?).ok().map(NodeId),
            pod: text(row, 1)?,
            reason: text(row, 2)?,
            count: count(row, 3)?,
            ..DropFigures::default()
        })
    })?;
    rows.collect()
}
