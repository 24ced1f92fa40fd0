//! Preflight: facts about a host, and the findings that follow from them, before anything is attached.

mod device;
mod host;
mod network;

use serde::Serialize;

pub use device::{DeviceFacts, Occupant, judge_device};
pub use host::{BpffsFacts, ClockFacts, HostFacts, judge_host, version};
pub use network::{NetworkFacts, PacketFilter, judge_network};

/// The schema of a `Preflight` as JSON.
pub const PREFLIGHT_SCHEMA: &str = "hostint.preflight/1";

/// The verdict of a finding.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    Ok,
    /// It works, with the limits that the finding names, or it cannot be known.
    Note,
    /// It does not work.
    Fail,
}

/// One line of the list.
#[derive(Clone, Debug, Eq, PartialEq, Serialize)]
pub struct Finding {
    pub check: &'static str,
    /// The interface that the finding is about, if it is about one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dev: Option<String>,
    pub verdict: Verdict,
    pub found: String,
    /// What to do.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub advice: Option<String>,
}

impl Finding {
    pub fn ok(check: &'static str, found: impl Into<String>) -> Self {
        Self {
            check,
            dev: None,
            verdict: Verdict::Ok,
            found: found.into(),
            advice: None,
        }
    }

    pub fn note(check: &'static str, found: impl Into<String>) -> Self {
        Self {
            verdict: Verdict::Note,
            ..Self::ok(check, found)
        }
    }

    pub fn fail(check: &'static str, found: impl Into<String>) -> Self {
        Self {
            verdict: Verdict::Fail,
            ..Self::ok(check, found)
        }
    }

    /// The same finding with advice.
    pub fn advise(self, advice: impl Into<String>) -> Self {
        Self {
            advice: Some(advice.into()),
            ..self
        }
    }
}

/// The whole list.
#[derive(Clone, Debug, Serialize)]
pub struct Preflight {
    pub schema: &'static str,
    /// No finding is a failure.
    pub ready: bool,
    pub notes: usize,
    pub failures: usize,
    pub findings: Vec<Finding>,
}

impl Preflight {
    pub fn new(findings: Vec<Finding>) -> Self {
        let count = |verdict| findings.iter().filter(|one| one.verdict == verdict).count();
        let failures = count(Verdict::Fail);
        Self {
            schema: PREFLIGHT_SCHEMA,
            ready: failures == 0,
            notes: count(Verdict::Note),
            failures,
            findings,
        }
    }
}
