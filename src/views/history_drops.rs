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
                       without_packet packets segments bytes pod tunnel.kind tunnel.id";

pub fn write(by: DropGrouping, drops: &[DropFigures], hosts: &KnownHosts, out: &mut String) {
    if drops.is_empty() {
        out.push_str(
            "no host reported drops in this time (hostint postcards --drops --collector does)\n",
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
                table.row([one.pod.clone().unwrap_or_default(), reason, node], counts);
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

/// `lost 150: source host 100, network 50 (50 of them at hosts between), sink host 0; 20 dropped behind the strip`.
pub fn split_text(split: &LossSplit) -> String {
    let mut text = format!("lost {}: ", Grouped(split.lost));
    let host = |name: &str, part: Option<u64>| {
        let part = part.map(|part| Grouped(part).to_string());
        format!(
            "{name} host {}",
            part.unwrap_or_else(|| "not told".to_owned())
        )
    };
    let network = match split.network {
        Some(network) => format!("network {}", Grouped(network)),
        None => {
            let reported = split.source_host.unwrap_or(0) + split.sink_host.unwrap_or(0);
            let rest = split.lost.saturating_sub(reported);
            format!("network and hosts that report no drops {}", Grouped(rest))
        }
    };
    text += &[
        host("source", split.source_host),
        network,
        host("sink", split.sink_host),
    ]
    .join(", ");
    if split.between > 0 {
        let _ = write!(text, "; {} at hosts between", Grouped(split.between));
    }
    if split.unsplit > 0 {
        let _ = write!(text, "; {} cannot be split", Grouped(split.unsplit));
    }
    if split.behind_strip > 0 {
        let _ = write!(
            text,
            "; {} dropped behind the strip, which are no loss of INT's",
            Grouped(split.behind_strip)
        );
    }
    text
}
