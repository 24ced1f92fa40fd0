//! The table of flows that hosts forward: what each host reported last of each flow, and answers about them.

use std::collections::HashMap;

use rusqlite::{Connection, OptionalExtension, Transaction};

use super::bounds::{BoundedTable, signed, touched};
use super::ids::{flow_with, name_bytes};
use super::lives::{LifeTable, Living};
use crate::model::{
    FlowKey, FlowPassage, FlowPassageId, FlowPods, ForwardedFlow, NodeId, PassageOrder,
    PassagePods, PassageQuery, Span,
};

/// The table and its bounds. A flow is about 1 kB.
const TABLE: BoundedTable = BoundedTable {
    name: "hop_flow",
    time: "last_ns",
    most_rows: 200_000,
};

/// The most flows, the newest, that are looked at for names of interfaces.
const MOST_NAMING: usize = 10_000;

/// No host: flows of all are asked for.
const ANY: i64 = -1;

/// Beginnings that differ by less are one: hosts read two clocks for each, not at the same moment.
const SAME_NS: i64 = 100_000_000;

impl Living for FlowPassage {
    /// The flow, and the time of its first packet: a flow that the host forgot meanwhile begins again.
    type Name = (FlowPassageId, u64);

    fn name(&self) -> Self::Name {
        (self.id(), self.first_ns)
    }

    fn progress(&self) -> u64 {
        self.packets
    }
}

impl LifeTable for FlowPassage {
    const TABLE: BoundedTable = TABLE;

    fn create(conn: &Connection) -> rusqlite::Result<()> {
        conn.execute_batch(
            "CREATE TABLE IF NOT EXISTS hop_flow (
                 node INTEGER NOT NULL,
                 flow BLOB NOT NULL,
                 -- the time of the first packet, by the clock of the host
                 first_packet_ns INTEGER NOT NULL,
                 -- or that of the tunnel
                 before_nat BLOB,
                 first_ns INTEGER NOT NULL,
                 last_ns INTEGER NOT NULL,
                 packets INTEGER NOT NULL,
                 mean_ns INTEGER NOT NULL,
                 max_ns INTEGER NOT NULL,
                 told TEXT NOT NULL,
                 PRIMARY KEY (node, flow, first_packet_ns)
             );
             CREATE INDEX IF NOT EXISTS hop_flow_time ON hop_flow (last_ns);",
        )
    }

    fn put(&self, to: &Transaction<'_>, node: NodeId, time_ns: u64) -> rusqlite::Result<()> {
        let Ok(text) = serde_json::to_string(self) else {
            return Ok(());
        };
        let name = |flow: FlowKey| name_bytes(&(flow.without_vlans(), None, None));
        let age_ns = self.last_ns.saturating_sub(self.first_ns);
        let (node, flow) = (i64::from(node.0), name(self.flow));
        let begin = signed(self.first_ns);
        let same = (begin.saturating_sub(SAME_NS), begin.saturating_add(SAME_NS));
        let same = to
            .prepare_cached(
                "SELECT first_packet_ns FROM hop_flow
                 WHERE node = ? AND flow = ? AND first_packet_ns > ? AND first_packet_ns < ?",
            )?
            .query_row((node, &flow, same.0, same.1), |row| row.get(0))
            .optional()?;
        to.prepare_cached(
            "INSERT INTO hop_flow VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
             ON CONFLICT DO UPDATE SET last_ns = excluded.last_ns, packets = excluded.packets,
                 mean_ns = excluded.mean_ns, max_ns = excluded.max_ns, told = excluded.told
             WHERE packets < excluded.packets",
        )?
        .execute(rusqlite::params![
            node,
            flow,
            same.unwrap_or(begin),
            self.flow_before_nat
                .or(self.tunnel.map(|tunnel| tunnel.outer))
                .map(name),
            signed(time_ns.saturating_sub(age_ns)),
            signed(time_ns),
            signed(self.packets),
            self.mean_hop_ns,
            self.max_hop_ns,
            text,
        ])?;
        Ok(())
    }
}

/// The flows that hosts forwarded in the span, as they told them.
pub fn find(
    conn: &Connection,
    query: &PassageQuery,
    span: Span,
) -> rusqlite::Result<Vec<ForwardedFlow>> {
    if !TABLE.exists(conn)? {
        return Ok(Vec::new());
    }
    let flow = match query.flow {
        None => None,
        Some(id) => match flow_with(conn, id)? {
            None => return Ok(Vec::new()),
            Some((flow, _)) => Some(name_bytes(&(flow, None, None))),
        },
    };
    let order = match query.order {
        PassageOrder::Mean => "mean_ns",
        PassageOrder::Max => "max_ns",
        PassageOrder::Packets => "packets",
        PassageOrder::Newest => "last_ns",
    };
    let [since, until] = touched(span);
    let node = query.node.map_or(ANY, |node| node.0.into());
    let limit = i64::try_from(query.limit).unwrap_or(i64::MAX);
    let mut ask = conn.prepare_cached(&format!(
        "SELECT node, last_ns, told FROM hop_flow
         WHERE last_ns >= ?1 AND first_ns < ?2 AND ?3 IN (-1, node) AND (?4 IS NULL OR ?4 IN (flow, before_nat))
         ORDER BY {order} DESC, packets DESC, flow LIMIT ?5"
    ))?;
    let mut rows = ask.query((since, until, node, flow, limit))?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        let Ok(hop) = serde_json::from_str(row.get_ref(2)?.as_str()?) else {
            continue;
        };
        found.push(ForwardedFlow {
            node: NodeId(row.get(0)?),
            told_ns: row.get::<_, i64>(1)?.unsigned_abs(),
            hop,
            ends: FlowPods::default(),
            behind: PassagePods::default(),
        });
    }
    Ok(found)
}

/// The names of interfaces and what is behind them, by host and the low 16 bits of the index.
pub type NamedInterfaces = HashMap<(NodeId, u16), (Option<String>, Option<String>)>;

/// The names that hosts told of the interfaces of flows in the span, the newest of each.
pub fn interfaces(conn: &Connection, span: Span) -> rusqlite::Result<NamedInterfaces> {
    let query = PassageQuery {
        order: PassageOrder::Newest,
        limit: MOST_NAMING,
        ..PassageQuery::default()
    };
    let mut names = NamedInterfaces::new();
    for ForwardedFlow { node, hop, .. } in find(conn, &query, span)? {
        let ends = [
            (hop.in_ifindex, hop.in_interface, hop.pods.in_pod),
            (hop.out_ifindex, hop.out_interface, hop.pods.out_pod),
        ];
        for (ifindex, name, pod) in ends {
            if ifindex != 0 && name.is_some() {
                names.entry((node, ifindex as u16)).or_insert((name, pod));
            }
        }
    }
    Ok(names)
}
