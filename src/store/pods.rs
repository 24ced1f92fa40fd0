//! The table of pods: which was there when, and which had an address when.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::Arc;

use rusqlite::{Connection, Row};

use super::bounds::{BoundedTable, number, signed};
use super::rollups::{fact, set_fact};
use crate::model::{PodBook, PodName, PodPeriod, Span};

/// The latest pods are kept, and of these those that went not too long ago.
pub const TABLE: BoundedTable = BoundedTable {
    name: "pod",
    time: "until_ns",
    most_rows: 300_000,
};

/// The fact that says when an API server said something last.
const CURRENT: &str = "pods_current_ns";
/// What is told of a pod may come that much later.
const LATE_NS: u64 = 60_000_000_000;
const COLUMNS: &str = "address, uid, namespace, pod, workload, workload_kind, since_ns, until_ns";

/// What is known of pods, and is not in the store yet.
#[derive(Debug, Default)]
pub struct WaitingPods {
    /// By uid and address.
    changed: HashMap<(Arc<str>, Option<IpAddr>), PodPeriod>,
    current_ns: u64,
}

impl WaitingPods {
    pub fn add(&mut self, changed: Vec<PodPeriod>, current_ns: u64) {
        for period in changed {
            let key = (Arc::clone(&period.uid), period.address);
            self.changed.insert(key, period);
        }
        self.current_ns = self.current_ns.max(current_ns);
    }

    /// Adds older things: what is known of the same is newer.
    pub fn put_back(&mut self, older: Self) {
        for (key, period) in older.changed {
            self.changed.entry(key).or_insert(period);
        }
        self.current_ns = self.current_ns.max(older.current_ns);
    }

    pub fn is_empty(&self) -> bool {
        self.current_ns == 0
    }
}

/// Writes what has changed, and removes pods that went before `before_ns`, in one transaction.
pub fn write(conn: &mut Connection, waiting: &WaitingPods, before_ns: u64) -> rusqlite::Result<()> {
    let transaction = conn.transaction()?;
    transaction.execute_batch(
        "CREATE TABLE IF NOT EXISTS pod (
             -- empty: for as long as there is the pod
             address TEXT NOT NULL,
             uid TEXT NOT NULL,
             namespace TEXT NOT NULL,
             pod TEXT NOT NULL,
             workload TEXT NOT NULL,
             workload_kind TEXT NOT NULL,
             since_ns INTEGER NOT NULL,
             -- the greatest number: it is still so
             until_ns INTEGER NOT NULL,
             PRIMARY KEY (address, uid)
         ) WITHOUT ROWID;
         CREATE INDEX IF NOT EXISTS pod_until ON pod (until_ns);",
    )?;
    {
        let mut put = transaction.prepare_cached(
            "INSERT INTO pod VALUES (?, ?, ?, ?, ?, ?, ?, ?)
             ON CONFLICT DO UPDATE SET namespace = excluded.namespace, pod = excluded.pod, workload = excluded.workload,
                 workload_kind = excluded.workload_kind, until_ns = excluded.until_ns",
        )?;
        for one in waiting.changed.values() {
            let name = &one.name;
            put.execute((
                one.address
                    .map(|address| address.to_string())
                    .unwrap_or_default(),
                &*one.uid,
                &name.namespace,
                &name.pod,
                &name.workload,
                &name.workload_kind,
                signed(one.since_ns),
                signed(one.until_ns),
            ))?;
        }
    }
    set_fact(&transaction, CURRENT, waiting.current_ns)?;
    if !waiting.changed.is_empty() {
        TABLE.forget(&transaction, before_ns)?;
        TABLE.shorten(&transaction)?;
    }
    transaction.commit()
}

fn period(row: &Row<'_>) -> rusqlite::Result<PodPeriod> {
    let until_ns = number(row, 7)?;
    let is_open = until_ns == signed(PodPeriod::OPEN).unsigned_abs();
    Ok(PodPeriod {
        address: row.get::<_, String>(0)?.parse().ok(),
        uid: row.get::<_, String>(1)?.into(),
        name: Arc::new(PodName {
            namespace: row.get(2)?,
            pod: row.get(3)?,
            workload: row.get(4)?,
            workload_kind: row.get(5)?,
        }),
        since_ns: number(row, 6)?,
        until_ns: if is_open { PodPeriod::OPEN } else { until_ns },
    })
}

fn book_of(conn: &Connection, periods: Vec<PodPeriod>) -> rusqlite::Result<PodBook> {
    Ok(PodBook::of(periods, fact(conn, CURRENT)?))
}

/// The pods that were there in a span. A store without any knows none.
pub fn read(conn: &Connection, span: Span) -> rusqlite::Result<PodBook> {
    if !TABLE.exists(conn)? {
        return Ok(PodBook::default());
    }
    let mut ask = conn.prepare_cached(&format!(
        "SELECT {COLUMNS} FROM pod WHERE until_ns >= ? AND since_ns < ?"
    ))?;
    let late = [
        signed(span.since_ns.saturating_sub(LATE_NS)),
        signed(span.until_ns),
    ];
    let periods = ask.query_map(late, period)?;
    book_of(conn, periods.collect::<rusqlite::Result<_>>()?)
}

/// The pods that ever had these addresses, or have these uids.
pub fn read_some(
    conn: &Connection,
    addresses: impl IntoIterator<Item = IpAddr>,
    uids: impl IntoIterator<Item = String>,
) -> rusqlite::Result<PodBook> {
    if !TABLE.exists(conn)? {
        return Ok(PodBook::default());
    }
    let mut periods = Vec::new();
    let mut ask = conn.prepare_cached(&format!("SELECT {COLUMNS} FROM pod WHERE address = ?"))?;
    let mut addresses = Vec::from_iter(addresses);
    addresses.sort_unstable();
    addresses.dedup();
    for address in addresses {
        for found in ask.query_map([address.to_string()], period)? {
            periods.push(found?);
        }
    }
    let mut ask = conn.prepare_cached(&format!(
        "SELECT {COLUMNS} FROM pod WHERE address = '' AND uid = ?"
    ))?;
    for uid in uids {
        for found in ask.query_map([uid], period)? {
            periods.push(found?);
        }
    }
    book_of(conn, periods)
}

/// The pods that are there, as an earlier run left them.
pub fn present(conn: &Connection) -> rusqlite::Result<PodBook> {
    if !TABLE.exists(conn)? {
        return Ok(PodBook::default());
    }
    let sql = format!("SELECT {COLUMNS} FROM pod WHERE until_ns = ?");
    let mut ask = conn.prepare_cached(&sql)?;
    let periods = ask.query_map([signed(PodPeriod::OPEN)], period)?;
    book_of(conn, periods.collect::<rusqlite::Result<_>>()?)
}
