//! Reports find their flow, pair and class in the store: what was gathered, and single ones.

use rusqlite::Connection;

use super::coded::{exporter_bytes, number_of};
use super::gather::{Gathered, Row};
use super::ids::{Ids, NONE};
use super::keeper::Batch;
use super::period::{ALL, Table};
use super::rollups::RollUps;
use super::totals::counts_whole;

/// Adds what was gathered to the roll-ups.
pub fn add(
    conn: &Connection,
    ids: &mut Ids,
    rollups: &mut RollUps,
    gathered: &Gathered,
) -> rusqlite::Result<()> {
    ids.make_room();
    rollups.reaches(gathered.newest_ns);
    let mut add = |place: (Table, i64), begin_ns, sums| match place {
        (Table::Pair, NONE) => Ok(()),
        place => rollups.add(conn, begin_ns, place, sums),
    };
    for Row {
        subject: flow,
        begin_ns,
        sums,
    } in &gathered.flows
    {
        let class = ids.class(conn, flow.class.as_deref())?;
        let times = (flow.first_ns, flow.last_ns);
        if let Some(id) = ids.flow(conn, &flow.name, class, times)? {
            add((Table::Flow, id), *begin_ns, sums)?;
        }
    }
    for row in &gathered.pairs {
        let pair = ids.pair(conn, Some(row.subject))?;
        add((Table::Pair, pair), row.begin_ns, &row.sums)?;
    }
    for row in &gathered.classes {
        let class = ids.class(conn, Some(&row.subject))?;
        if class != NONE {
            add((Table::Class, class), row.begin_ns, &row.sums)?;
        }
    }
    for row in &gathered.all {
        add((Table::Class, ALL), row.begin_ns, &row.sums)?;
    }
    for first in &gathered.first_totals {
        let Some(flow) = ids.known(&first.name) else {
            continue;
        };
        let new = flow.new_ns.take();
        if !new.is_some_and(|new_ns| counts_whole(new_ns, first.since_ns)) {
            continue;
        }
        let flow = flow.id;
        let pair = ids.pair(conn, first.name.1.zip(first.name.2))?;
        let class = ids.class(conn, first.class.as_deref())?;
        for place in places(Some(flow), pair, class) {
            rollups.add_reordered(conn, first.begin_ns, place, first.reordered)?;
        }
    }
    Ok(())
}

/// Whose roll-ups a report counts in.
fn places(flow: Option<i64>, pair: i64, class: i64) -> impl Iterator<Item = (Table, i64)> {
    let flow = flow.map(|flow| (Table::Flow, flow));
    let pair = (pair != NONE).then_some((Table::Pair, pair));
    let class = (class != NONE).then_some((Table::Class, class));
    let places = [flow, pair, class, Some((Table::Class, ALL))];
    places.into_iter().flatten()
}

/// Stores single reports, which were gathered too; their ids begin with this one.
pub fn singles(
    conn: &Connection,
    ids: &mut Ids,
    rollups: &mut RollUps,
    batch: &Batch,
    first_id: i64,
) -> rusqlite::Result<()> {
    let mut insert = conn.prepare_cached(
        "INSERT INTO report (id, time_ns, flow, pair, class, before, kind, lost, latency_ns, part, exporter, evidence)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
    )?;
    let mut shown = None;
    for (id, entry) in (first_id..).zip(&batch.entries) {
        let observed = &entry.observed;
        let time_ns = observed.time_ns;
        let pair = ids.pair(conn, observed.pair())?;
        let class = ids.class(conn, entry.class.as_deref())?;
        let name = observed.flow.filter(|_| !entry.beyond);
        let name = name.map(|flow| (flow, observed.source, observed.sink));
        let flow = name.and_then(|name| Some(ids.known(&name)?.id));
        let mut before = 0;
        for place in places(flow, pair, class) {
            let last = rollups.single(conn, time_ns, place, id)?;
            if place.0 == Table::Flow {
                before = last;
            }
        }
        let evidence = batch.evidence.get(entry.evidence.clone());
        // Once for each datagram.
        let again = entry.part > 0 && shown == Some(&entry.evidence);
        shown = Some(&entry.evidence);
        insert.execute((
            id,
            time_ns as i64,
            flow,
            pair,
            class,
            (before > 0).then_some(before),
            number_of(observed.kind),
            observed.lost,
            observed.latency_ns,
            entry.part,
            observed.exporter.map(exporter_bytes),
            evidence.filter(|_| !again),
        ))?;
    }
    Ok(())
}
