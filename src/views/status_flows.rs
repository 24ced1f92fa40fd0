//! The flows of a sink in `hostint status`.

use std::fmt;

use super::digits::Grouped;
use super::hosts::{KnownHosts, NODE_WIDTH};
use super::stamped::PeerClocks;
use crate::model::{FlowStatus, SinkStatus};

/// A width that fits nearly every TCP or UDP flow over IPv4.
const FLOW_WIDTH: usize = 46;
/// The width of the nodes' column without names.
const LEAST_NODE_WIDTH: usize = 6;

/// Writes how many flows there are, and a line for each that is to be shown.
pub fn write(
    f: &mut fmt::Formatter<'_>,
    sink: &SinkStatus,
    clocks: &PeerClocks,
    hosts: &KnownHosts,
) -> fmt::Result {
    writeln!(
        f,
        "flows: {} of at most {}{}",
        sink.flows_total,
        sink.flows_max,
        if sink.flows.len() < sink.flows_total {
            format!(", {} shown", sink.flows.len())
        } else {
            String::new()
        }
    )?;
    let rough = sink.flows_total.saturating_sub(sink.flows_fine);
    if rough > 0 && sink.flows_fine_max > 0 {
        writeln!(
            f,
            "  quantiles of {rough} of them are rough, within a factor of 2: at most {} have fine slots \
             (--max-fine-flows)",
            sink.flows_fine_max
        )?;
    }
    if sink.flows.is_empty() {
        return Ok(());
    }
    let names = sink.flows.iter().map(|flow| flow.flow.to_string().len());
    let width = names.max().unwrap_or(0).max(FLOW_WIDTH);
    let node_of = |flow: &FlowStatus| hosts.named_within(flow.source_node, NODE_WIDTH);
    let nodes = sink.flows.iter().map(|flow| node_of(flow).chars().count());
    let node_width = nodes.max().unwrap_or(0).max(LEAST_NODE_WIDTH);
    writeln!(
        f,
        "  {:<width$} {:>node_width$} {:>10} {:>8} {:>7} {:>7} {:>5} {:>10} {:>10} {:>10}",
        "flow", "node", "received", "lost", "lost %", "reord", "dup", "min", "mean", "max"
    )?;
    for flow in &sink.flows {
        flow_line(f, flow, clocks, (width, node_width, &node_of(flow)))?;
    }
    Ok(())
}

fn flow_line(
    f: &mut fmt::Formatter<'_>,
    flow: &FlowStatus,
    clocks: &PeerClocks,
    (width, node_width, node): (usize, usize, &str),
) -> fmt::Result {
    let latency = |ns: i64| clocks.text(flow.source_node, ns);
    let sent = flow.packets.saturating_sub(flow.duplicates) + flow.lost;
    // Thousandths of a percent, rounded half up.
    let share = (u128::from(flow.lost) * 100_000 + u128::from(sent / 2))
        .checked_div(u128::from(sent))
        .unwrap_or(0);
    writeln!(
        f,
        "  {:<width$} {:>node_width$} {:>10} {:>8} {:>3}.{:03} {:>7} {:>5} {:>10} {:>10} {:>10}",
        flow.flow.to_string(),
        node,
        Grouped(flow.packets),
        Grouped(flow.lost),
        share / 1000,
        share % 1000,
        Grouped(flow.reordered),
        Grouped(flow.duplicates),
        latency(flow.latency_min_ns.into()),
        latency(flow.latency_mean_ns),
        latency(flow.latency_max_ns.into()),
    )
}
