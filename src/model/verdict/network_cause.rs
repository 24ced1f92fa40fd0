//! A cause of loss or delay, and how it is known.

use serde::{Deserialize, Serialize};

use crate::model::{CauseKind, CauseLimit, CauseSide, NodeId, TrafficFigures, UsualFigures};

/// What a cause is about.
#[derive(Clone, Debug, Eq, Hash, Ord, PartialEq, PartialOrd, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum CauseSubject {
    Node(NodeId),
    Label { label: String, value: String },
    Class(Option<Box<str>>),
}

#[derive(Clone, Copy, Debug, Eq, PartialEq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum CauseMetric {
    Loss,
    Latency,
}

/// How sure it is that this is the cause.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Confidence {
    /// The next explanation of other packets is e^20 times less likely.
    Sure,
    /// e^5 times.
    Likely,
    /// Others have the same packets.
    OneOf,
}

/// How many have it.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq, Deserialize, Serialize)]
pub struct SharedBy {
    /// Sources, or sinks, whose packets show it, of all that send, or are sent to, there.
    pub bad: u64,
    pub all: u64,
    /// The same of pairs' classes.
    pub bad_cells: u64,
    pub cells: u64,
    /// The same of parts of flows, if only some flows have it.
    pub bad_parts: u64,
    pub parts: u64,
}

/// A fact that speaks for or against something.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
pub struct CauseEvidence {
    pub what: String,
    pub value: Option<f64>,
    pub says: String,
}

impl CauseEvidence {
    pub fn new(what: &str, value: Option<f64>, says: &str) -> Self {
        Self {
            what: what.to_owned(),
            value,
            says: says.to_owned(),
        }
    }
}

/// Another explanation.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
pub struct OtherCause {
    pub kind: CauseKind,
    pub subjects: Vec<CauseSubject>,
    /// Its logarithm of likelihood is less by this; none: it has the same packets.
    pub log_likelihood_less: f64,
    pub same_packets: bool,
}

/// A cause that is being named.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
pub struct NetworkCause {
    /// Stays while the cause lasts.
    pub id: String,
    /// The cause in a sentence, and the commands that show more.
    pub text: String,
    pub commands: Vec<String>,
    pub kind: CauseKind,
    pub side: CauseSide,
    pub subjects: Vec<CauseSubject>,
    /// Only some flows have it: one of several equal ways, or one link of a bond.
    pub some_flows: bool,
    pub metric: Vec<CauseMetric>,
    pub since_ns: u64,
    pub since_error_ns: u64,
    pub now: TrafficFigures,
    pub usual: UsualFigures,
    /// The limit, if there is one for all these packets.
    #[serde(default)]
    pub limit: Option<CauseLimit>,
    /// Until then it is not alerted.
    #[serde(default)]
    pub silenced_until_ns: Option<u64>,
    pub shared: SharedBy,
    pub evidence: Vec<CauseEvidence>,
    pub instead_of: Vec<OtherCause>,
    pub confidence: Confidence,
}

impl NetworkCause {
    /// The first node that it is about.
    pub fn node(&self) -> Option<NodeId> {
        self.nodes().next()
    }

    pub fn nodes(&self) -> impl Iterator<Item = NodeId> {
        self.subjects.iter().filter_map(|subject| match subject {
            CauseSubject::Node(node) => Some(*node),
            _ => None,
        })
    }

    /// True if both have the same place, whosever side it is on.
    pub fn is_same_place(&self, other: &Self) -> bool {
        (self.kind, &self.subjects, self.some_flows)
            == (other.kind, &other.subjects, other.some_flows)
    }
}
