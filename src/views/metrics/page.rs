//! A page of metrics: families with help and type, and their values with labels.

use std::collections::HashMap;

use crate::model::metrics::{Histogram, MetricFamily, MetricValue, Number, Sample};

/// A counter's name, its help, and its value.
pub(super) type CountedField<T> = (&'static str, &'static str, fn(&T) -> u64);

pub use crate::model::metrics::MetricKind;

/// The label value of a sum that things beyond a limit share; no class can have this name.
pub const OTHER: &str = "_other";

/// The result of a scrape.
#[derive(Default)]
pub struct MetricsPage(pub Vec<MetricFamily>);

/// A metric that takes values: the last one of the page.
pub struct Values<'a>(&'a mut MetricsPage);

impl MetricsPage {
    pub fn family(&mut self, name: &str, kind: MetricKind, help: &str) -> Values<'_> {
        self.push(name, kind, help, false)
    }

    /// A metric whose count may have begun before this process.
    pub fn older(&mut self, name: &str, kind: MetricKind, help: &str) -> Values<'_> {
        self.push(name, kind, help, true)
    }

    fn push(&mut self, name: &str, kind: MetricKind, help: &str, older: bool) -> Values<'_> {
        self.0.push(MetricFamily {
            name: name.to_owned(),
            kind,
            help: help.to_owned(),
            older,
            samples: Vec::new(),
        });
        Values(self)
    }
}

impl Values<'_> {
    pub fn value(&mut self, labels: &[(&str, &str)], value: impl Into<Number>) {
        self.add(labels, MetricValue::Number(value.into()));
    }

    pub fn histogram(&mut self, labels: &[(&str, &str)], histogram: Histogram) {
        self.add(labels, MetricValue::Histogram(histogram));
    }

    fn add(&mut self, labels: &[(&str, &str)], value: MetricValue) {
        let labels = labels.iter();
        let labels = labels.map(|(name, text)| ((*name).to_owned(), (*text).to_owned()));
        let sample = Sample {
            labels: labels.collect(),
            value,
        };
        if let Some(family) = self.0.0.last_mut() {
            family.samples.push(sample);
        }
    }
}

/// The greatest value that each counter has shown: readers take a falling counter for a restarted one.
#[derive(Debug, Default)]
pub struct Rising(HashMap<(&'static str, String), u64>);

impl Rising {
    /// The value, or the greatest one shown before if that is greater.
    pub fn at_least(&mut self, name: &'static str, label: &str, value: u64) -> u64 {
        let most = self.0.entry((name, label.to_owned())).or_default();
        *most = value.max(*most);
        *most
    }
}
