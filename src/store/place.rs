//! A report finds its flow, pair and class, and is added to their roll-ups.

use rusqlite::Connection;

use super::ids::{Ids, NONE};
use super::keeper::Entry;
use super::period::{ALL, Table};
use super::rollups::RollUps;
use super::sums::Sums;
use crate::model::Shown;

/// Whose report it is.
pub struct Placed {
    pub flow: Option<i64>,
    pub pair: i64,
    pub class: i64,
    pub before: i64,
}

/// Adds a report to its roll-ups.
pub fn place(
    conn: &Connection,
    ids: &mut Ids,
    rollups: &mut RollUps,
    entry: &Entry,
    id: i64,
) -> rusqlite::Result<Placed> {
    let observed = &entry.observed;
    let time_ns = observed.time_ns;
    let pair = ids.pair(conn, observed)?;
    let class = ids.class(conn, entry.class.as_deref())?;
    let flow = ids.flow(conn, observed, pair, class)?;
    let mut reordered = None;
    let (flow, packets) = match flow {
        Some(flow) => {
            let packets = match observed.shown {
                Shown::Packet => 1,
                Shown::Number(number) => flow.numbers.packet(number, time_ns),
                Shown::Missing { last, count } => flow.numbers.missing(last, count, time_ns),
                Shown::Total {
                    since_ns,
                    reordered: total,
                } => {
                    reordered = Some(flow.totals.more(since_ns, total));
                    0
                }
            };
            (Some(flow.id), packets)
        }
        None => match observed.shown {
            Shown::Packet | Shown::Number(_) => (None, 1),
            Shown::Missing { count, .. } => (None, count.into()),
            Shown::Total { .. } => (None, 0),
        },
    };
    let add = |sums: &mut Sums| {
        sums.report(id, packets, observed.lost.into(), observed.latency_ns);
        if let Some(more) = reordered {
            sums.summary(more);
        }
    };
    let mut before = 0;
    if let Some(flow) = flow {
        before = rollups.add(conn, time_ns, (Table::Flow, flow), add)?;
    }
    if pair != NONE {
        rollups.add(conn, time_ns, (Table::Pair, pair), add)?;
    }
    if class != NONE {
        rollups.add(conn, time_ns, (Table::Class, class), add)?;
    }
    rollups.add(conn, time_ns, (Table::Class, ALL), add)?;
    Ok(Placed {
        flow,
        pair,
        class,
        before,
    })
}
