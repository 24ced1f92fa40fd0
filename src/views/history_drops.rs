//! What hosts dropped, as `hostint history` shows it: sums, and INT's loss split by the hosts that dropped the packets.

use std::fmt::Write;

use super::digits::Grouped;
use super::drops::position_text;
use super::hosts::KnownHosts;
use super::table::TextTable;
use super::tunnel::TunnelName;
use crate::model::{DropFigures, DropGrouping, LossSplit};

/// The columns of a CSV.
pub const CSV: &str = "node reason place interface flow.src flow.sport flow.dst flow.dport flow.protocol position ignored \
                       without_packet packets segments bytes pod tunnel.kind tunnel.id pod_name.namespace pod_name.pod pod_name.workload \
                       src_pod.namespace src_pod.pod src_pod.workload dst_pod.namespace dst_pod.pod dst_pod.workload";

pub fn write(by: DropGrouping, drops: &[DropFigures], hosts: &KnownHosts, out: &mut String) {
    if drops.is_empty() {
        out.push_str(
            "no host reported drops in this time; to see them: hostint postcards --drops --collector\n",
        );
        return;
    }
    let names: &[&str] = match by {
        DropGrouping::Reason => &["reason"],
        DropGrouping::Place => &["reason", "place", "interface", "node"],
        DropGrouping::Node => &["node", "what"],
        DropGrouping::Flow => &["flow", "reason", "place", "where", "node"],
        DropGrouping::Pod => &["pod", "reason", "node"],
    };
    let mut table = TextTable::new(names, &["packets", "segments", "bytes"]);
    for one in drops {
        let node = hosts.named(one.node);
        let reason = reason_text(one);
        let place = one.place.clone().unwrap_or_default();
        let position = one.position.and_then(position_text).unwrap_or_default();
        let interface = one.interface.clone().unwrap_or_default();
        let counts = [one.count.packets, one.count.segments, one.count.bytes];
        let counts = counts.map(|count| Grouped(count).to_string());
        match by {
            DropGrouping::Reason => table.row([reason], counts),
            DropGrouping::Place => table.row([reason, place, interface, node], counts),
            DropGrouping::Node => table.row([node, kind_text(one).to_owned()], counts),
            DropGrouping::Pod => {
                table.row([pod_text(one), reason, node], counts);
            }
            DropGrouping::Flow => {
                table.row(
                    [flow_text(one), reason, place, position.to_owned(), node],
                    counts,
                );
            }
        }
    }
    let _ = write!(out, "{table}");
}

/// `udp 10.0.0.1:5000 > 10.0.0.2:7000 in vxlan 42`.
fn flow_text(one: &DropFigures) -> String {
    let flow = one.flow.map(|flow| flow.to_string()).unwrap_or_default();
    match one.tunnel {
        Some(tunnel) => format!("{flow} in {}", TunnelName(tunnel)),
        None => flow,
    }
}

/// The name of a pod, or that which its host has for it.
fn pod_text(one: &DropFigures) -> String {
    match &one.pod_name {
        Some(name) => name.to_string(),
        None => one.pod.clone().unwrap_or_default(),
    }
}

/// Which of the sums of a host it is.
fn kind_text(one: &DropFigures) -> &'static str {
    match (one.without_packet, one.ignored) {
        (true, _) => "without a packet",
        (false, true) => "no loss",
        (false, false) => "dropped",
    }
}

fn reason_text(one: &DropFigures) -> String {
    let name = one.reason.as_deref().unwrap_or_default();
    let name = match name {
        "" | "0" => "no reason given",
        name => name,
    };
    if one.without_packet {
        "without a packet".to_owned()
    } else if one.ignored {
        format!("{name} (no loss)")
    } else {
        name.to_owned()
    }
}

/// `150 lost: 100 in the source host, 50 at hosts between; the sink host dropped 20 more, after hostint`.
pub fn split_text(split: &LossSplit) -> String {
    let part = |count: u64, place: &str| match count {
        0 => None,
        count => Some(format!("{} {place}", Grouped(count))),
    };
    let (source, sink) = (split.source_host, split.sink_host);
    let of_ends = source.unwrap_or(0).saturating_add(sink.unwrap_or(0));
    let rest = split.network;
    let rest = rest.unwrap_or_else(|| split.lost.saturating_sub(of_ends));
    let silent = match (source, sink) {
        (None, None) => "the source host and the sink host report no drops",
        (None, Some(_)) => "the source host reports no drops",
        (Some(_), None) => "the sink host reports no drops",
        (Some(_), Some(_)) => "",
    };
    let elsewhere = match (silent, split.between) {
        ("", 0) => "in the network".to_owned(),
        ("", _) => "elsewhere in the network".to_owned(),
        (silent, _) => format!("elsewhere ({silent}: hostint postcards --drops there does)"),
    };
    let parts = [
        part(source.unwrap_or(0), "in the source host"),
        part(split.between, "at hosts between"),
        part(rest.saturating_sub(split.between), &elsewhere),
        part(sink.unwrap_or(0), "in the sink host"),
        part(split.unsplit, "of which the place is unknown"),
    ];
    let parts = Vec::from_iter(parts.into_iter().flatten());
    let mut text = format!("{} lost", Grouped(split.lost));
    if source.or(sink).is_none() && split.between + split.unsplit == 0 {
        text += "; place unknown: run hostint postcards --drops on both hosts";
    } else if !parts.is_empty() {
        let _ = write!(text, ": {}", parts.join(", "));
    }
    if split.behind_strip > 0 {
        let dropped = Grouped(split.behind_strip);
        let _ = write!(
            text,
            "; the sink host dropped {dropped} more, after hostint"
        );
    }
    text
}
