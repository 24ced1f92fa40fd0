//! The table of the worst hops of TCP connections, by what option 114 told in each period, and answers about them.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use rusqlite::{Connection, Row, Transaction};

use super::bounds::{BoundedTable, MOST_WAITING, number, signed, touched};
use crate::model::{NodeId, Span, TcpHop, TcpHops, TcpReport, WorstHop};

pub const TABLE: BoundedTable = BoundedTable::by_begin("tcp_hop");

/// A host, its number of a connection, and the beginning of a period.
type HopKey = (NodeId, u64, u64);

/// The worst hop of a connection in a period, and the node that it is.
type TcpWorst = (WorstHop, Option<NodeId>);

/// Worst hops, until they are written.
#[derive(Debug, Default)]
pub struct WaitingTcpHops(HashMap<HopKey, TcpWorst>);

impl WaitingTcpHops {
    pub fn add(&mut self, node: NodeId, reported: &TcpReport, begin_ns: u64) {
        let option = reported.sample.option.as_ref();
        if let Some(worst) = option.and_then(|option| option.worst.as_ref()) {
            self.keep((node, reported.id, begin_ns), (worst.sample, worst.node));
        }
    }

    /// Adds older ones that could not be written.
    pub fn merge(&mut self, older: Self) {
        for (key, worst) in older.0 {
            self.keep(key, worst);
        }
    }

    pub fn len(&self) -> usize {
        self.0.len()
    }

    fn keep(&mut self, key: HopKey, worst: TcpWorst) {
        let is_full = self.0.len() >= MOST_WAITING;
        match self.0.entry(key) {
            Entry::Occupied(mut known) if worst.0.is_worse_than(&known.get().0) => {
                known.insert(worst);
            }
            Entry::Vacant(place) if !is_full => {
                place.insert(worst);
            }
            Entry::Occupied(_) | Entry::Vacant(_) => {}
        }
    }

    pub fn write(&self, transaction: &Transaction<'_>) -> rusqlite::Result<()> {
        let mut put = transaction.prepare_cached(
            "INSERT INTO tcp_hop VALUES (?, ?, ?, ?, ?, ?, ?, ?)
             ON CONFLICT DO UPDATE SET hop_node = excluded.hop_node, hop = excluded.hop, value = excluded.value,
                 link = excluded.link, latency_ns = excluded.latency_ns
             WHERE (excluded.value, excluded.latency_ns) > (value, latency_ns)",
        )?;
        for ((node, id, begin_ns), (worst, hop_node)) in &self.0 {
            put.execute(rusqlite::params![
                signed(*begin_ns),
                i64::from(node.0),
                signed(*id),
                hop_node.map(|node| node.0),
                worst.hop,
                worst.value(),
                worst.link_gbit_s,
                signed(worst.latency_ns),
            ])?;
        }
        Ok(())
    }
}

pub fn create(conn: &Connection) -> rusqlite::Result<()> {
    conn.execute_batch(
        "CREATE TABLE IF NOT EXISTS tcp_hop (
             begin_ns INTEGER NOT NULL,
             node INTEGER NOT NULL,
             id INTEGER NOT NULL,
             hop_node INTEGER,
             hop INTEGER NOT NULL,
             value INTEGER NOT NULL,
             link INTEGER,
             latency_ns INTEGER NOT NULL,
             PRIMARY KEY (begin_ns, node, id)
         ) WITHOUT ROWID;",
    )
}

fn hop_of(row: &Row<'_>) -> rusqlite::Result<TcpHop> {
    let hop = row.get(1)?;
    Ok(TcpHop {
        node: row.get::<_, Option<u32>>(0)?.map(NodeId),
        hop,
        connections: number(row, 2)?,
        first_ns: number(row, 3)?,
        last_ns: number(row, 4)?,
        worst: WorstHop::from_value(row.get(5)?, hop, row.get(6)?, number(row, 7)?),
    })
}

/// The hops that were the worst ones in the span; of the connections of one host, or of all.
pub fn find(conn: &Connection, node: Option<NodeId>, span: Span) -> rusqlite::Result<TcpHops> {
    if !TABLE.exists(conn)? {
        return Ok(TcpHops::default());
    }
    let [since, until] = touched(span);
    let asked = node.map(|node| node.0);
    let connections = conn
        .prepare_cached(
            "SELECT count(*) FROM (SELECT DISTINCT node, id FROM tcp_hop
             WHERE begin_ns >= ?1 AND begin_ns < ?2 AND (?3 IS NULL OR node = ?3))",
        )?
        .query_row((since, until, asked), |row| number(row, 0))?;
    // With max(), SQLite takes the other columns from the row of the maximum: the worst one. A hop that no node is
    // known of is one by its number.
    let mut ask = conn.prepare_cached(
        "SELECT hop_node, hop, count(DISTINCT node || ' ' || id), first_ns, last_ns, value, link, latency_ns,
             max(value << 32 | latency_ns >> 8)
         FROM (SELECT *, min(begin_ns) OVER one AS first_ns, max(begin_ns) OVER one AS last_ns,
                 iif(hop_node IS NULL, hop, -1) AS number
             FROM tcp_hop WHERE begin_ns >= ?1 AND begin_ns < ?2 AND (?3 IS NULL OR node = ?3)
             WINDOW one AS (PARTITION BY hop_node, iif(hop_node IS NULL, hop, -1)))
         GROUP BY hop_node, number ORDER BY 3 DESC, 6 DESC, 1, 2",
    )?;
    let hops = ask.query_map((since, until, asked), hop_of)?;
    Ok(TcpHops {
        connections,
        hops: hops.collect::<rusqlite::Result<_>>()?,
    })
}
