//! The metrics of an agent: whether each role of this host does its work.

use super::text;
use crate::model::metrics::{MetricFamily, MetricKind, MetricValue, Sample};

/// One series for each role.
pub fn text_of_roles<'a>(roles: impl Iterator<Item = (&'a str, bool)>) -> String {
    let samples = roles.map(|(role, runs)| Sample {
        labels: vec![("role".to_owned(), role.to_owned())],
        value: MetricValue::Number(u8::from(runs).into()),
    });
    text(&[MetricFamily {
        name: "hostint_role_runs".to_owned(),
        kind: MetricKind::Gauge,
        help: "1 if the role does its work, 0 if it begins, waits, failed or was refused"
            .to_owned(),
        older: false,
        samples: samples.collect(),
    }])
}
