//! Answers about TCP connections: single ones, sums by limit and by pair, and states over time.

use std::collections::BTreeMap;

use rusqlite::{Connection, Row};

use super::beside_int::beside_int;
use super::bounds::{number, period_for, signed, touched};
use super::coding::address_of;
use super::connections::exist;
use super::ids::{flow_with, name_bytes, name_of};
use crate::model::{
    BesideInt, BesideIntUnknown, CONNECTION_SILENT_NS, ConnectionCounts, ConnectionFigures,
    ConnectionOrder, ConnectionPoint, ConnectionQuery, ConnectionSeries, ConnectionState, FlowKey,
    FlowPods, Limit, LimitPoint, LimitSeries, NodeId, Span, TcpGrouping, TcpNews, TcpReport,
    TcpSums,
};

/// The sums over columns of counts. They end at the greatest number, because hosts may tell anything.
const SUMS: &str =
    "CAST(min(total(acked), 9e18) AS INTEGER), CAST(min(total(received), 9e18) AS INTEGER),
     CAST(min(total(retransmitted), 9e18) AS INTEGER), CAST(min(total(spurious), 9e18) AS INTEGER),
     CAST(min(total(timeouts), 9e18) AS INTEGER)";

/// No host: connections of all are asked for.
const ANY: i64 = -1;

fn counts(row: &Row<'_>, at: usize) -> rusqlite::Result<ConnectionCounts> {
    Ok(ConnectionCounts {
        bytes_acked: number(row, at)?,
        bytes_received: number(row, at + 1)?,
        retransmitted_segments: number(row, at + 2)?,
        spurious_segments: number(row, at + 3)?,
        timeouts: number(row, at + 4)?,
    })
}

fn limit_of(row: &Row<'_>, at: usize) -> rusqlite::Result<Limit> {
    let number = u8::try_from(row.get::<_, i64>(at)?).ok();
    Ok(number.and_then(Limit::from_number).unwrap_or_default())
}

fn node_of(row: &Row<'_>, at: usize) -> rusqlite::Result<NodeId> {
    let number = u32::try_from(row.get::<_, i64>(at)?);
    Ok(NodeId(number.unwrap_or_default()))
}

fn asked(node: Option<NodeId>) -> i64 {
    node.map_or(ANY, |node| node.0.into())
}

/// The connections whose last state is in the span, or that are still open behind it.
pub fn find(
    conn: &Connection,
    query: &ConnectionQuery,
    span: Span,
) -> rusqlite::Result<Vec<ConnectionFigures>> {
    if !exist(conn)? {
        return Ok(Vec::new());
    }
    let (flow, node) = match query.flow {
        None => (None, query.node),
        Some(id) => match flow_with(conn, id)? {
            None => return Ok(Vec::new()),
            Some((flow, source)) => (Some(name_bytes(&(flow, None, None))), query.node.or(source)),
        },
    };
    let order = match query.order {
        ConnectionOrder::Retransmitted => "retransmitted",
        ConnectionOrder::Bytes => "bytes",
        ConnectionOrder::Rtt => "srtt_us",
        ConnectionOrder::Newest => "last_ns",
    };
    let [since, until] = touched(span);
    let limited = query.limited.map_or(ANY, |limit| limit.number().into());
    let mut ask = conn.prepare_cached(&format!(
        "SELECT node, last_ns, told, first_ns FROM tcp_connection
         WHERE last_ns >= ?1 AND first_ns < ?2 AND ?3 IN (-1, node) AND ?4 IN (-1, limited)
             AND (?5 IS NULL OR flow = ?5)
         ORDER BY {order} DESC, bytes DESC, id LIMIT ?6"
    ))?;
    let limit = i64::try_from(query.limit).unwrap_or(i64::MAX);
    let mut rows = ask.query((since, until, asked(node), limited, flow, limit))?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        let Ok(connection) = serde_json::from_str::<TcpReport>(row.get_ref(2)?.as_str()?) else {
            continue;
        };
        let node = node_of(row, 0)?;
        let measured = measured_flows(conn, &connection.sample.flow, node)?;
        let flow = measured.first();
        let lived = Span {
            since_ns: number(row, 3)?,
            until_ns: number(row, 1)?,
        };
        let mut known = ConnectionFigures {
            node,
            flow_id: flow.map(|flow| flow.0),
            sink: flow.map(|flow| flow.1),
            state: state_of(&connection, lived.until_ns, span),
            int: BesideInt::Unknown {
                unknown: BesideIntUnknown::NotMeasured,
            },
            connection,
            pods: FlowPods::default(),
        };
        known.int = beside_int(conn, &known, &measured, lived)?;
        found.push(known);
    }
    Ok(found)
}

fn state_of(connection: &TcpReport, last_ns: u64, span: Span) -> ConnectionState {
    let is_silent = last_ns.saturating_add(CONNECTION_SILENT_NS) < span.until_ns;
    match connection.why {
        TcpNews::End => ConnectionState::Ended,
        TcpNews::Gone => ConnectionState::Gone,
        _ if is_silent => ConnectionState::Silent,
        _ => ConnectionState::Open,
    }
}

/// The flows of a connection's segments that INT measured from its host, and the sink of each: the newest first.
pub fn measured_flows(
    conn: &Connection,
    flow: &FlowKey,
    node: NodeId,
) -> rusqlite::Result<Vec<(i64, NodeId)>> {
    // Keys begin with the known nodes, the protocol and the ports.
    let named = name_bytes(&(*flow, Some(node), Some(node)));
    let begin = named.get(..6).unwrap_or_default();
    let mut end = begin.to_vec();
    end.extend([0xff; 64]);
    let mut ask = conn.prepare_cached(
        "SELECT id, key FROM flow WHERE key >= ? AND key <= ? ORDER BY until_ns DESC",
    )?;
    let mut rows = ask.query((begin, end))?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        if let Some((key, Some(source), Some(sink))) = name_of(row.get_ref(1)?.as_blob()?)
            && source == node
            && key.without_vlans() == flow.without_vlans()
        {
            found.push((row.get(0)?, sink));
        }
    }
    Ok(found)
}

/// Sums over the span, most retransmitted segments first; limits in the order of their names.
pub fn sums(
    conn: &Connection,
    by: TcpGrouping,
    node: Option<NodeId>,
    span: Span,
) -> rusqlite::Result<Vec<TcpSums>> {
    if !exist(conn)? {
        return Ok(Vec::new());
    }
    let place = match by {
        TcpGrouping::Limit => "-1, x''",
        TcpGrouping::Pair => "node, peer",
        TcpGrouping::Host => "node, x''",
    };
    let mut groups: BTreeMap<(i64, Vec<u8>, Option<Limit>), TcpSums> = BTreeMap::new();
    let key = |row: &Row<'_>| -> rusqlite::Result<(i64, Vec<u8>, Option<Limit>)> {
        let limit = match by {
            TcpGrouping::Limit => Some(limit_of(row, 2)?),
            TcpGrouping::Pair | TcpGrouping::Host => None,
        };
        Ok((row.get(0)?, row.get(1)?, limit))
    };
    let [since, until] = touched(span);
    let mut ask = conn.prepare_cached(&format!(
        "SELECT {place}, limited, CAST(min(total(us), 9e18) AS INTEGER), {SUMS} FROM tcp_sum
         WHERE begin_ns >= ? AND begin_ns < ? AND ? IN (-1, node) GROUP BY 1, 2, 3"
    ))?;
    let mut rows = ask.query((since, until, asked(node)))?;
    while let Some(row) = rows.next()? {
        let sums = groups.entry(key(row)?).or_default();
        sums.times.add(limit_of(row, 2)?, number(row, 3)?);
        sums.counts.add(&counts(row, 4)?);
    }
    let mut ask = conn.prepare_cached(&format!(
        "SELECT {place}, limited, count(*), total(ended = 0 AND last_ns >= ?4) FROM tcp_connection
         WHERE last_ns >= ?1 AND first_ns < ?2 AND ?3 IN (-1, node) GROUP BY 1, 2, 3"
    ))?;
    let heard_ns = signed(span.until_ns.saturating_sub(CONNECTION_SILENT_NS));
    let mut rows = ask.query((since, until, asked(node), heard_ns))?;
    while let Some(row) = rows.next()? {
        let sums = groups.entry(key(row)?).or_default();
        sums.connections += number(row, 3)?;
        sums.open += row.get::<_, f64>(4)? as u64;
    }
    let named = groups
        .into_iter()
        .map(|((node, peer, limit), sums)| TcpSums {
            node: u32::try_from(node).ok().map(NodeId),
            peer: address_of(&peer),
            limited: limit.unwrap_or_else(|| sums.times.most()),
            ..sums
        });
    let mut named: Vec<TcpSums> = named.collect();
    if by != TcpGrouping::Limit {
        named.sort_by_key(|sums| std::cmp::Reverse(sums.counts.retransmitted_segments));
    }
    Ok(named)
}

/// For how long each thing limited connections, over time.
pub fn limit_series(
    conn: &Connection,
    node: Option<NodeId>,
    span: Span,
    points: usize,
) -> rusqlite::Result<LimitSeries> {
    let period_ns = period_for(span, points);
    let mut series = LimitSeries {
        period_ns,
        points: Vec::new(),
    };
    if exist(conn)? {
        let [since, until] = touched(span);
        let mut ask = conn.prepare_cached(
            "SELECT begin_ns / ?1 * ?1, limited, CAST(min(total(us), 9e18) AS INTEGER) FROM tcp_sum
             WHERE begin_ns >= ?2 AND begin_ns < ?3 AND ?4 IN (-1, node) GROUP BY 1, 2 ORDER BY 1, 2",
        )?;
        let rows = ask.query_map((signed(period_ns), since, until, asked(node)), |row| {
            Ok(LimitPoint {
                begin_ns: number(row, 0)?,
                limited: limit_of(row, 1)?,
                us: number(row, 2)?,
            })
        })?;
        series.points = rows.collect::<rusqlite::Result<_>>()?;
    }
    Ok(series)
}

/// The states over time of the connections whose segments are this flow of the history.
pub fn flow_series(
    conn: &Connection,
    flow: i64,
    span: Span,
    points: usize,
) -> rusqlite::Result<ConnectionSeries> {
    let period_ns = period_for(span, points);
    let mut series = ConnectionSeries {
        period_ns,
        points: Vec::new(),
    };
    if !exist(conn)? {
        return Ok(series);
    }
    let Some((flow, source)) = flow_with(conn, flow)? else {
        return Ok(series);
    };
    let [since, until] = touched(span);
    // With max(), SQLite takes the other columns from the row of the maximum.
    let mut ask = conn.prepare_cached(&format!(
        "SELECT state.begin_ns / ?1 * ?1, state.node, state.id, state.limited, state.srtt_us, state.min_rtt_us,
             state.cwnd, state.rate, {SUMS}, max(state.begin_ns)
         FROM tcp_connection AS known JOIN tcp_state AS state ON state.node = known.node AND state.id = known.id
         WHERE known.flow = ?2 AND ?3 IN (-1, known.node) AND state.begin_ns >= ?4 AND state.begin_ns < ?5
         GROUP BY 2, 3, 1 ORDER BY 1",
        SUMS = SUMS.replace("total(", "total(state.")
    ))?;
    let flow = name_bytes(&(flow, None, None));
    let rows = ask.query_map(
        (signed(period_ns), flow, asked(source), since, until),
        |row| {
            Ok(ConnectionPoint {
                begin_ns: number(row, 0)?,
                node: node_of(row, 1)?,
                id: number(row, 2)?,
                limited: limit_of(row, 3)?,
                srtt_us: row.get(4)?,
                min_rtt_us: row.get(5)?,
                cwnd_segments: row.get(6)?,
                delivery_rate_bytes_s: row.get::<_, Option<i64>>(7)?.map(i64::unsigned_abs),
                counts: counts(row, 8)?,
            })
        },
    )?;
    series.points = rows.collect::<rusqlite::Result<_>>()?;
    Ok(series)
}
