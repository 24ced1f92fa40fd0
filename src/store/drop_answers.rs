//! Answers about what hosts dropped: sums, sums over time, and the split of INT's loss.

use std::collections::{BTreeMap, HashMap};

use rusqlite::{Connection, OptionalExtension, params_from_iter};

use super::bounds::{period_for, signed, touched};
use super::drop_columns::{COUNTS, count, flow_bytes, flow_of, text};
use super::drop_pods;
use super::drops::{exist, is_ignored, is_without_packet};
use super::ids::{name_bytes, name_of};
use crate::model::{
    DropFigures, DropGrouping, DropPoint, DropPosition, DropQuery, DropSeries, FlowFigures,
    FlowKey, LossAt, LossByHost, LossSplit, NodeId, PairDrops, PairFigures, Span,
};

/// The sums of drops, most packets first; those that are no loss come last.
pub fn figures(
    conn: &Connection,
    query: &DropQuery,
    span: Span,
) -> rusqlite::Result<Vec<DropFigures>> {
    if !exist(conn)? {
        return Ok(Vec::new());
    }
    if query.by == DropGrouping::Flow {
        return flows(conn, query, span);
    }
    if query.by == DropGrouping::Pod {
        return drop_pods::figures(conn, query, span);
    }
    let columns = match query.by {
        DropGrouping::Node => "node, '', '', ''",
        DropGrouping::Place => "node, reason, place, interface",
        DropGrouping::Reason | DropGrouping::Flow | DropGrouping::Pod => "-1, reason, '', ''",
    };
    let [since, until] = touched(span);
    let node = query.node.map_or(-1, |node| i64::from(node.0));
    let limit = i64::try_from(query.limit).unwrap_or(i64::MAX);
    let mut ask = conn.prepare_cached(&format!(
        "SELECT {columns}, flags, {COUNTS} FROM drop_sum
         WHERE begin_ns >= ? AND begin_ns < ? AND ? IN (-1, node)
         GROUP BY 1, 2, 3, 4, 5 ORDER BY flags & 1, 6 DESC LIMIT ?"
    ))?;
    let rows = ask.query_map([since, until, node, limit], |row| {
        let flags = row.get(4)?;
        Ok(DropFigures {
            node: u32::try_from(row.get::<_, i64>(0)?).ok().map(NodeId),
            reason: text(row, 1)?,
            place: text(row, 2)?,
            interface: text(row, 3)?,
            ignored: is_ignored(flags),
            without_packet: is_without_packet(flags),
            count: count(row, 5)?,
            ..DropFigures::default()
        })
    })?;
    rows.collect()
}

fn flows(conn: &Connection, query: &DropQuery, span: Span) -> rusqlite::Result<Vec<DropFigures>> {
    let [since, until] = touched(span);
    let node = query.node.map_or(-1, |node| i64::from(node.0));
    let limit = i64::try_from(query.limit).unwrap_or(i64::MAX);
    let mut ask = conn.prepare_cached(&format!(
        "SELECT node, flow, reason, place, position, {COUNTS} FROM drop_flow
         WHERE begin_ns >= ? AND begin_ns < ? AND ? IN (-1, node)
         GROUP BY 1, 2, 3, 4, 5 ORDER BY 6 DESC LIMIT ?"
    ))?;
    let rows = ask.query_map([since, until, node, limit], |row| {
        let position = u8::try_from(row.get::<_, i64>(4)?).unwrap_or_default();
        let (flow, tunnel) = flow_of(row.get_ref(1)?.as_blob()?).unzip();
        Ok(DropFigures {
            node: u32::try_from(row.get::<_, i64>(0)?).ok().map(NodeId),
            flow,
            tunnel: tunnel.flatten(),
            reason: text(row, 2)?,
            place: text(row, 3)?,
            position: DropPosition::from_number(position),
            count: count(row, 5)?,
            ..DropFigures::default()
        })
    })?;
    rows.collect()
}

/// Packets over time by reason, without those that are no loss.
pub fn series(conn: &Connection, span: Span, points: usize) -> rusqlite::Result<DropSeries> {
    let period_ns = period_for(span, points);
    if !exist(conn)? {
        return Ok(DropSeries {
            period_ns,
            points: Vec::new(),
        });
    }
    let [since, until] = touched(span);
    let mut ask = conn.prepare_cached(&format!(
        "SELECT begin_ns / ?1 * ?1, reason, {COUNTS} FROM drop_sum
         WHERE begin_ns >= ?2 AND begin_ns < ?3 AND flags & 1 = 0 GROUP BY 1, 2 ORDER BY 1, 2"
    ))?;
    let rows = ask.query_map([signed(period_ns), since, until], |row| {
        Ok(DropPoint {
            begin_ns: row.get::<_, i64>(0)?.unsigned_abs(),
            reason: row.get(1)?,
            packets: count(row, 2)?.packets,
        })
    })?;
    Ok(DropSeries {
        period_ns,
        points: rows.collect::<rusqlite::Result<_>>()?,
    })
}

/// True if a host reported drops in the span.
fn reports_drops(conn: &Connection, node: NodeId, span: Span) -> rusqlite::Result<bool> {
    let [since, until] = touched(span);
    let mut ask = conn.prepare_cached(
        "SELECT 1 FROM drop_teller WHERE begin_ns >= ? AND begin_ns < ? AND node = ? LIMIT 1",
    )?;
    let found = ask.query_row([since, until, node.0.into()], |row| row.get::<_, i64>(0));
    Ok(found.optional()?.is_some())
}

/// What hosts told of a flow or a pair, and what each of those between dropped.
#[derive(Default)]
struct ReportedDrops {
    pair: PairDrops,
    between: BTreeMap<NodeId, u64>,
}

/// A flow's drops by the source, the sink, or others; adds them to `told`.
fn add(
    reported: &mut ReportedDrops,
    (source, sink): (NodeId, NodeId),
    (node, position, tagged_by): (i64, i64, i64),
    segments: u64,
) {
    let is = |one: NodeId, number: i64| i64::from(one.0) == number;
    let position = u8::try_from(position).ok();
    let to = match position.and_then(DropPosition::from_number) {
        Some(DropPosition::BehindTag) if is(source, node) && is(source, tagged_by) => {
            &mut reported.pair.behind_tag
        }
        Some(DropPosition::BeforeStrip | DropPosition::Between)
            if is(sink, node) && is(source, tagged_by) =>
        {
            &mut reported.pair.before_strip
        }
        Some(DropPosition::Between | DropPosition::BeforeStrip | DropPosition::BehindTag)
            if is(source, tagged_by) && !is(source, node) =>
        {
            if let Ok(node) = u32::try_from(node) {
                let at = reported.between.entry(NodeId(node)).or_default();
                *at = at.saturating_add(segments);
            }
            &mut reported.pair.between
        }
        Some(DropPosition::BehindStrip) if is(sink, node) => &mut reported.pair.behind_strip,
        _ => return,
    };
    *to = to.saturating_add(segments);
}

/// The most pairs whose loss is split: those with most.
const MOST_SPLIT: usize = 100;

/// Splits the loss of these pairs, if any host reports drops.
pub fn split_pairs(
    conn: &Connection,
    pairs: &mut [PairFigures],
    span: Span,
) -> rusqlite::Result<()> {
    if !exist(conn)? {
        return Ok(());
    }
    let lost = |pair: &PairFigures| pair.figures.shown().lost;
    let mut worst: Vec<&mut PairFigures> = pairs.iter_mut().collect();
    worst.sort_by_key(|pair| std::cmp::Reverse(lost(pair)));
    for pair in worst.into_iter().take(MOST_SPLIT) {
        let reported = of_pair(conn, (pair.source, pair.sink), span)?;
        pair.loss_split = split(lost(pair), &reported.pair);
    }
    Ok(())
}

/// Splits the loss of a flow, if any host reports drops.
pub fn split_flow(conn: &Connection, flow: &mut FlowFigures, span: Span) -> rusqlite::Result<()> {
    if let Some(pair) = flow.source.zip(flow.sink) {
        let reported = of_flow(conn, &flow.flow, pair, span)?;
        flow.loss_split = split(flow.figures.shown().lost, &reported.pair);
    }
    Ok(())
}

/// Where packets of this pair were lost, of which INT misses `lost`.
pub fn loss_of_pair(
    conn: &Connection,
    pair: (NodeId, NodeId),
    lost: u64,
    span: Span,
) -> rusqlite::Result<Option<LossByHost>> {
    Ok(by_host(lost, of_pair(conn, pair, span)?))
}

/// The same of a flow.
pub fn loss_of_flow(
    conn: &Connection,
    flow: &FlowFigures,
    span: Span,
) -> rusqlite::Result<Option<LossByHost>> {
    let Some(pair) = flow.source.zip(flow.sink) else {
        return Ok(None);
    };
    let reported = of_flow(conn, &flow.flow, pair, span)?;
    Ok(by_host(flow.figures.shown().lost, reported))
}

fn by_host(lost: u64, reported: ReportedDrops) -> Option<LossByHost> {
    let between = reported.between.into_iter();
    let mut at: Vec<LossAt> = between
        .map(|(node, segments)| LossAt { node, segments })
        .collect();
    at.sort_by_key(|one| std::cmp::Reverse(one.segments));
    Some(LossByHost {
        split: split(lost, &reported.pair)?,
        at,
    })
}

/// `None` if nothing was lost or dropped, or if no host reports drops.
fn split(lost: u64, reported: &PairDrops) -> Option<LossSplit> {
    let split = LossSplit::new(lost, reported);
    let is_empty = lost == 0 && split.unsplit == 0 && split.behind_strip == 0;
    let is_reported = reported.source_reports || reported.sink_reports || split.between > 0;
    (is_reported && !is_empty).then_some(split)
}

/// The segments of a flow that its sink's host dropped behind the strip; 0 if it tells no drops.
pub fn dropped_behind_strip(
    conn: &Connection,
    flow: &FlowKey,
    pair: (NodeId, NodeId),
    span: Span,
) -> rusqlite::Result<u64> {
    Ok(of_flow(conn, flow, pair, span)?.pair.behind_strip)
}

/// What hosts told of a flow.
fn of_flow(
    conn: &Connection,
    flow: &FlowKey,
    pair: (NodeId, NodeId),
    span: Span,
) -> rusqlite::Result<ReportedDrops> {
    let mut reported = begin(conn, pair, span)?;
    if !exist(conn)? {
        return Ok(reported);
    }
    let [since, until] = touched(span);
    let mut ask = conn.prepare_cached(&format!(
        "SELECT node, position, tagged_by, {COUNTS} FROM drop_flow
         WHERE begin_ns >= ? AND begin_ns < ? AND flow = ? GROUP BY 1, 2, 3"
    ))?;
    let mut rows = ask.query((since, until, flow_bytes(flow, None)))?;
    while let Some(row) = rows.next()? {
        let place = (row.get(0)?, row.get(1)?, row.get(2)?);
        add(&mut reported, pair, place, count(row, 3)?.segments);
    }
    Ok(reported)
}

fn begin(conn: &Connection, pair: (NodeId, NodeId), span: Span) -> rusqlite::Result<ReportedDrops> {
    let mut reported = ReportedDrops::default();
    if exist(conn)? {
        reported.pair.source_reports = reports_drops(conn, pair.0, span)?;
        reported.pair.sink_reports = reports_drops(conn, pair.1, span)?;
    }
    Ok(reported)
}

/// What hosts told of a pair: the drops of all flows that the pair measured. Drops of the source host behind its tag that
/// belong to no flow of any pair may be this pair's.
fn of_pair(
    conn: &Connection,
    pair: (NodeId, NodeId),
    span: Span,
) -> rusqlite::Result<ReportedDrops> {
    let mut reported = begin(conn, pair, span)?;
    if !exist(conn)? {
        return Ok(reported);
    }
    let (source, sink) = pair;
    let [since, until] = touched(span);
    let mut ask = conn.prepare_cached(&format!(
        "SELECT flow, node, position, tagged_by, {COUNTS} FROM drop_flow
         WHERE begin_ns >= ?1 AND begin_ns < ?2 AND (tagged_by = ?3 OR node = ?4) GROUP BY 1, 2, 3, 4"
    ))?;
    let mut rows = ask.query([since, until, source.0.into(), sink.0.into()])?;
    let mut of_pair: HashMap<Vec<u8>, bool> = HashMap::new();
    let mut of_any: HashMap<Vec<u8>, bool> = HashMap::new();
    let mut with_flow = 0_u64;
    while let Some(row) = rows.next()? {
        let key = row.get_ref(0)?.as_blob()?;
        let Some((flow, ..)) = name_of(key) else {
            continue;
        };
        let place: (i64, i64, i64) = (row.get(1)?, row.get(2)?, row.get(3)?);
        let segments = count(row, 4)?.segments;
        let is_behind_tag = place
            == (
                source.0.into(),
                DropPosition::BehindTag.number().into(),
                source.0.into(),
            );
        if is_behind_tag && is_measured_from(conn, &mut of_any, key, &flow, source)? {
            with_flow = with_flow.saturating_add(segments);
        }
        if is_measured(conn, &mut of_pair, key, &flow, pair)? {
            add(&mut reported, pair, place, segments);
        }
    }
    let sums: i64 = conn.query_row(
        "SELECT CAST(min(total(segments), 9e18) AS INTEGER) FROM drop_sum
         WHERE begin_ns >= ? AND begin_ns < ? AND node = ? AND position = ? AND tagged_by = ? AND flags & 1 = 0",
        params_from_iter([
            since,
            until,
            source.0.into(),
            DropPosition::BehindTag.number().into(),
            source.0.into(),
        ]),
        |row| row.get(0),
    )?;
    reported.pair.without_flow = sums.unsigned_abs().saturating_sub(with_flow);
    Ok(reported)
}

/// True if the store knows the flow from this source to this sink.
fn is_measured(
    conn: &Connection,
    known: &mut HashMap<Vec<u8>, bool>,
    key: &[u8],
    flow: &FlowKey,
    (source, sink): (NodeId, NodeId),
) -> rusqlite::Result<bool> {
    if let Some(found) = known.get(key) {
        return Ok(*found);
    }
    let name = name_bytes(&(*flow, Some(source), Some(sink)));
    let mut ask = conn.prepare_cached("SELECT 1 FROM flow WHERE key = ?")?;
    let found = ask.query_row([name], |row| row.get::<_, i64>(0));
    let found = found.optional()?.is_some();
    known.insert(key.to_vec(), found);
    Ok(found)
}

/// True if the store knows the flow from this source to any sink.
fn is_measured_from(
    conn: &Connection,
    known: &mut HashMap<Vec<u8>, bool>,
    key: &[u8],
    flow: &FlowKey,
    source: NodeId,
) -> rusqlite::Result<bool> {
    if let Some(found) = known.get(key) {
        return Ok(*found);
    }
    let mut sinks = conn.prepare_cached("SELECT sink FROM pair WHERE source = ?")?;
    let sinks: Vec<u32> = sinks
        .query_map([i64::from(source.0)], |row| row.get(0))?
        .collect::<rusqlite::Result<_>>()?;
    let mut found = false;
    for sink in sinks {
        let pair = (source, NodeId(sink));
        found = found || is_measured(conn, &mut HashMap::new(), key, flow, pair)?;
    }
    known.insert(key.to_vec(), found);
    Ok(found)
}
