//! A duration with its unit: `200ms`, `5us`, `2s`.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

/// A duration as users write it.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub struct TimeSpan(pub Duration);

impl TimeSpan {
    /// Whole nanoseconds; durations beyond 584 years become 584 years.
    pub fn as_ns(self) -> u64 {
        u64::try_from(self.0.as_nanos()).unwrap_or(u64::MAX)
    }
}

impl FromStr for TimeSpan {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        use humantime::DurationError::{Empty, InvalidCharacter, NumberExpected};

        humantime::parse_duration(text).map(Self).map_err(|err| {
            let why = match err {
                Empty | InvalidCharacter(_) | NumberExpected(_) => "not a duration".to_owned(),
                other => other.to_string(),
            };
            format!("{why} (write for instance 200ms, 5us, 2s)")
        })
    }
}

impl fmt::Display for TimeSpan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        humantime::format_duration(self.0).fmt(f)
    }
}
