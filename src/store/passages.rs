//! Answers about the times of all packets through hosts, which are kept as paths that begin and end at the same host.

use std::collections::HashMap;

use rusqlite::Connection;

use super::flow_passages::{NamedInterfaces, interfaces};
use super::path_ids::packets_of_place;
use super::rows::sums_of_all_places;
use crate::model::{
    LatencyFigures, NodeId, PacketPods, PassageFigures, PassageId, PassagePods, PassageQuery, Path,
    QUEUED_PLACE, SENT_PLACE, SOCKETS_NAME, SOCKETS_PORT, Span,
};

/// Returns the times between interfaces, those with most packets first. A flow's are in its own figures.
pub fn find(
    conn: &Connection,
    query: &PassageQuery,
    span: Span,
) -> rusqlite::Result<Vec<PassageFigures>> {
    if query.flow.is_some() {
        return Ok(Vec::new());
    }
    let mut ask =
        conn.prepare_cached("SELECT id, way FROM path WHERE flow = 0 AND source = sink")?;
    let known: HashMap<i64, Vec<u8>> = ask
        .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?
        .collect::<rusqlite::Result<_>>()?;
    let named = known.into_iter();
    let ids: Vec<(i64, PassageId)> = named
        .filter_map(|(id, way)| Some((id, PassageId::of(&Path::from_bytes(&way)?)?)))
        .filter(|(_, id)| query.node.is_none_or(|node| node == id.node))
        .collect();
    if ids.is_empty() {
        return Ok(Vec::new());
    }
    let sums = sums_of_all_places(conn, span)?;
    let names = interfaces(conn, span)?;
    let figures = |id: i64, place: u8| -> Option<LatencyFigures> {
        let sums = sums.get(&packets_of_place(id, place.into()))?;
        sums.latency.figures()
    };
    let mut found: Vec<PassageFigures> = ids
        .into_iter()
        .filter_map(|(id, passage)| {
            let (sent, queued) = (figures(id, SENT_PLACE), figures(id, QUEUED_PLACE));
            (sent.is_some() || queued.is_some())
                .then(|| figures_of(passage, (sent, queued), &names))
        })
        .collect();
    let packets = |one: &PassageFigures| {
        let both = one.sent.iter().chain(&one.queued);
        both.map(|figures| figures.samples).max()
    };
    found.sort_by_key(|one| {
        let ports = (one.node, one.in_port, one.out_port);
        (std::cmp::Reverse(packets(one)), ports)
    });
    found.truncate(query.limit);
    Ok(found)
}

fn figures_of(
    id: PassageId,
    (sent, queued): (Option<LatencyFigures>, Option<LatencyFigures>),
    names: &NamedInterfaces,
) -> PassageFigures {
    let named = |node: NodeId, port| match port {
        SOCKETS_PORT => (Some(SOCKETS_NAME.to_owned()), None),
        _ => names.get(&(node, port)).cloned().unwrap_or_default(),
    };
    let (in_interface, in_pod) = named(id.node, id.in_port);
    let (out_interface, out_pod) = named(id.node, id.out_port);
    PassageFigures {
        node: id.node,
        start: id.start,
        in_port: id.in_port,
        out_port: id.out_port,
        in_interface,
        out_interface,
        pods: PacketPods {
            in_pod,
            out_pod,
            pod: None,
        },
        behind: PassagePods::default(),
        mean_queue_ns: sent
            .zip(queued)
            .map(|(sent, queued)| sent.mean_ns.saturating_sub(queued.mean_ns).max(0)),
        sent,
        queued,
    }
}
