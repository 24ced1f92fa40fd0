//! The names of the interfaces at the ends of segments, beside their ports.

use std::collections::BTreeSet;

use super::page::{MetricKind, MetricsPage};
use super::segments::port;
use crate::model::{ExporterHealth, SegmentTally, port_names};

pub(super) fn write(
    page: &mut MetricsPage,
    exporters: &[ExporterHealth],
    segments: &[SegmentTally],
) {
    let reported = exporters.iter();
    let names = port_names(reported.filter_map(|one| Some((one.node?, &one.interfaces))));
    let ends = segments
        .iter()
        .flat_map(|one| [one.segment.from, one.segment.to]);
    let help = "1; the name of an interface at an end of a segment, as its host reports it; end is as in the labels from and to";
    let mut family = page.family("hostint_interface_info", MetricKind::Gauge, help);
    for at in ends.collect::<BTreeSet<_>>() {
        let Some(name) = names.get(&at) else { continue };
        let labels = [
            ("end", &*port(at)),
            ("node", &*at.node.to_string()),
            ("port", &*at.port.to_string()),
            ("name", name),
        ];
        family.value(&labels, 1);
    }
}
