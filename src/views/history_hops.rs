//! The flows that hosts forwarded, as `hostint history` shows them.

use std::fmt::Write;

use super::hops::ends;
use super::hosts::KnownHosts;
use super::table::TextTable;
use super::text::{Grouped, Nanoseconds};
use crate::model::{ForwardedFlow, HopStart};

/// The columns of a CSV.
pub const CSV: &str = "node told_ns flow.src flow.sport flow.dst flow.dport flow.protocol flow_before_nat.src \
                       flow_before_nat.sport flow_before_nat.dst flow_before_nat.dport start in_interface out_interface \
                       in_ifindex out_ifindex packets bytes first_ns last_ns hop_ns mean_hop_ns max_hop_ns in_pod out_pod";

/// The last line if the times of some flows begin at their senders.
const SINCE_SENDER: &str =
    "*: since the sender, a TCP socket on the same machine; others since the interface\n";

pub fn write(flows: &[ForwardedFlow], hosts: &KnownHosts, out: &mut String) {
    if flows.is_empty() {
        out.push_str(
            "no host told hops in this time (hostint postcards --hops --collector tells them)\n",
        );
        return;
    }
    let mut table = TextTable::new(
        &["flow", "host", "in", "out", "before NAT"],
        &["packets", "bytes", "mean", "max", "last"],
    );
    for ForwardedFlow { node, hop, .. } in flows {
        let time = |ns: u32| Nanoseconds(ns.into()).to_string();
        let before = hop.flow_before_nat.map(|flow| flow.to_string());
        let (begin, end) = ends(hop);
        table.row(
            [
                hop.flow.to_string(),
                hosts.named(Some(*node)),
                match hop.start {
                    HopStart::Interface => begin,
                    HopStart::Sender => format!("{begin}*"),
                },
                end,
                before.unwrap_or_default(),
            ],
            [
                Grouped(hop.packets).to_string(),
                Grouped(hop.bytes).to_string(),
                time(hop.mean_hop_ns),
                time(hop.max_hop_ns),
                time(hop.hop_ns),
            ],
        );
    }
    let _ = write!(out, "{table}");
    let from_sender = |one: &ForwardedFlow| one.hop.start == HopStart::Sender;
    if flows.iter().any(from_sender) {
        out.push_str(SINCE_SENDER);
    }
}
