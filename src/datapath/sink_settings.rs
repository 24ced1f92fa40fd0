//! The sink's settings in the kernel half's form.

use super::abi::{MAX_EDGES, sink_flag, sink_settings, token_rate};
use crate::config::SinkConfig;

/// Times as many of all sources together as of one.
const TOTAL: u64 = 5;

/// What the programs go by; flags are what is set besides.
pub(super) fn settings_of(config: &SinkConfig, started_ns: u64, flags: u32) -> sink_settings {
    let mut flags = flags;
    for (on, flag) in [
        (config.over_tcp_udp, sink_flag::SINK_OVER_TCP_UDP),
        (config.extension_udp, sink_flag::SINK_EXTENSION_UDP),
        (config.vxlan_gpe, sink_flag::SINK_VXLAN_GPE),
        (config.drop_tagged, sink_flag::SINK_DROP_TAGGED),
        (config.strict, sink_flag::SINK_STRICT),
    ] {
        if on {
            flags |= flag.0;
        }
    }
    let mut settings = sink_settings {
        report_period_ns: config.report_period.as_ns(),
        loss_timeout_ns: config.loss_timeout.as_ns(),
        bucket_hold_ns: config.bucket_hold.as_ns(),
        started_ns,
        flags,
        extension_port: config.extension_port.to_be(),
        tos_value: config.mark.tos_value(),
        tos_mask: config.mark.tos_mask(),
        edge_count: config.latency_buckets_ns.len() as u32,
        edge_up: [i32::MAX; MAX_EDGES],
        edge_down: [i32::MAX; MAX_EDGES],
        report_bytes: config.report_bytes(),
        new_flows_source: rate(config.max_new_flows),
        new_flows_total: rate(config.max_new_flows * TOTAL),
        reports_source: rate(config.max_reports),
        reports_total: rate(config.max_reports * TOTAL),
    };
    for (i, edge) in config.latency_buckets_ns.iter().take(MAX_EDGES).enumerate() {
        (settings.edge_down[i], settings.edge_up[i]) = thresholds(*edge);
    }
    settings
}

/// So many a second, and a second's worth at once; 0: without limit.
fn rate(per_second: u64) -> token_rate {
    match 1_000_000_000u64.checked_div(per_second) {
        Some(interval_ns) => token_rate {
            interval_ns: interval_ns.max(1),
            burst_ns: 1_000_000_000,
        },
        None => token_rate::default(),
    }
}

/// Where a bucket's edge is crossed downwards and upwards: an eighth to either side, so that a flow whose
/// latency lies at the edge does not flap.
fn thresholds(edge: i32) -> (i32, i32) {
    (edge - edge / 8, edge.saturating_add(edge / 8))
}
