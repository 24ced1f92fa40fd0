//! What the queries of `hostint history` have in common: file, span of time, output, and nodes.

use std::path::PathBuf;
use std::str::FromStr;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use clap::Args;

use crate::model::NodeId;

/// The history's file, the span of time, and the output format.
#[derive(Args, Clone, Debug)]
pub struct HistoryArgs {
    /// The collector's file [default: /var/lib/hostint/history.db, or ~/.local/state/hostint/history.db if it
    /// exists]
    #[arg(long, value_name = "FILE", env = "HOSTINT_STORE", hide_env = true)]
    pub store: Option<PathBuf>,

    /// Begin of the span: a time ago (1h, 2days), or 2026-11-21T10:00:00Z
    #[arg(long, value_name = "WHEN", default_value = "1h")]
    pub since: When,

    /// End of the span
    #[arg(long, value_name = "WHEN", default_value = "now")]
    pub until: When,

    /// Print one JSON object (schema hostint.history/1; of history path hostint.path/1, of history verdict hostint.verdict/1)
    #[arg(long)]
    pub json: bool,

    /// Print CSV, with column names in the first line
    #[arg(long, conflicts_with = "json")]
    pub csv: bool,
}

/// A node, as people call it.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum NodeArg {
    Id(NodeId),
    Name(String),
}

impl FromStr for NodeArg {
    type Err = String;

    /// Only digits are an ID, so that no name can take the place of one.
    fn from_str(text: &str) -> Result<Self, String> {
        if text.bytes().all(|byte| byte.is_ascii_digit()) {
            return text
                .parse()
                .map(Self::Id)
                .map_err(|_| "not a node id (up to 4294967295) and not a name".to_owned());
        }
        Ok(Self::Name(text.to_owned()))
    }
}

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
        humantime::parse_rfc3339_weak(text)
            .map(Self::At)
            .map_err(|_| {
                "not a time (write for instance 1h, 2days, now, 2026-11-21T10:00:00Z)".to_owned()
            })
    }
}
