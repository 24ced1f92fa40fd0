//! The insertion of gathered sums and of single reports, with the ids of their flow, pair and class.

use rusqlite::Connection;

use super::batch::ReportBatch;
use super::coding::{exporter_bytes, number_of};
use super::gathered_path::{GatheredPath, PathPackets};
use super::gatherer::{FirstTotal, Gathered, GatheredRow};
use super::ids::{Ids, NONE};
use super::paths;
use super::period::{ALL, RollUpTable};
use super::rollups::RollUps;
use super::totals::counts_whole;

/// The ids in the store of what was gathered, in its order, and the first and the last single report of each group.
#[derive(Debug, Default)]
pub struct GatheredIds {
    flows: Vec<Option<i64>>,
    pairs: Vec<GroupSingles>,
    classes: Vec<GroupSingles>,
    all: Vec<GroupSingles>,
}

/// The single reports of a pair, of a class, or of all, in the same ten seconds.
#[derive(Debug)]
struct GroupSingles {
    subject: i64,
    begin_ns: u64,
    /// The ids of the first and the last one; 0 without any.
    ends: (i64, i64),
}

impl GroupSingles {
    fn new(subject: i64, begin_ns: u64) -> Self {
        Self {
            subject,
            begin_ns,
            ends: (0, 0),
        }
    }

    /// Records a single report. Its id is larger than those of all before. Returns the subject.
    fn single(&mut self, id: i64) -> i64 {
        if self.ends.0 == 0 {
            self.ends.0 = id;
        }
        self.ends.1 = id;
        self.subject
    }
}

/// Adds gathered sums to the roll-ups. Returns the ids, and how many reports told of paths that the store cannot name: it has
/// forgotten their flow, or has too many paths.
pub fn add(
    conn: &Connection,
    ids: &mut Ids,
    rollups: &mut RollUps,
    gathered: &Gathered,
) -> rusqlite::Result<(GatheredIds, u64)> {
    ids.make_room();
    let mut found = GatheredIds::default();
    let mut add = |place: (RollUpTable, i64), begin_ns, sums| match place {
        (RollUpTable::Pair, NONE) => Ok(()),
        place => rollups.add(conn, begin_ns, place, sums),
    };
    for GatheredRow {
        subject: flow,
        begin_ns,
        sums,
    } in &gathered.flows
    {
        let class = ids.class(conn, flow.class.as_deref())?;
        let times = (flow.first_ns, flow.last_ns);
        let id = ids.flow(conn, &flow.name, class, times)?;
        if let Some(id) = id {
            add((RollUpTable::Flow, id), *begin_ns, sums)?;
        }
        found.flows.push(id);
    }
    for row in &gathered.pairs {
        let pair = ids.pair(conn, Some(row.subject))?;
        add((RollUpTable::Pair, pair), row.begin_ns, &row.sums)?;
        found.pairs.push(GroupSingles::new(pair, row.begin_ns));
    }
    for row in &gathered.classes {
        let class = ids.class(conn, Some(&row.subject))?;
        if class != NONE {
            add((RollUpTable::Class, class), row.begin_ns, &row.sums)?;
        }
        found.classes.push(GroupSingles::new(class, row.begin_ns));
    }
    for row in &gathered.all {
        add((RollUpTable::Class, ALL), row.begin_ns, &row.sums)?;
        found.all.push(GroupSingles::new(ALL, row.begin_ns));
    }
    let unnamed = add_paths(conn, ids, rollups, &gathered.paths)?;
    add_first_totals(conn, ids, rollups, &gathered.first_totals)?;
    Ok((found, unnamed))
}

/// Adds the times of paths. Returns how many reports told of those that the store cannot name.
fn add_paths(
    conn: &Connection,
    ids: &mut Ids,
    rollups: &mut RollUps,
    gathered: &[GatheredPath],
) -> rusqlite::Result<u64> {
    let mut unnamed = 0;
    for path in gathered {
        let flow = match &path.packets {
            PathPackets::Reported | PathPackets::All => Some(None),
            PathPackets::ReportedOf(name) => ids.known(name).map(|flow| Some(flow.id)),
        };
        let is_named = match flow {
            Some(flow) => paths::add(conn, &mut ids.paths, rollups, flow, path)?,
            None => false,
        };
        if !is_named {
            unnamed += path.samples_reported;
        }
    }
    Ok(unnamed)
}

/// Adds the packets out of order that flows' first summaries told of, as far as they count whole.
fn add_first_totals(
    conn: &Connection,
    ids: &mut Ids,
    rollups: &mut RollUps,
    gathered: &[FirstTotal],
) -> rusqlite::Result<()> {
    for first in gathered {
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

/// Iterates over the roll-ups in which a report counts.
fn places(flow: Option<i64>, pair: i64, class: i64) -> impl Iterator<Item = (RollUpTable, i64)> {
    let flow = flow.map(|flow| (RollUpTable::Flow, flow));
    let pair = (pair != NONE).then_some((RollUpTable::Pair, pair));
    let class = (class != NONE).then_some((RollUpTable::Class, class));
    [flow, pair, class, Some((RollUpTable::Class, ALL))]
        .into_iter()
        .flatten()
}

/// Stores single reports, whose sums were gathered with what has these ids. Their own ids begin with `first_id`.
pub fn singles(
    conn: &Connection,
    gathered: &mut GatheredIds,
    rollups: &mut RollUps,
    batch: &ReportBatch,
    first_id: i64,
) -> rusqlite::Result<()> {
    let mut insert = conn.prepare_cached(
        "INSERT INTO report (id, time_ns, flow, pair, class, before, kind, lost, latency_ns, part, exporter, evidence)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
    )?;
    let mut shown = None;
    for (id, entry) in (first_id..).zip(&batch.entries) {
        let (observed, rows) = (&entry.observed, &entry.rows);
        let time_ns = observed.time_ns;
        let group = |groups: &mut [GroupSingles], row: Option<usize>| {
            let group = row.and_then(|row| groups.get_mut(row));
            group.map_or(NONE, |group| group.single(id))
        };
        let pair = group(&mut gathered.pairs, rows.pair);
        let class = group(&mut gathered.classes, rows.class);
        group(&mut gathered.all, Some(rows.all));
        let flow = rows.flow.and_then(|row| *gathered.flows.get(row)?);
        let before = match flow {
            Some(flow) => rollups.single(conn, time_ns, (RollUpTable::Flow, flow), id)?,
            None => 0,
        };
        let evidence = batch.evidence.get(entry.evidence.clone());
        // A datagram is stored once.
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

/// Records in the roll-ups which single reports were stored of pairs, of classes, and in all.
pub fn finish_singles(
    conn: &Connection,
    gathered: &GatheredIds,
    rollups: &mut RollUps,
) -> rusqlite::Result<()> {
    let pairs = gathered.pairs.iter().map(|one| (RollUpTable::Pair, one));
    let classes = gathered.classes.iter().map(|one| (RollUpTable::Class, one));
    let named = pairs
        .chain(classes)
        .filter(|(_, group)| group.subject != NONE);
    let all = gathered.all.iter().map(|one| (RollUpTable::Class, one));
    for (table, group) in named.chain(all) {
        let (first, last) = group.ends;
        for id in [first, last].into_iter().filter(|id| *id != 0) {
            rollups.single(conn, group.begin_ns, (table, group.subject), id)?;
        }
    }
    Ok(())
}
