//! A time as people write it: 1h, 2days, now, 2026-11-21T10:00:00Z.

use std::str::FromStr;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// A time, absolute or relative to now.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum When {
    Ago(Duration),
    At(SystemTime),
}

impl When {
    /// Nanoseconds since the Unix epoch.
    pub fn ns(self, now: SystemTime) -> u64 {
        let time = match self {
            Self::Ago(ago) => now.checked_sub(ago).unwrap_or(UNIX_EPOCH),
            Self::At(time) => time,
        };
        let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
        u64::try_from(since.as_nanos()).unwrap_or(u64::MAX)
    }
}

impl FromStr for When {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if text == "now" {
            return Ok(Self::Ago(Duration::ZERO));
        }
        if let Ok(ago) = humantime::parse_duration(text) {
            return Ok(Self::Ago(ago));
        }
        // As texts print it.
        let text = text.strip_suffix(" UTC").unwrap_or(text);
        humantime::parse_rfc3339_weak(text)
            .map(Self::At)
            .map_err(|_| {
                "not a time (write for instance 1h, 2days, now, 2026-11-21T10:00:00Z)".to_owned()
            })
    }
}
