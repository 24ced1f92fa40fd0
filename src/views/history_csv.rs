//! A collector's history as CSV, from the JSON of its rows.

use serde::Serialize;
use serde_json::Value;

use super::coverage;
use super::history::View;
use super::history_drops;
use super::history_passages;
use super::history_queues;
use super::history_tcp;
use super::history_verdict;
use super::hosts::KnownHosts;
use crate::model::{Answer, NodeId};

/// The columns of flows, figures and segments.
const FLOW: &str =
    "flow.src flow.sport flow.dst flow.dport flow.protocol flow.vlan flow.outer_vlan";
const FIGURES: &str = "reports packets lost reordered latency.samples latency.min_ns latency.mean_ns \
                       latency.p50_ns latency.p90_ns latency.p99_ns latency.max_ns latency.jitter_ns \
                       measured.summaries measured.packets measured.bytes measured.lost measured.recovered \
                       measured.reordered measured.duplicates measured.latency.samples \
                       measured.latency.min_ns measured.latency.mean_ns measured.latency.p50_ns \
                       measured.latency.p90_ns measured.latency.p99_ns measured.latency.max_ns \
                       measured.latency.jitter_ns measured.steps measured.corrected.packets \
                       measured.corrected.mean_ns measured.corrected.error_ns \
                       measured.corrected.bound_ns.0 measured.corrected.bound_ns.1";
const OF_ALL: &str = "loss_of_all.measured_ppm loss_of_all.least_ppb loss_of_all.most_ppb";
const PODS: &str =
    "src_pod.namespace src_pod.pod src_pod.workload dst_pod.namespace dst_pod.pod dst_pod.workload";
const SEGMENT: &str = "kind from.node from.port to.node to.port reports latency.samples latency.min_ns \
                       latency.mean_ns latency.p50_ns latency.p90_ns latency.p99_ns latency.max_ns \
                       corrected.mean_ns corrected.error_ns corrected.bound_ns.0 corrected.bound_ns.1 share \
                       loss.packets loss.lost";

impl View<'_> {
    /// Times and durations are integers of nanoseconds; unknown values are empty. What was added to a table later stands behind
    /// its older columns.
    pub fn csv(&self, hosts: &KnownHosts) -> Result<String, csv::Error> {
        let pair = format!("source sink flows {FIGURES} last_ns");
        let flow = format!("id {FLOW} source sink class first_ns last_ns {FIGURES}");
        let report = format!(
            "received_ns exporter kind version reporter_node {FLOW} class source.node sink.node latency_ns seq \
             gap.first_seq gap.count drop_reason drop_reason_name latency_corrected_ns latency_error_ns \
             latency_bound_ns.0 latency_bound_ns.1 clock"
        );
        match self.0 {
            Answer::Flows { flows } => csv_with_names((&flow, PODS), flows, hosts),
            Answer::Pairs { pairs, .. } => csv_with_names((&pair, OF_ALL), pairs, hosts),
            Answer::Classes { classes } => csv_table(&format!("class {FIGURES} {OF_ALL}"), classes),
            Answer::Verdict { past, .. } => csv_table(history_verdict::CSV, past),
            Answer::Why { why } => {
                let pairs = Vec::from_iter([&why.there, &why.back].into_iter().flatten());
                csv_with_names((&pair, OF_ALL), &pairs, hosts)
            }
            Answer::Coverage { coverage: rows, .. } => csv_with_names(
                ("source sink class reason packets bytes", ""),
                &coverage::csv_rows(rows),
                hosts,
            ),
            Answer::Flow { series, .. } | Answer::Series { series } => {
                csv_table(&format!("begin_ns {FIGURES}"), &series.points)
            }
            Answer::Reports { reports } => csv_table(&report, reports),
            Answer::Paths { paths, .. } => {
                let segments: Vec<_> = paths.iter().flat_map(|path| &path.segments).collect();
                csv_table(SEGMENT, &segments)
            }
            Answer::Segments { segments } => csv_table(SEGMENT, segments),
            Answer::Drops { drops, .. } => csv_table(history_drops::CSV, drops),
            Answer::Hops { hops, .. } => csv_table(history_passages::CSV, hops),
            Answer::Queues { queues } => csv_table(history_queues::CSV, queues),
            Answer::Connections { connections }
            | Answer::Tcp { connections, .. }
            | Answer::FlowTcp { connections, .. } => {
                csv_table(history_tcp::CONNECTIONS_CSV, connections)
            }
            Answer::TcpHops { tcp_hops } => csv_table(history_tcp::HOPS_CSV, &tcp_hops.hops),
            Answer::TcpSums { tcp_sums, .. } => csv_table(history_tcp::SUMS_CSV, tcp_sums),
            Answer::Extent { info } => csv_table(
                "first_ns last_ns reports flows bytes rolled_up_only rolled_up_only_ns",
                &[*info],
            ),
        }
    }
}

/// The same with the names of the nodes in `source` and `sink`, which stand between these columns.
fn csv_with_names<T: Serialize>(
    (columns, behind): (&str, &str),
    rows: &[T],
    hosts: &KnownHosts,
) -> Result<String, csv::Error> {
    let named = |row: &T| {
        let mut row = serde_json::to_value(row).unwrap_or_default();
        for end in ["source", "sink"] {
            let node = row.get(end).and_then(Value::as_u64);
            let node = node.and_then(|node| u32::try_from(node).ok()).map(NodeId);
            let name = node.and_then(|node| hosts.name(node));
            row[format!("{end}_name")] = name.into();
        }
        row
    };
    let rows: Vec<Value> = rows.iter().map(named).collect();
    csv_table(&format!("{columns} source_name sink_name {behind}"), &rows)
}

/// Columns are paths of keys, and their names have underscores.
fn csv_table<T: Serialize>(columns: &str, rows: &[T]) -> Result<String, csv::Error> {
    let columns: Vec<&str> = columns.split_whitespace().collect();
    let mut writer = csv::Writer::from_writer(Vec::new());
    writer.write_record(columns.iter().map(|column| column.replace('.', "_")))?;
    for row in rows {
        let row = serde_json::to_value(row).unwrap_or_default();
        writer.write_record(columns.iter().map(|column| {
            let path = format!("/{}", column.replace('.', "/"));
            match row.pointer(&path) {
                None | Some(Value::Null) => String::new(),
                Some(Value::String(text)) => text.clone(),
                Some(value) => value.to_string(),
            }
        }))?;
    }
    let bytes = writer.into_inner().map_err(|err| err.into_error())?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
