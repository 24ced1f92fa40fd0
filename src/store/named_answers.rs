//! Answers about flows, drops, hops and connections with the names of pods.

use std::collections::BTreeSet;
use std::net::IpAddr;

use rusqlite::Connection;

use super::{connection_answers, drop_answers, flow_passages, flows, passages, pods};
use crate::model::{
    ClassFigures, ConnectionFigures, ConnectionQuery, DropFigures, DropQuery, FlowFigures, FlowKey,
    FlowPods, FlowQuery, FlowTime, ForwardedFlow, PacketPods, PassageFigures, PassagePods,
    PassageQuery, PodBook, PodsOf, Span,
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

/// The uids by which hosts call the pods behind interfaces.
fn uids<'a>(pods: impl Iterator<Item = &'a PacketPods>) -> Vec<String> {
    let told = pods.flat_map(|pods| [&pods.in_pod, &pods.out_pod]);
    let uids = told.filter_map(|pod| PodBook::uid_of(pod.as_deref()?));
    let uids: BTreeSet<&str> = uids.collect();
    uids.into_iter().map(str::to_owned).collect()
}

pub fn hops(
    conn: &Connection,
    query: &PassageQuery,
    span: Span,
) -> rusqlite::Result<Vec<ForwardedFlow>> {
    let mut found = flow_passages::find(conn, query, span)?;
    let ends = addresses(found.iter().map(|one| &one.hop.flow));
    let uids = uids(found.iter().map(|one| &one.hop.pods));
    let book = pods::read_some(conn, ends, uids)?;
    for one in &mut found {
        let hop = &one.hop;
        let lasted_ns = hop.last_ns.saturating_sub(hop.first_ns);
        let time = FlowTime {
            last_ns: one.told_ns,
            begun_ns: Some(one.told_ns.saturating_sub(lasted_ns)),
        };
        one.ends = FlowPods::of(&book, &hop.flow, time);
        one.behind = PassagePods::of(&book, &hop.pods);
    }
    Ok(found)
}

pub fn passages(
    conn: &Connection,
    query: &PassageQuery,
    span: Span,
) -> rusqlite::Result<Vec<PassageFigures>> {
    let mut found = passages::find(conn, query, span)?;
    let book = pods::read_some(conn, [], uids(found.iter().map(|one| &one.pods)))?;
    for one in &mut found {
        one.behind = PassagePods::of(&book, &one.pods);
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
