//! The receiver of metrics by Prometheus remote write 1.0: a snapshot becomes one compressed request.

use std::time::Duration;

use prost::{Enumeration, Message};

use super::http::{HttpClient, PROTOBUF};
use super::push::{Encoded, Push};
use super::{Accepted, Trouble};
use crate::model::EngineUnit;
use crate::model::metrics::{
    Identity, JOB, MetricFamily, MetricKind, MetricValue, Sample, Snapshot,
};

/// The fields of `prometheus.WriteRequest` that are sent, with their numbers in prometheus/prompb.
#[derive(Clone, PartialEq, Message)]
pub struct WriteRequest {
    #[prost(message, repeated, tag = "1")]
    pub series: Vec<TimeSeries>,
    #[prost(message, repeated, tag = "3")]
    pub metadata: Vec<MetricMetadata>,
}

/// `prometheus.TimeSeries`.
#[derive(Clone, PartialEq, Message)]
pub struct TimeSeries {
    /// The labels, sorted by name.
    #[prost(message, repeated, tag = "1")]
    pub labels: Vec<Label>,
    #[prost(message, repeated, tag = "2")]
    pub samples: Vec<TimedSample>,
}

#[derive(Clone, Eq, Message, Ord, PartialEq, PartialOrd)]
pub struct Label {
    #[prost(string, tag = "1")]
    pub name: String,
    #[prost(string, tag = "2")]
    pub value: String,
}

/// `prometheus.Sample`.
#[derive(Clone, Copy, PartialEq, Message)]
pub struct TimedSample {
    #[prost(double, tag = "1")]
    pub value: f64,
    #[prost(int64, tag = "2")]
    pub time_ms: i64,
}

/// `prometheus.MetricMetadata`.
#[derive(Clone, PartialEq, Message)]
pub struct MetricMetadata {
    #[prost(enumeration = "MetricType", tag = "1")]
    pub kind: i32,
    #[prost(string, tag = "2")]
    pub family: String,
    #[prost(string, tag = "4")]
    pub help: String,
    #[prost(string, tag = "5")]
    pub unit: String,
}

#[derive(Clone, Copy, Debug, Eq, Enumeration, PartialEq)]
#[repr(i32)]
pub enum MetricType {
    Unknown = 0,
    Counter = 1,
    Gauge = 2,
    Histogram = 3,
}

/// A receiver of samples.
pub struct RemoteWrite {
    http: HttpClient,
    identity: Identity,
}

impl RemoteWrite {
    /// # Errors
    /// The URL or the system's certificates are unusable.
    pub fn new(
        url: &str,
        mut headers: Vec<(String, String)>,
        identity: &Identity,
    ) -> Result<Self, String> {
        let version = "X-Prometheus-Remote-Write-Version";
        headers.push((version.to_owned(), "0.1.0".to_owned()));
        Ok(Self {
            http: HttpClient::new(url, headers)?,
            identity: identity.clone(),
        })
    }

    /// Returns the request of a snapshot.
    pub fn request(&self, snapshot: &Snapshot) -> WriteRequest {
        let mut request = WriteRequest::default();
        let mut writing = Writing {
            time_ms: i64::try_from(snapshot.time_ns / 1_000_000).unwrap_or(i64::MAX),
            instance: &self.identity.instance,
            series: &mut request.series,
        };
        for family in &snapshot.families {
            for sample in &family.samples {
                writing.sample(&family.name, sample);
            }
        }
        request.metadata = snapshot.families.iter().map(metadata).collect();
        request
    }
}

impl Push for RemoteWrite {
    fn name(&self) -> &'static str {
        "remote-write"
    }

    fn destination(&self) -> String {
        self.http.url().to_owned()
    }

    fn unit(&self) -> EngineUnit {
        EngineUnit::Samples
    }

    fn encode(&self, snapshot: &Snapshot) -> Result<Encoded, String> {
        let request = self.request(snapshot);
        let mut encoder = snap::raw::Encoder::new();
        let body = encoder
            .compress_vec(&request.encode_to_vec())
            .map_err(|err| err.to_string())?;
        Ok(Encoded {
            body,
            units: request.series.len(),
        })
    }

    fn deliver(&self, body: &[u8]) -> Result<Accepted, Trouble> {
        let answer = self.http.send("", PROTOBUF, Some("snappy"), body)?;
        // According to the specification 5xx is tried again, 429 may be, and other 4xx must not be.
        match answer.status {
            200..=299 => Ok(Accepted::default()),
            429 | 500..=599 => Err(Trouble::Later(answer.said())),
            _ => Err(Trouble::Refused(answer.said())),
        }
    }

    fn rest(&self) -> Duration {
        self.http.rest()
    }
}

/// The series of a snapshot while they are made.
struct Writing<'a> {
    time_ms: i64,
    instance: &'a str,
    series: &'a mut Vec<TimeSeries>,
}

impl Writing<'_> {
    fn sample(&mut self, name: &str, sample: &Sample) {
        let histogram = match &sample.value {
            MetricValue::Number(number) => {
                return self.series(name, "", sample, None, number.as_f64());
            }
            MetricValue::Histogram(histogram) => histogram,
        };
        for (bound, count) in &histogram.buckets {
            let bound = bound.to_string();
            self.series(name, "_bucket", sample, Some(&bound), *count as f64);
        }
        let count = histogram.count as f64;
        self.series(name, "_bucket", sample, Some("+Inf"), count);
        self.series(name, "_sum", sample, None, histogram.sum);
        self.series(name, "_count", sample, None, count);
    }

    fn series(
        &mut self,
        name: &str,
        suffix: &str,
        sample: &Sample,
        bound: Option<&str>,
        value: f64,
    ) {
        let label = |name: &str, value: &str| Label {
            name: name.to_owned(),
            value: value.to_owned(),
        };
        let mut labels = vec![
            label("__name__", &format!("{name}{suffix}")),
            label("instance", self.instance),
            label("job", JOB),
        ];
        labels.extend(bound.map(|bound| label("le", bound)));
        labels.extend(sample.labels.iter().map(|(name, text)| label(name, text)));
        labels.sort_unstable();
        self.series.push(TimeSeries {
            labels,
            samples: vec![TimedSample {
                value,
                time_ms: self.time_ms,
            }],
        });
    }
}

fn metadata(family: &MetricFamily) -> MetricMetadata {
    let kind = match family.kind {
        MetricKind::Counter => MetricType::Counter,
        MetricKind::Gauge => MetricType::Gauge,
        MetricKind::Histogram => MetricType::Histogram,
    };
    let unit = match family.unit() {
        Some("s") => "seconds",
        Some("By") => "bytes",
        _ => "",
    };
    MetricMetadata {
        kind: kind.into(),
        family: family.name.clone(),
        help: family.help.clone(),
        unit: unit.to_owned(),
    }
}
