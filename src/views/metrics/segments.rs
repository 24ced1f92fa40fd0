//! Metrics of the segments of paths: times in transit hops and between nodes, and the packets that are lost there.

use super::page::{MetricKind, MetricsPage};
use super::power_buckets::power_buckets;
use crate::model::{NodePort, SegmentLoss, SegmentTally};

/// The bounds of buckets are powers of two, from 1.024 us to 17.2 s.
const POWERS: std::ops::RangeInclusive<u32> = 10..=34;

pub(super) fn write(page: &mut MetricsPage, segments: &[SegmentTally]) {
    let name = "hostint_segment_latency_seconds";
    let help = "times of packets in transit hops, and between nodes whose clocks are known to the collector: of all packets, or of reported ones, which favour slow packets";
    let mut family = page.family(name, MetricKind::Histogram, help);
    for one in segments.iter().filter(|one| !one.latency.is_empty()) {
        let histogram = power_buckets(&one.latency, POWERS);
        let [from, to] = [one.segment.from, one.segment.to].map(port);
        let labels = [
            ("kind", one.segment.kind.name()),
            ("from", &*from),
            ("to", &*to),
            ("of", if one.of_packets { "packets" } else { "reports" }),
        ];
        family.histogram(&labels, histogram);
    }
    let name = "hostint_segment_packets_total";
    let help = "packets that came to a link, a queue or a transit hop, of those that are counted on both ends of it";
    losses(page, name, help, segments, |loss| loss.packets);
    let name = "hostint_segment_lost_packets_total";
    let help = "those of hostint_segment_packets_total that were lost there; of a link, with the queue in front of it";
    losses(page, name, help, segments, |loss| loss.lost);
}

fn losses(
    page: &mut MetricsPage,
    name: &str,
    help: &str,
    segments: &[SegmentTally],
    count: fn(SegmentLoss) -> u64,
) {
    let mut family = page.family(name, MetricKind::Counter, help);
    for one in segments {
        let Some(loss) = one.loss else { continue };
        let [from, to] = [one.segment.from, one.segment.to].map(port);
        let labels = [
            ("kind", one.segment.kind.name()),
            ("from", &*from),
            ("to", &*to),
        ];
        family.value(&labels, count(loss));
    }
}

/// `28673:2`: node and port.
pub(super) fn port(at: NodePort) -> String {
    format!("{}:{}", at.node, at.port)
}
