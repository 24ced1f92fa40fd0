//! What a host has for hostint, before anything is attached: facts become findings.

mod device;
mod host;
mod network;

use serde::Serialize;

pub use device::{DeviceFacts, Occupant, judge_device};
pub use host::{BpffsFacts, ClockFacts, HostFacts, judge_host, version};
pub use network::{NetworkFacts, PacketFilter, judge_network};

/// The schema of a `Preflight` as JSON.
pub const PREFLIGHT_SCHEMA: &str = "hostint.preflight/1";

/// What a finding means.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    Ok,
    /// Works, with what is said; or cannot be known.
    Note,
    /// Does not work.
    Fail,
}

/// One line of the list.
#[derive(Clone, Debug, Eq, PartialEq, Serialize)]
pub struct Finding {
    pub check: &'static str,
    /// Of which interface, if it is about one.
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

    /// The same, and what to do.
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
    /// Nothing fails.
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
