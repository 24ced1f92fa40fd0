//! A host's transit hop as metrics.

use super::page::{MetricKind, MetricsPage};
use super::sink::{counters, host};
use super::{build_info, text as render};
use crate::model::HostStatus;
use crate::model::metrics::MetricFamily;

pub fn text(status: &HostStatus) -> String {
    render(&families(status))
}

pub fn families(status: &HostStatus) -> Vec<MetricFamily> {
    let mut page = MetricsPage::default();
    build_info(&mut page);
    host(&mut page, status);
    let Some(transit) = &status.transit else {
        return page.0;
    };
    let mut family = page.family(
        "hostint_transit_attached",
        MetricKind::Gauge,
        "1 if the transit hop's programs are attached to the interface, 0 if something took them off",
    );
    for at in &transit.interfaces {
        family.value(&[("dev", &at.dev)], u8::from(at.attached));
    }
    counters(&mut page, "transit", &transit.counters);
    page.0
}
