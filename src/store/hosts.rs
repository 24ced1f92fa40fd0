//! The table of hosts: when each one reported last, and its name.

use std::collections::{BTreeMap, HashMap, HashSet};

use rusqlite::Connection;

use super::bounds::{has_table, signed};
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
         ) WITHOUT ROWID;
         CREATE TABLE IF NOT EXISTS interface (
             node INTEGER NOT NULL,
             address TEXT NOT NULL,
             port INTEGER NOT NULL,
             name TEXT NOT NULL,
             PRIMARY KEY (node, address, port)
         ) WITHOUT ROWID;",
    )?;
    {
        let mut put =
            transaction.prepare_cached("INSERT OR REPLACE INTO host VALUES (?, ?, ?, ?, ?, ?)")?;
        let mut forget =
            transaction.prepare_cached("DELETE FROM interface WHERE node = ? AND address = ?")?;
        let mut put_interface =
            transaction.prepare_cached("INSERT OR REPLACE INTO interface VALUES (?, ?, ?, ?)")?;
        for host in hosts {
            let node: i64 = host.node.map_or(NO_NODE, |node| node.0.into());
            let address = host.address.to_string();
            forget.execute((node, &address))?;
            for (port, name) in &host.interfaces {
                put_interface.execute((node, &address, port, name))?;
            }
            put.execute((
                node,
                &address,
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
    transaction.execute(
        "DELETE FROM interface WHERE (node, address) NOT IN (SELECT node, address FROM host)",
        [],
    )?;
    transaction.commit()
}

/// The names of a host's interfaces, by port.
type Interfaces = BTreeMap<u16, String>;

/// Reads the interfaces of each node and address.
fn read_interfaces(conn: &Connection) -> rusqlite::Result<HashMap<(i64, String), Interfaces>> {
    let mut all = HashMap::<_, Interfaces>::new();
    let mut ask = conn.prepare("SELECT node, address, port, name FROM interface")?;
    let rows = ask.query_map([], |row| {
        Ok(((row.get(0)?, row.get(1)?), row.get(2)?, row.get(3)?))
    })?;
    for row in rows {
        let (host, port, name) = row?;
        all.entry(host).or_default().insert(port, name);
    }
    Ok(all)
}

/// Reads all hosts, by node and address. A store without the table knows none.
pub fn read(conn: &Connection) -> rusqlite::Result<Vec<HostSeen>> {
    if !has_table(conn, "host")? {
        return Ok(Vec::new());
    }
    let mut interfaces = read_interfaces(conn)?;
    let mut ask = conn.prepare(
        "SELECT node, address, name, name_contested, last_ns, silent_after_ns FROM host
         ORDER BY node, address",
    )?;
    let rows = ask.query_map([], |row| {
        let (node, address): (i64, String) = (row.get(0)?, row.get(1)?);
        let interfaces = interfaces.remove(&(node, address.clone()));
        // A row with a damaged address is left out.
        let Ok(address) = address.parse() else {
            return Ok(None);
        };
        Ok(Some(HostSeen {
            node: u32::try_from(node).ok().map(NodeId),
            address,
            name: row.get(2)?,
            name_contested: row.get(3)?,
            interfaces: interfaces.unwrap_or_default(),
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
