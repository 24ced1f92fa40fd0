//! The receiver of metrics by OTLP. Counters are monotonic sums since the process began, histograms have explicit
//! bounds.

use std::time::Duration;

use prost::Message;

use super::answer;
use super::messages::{
    Attribute, Data, Gauge, Histogram, HistogramPoint, Metric, MetricsRequest, Number, NumberPoint,
    Resource, ResourceMetrics, ScopeMetrics, Sum, Temporality,
};
use super::sender::{client, resource, scope};
use crate::engines::http::{HttpClient, PROTOBUF, gzip};
use crate::engines::push::{Encoded, Push};
use crate::engines::{Accepted, Trouble};
use crate::model::EngineUnit;
use crate::model::metrics::{
    self, Identity, JOB, MetricFamily, MetricKind, MetricValue, Sample, Snapshot,
};

/// A receiver of metrics.
pub struct OtlpMetrics {
    http: HttpClient,
    resource: Resource,
}

impl OtlpMetrics {
    /// # Errors
    /// The URL or the system's certificates are unusable.
    pub fn new(
        url: &str,
        headers: Vec<(String, String)>,
        identity: &Identity,
    ) -> Result<Self, String> {
        Ok(Self {
            http: client(url, headers)?,
            resource: resource(identity),
        })
    }
}

impl Push for OtlpMetrics {
    fn name(&self) -> &'static str {
        "otlp-metrics"
    }

    fn destination(&self) -> String {
        self.http.url().to_owned()
    }

    fn unit(&self) -> EngineUnit {
        EngineUnit::Points
    }

    fn encode(&self, snapshot: &Snapshot) -> Result<Encoded, String> {
        let families = &snapshot.families;
        let request = MetricsRequest {
            resources: vec![ResourceMetrics {
                resource: Some(self.resource.clone()),
                scopes: vec![ScopeMetrics {
                    scope: Some(scope(JOB)),
                    metrics: families
                        .iter()
                        .map(|family| metric(snapshot, family))
                        .collect(),
                }],
            }],
        };
        Ok(Encoded {
            body: gzip(&request.encode_to_vec()).map_err(|err| err.to_string())?,
            units: families.iter().map(|family| family.samples.len()).sum(),
        })
    }

    fn deliver(&self, body: &[u8]) -> Result<Accepted, Trouble> {
        answer::accepted(
            self.http
                .send("/v1/metrics", PROTOBUF, Some("gzip"), body)?,
        )
    }

    fn rest(&self) -> Duration {
        self.http.rest()
    }
}

fn metric(snapshot: &Snapshot, family: &MetricFamily) -> Metric {
    // 0 means that the beginning of the count is not known.
    let start_ns = if family.older { 0 } else { snapshot.since_ns };
    let samples = family.samples.iter();
    let temporality = Temporality::Cumulative.into();
    let data = match family.kind {
        MetricKind::Counter => Data::Sum(Sum {
            points: samples
                .filter_map(|sample| number(snapshot, start_ns, sample))
                .collect(),
            temporality,
            monotonic: true,
        }),
        MetricKind::Gauge => Data::Gauge(Gauge {
            points: samples
                .filter_map(|sample| number(snapshot, 0, sample))
                .collect(),
        }),
        MetricKind::Histogram => Data::Histogram(Histogram {
            points: samples
                .filter_map(|sample| histogram(snapshot, start_ns, sample))
                .collect(),
            temporality,
        }),
    };
    Metric {
        name: family.name.clone(),
        description: family.help.clone(),
        unit: unit(family).to_owned(),
        data: Some(data),
    }
}

/// Returns a family's unit. Gauges without a unit get none, because receivers take 1 for a ratio and rename the gauge.
fn unit(family: &MetricFamily) -> &'static str {
    let counts = if family.kind == MetricKind::Gauge {
        ""
    } else {
        "1"
    };
    family.unit().unwrap_or(counts)
}

fn attributes(sample: &Sample) -> Vec<Attribute> {
    sample
        .labels
        .iter()
        .map(|(name, text)| Attribute::text(name, text))
        .collect()
}

fn number(snapshot: &Snapshot, start_ns: u64, sample: &Sample) -> Option<NumberPoint> {
    let MetricValue::Number(number) = sample.value else {
        return None;
    };
    let value = match number {
        metrics::Number::Integer(integer) => i64::try_from(integer).ok().map(Number::Int),
        metrics::Number::Real(_) => None,
    };
    Some(NumberPoint {
        start_ns,
        time_ns: snapshot.time_ns,
        value: Some(value.unwrap_or(Number::Double(number.as_f64()))),
        attributes: attributes(sample),
    })
}

fn histogram(snapshot: &Snapshot, start_ns: u64, sample: &Sample) -> Option<HistogramPoint> {
    let MetricValue::Histogram(histogram) = &sample.value else {
        return None;
    };
    let mut below = 0;
    let alone = histogram
        .buckets
        .iter()
        .map(|(_, count)| *count)
        .chain([histogram.count])
        .map(|count| {
            let alone = count.saturating_sub(below);
            below = count;
            alone
        });
    Some(HistogramPoint {
        start_ns,
        time_ns: snapshot.time_ns,
        count: histogram.count,
        sum: Some(histogram.sum),
        bucket_counts: alone.collect(),
        bounds: histogram.buckets.iter().map(|(bound, _)| *bound).collect(),
        attributes: attributes(sample),
    })
}
