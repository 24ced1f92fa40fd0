//! The sink's settings in the kernel half's layout.

use crate::config::{DscpMark, SinkConfig};
use crate::datapath::abi::{MAX_EDGES, sink_flag, sink_settings, token_rate};
use crate::os::clock;

/// All sources together may do this many times as much as one source.
const ALL_SOURCES: u64 = 5;
/// With a mask of 0, no packet has this mark.
const NO_TOS: u8 = 1;

/// Returns the settings of the programs. `flags` are set in addition to those of the configuration.
pub(in crate::datapath) fn settings_of(
    config: &SinkConfig,
    started_ns: u64,
    kept_ns: u64,
    flags: u32,
) -> sink_settings {
    let mut flags = flags;
    for (on, flag) in [
        (config.over_tcp_udp, sink_flag::SINK_OVER_TCP_UDP),
        (config.extension_udp, sink_flag::SINK_EXTENSION_UDP),
        (config.vxlan_gpe, sink_flag::SINK_VXLAN_GPE),
        (config.ioam, sink_flag::SINK_IOAM),
        (config.options, sink_flag::SINK_OPTIONS),
        (config.int_md.is_some(), sink_flag::SINK_INT_MD),
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
        idle_ns: config.idle_flow_timeout.as_ns(),
        kept_ns,
        flags,
        extension_port: config.extension_port.to_be(),
        tos_value: config.mark.tos_value(),
        tos_mask: config.mark.tos_mask(),
        edge_count: config.latency_buckets_ns.len() as u32,
        edge_up: [i32::MAX; MAX_EDGES],
        edge_down: [i32::MAX; MAX_EDGES],
        report_bytes: config.report_bytes(),
        new_flows_source: rate(config.max_new_flows),
        new_flows_total: rate(config.max_new_flows * ALL_SOURCES),
        reports_source: rate(config.max_reports),
        reports_total: rate(config.max_reports * ALL_SOURCES),
        md_tos_value: config.int_md.map_or(NO_TOS, DscpMark::tos_value),
        md_tos_mask: config.int_md.map_or(0, DscpMark::tos_mask),
        zero: [0; 6],
    };
    for (i, edge) in config.latency_buckets_ns.iter().take(MAX_EDGES).enumerate() {
        (settings.edge_down[i], settings.edge_up[i]) = thresholds(*edge);
    }
    settings
}

/// Allows `per_second` a second, up to a second's worth at once. 0 sets no limit.
fn rate(per_second: u64) -> token_rate {
    match 1_000_000_000u64.checked_div(per_second) {
        Some(interval_ns) => token_rate {
            interval_ns: interval_ns.max(1),
            burst_ns: 1_000_000_000,
        },
        None => token_rate::default(),
    }
}

/// Returns the latencies at which a flow changes to the lower and to the upper bucket: an eighth below and above the
/// edge, so that a flow whose latency lies at the edge does not change all the time.
fn thresholds(edge: i32) -> (i32, i32) {
    (edge - edge / 8, edge.saturating_add(edge / 8))
}

/// Returns since when no flow's record was removed by a shorter idle timeout than the one of now, which is the only one
/// that the kernel half knows.
pub(in crate::datapath) fn kept_since(before: &sink_settings, config: &SinkConfig) -> u64 {
    if before.idle_ns >= config.idle_flow_timeout.as_ns() {
        return before.kept_ns;
    }
    let now_ns = clock::realtime_ns();
    before.kept_ns.max(now_ns.saturating_sub(before.idle_ns))
}
