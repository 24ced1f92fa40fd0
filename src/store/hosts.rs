//! The table of hosts: when each one reported last, and its name.

use std::collections::{HashMap, HashSet};

use rusqlite::{Connection, OptionalExtension};

use crate::model::{HostSeen, NodeId};

/// A host that was silent for this time is forgotten: 30 days.
const FORGOTTEN_NS: u64 = 30 * 86_400_000_000_000;

/// A host whose node is not known has this number in the place of the node's.
const NO_NODE: i64 = -1;

/// Writes what the collector saw of each host, in one transaction.
pub fn write(conn: &mut Connection, hosts: &[HostSeen], now_ns: u64) -> rusqlite::Result<()> {
    let transaction = conn.transaction()?;
    transaction.execute_batch(
        "CREATE TABLE IF NOT EXISTS host (
             node INTEGER NOT NULL,
             address TEXT NOT NULL,
             name TEXT,
             name_contested INTEGER NOT NULL,
             last_ns INTEGER NOT NULL,
             silent_after_ns INTEGER NOT NULL,
             PRIMARY KEY (node, address)
         ) WITHOUT ROWID;",
    )?;
    {
        let mut put =
            transaction.prepare_cached("INSERT OR REPLACE INTO host VALUES (?, ?, ?, ?, ?, ?)")?;
        for host in hosts {
            put.execute((
                host.node.map_or(NO_NODE, |node| node.0.into()),
                host.address.to_string(),
                &host.name,
                host.name_contested,
                signed(host.last_ns),
                signed(host.silent_after_ns),
            ))?;
        }
    }
    transaction.execute(
        "DELETE FROM host WHERE last_ns < ?",
        [signed(now_ns.saturating_sub(FORGOTTEN_NS))],
    )?;
    transaction.commit()
}

/// Reads all hosts, by node and address. A store without the table knows none.
pub fn read(conn: &Connection) -> rusqlite::Result<Vec<HostSeen>> {
    let table = "SELECT 1 FROM sqlite_schema WHERE name = 'host' AND type = 'table'";
    let there: Option<i64> = conn.query_row(table, [], |row| row.get(0)).optional()?;
    if there.is_none() {
        return Ok(Vec::new());
    }
    let mut ask = conn.prepare(
        "SELECT node, address, name, name_contested, last_ns, silent_after_ns FROM host
         ORDER BY node, address",
    )?;
    let rows = ask.query_map([], |row| {
        let address: String = row.get(1)?;
        // A row with a damaged address is left out.
        let Ok(address) = address.parse() else {
            return Ok(None);
        };
        Ok(Some(HostSeen {
            node: u32::try_from(row.get::<_, i64>(0)?).ok().map(NodeId),
            address,
            name: row.get(2)?,
            name_contested: row.get(3)?,
            last_ns: row.get::<_, i64>(4)? as u64,
            silent_after_ns: row.get::<_, i64>(5)? as u64,
        }))
    })?;
    rows.filter_map(Result::transpose).collect()
}

/// The names of each node, in lower case, for a search.
pub fn searched_names(conn: &Connection) -> rusqlite::Result<HashMap<NodeId, String>> {
    let mut names = HashMap::<NodeId, String>::new();
    for host in read(conn)? {
        if let (Some(node), Some(name)) = (host.node, host.name) {
            let text = names.entry(node).or_default();
            text.push(' ');
            text.push_str(&name.to_ascii_lowercase());
        }
    }
    Ok(names)
}

/// The nodes that have a name, by that name; several if it is contested.
pub fn called(hosts: &[HostSeen], name: &str) -> HashSet<NodeId> {
    let named = hosts
        .iter()
        .filter(|host| host.name.as_deref() == Some(name));
    named.filter_map(|host| host.node).collect()
}

fn signed(value: u64) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}
