//! Metrics as values: families of samples, from which every format is made.

use std::fmt;

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum MetricKind {
    Counter,
    Gauge,
    Histogram,
}

/// A metric. Its name ends in the base unit, and for counters in `_total`.
#[derive(Clone, Debug, PartialEq)]
pub struct MetricFamily {
    pub name: String,
    pub kind: MetricKind,
    pub help: String,
    /// The count may have begun at an unknown time before this process.
    pub older: bool,
    pub samples: Vec<Sample>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Sample {
    /// Names and values.
    pub labels: Vec<(String, String)>,
    pub value: MetricValue,
}

#[derive(Clone, Debug, PartialEq)]
pub enum MetricValue {
    Number(Number),
    Histogram(Histogram),
}

/// A number. Integers of any size are exact.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Number {
    Integer(i128),
    Real(f64),
}

/// A histogram, of latencies in seconds for instance.
#[derive(Clone, Debug, PartialEq)]
pub struct Histogram {
    /// Ascending bounds, each with the number of values that do not exceed it.
    pub buckets: Vec<(f64, u64)>,
    pub count: u64,
    pub sum: f64,
}

/// All metrics of a process at one time.
#[derive(Clone, Debug, PartialEq)]
pub struct Snapshot {
    /// Nanoseconds since the Unix epoch.
    pub time_ns: u64,
    /// When the process started to count.
    pub since_ns: u64,
    pub families: Vec<MetricFamily>,
}

/// The identity of the process that the metrics belong to.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Identity {
    pub host: String,
    /// Distinguishes this process from all others that send to the same receiver.
    pub instance: String,
}

/// The value of the label `job`.
pub const JOB: &str = "hostint";

impl MetricFamily {
    /// The unit by the Unified Code for Units of Measure; `None` for plain counts.
    pub fn unit(&self) -> Option<&'static str> {
        let name = self.name.strip_suffix("_total").unwrap_or(&self.name);
        if name.ends_with("_seconds") {
            Some("s")
        } else if name.ends_with("_bytes") {
            Some("By")
        } else {
            None
        }
    }
}

impl Number {
    pub fn as_f64(self) -> f64 {
        match self {
            Self::Integer(integer) => integer as f64,
            Self::Real(real) => real,
        }
    }
}

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Integer(integer) => integer.fmt(f),
            Self::Real(real) => real.fmt(f),
        }
    }
}

macro_rules! integers {
    ($($type:ty)*) => {
        $(impl From<$type> for Number {
            fn from(integer: $type) -> Self {
                Self::Integer(integer as i128)
            }
        })*
    };
}

integers!(u8 u16 u32 u64 usize i8 i16 i32 i64 isize);

impl From<f64> for Number {
    fn from(real: f64) -> Self {
        Self::Real(real)
    }
}
