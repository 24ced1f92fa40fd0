//! Answers about flows, drops and connections with the names of pods.

use std::net::IpAddr;

use rusqlite::Connection;

use super::{connection_answers, drop_answers, flows, pods};
use crate::model::{
    ClassFigures, ConnectionFigures, ConnectionQuery, DropFigures, DropQuery, FlowFigures, FlowKey,
    FlowPods, FlowQuery, FlowTime, PodBook, PodsOf, Span,
};

fn addresses<'a>(flows: impl Iterator<Item = &'a FlowKey>) -> Vec<IpAddr> {
    flows.flat_map(|flow| [flow.src, flow.dst]).collect()
}

fn name_flows(conn: &Connection, found: &mut [FlowFigures]) -> rusqlite::Result<()> {
    let ends = addresses(found.iter().map(|one| &one.flow));
    let book = pods::read_some(conn, ends, [])?;
    for one in found {
        let time = FlowTime {
            last_ns: one.last_ns,
            begun_ns: Some(one.first_ns),
        };
        one.pods = FlowPods::of(&book, &one.flow, time);
    }
    Ok(())
}

pub fn flows(
    conn: &Connection,
    query: &FlowQuery,
    span: Span,
) -> rusqlite::Result<Vec<FlowFigures>> {
    let mut found = flows::top(conn, query, span)?;
    name_flows(conn, &mut found)?;
    Ok(found)
}

pub fn flow(conn: &Connection, id: i64, span: Span) -> rusqlite::Result<Option<FlowFigures>> {
    let mut found = flows::one(conn, id, span)?;
    name_flows(conn, found.as_mut_slice())?;
    Ok(found)
}

pub fn classes(conn: &Connection, by: PodsOf, span: Span) -> rusqlite::Result<Vec<ClassFigures>> {
    flows::by_pods(conn, by, span)
}

/// Drops have no time of their own: names of addresses are those of the span, if there was one pod alone.
pub fn drops(
    conn: &Connection,
    query: &DropQuery,
    span: Span,
) -> rusqlite::Result<Vec<DropFigures>> {
    let mut found = drop_answers::figures(conn, query, span)?;
    let ends = addresses(found.iter().filter_map(|one| one.flow.as_ref()));
    let hosts_names = found.iter().filter_map(|one| one.pod.as_deref());
    let uids = hosts_names.filter_map(PodBook::uid_of).map(str::to_owned);
    let uids = Vec::from_iter(uids);
    let book = pods::read_some(conn, ends, uids)?;
    for one in &mut found {
        let name = one.pod.as_deref().and_then(|pod| book.called(pod));
        one.pod_name = name.map(|name| (**name).clone());
        if let Some(flow) = &one.flow {
            let only = |address| {
                let mut names = book.within(address, span);
                names.next().filter(|_| names.next().is_none()).cloned()
            };
            one.pods = FlowPods {
                src_pod: only(flow.src),
                dst_pod: only(flow.dst),
            };
        }
    }
    Ok(found)
}

pub fn connections(
    conn: &Connection,
    query: &ConnectionQuery,
    span: Span,
) -> rusqlite::Result<Vec<ConnectionFigures>> {
    let mut found = connection_answers::find(conn, query, span)?;
    let ends = addresses(found.iter().map(|one| &one.connection.sample.flow));
    let book = pods::read_some(conn, ends, [])?;
    for one in &mut found {
        let sample = &one.connection.sample;
        let time = FlowTime {
            last_ns: sample.time_ns,
            begun_ns: Some(one.connection.known_since_ns()),
        };
        one.pods = FlowPods::of(&book, &sample.flow, time);
    }
    Ok(found)
}
