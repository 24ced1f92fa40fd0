//! TCP connections, as `hostint history` shows them: single ones, and sums by limit and by pair.

use std::fmt::Write;

use super::digits::{Grouped, Nanoseconds};
use super::hosts::KnownHosts;
use super::moment::moment;
use super::table::TextTable;
use super::tcp::HopState;
use crate::model::{
    Answer, ConnectionFigures, IntOfConnection, Limit, TcpGrouping, TcpHops, TcpSums,
};

/// The columns of a CSV of connections.
pub const CONNECTIONS_CSV: &str = "node sink flow_id id state flow.src flow.sport flow.dst flow.dport class time_ns begun_ns \
                                   samples limited limited_us.application limited_us.receiver limited_us.send_buffer \
                                   limited_us.host_queue limited_us.path limited_us.unknown tcp.srtt_us tcp.min_rtt_us \
                                   tcp.cwnd_segments tcp.delivery_rate_bytes_s tcp.bytes_acked tcp.bytes_received \
                                   tcp.segments_out tcp.data_segments_out tcp.total_retrans tcp.dsack_dups \
                                   tcp.rto_count tcp.delivered_ce tcp.notsent_bytes tcp.unread_bytes int.arrived int.lost \
                                   int.unseen int.dropped_behind_strip int.spurious_least int.unknown option.requests \
                                   option.samples option.worst.hop option.worst.link_gbit_s option.worst.queue_bytes \
                                   option.worst.free_gbit_s option.worst.latency_ns option.worst.age_ns option.worst.node \
                                   src_pod.namespace src_pod.pod src_pod.workload dst_pod.namespace dst_pod.pod dst_pod.workload";

/// The columns of a CSV of sums.
pub const SUMS_CSV: &str = "node peer limited connections open limited_us.application limited_us.receiver \
                            limited_us.send_buffer limited_us.host_queue limited_us.path limited_us.unknown bytes_acked \
                            bytes_received retransmitted_segments spurious_segments timeouts answers.answers answers.mean_ns";

/// The columns of a CSV of hops.
pub const HOPS_CSV: &str = "node hop connections first_ns last_ns worst.link_gbit_s worst.queue_bytes worst.free_gbit_s \
                            worst.latency_ns";

/// Writes an answer about connections.
pub fn write(answer: &Answer, hosts: &KnownHosts, out: &mut String) {
    let (is_empty, table) = match answer {
        Answer::Connections { connections }
        | Answer::Tcp { connections, .. }
        | Answer::FlowTcp { connections, .. } => (
            connections.is_empty(),
            connections_table(connections, hosts),
        ),
        Answer::TcpSums { by, tcp_sums, .. } => {
            let table = match by {
                TcpGrouping::Limit => limits_table(tcp_sums),
                TcpGrouping::Pair | TcpGrouping::Host => hosts_table(tcp_sums, hosts),
            };
            (tcp_sums.is_empty(), table)
        }
        Answer::TcpHops { tcp_hops } if tcp_hops.hops.is_empty() => {
            out.push_str(
                "no worst hop was reported in this time (hostint tcp --option asks hops, and hostint transit \
                 --carriers tcp-int answers)\n",
            );
            return;
        }
        Answer::TcpHops { tcp_hops } => (false, hops_table(tcp_hops, hosts)),
        _ => return,
    };
    if is_empty {
        out.push_str("no host reported connections in this time (hostint tcp --collector does)\n");
    } else {
        let _ = write!(out, "{table}");
    }
}

fn connections_table(connections: &[ConnectionFigures], hosts: &KnownHosts) -> TextTable {
    let mut table = TextTable::new(
        &["connection", "host", "state", "limited by"],
        &[
            "flow",
            "rtt",
            "least",
            "acked B",
            "received B",
            "segments",
            "retrans",
            "spurious",
            "INT lost",
            "for nothing",
            "worst hop",
        ],
    );
    for one in connections {
        let tcp = &one.connection.sample.tcp;
        let known = one.int.known();
        let time = |us: Option<u32>| {
            us.map_or_else(String::new, |us| {
                Nanoseconds(i64::from(us) * 1000).to_string()
            })
        };
        table.row(
            [
                one.connection.sample.flow.to_string(),
                hosts.named(Some(one.node)),
                one.state.name().to_owned(),
                one.connection.limited.to_string(),
            ],
            [
                one.flow_id.map_or_else(String::new, |id| id.to_string()),
                time(tcp.srtt_us),
                time(tcp.min_rtt_us),
                Grouped(tcp.bytes_acked).to_string(),
                Grouped(tcp.bytes_received).to_string(),
                Grouped(tcp.data_segments_out.into()).to_string(),
                Grouped(tcp.total_retrans.into()).to_string(),
                tcp.dsack_dups
                    .map_or_else(String::new, |dups| Grouped(dups.into()).to_string()),
                known.map_or_else(String::new, |known| Grouped(known.lost).to_string()),
                known.map_or_else(String::new, for_nothing),
                worst_hop(one, hosts),
            ],
        );
    }
    table
}

/// `2 is leaf-1 (7): queue of 40,960 bytes`: the worst hop that option 114 told; nothing if it told none.
fn worst_hop(one: &ConnectionFigures, hosts: &KnownHosts) -> String {
    let option = one.connection.sample.option.as_ref();
    let worst = option.and_then(|option| option.worst.as_ref());
    worst.map_or_else(String::new, |worst| {
        let node = worst
            .node
            .map(|node| format!(" is {}", hosts.named(Some(node))));
        let node = node.unwrap_or_default();
        format!("{}{node}: {}", worst.sample.hop, HopState(&worst.sample))
    })
}

/// A row for each hop. A connection may have had several worst hops, one after the other.
fn hops_table(known: &TcpHops, hosts: &KnownHosts) -> TextTable {
    let mut table = TextTable::new(
        &["worst hop", "since", "until", "worst state"],
        &["in all hops", "connections", "of"],
    );
    for hop in &known.hops {
        let name = match hop.node {
            Some(node) => hosts.named(Some(node)),
            None => format!("hop {}, node not known", hop.hop),
        };
        let latency_ns = hop.worst.latency_ns.cast_signed();
        table.row(
            [
                name,
                moment(hop.first_ns),
                moment(hop.last_ns),
                HopState(&hop.worst).to_string(),
            ],
            [
                Nanoseconds(latency_ns).to_string(),
                Grouped(hop.connections).to_string(),
                Grouped(known.connections).to_string(),
            ],
        );
    }
    table
}

/// `>= 12`: the retransmissions that INT proves needless; nothing if it proves none.
fn for_nothing(known: IntOfConnection) -> String {
    match known.spurious_least {
        0 => String::new(),
        least => format!(">= {}", Grouped(least)),
    }
}

const COUNTS: [&str; 7] = [
    "connections",
    "open",
    "acked B",
    "received B",
    "retrans",
    "spurious",
    "timeouts",
];

fn counts(sums: &TcpSums) -> [String; 7] {
    let counts = &sums.counts;
    [
        sums.connections,
        sums.open,
        counts.bytes_acked,
        counts.bytes_received,
        counts.retransmitted_segments,
        counts.spurious_segments,
        counts.timeouts,
    ]
    .map(|count| Grouped(count).to_string())
}

/// The share of a time in all times: `37 %`.
fn share(us: u64, all: u128) -> String {
    match all {
        0 => String::new(),
        all => format!("{:.0} %", 100.0 * us as f64 / all as f64),
    }
}

fn all_times(sums: &TcpSums) -> u128 {
    let times = Limit::ALL.into_iter().map(|limit| sums.times.of(limit));
    times.map(u128::from).sum()
}

fn limits_table(sums: &[TcpSums]) -> TextTable {
    let mut figures = vec!["time"];
    figures.extend(COUNTS);
    let mut table = TextTable::new(&["limited by"], &figures);
    let all: u128 = sums.iter().map(all_times).sum();
    for one in sums {
        let [
            connections,
            open,
            acked,
            received,
            retrans,
            spurious,
            timeouts,
        ] = counts(one);
        let time = share(one.times.of(one.limited), all);
        table.row(
            [one.limited.to_string()],
            [
                time,
                connections,
                open,
                acked,
                received,
                retrans,
                spurious,
                timeouts,
            ],
        );
    }
    table
}

/// Hosts, with the peer of each if the sums are of pairs.
fn hosts_table(sums: &[TcpSums], hosts: &KnownHosts) -> TextTable {
    // The times of answers have a column if any host reports them.
    let has_answers = sums.iter().any(|one| one.answers.is_some());
    let mut figures = COUNTS.to_vec();
    figures.extend(has_answers.then_some("answers take"));
    let mut table = TextTable::new(&["host", "peer", "limited by"], &figures);
    for one in sums {
        let answers = one
            .answers
            .map(|answers| Nanoseconds(answers.mean_ns).to_string());
        let times = all_times(one);
        let mut limits: Vec<Limit> = Limit::ALL.into();
        limits.retain(|limit| share(one.times.of(*limit), times) != share(0, times));
        limits.sort_by_key(|limit| std::cmp::Reverse(one.times.of(*limit)));
        let limits = limits
            .into_iter()
            .map(|limit| format!("{limit} {}", share(one.times.of(limit), times)));
        table.row(
            [
                hosts.named(one.node),
                one.peer.map_or_else(String::new, |peer| peer.to_string()),
                limits.collect::<Vec<_>>().join(", "),
            ],
            (counts(one).into_iter()).chain(has_answers.then(|| answers.unwrap_or_default())),
        );
    }
    table
}
