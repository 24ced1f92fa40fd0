//! The flows that hosts forwarded, as `hostint history` shows them.

use super::digits::{Grouped, Nanoseconds};
use super::hosts::KnownHosts;
use super::passages::end;
use super::table::TextTable;
use super::tunnel::TunnelText;
use crate::model::{
    ForwardedFlow, LEAST_SAMPLES, LatencyFigures, PacketPods, PassageFigures, PassagePods,
    PassageStart, PodName, PodsOf,
};

/// The columns of a CSV.
pub const CSV: &str = "node told_ns flow.src flow.sport flow.dst flow.dport flow.protocol flow_before_nat.src \
                       flow_before_nat.sport flow_before_nat.dst flow_before_nat.dport start in_interface out_interface \
                       in_ifindex out_ifindex packets bytes first_ns last_ns hop_ns mean_hop_ns max_hop_ns in_pod out_pod \
                       tunnel.kind tunnel.id tunnel.outer.src tunnel.outer.sport tunnel.outer.dst tunnel.outer.dport \
                       in_pod_name.namespace in_pod_name.pod in_pod_name.workload out_pod_name.namespace out_pod_name.pod \
                       out_pod_name.workload src_pod.namespace src_pod.pod src_pod.workload dst_pod.namespace dst_pod.pod \
                       dst_pod.workload";

/// The last line if the times of some flows begin at their senders.
const SINCE_SENDER: &str =
    "*: since the sender, a TCP socket on the same machine; others since the interface\n";

/// The mark of a time that begins at its sender.
fn marked(begin: String, start: PassageStart) -> String {
    match start {
        PassageStart::Interface => begin,
        PassageStart::Sender => format!("{begin}*"),
    }
}

/// The names of the pods behind both interfaces, or else what the host calls what is there.
fn behind(named: &PassagePods, told: &PacketPods) -> [Option<String>; 2] {
    let called = |name: &Option<PodName>, pod: &Option<String>| {
        let name = name.as_ref().map(PodName::to_string);
        name.or_else(|| pod.clone())
    };
    [
        called(&named.in_pod_name, &told.in_pod),
        called(&named.out_pod_name, &told.out_pod),
    ]
}

/// All packets between interfaces.
fn passages(all: &[PassageFigures], hosts: &KnownHosts) -> TextTable {
    let mut table = TextTable::new(
        &["all packets at", "in", "out"],
        &[
            "packets",
            "p50",
            "p99",
            "max",
            "to queue p50",
            "to queue p99",
            "mean in queue",
        ],
    );
    for one in all {
        let time = |ns: i64| Nanoseconds(ns).to_string();
        let known = |figures: Option<LatencyFigures>, of: fn(LatencyFigures) -> Option<i64>| {
            let figures = figures.filter(|figures| figures.samples >= LEAST_SAMPLES);
            figures.and_then(of).map_or("-".to_owned(), time)
        };
        let [in_pod, out_pod] = behind(&one.behind, &one.pods);
        let begin = end(&one.in_interface, one.in_port.into(), &in_pod);
        let both = one.sent.iter().chain(&one.queued);
        let packets = both.map(|figures| figures.samples).max();
        table.row(
            [
                hosts.named(Some(one.node)),
                marked(begin, one.start),
                end(&one.out_interface, one.out_port.into(), &out_pod),
            ],
            [
                Grouped(packets.unwrap_or(0)).to_string(),
                known(one.sent, |sent| sent.p50_ns),
                known(one.sent, |sent| sent.p99_ns),
                one.sent.map_or("-".to_owned(), |sent| time(sent.max_ns)),
                known(one.queued, |queued| queued.p50_ns),
                known(one.queued, |queued| queued.p99_ns),
                one.mean_queue_ns.map_or("-".to_owned(), time),
            ],
        );
    }
    table
}

/// Flows, as hosts told them last.
fn flows(all: &[ForwardedFlow], hosts: &KnownHosts) -> TextTable {
    let mut table = TextTable::new(
        &["flow", "host", "in", "out", "before NAT, or tunnel", "pods"],
        &["packets", "bytes", "mean", "max", "last"],
    );
    for one in all {
        let hop = &one.hop;
        let time = |ns: u32| Nanoseconds(ns.into()).to_string();
        let tunnel = hop.tunnel.map(|tunnel| TunnelText(&tunnel).to_string());
        let before = hop.flow_before_nat.map(|flow| flow.to_string()).or(tunnel);
        let [in_pod, out_pod] = behind(&one.behind, &hop.pods);
        let begin = end(&hop.in_interface, hop.in_ifindex, &in_pod);
        table.row(
            [
                hop.flow.to_string(),
                hosts.named(Some(one.node)),
                marked(begin, hop.start),
                end(&hop.out_interface, hop.out_ifindex, &out_pod),
                before.unwrap_or_default(),
                one.ends.text(PodsOf::Pod).unwrap_or_default(),
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
    table
}

pub fn write(
    (by_flow, between): (&[ForwardedFlow], &[PassageFigures]),
    hosts: &KnownHosts,
    out: &mut String,
) {
    if by_flow.is_empty() && between.is_empty() {
        out.push_str(
            "no host reported hops in this time (hostint postcards --hops --collector does)\n",
        );
        return;
    }
    let mut tables = Vec::new();
    if !between.is_empty() {
        tables.push(passages(between, hosts).to_string());
    }
    if !by_flow.is_empty() {
        tables.push(flows(by_flow, hosts).to_string());
    }
    out.push_str(&tables.join("\n"));
    let starts = by_flow.iter().map(|one| one.hop.start);
    let mut starts = starts.chain(between.iter().map(|one| one.start));
    if starts.any(|start| start == PassageStart::Sender) {
        out.push_str(SINCE_SENDER);
    }
}
