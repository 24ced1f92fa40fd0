//! The tables of what hosts dropped: sums of each host in ten seconds, drops by flow, and which hosts report drops.

use std::collections::{HashMap, HashSet};

use rusqlite::{CachedStatement, Connection};

use super::bounds::{BoundedTable, MOST_WAITING, RowsWritten, has_table, signed};
use super::drop_columns::flow_bytes;
use super::period::RollUpLevel;
use crate::model::{DropCount, DropPosition, DropSum, FlowKey, HostDrop, NodeId, TunnelId};

/// The tables and their bounds.
pub const TABLES: [BoundedTable; 4] = [
    BoundedTable::by_begin("drop_sum"),
    BoundedTable::by_begin("drop_flow"),
    BoundedTable::by_begin("drop_pod"),
    BoundedTable::by_begin("drop_teller"),
];

/// No node tagged the packets.
const UNTAGGED: i64 = -1;

const IGNORED: i64 = 1;
const WITHOUT_PACKET: i64 = 2;

/// A host, and a sum of it.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
struct SumKey {
    begin_ns: u64,
    node: NodeId,
    reason: String,
    place: Option<String>,
    interface: Option<String>,
    position: DropPosition,
    tagged_by: Option<NodeId>,
    ignored: bool,
    without_packet: bool,
}

/// A host, and a flow whose packets it dropped.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
struct FlowDropKey {
    begin_ns: u64,
    node: NodeId,
    flow: FlowKey,
    tunnel: Option<TunnelId>,
    reason: String,
    place: Option<String>,
    position: DropPosition,
    tagged_by: Option<NodeId>,
}

/// A host, and a pod that misses packets.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
struct PodDropKey {
    begin_ns: u64,
    node: NodeId,
    pod: String,
    reason: String,
}

/// Drops that wait to be written.
#[derive(Debug, Default)]
pub struct WaitingDrops {
    sums: HashMap<SumKey, DropCount>,
    flows: HashMap<FlowDropKey, DropCount>,
    pods: HashMap<PodDropKey, DropCount>,
    reporting: HashSet<(u64, NodeId)>,
}

fn period_of(time_ns: u64) -> u64 {
    RollUpLevel::TenSeconds.floor(time_ns)
}

impl WaitingDrops {
    pub fn is_empty(&self) -> bool {
        self.sums.is_empty() && self.flows.is_empty() && self.reporting.is_empty()
    }

    /// Adds what the sums of a host add. Without any, the host says that it drops nothing new.
    pub fn add_sums(&mut self, node: NodeId, sums: &[DropSum], time_ns: u64) {
        let begin_ns = period_of(time_ns);
        if self.reporting.len() < MOST_WAITING {
            self.reporting.insert((begin_ns, node));
        }
        for DropSum { subject, count } in sums {
            let key = SumKey {
                begin_ns,
                node,
                reason: subject.reason.label(),
                place: subject.place.clone(),
                interface: subject.interface.clone(),
                position: subject.position,
                tagged_by: subject.tagged_by,
                ignored: subject.ignored,
                without_packet: subject.without_packet,
            };
            add(&mut self.sums, key, *count);
        }
    }

    /// Adds packets of a flow, which is known as INT knows it.
    pub fn add_flow(&mut self, node: NodeId, drop: &HostDrop, count: DropCount, time_ns: u64) {
        let key = FlowDropKey {
            begin_ns: period_of(time_ns),
            node,
            flow: drop.measured_flow(),
            tunnel: drop.measured_in(),
            reason: drop.reason.label(),
            place: drop.place.clone(),
            position: drop.position,
            tagged_by: drop.int.map(|int| int.source),
        };
        add(&mut self.flows, key, count);
        if let Some(pod) = drop.pods.concerned() {
            let key = PodDropKey {
                begin_ns: period_of(time_ns),
                node,
                pod: pod.to_owned(),
                reason: drop.reason.label(),
            };
            add(&mut self.pods, key, count);
        }
    }

    /// Adds all that another one has.
    pub fn merge(&mut self, other: Self) {
        for (key, count) in other.sums {
            add(&mut self.sums, key, count);
        }
        for (key, count) in other.flows {
            add(&mut self.flows, key, count);
        }
        for (key, count) in other.pods {
            add(&mut self.pods, key, count);
        }
        self.reporting.extend(other.reporting);
    }
}

fn add<K: Eq + std::hash::Hash>(to: &mut HashMap<K, DropCount>, key: K, count: DropCount) {
    if to.len() < MOST_WAITING || to.contains_key(&key) {
        to.entry(key).or_default().add(count);
    }
}

/// Writes drops, and removes the oldest.
#[derive(Debug, Default)]
pub struct DropsWriter {
    since_counted: RowsWritten,
}

impl DropsWriter {
    /// Writes in one transaction, and removes rows that are older than `before_ns`.
    pub fn write(
        &mut self,
        conn: &mut Connection,
        drops: &WaitingDrops,
        before_ns: u64,
    ) -> rusqlite::Result<()> {
        let transaction = conn.transaction()?;
        create(&transaction)?;
        put_sums(&transaction, drops)?;
        put_flows(&transaction, drops)?;
        put_pods(&transaction, drops)?;
        let mut put =
            transaction.prepare_cached("INSERT OR IGNORE INTO drop_teller VALUES (?, ?)")?;
        for (begin_ns, node) in &drops.reporting {
            put.execute((signed(*begin_ns), i64::from(node.0)))?;
        }
        drop(put);
        let count = self
            .since_counted
            .add(drops.sums.len() + drops.flows.len() + drops.pods.len());
        for table in TABLES {
            table.forget(&transaction, before_ns)?;
            if count {
                table.shorten(&transaction)?;
            }
        }
        transaction.commit()
    }
}

/// Makes a row of these columns and three counts, or adds the counts to the one that is there.
fn put<'a>(
    conn: &'a Connection,
    table: &str,
    columns: usize,
) -> rusqlite::Result<CachedStatement<'a>> {
    let values = vec!["?"; columns + 3].join(", ");
    conn.prepare_cached(&format!(
        "INSERT INTO {table} VALUES ({values})
         ON CONFLICT DO UPDATE SET packets = packets + excluded.packets,
             segments = segments + excluded.segments, bytes = bytes + excluded.bytes"
    ))
}

fn put_sums(conn: &Connection, drops: &WaitingDrops) -> rusqlite::Result<()> {
    let mut put = put(conn, "drop_sum", 8)?;
    for (key, count) in &drops.sums {
        let ignored = if key.ignored { IGNORED } else { 0 };
        let without = if key.without_packet {
            WITHOUT_PACKET
        } else {
            0
        };
        put.execute(rusqlite::params![
            signed(key.begin_ns),
            i64::from(key.node.0),
            key.reason,
            key.place.as_deref().unwrap_or_default(),
            key.interface.as_deref().unwrap_or_default(),
            i64::from(key.position.number()),
            tagged(key.tagged_by),
            ignored | without,
            signed(count.packets),
            signed(count.segments),
            signed(count.bytes),
        ])?;
    }
    Ok(())
}

fn put_flows(conn: &Connection, drops: &WaitingDrops) -> rusqlite::Result<()> {
    let mut put = put(conn, "drop_flow", 7)?;
    for (key, count) in &drops.flows {
        put.execute(rusqlite::params![
            signed(key.begin_ns),
            i64::from(key.node.0),
            flow_bytes(&key.flow, key.tunnel),
            key.reason,
            key.place.as_deref().unwrap_or_default(),
            i64::from(key.position.number()),
            tagged(key.tagged_by),
            signed(count.packets),
            signed(count.segments),
            signed(count.bytes),
        ])?;
    }
    Ok(())
}

fn put_pods(conn: &Connection, drops: &WaitingDrops) -> rusqlite::Result<()> {
    let mut put = put(conn, "drop_pod", 4)?;
    for (key, count) in &drops.pods {
        put.execute(rusqlite::params![
            signed(key.begin_ns),
            i64::from(key.node.0),
            key.pod,
            key.reason,
            signed(count.packets),
            signed(count.segments),
            signed(count.bytes),
        ])?;
    }
    Ok(())
}

fn create(conn: &Connection) -> rusqlite::Result<()> {
    conn.execute_batch(
        "CREATE TABLE IF NOT EXISTS drop_sum (
             begin_ns INTEGER NOT NULL,
             node INTEGER NOT NULL,
             reason TEXT NOT NULL,
             place TEXT NOT NULL,
             interface TEXT NOT NULL,
             position INTEGER NOT NULL,
             tagged_by INTEGER NOT NULL,
             flags INTEGER NOT NULL,
             packets INTEGER NOT NULL,
             segments INTEGER NOT NULL,
             bytes INTEGER NOT NULL,
             PRIMARY KEY (begin_ns, node, reason, place, interface, position, tagged_by, flags)
         ) WITHOUT ROWID;
         CREATE TABLE IF NOT EXISTS drop_flow (
             begin_ns INTEGER NOT NULL,
             node INTEGER NOT NULL,
             flow BLOB NOT NULL,
             reason TEXT NOT NULL,
             place TEXT NOT NULL,
             position INTEGER NOT NULL,
             tagged_by INTEGER NOT NULL,
             packets INTEGER NOT NULL,
             segments INTEGER NOT NULL,
             bytes INTEGER NOT NULL,
             PRIMARY KEY (begin_ns, node, flow, reason, place, position, tagged_by)
         ) WITHOUT ROWID;
         CREATE TABLE IF NOT EXISTS drop_pod (
             begin_ns INTEGER NOT NULL,
             node INTEGER NOT NULL,
             pod TEXT NOT NULL,
             reason TEXT NOT NULL,
             packets INTEGER NOT NULL,
             segments INTEGER NOT NULL,
             bytes INTEGER NOT NULL,
             PRIMARY KEY (begin_ns, node, pod, reason)
         ) WITHOUT ROWID;
         CREATE TABLE IF NOT EXISTS drop_teller (
             begin_ns INTEGER NOT NULL, node INTEGER NOT NULL, PRIMARY KEY (begin_ns, node)
         ) WITHOUT ROWID;",
    )
}

/// True if any drops were ever written. The other tables were made with this one, but for that of pods.
pub fn exist(conn: &Connection) -> rusqlite::Result<bool> {
    has_table(conn, "drop_teller")
}

pub fn is_ignored(flags: i64) -> bool {
    flags & IGNORED != 0
}

pub fn is_without_packet(flags: i64) -> bool {
    flags & WITHOUT_PACKET != 0
}

fn tagged(node: Option<NodeId>) -> i64 {
    node.map_or(UNTAGGED, |node| node.0.into())
}
