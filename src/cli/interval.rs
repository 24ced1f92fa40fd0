//! How often a screen or a line is refreshed.

use std::str::FromStr;
use std::time::Duration;

use crate::config::TimeSpan;

/// A refresh interval: in seconds, or with a unit.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Interval(pub Duration);

impl FromStr for Interval {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let span = match text.parse::<f64>() {
            Ok(seconds) => Duration::try_from_secs_f64(seconds).unwrap_or_default(),
            Err(_) => text.parse::<TimeSpan>()?.0,
        };
        if !(Duration::from_millis(100)..=Duration::from_secs(3600)).contains(&span) {
            return Err("out of range (expected 0.1 seconds to an hour)".to_owned());
        }
        Ok(Self(span))
    }
}
