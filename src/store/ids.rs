//! The ids of flows, pairs and classes in the store.

use std::collections::HashMap;

use rusqlite::{Connection, OptionalExtension};

use super::coding::{address_bytes, address_of};
use super::path_ids::PathIds;
use super::period::{MAX_SUBJECT, RollUpLevel};
use crate::model::{FlowKey, NodeId, SeededHash, Vlans};

/// The most pairs and classes. More have no id.
const MOST_PAIRS: usize = 1 << 16;
const MOST_CLASSES: usize = 4096;

/// The id of no pair and of no class.
pub const NONE: i64 = 0;

/// A flow's key and its source and sink, if they are known.
pub type FlowName = (FlowKey, Option<NodeId>, Option<NodeId>);

/// A flow in the store.
#[derive(Debug)]
pub struct StoredFlow {
    pub id: i64,
    /// The time of its first report if it was new to the store, until this is taken.
    pub new_ns: Option<u64>,
    class: i64,
    first_ns: u64,
    until_ns: u64,
}

/// The ids that were looked up.
#[derive(Debug)]
pub struct Ids {
    flows: HashMap<FlowName, StoredFlow, SeededHash>,
    pairs: HashMap<(NodeId, NodeId), i64, SeededHash>,
    classes: HashMap<String, i64>,
    pub paths: PathIds,
    /// The most flows that are tracked at a time.
    most_flows: usize,
}

impl Ids {
    pub fn new(most_flows: usize) -> Self {
        Self {
            flows: HashMap::default(),
            pairs: HashMap::default(),
            classes: HashMap::new(),
            paths: PathIds::default(),
            most_flows,
        }
    }

    /// Forgets all ids: those that were made may have been undone.
    pub fn clear(&mut self) {
        *self = Self::new(self.most_flows);
    }

    pub fn pair(
        &mut self,
        conn: &Connection,
        pair: Option<(NodeId, NodeId)>,
    ) -> rusqlite::Result<i64> {
        let Some(pair) = pair else {
            return Ok(NONE);
        };
        if let Some(id) = self.pairs.get(&pair) {
            return Ok(*id);
        }
        if self.pairs.len() >= MOST_PAIRS {
            return Ok(NONE);
        }
        let mut find = conn.prepare_cached("SELECT id FROM pair WHERE source = ? AND sink = ?")?;
        let nodes = (pair.0.0, pair.1.0);
        let found = find.query_row(nodes, |row| row.get(0)).optional()?;
        let id = match found {
            Some(id) => id,
            None => conn
                .prepare_cached("INSERT INTO pair (source, sink) VALUES (?, ?)")?
                .insert(nodes)?,
        };
        self.pairs.insert(pair, id);
        Ok(id)
    }

    pub fn class(&mut self, conn: &Connection, name: Option<&str>) -> rusqlite::Result<i64> {
        let Some(name) = name else {
            return Ok(NONE);
        };
        if let Some(id) = self.classes.get(name) {
            return Ok(*id);
        }
        if self.classes.len() >= MOST_CLASSES {
            return Ok(NONE);
        }
        let mut find = conn.prepare_cached("SELECT id FROM class WHERE name = ?")?;
        let found = find.query_row([name], |row| row.get(0)).optional()?;
        let id = match found {
            Some(id) => id,
            None => conn
                .prepare_cached("INSERT INTO class (name) VALUES (?)")?
                .insert([name])?,
        };
        self.classes.insert(name.to_owned(), id);
        Ok(id)
    }

    /// Records that a flow reported between two times. Returns its id, or `None` if the store has too many flows.
    pub fn flow(
        &mut self,
        conn: &Connection,
        name: &FlowName,
        class: i64,
        (first_ns, last_ns): (u64, u64),
    ) -> rusqlite::Result<Option<i64>> {
        if !self.flows.contains_key(name) {
            let pair = self.pair(conn, name.1.zip(name.2))?;
            let flow = look_up(conn, name, pair, class, (first_ns, last_ns))?;
            self.flows.insert(*name, flow);
        }
        let Some(flow) = self
            .flows
            .get_mut(name)
            .filter(|flow| flow.id <= MAX_SUBJECT)
        else {
            return Ok(None);
        };
        if flow.until_ns <= last_ns || flow.first_ns > first_ns || flow.class != class {
            flow.until_ns = flow.until_ns.max(hour_end(last_ns));
            flow.first_ns = flow.first_ns.min(first_ns);
            flow.class = class;
            conn.prepare_cached(
                "UPDATE flow SET class = ?, first_ns = ?, until_ns = ? WHERE id = ?",
            )?
            .execute((class, flow.first_ns as i64, flow.until_ns as i64, flow.id))?;
        }
        Ok(Some(flow.id))
    }

    /// Returns a flow that was recorded since room was last made.
    pub fn known(&mut self, name: &FlowName) -> Option<&mut StoredFlow> {
        self.flows
            .get_mut(name)
            .filter(|flow| flow.id <= MAX_SUBJECT)
    }

    /// Forgets flows if many of them are not tracked any more.
    pub fn make_room(&mut self) {
        if self.flows.len() > self.most_flows.saturating_mul(2) {
            self.flows.clear();
        }
    }
}

fn hour_end(time_ns: u64) -> u64 {
    RollUpLevel::Hour
        .ceil(time_ns.saturating_add(1))
        .min(i64::MAX as u64)
}

fn look_up(
    conn: &Connection,
    name: &FlowName,
    pair: i64,
    class: i64,
    (first_ns, last_ns): (u64, u64),
) -> rusqlite::Result<StoredFlow> {
    let key = name_bytes(name);
    let mut find =
        conn.prepare_cached("SELECT id, class, first_ns, until_ns FROM flow WHERE key = ?")?;
    let found = find.query_row([&key], |row| {
        Ok(StoredFlow {
            id: row.get(0)?,
            new_ns: None,
            class: row.get(1)?,
            first_ns: row.get::<_, i64>(2)? as u64,
            until_ns: row.get::<_, i64>(3)? as u64,
        })
    });
    if let Some(found) = found.optional()? {
        return Ok(found);
    }
    let until_ns = hour_end(last_ns);
    let id = conn
        .prepare_cached(
            "INSERT INTO flow (key, pair, class, first_ns, until_ns) VALUES (?, ?, ?, ?, ?)",
        )?
        .insert((key, pair, class, first_ns as i64, until_ns as i64))?;
    Ok(StoredFlow {
        id,
        new_ns: Some(first_ns),
        class,
        first_ns,
        until_ns,
    })
}

/// Returns the key of a flow in the store. Its first byte tells which nodes are known; the rest has a fixed order.
pub fn name_bytes((flow, source, sink): &FlowName) -> Vec<u8> {
    let known = u8::from(source.is_some()) | u8::from(sink.is_some()) << 1;
    let mut bytes = vec![known, flow.protocol];
    for number in [flow.sport, flow.dport, flow.vlans.outer, flow.vlans.inner] {
        bytes.extend(number.to_be_bytes());
    }
    for node in [source, sink].into_iter().flatten() {
        bytes.extend(node.0.to_be_bytes());
    }
    bytes.extend(address_bytes(flow.src));
    bytes.extend(address_bytes(flow.dst));
    bytes
}

/// Returns the flow and its nodes from its key in the store.
pub fn name_of(bytes: &[u8]) -> Option<FlowName> {
    let (&[known, protocol], rest) = bytes.split_first_chunk::<2>()?;
    let (numbers, mut rest) = rest.split_first_chunk::<8>()?;
    let number = |at: usize| u16::from_be_bytes([numbers[at], numbers[at + 1]]);
    let mut node = |bit: u8| -> Option<Option<NodeId>> {
        if known & bit == 0 {
            return Some(None);
        }
        let (node, behind) = rest.split_first_chunk::<4>()?;
        rest = behind;
        Some(Some(NodeId(u32::from_be_bytes(*node))))
    };
    let (source, sink) = (node(1)?, node(2)?);
    // If the addresses had different families, which no packet has, one would be longer.
    let middle = match rest.len() {
        8 => 4,
        _ => 16,
    };
    let (src, dst) = rest.split_at_checked(middle)?;
    let flow = FlowKey {
        src: address_of(src)?,
        dst: address_of(dst)?,
        sport: number(0),
        dport: number(2),
        protocol,
        vlans: Vlans {
            outer: number(4),
            inner: number(6),
        },
    };
    Some((flow, source, sink))
}

/// The flow with this id, as hosts know it, and its source.
pub fn flow_with(
    conn: &Connection,
    id: i64,
) -> rusqlite::Result<Option<(FlowKey, Option<NodeId>)>> {
    let mut ask = conn.prepare_cached("SELECT key FROM flow WHERE id = ?")?;
    let mut rows = ask.query([id])?;
    let Some(row) = rows.next()? else {
        return Ok(None);
    };
    let name = name_of(row.get_ref(0)?.as_blob()?);
    Ok(name.map(|(flow, source, _)| (flow.without_vlans(), source)))
}
