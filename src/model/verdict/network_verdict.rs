//! What is said of the network at a time.

use serde::{Deserialize, Serialize};

use crate::model::{CauseKind, CauseSubject, LimitInForce, NetworkCause};

/// The answer to "is it the network?".
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum VerdictState {
    /// Nothing is worse than usual on the network.
    Healthy,
    /// The network, or a host, loses or delays packets.
    Degraded,
    /// The measurement is at fault.
    Measurement,
    #[default]
    CannotTell,
}

/// Why nothing can be said.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum UnknownReason {
    /// No sink reports packets.
    NoTraffic,
    FewPackets,
    CollectorBehind,
    ExportersSilent,
}

/// The traffic that was judged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize, Serialize)]
pub struct JudgedTraffic {
    pub pairs: u64,
    /// The pairs whose latency was judged, too.
    pub latency_pairs: u64,
    pub hosts: u64,
    pub reporting: u64,
    /// The packets of the last ten seconds.
    pub packets: u64,
    pub lost: u64,
    /// The age of the usual that most is compared with, ns; 0: there is none.
    pub usual_ns: u64,
    /// The days whose same hour it is compared with, too.
    #[serde(default)]
    pub usual_days: u32,
}

/// The verdict. Its schema, as JSON, is `hostint.verdict/1`.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
pub struct NetworkVerdict {
    pub as_of_ns: u64,
    pub state: VerdictState,
    /// The verdict in a sentence.
    pub text: String,
    /// Since when the state and its first cause are what they are.
    pub since_ns: u64,
    /// The causes, most likely first.
    pub causes: Vec<NetworkCause>,
    /// What is no fault of the network.
    pub notes: Vec<NetworkCause>,
    pub cannot_tell: Vec<UnknownReason>,
    pub judged: JudgedTraffic,
    /// The limits that users set.
    #[serde(default)]
    pub limits: Vec<LimitInForce>,
}

/// A verdict of the past.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PastVerdict {
    pub begin_ns: u64,
    pub until_ns: u64,
    pub state: VerdictState,
    pub text: String,
}

/// What a verdict names first; none if all is well.
pub type FirstCause = Option<(CauseKind, Vec<CauseSubject>)>;

impl NetworkVerdict {
    pub fn first_cause(&self) -> FirstCause {
        let first = self.causes.first()?;
        Some((first.kind, first.subjects.clone()))
    }

    /// True if it names causes, and all of them are silenced.
    pub fn is_silenced(&self) -> bool {
        let mut causes = self.causes.iter();
        !self.causes.is_empty() && causes.all(|cause| cause.silenced_until_ns.is_some())
    }

    /// The id of the first cause, or else of the first note.
    pub fn first_id(&self) -> &str {
        let first = self.causes.first().or(self.notes.first());
        first.map_or("", |cause| cause.id.as_str())
    }
}

impl VerdictState {
    pub const EACH: [(Self, &'static str); 4] = [
        (Self::Healthy, "healthy"),
        (Self::Degraded, "degraded"),
        (Self::Measurement, "measurement"),
        (Self::CannotTell, "cannot-tell"),
    ];

    pub fn name(self) -> &'static str {
        let found = Self::EACH.iter().find(|(state, _)| *state == self);
        found.map_or("", |(_, name)| name)
    }

    /// A name that is not known is that of a state that says nothing.
    pub fn of_name(name: &str) -> Self {
        let found = Self::EACH.iter().find(|(_, known)| *known == name);
        found.map_or(Self::CannotTell, |(state, _)| *state)
    }
}
