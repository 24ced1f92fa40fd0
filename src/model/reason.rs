//! A reason why packets are not tagged, not stripped or not measured.

use serde::{Deserialize, Serialize};

use super::interned_name::{self, InternedName};

/// The work that a reason prevents.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ReasonTopic {
    /// Watched packets leave without INT.
    Tagging,
    /// Packets with INT leave without an entry of this transit hop.
    Pushing,
    /// Packets with INT are not stripped on this host.
    Stripping,
    /// Packets are stripped, but not measured or reported.
    Measuring,
}

/// The severity of a reason, worst first.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ReasonSeverity {
    /// Nothing works until it is changed.
    Stopped,
    /// Packets of applications were dropped.
    Dropped,
    /// Packets were not tagged, stripped or measured although they could have been.
    Missed,
    /// Works as designed, or caused by another party.
    Note,
}

/// One reason, with advice.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct Reason {
    pub topic: ReasonTopic,
    pub severity: ReasonSeverity,
    /// The counter that shows it, if one does.
    #[serde(default, deserialize_with = "interned_name::maybe")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub counter: Option<InternedName>,
    /// The counter's value.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub count: Option<u64>,
    /// A sentence without the number it may begin with.
    pub text: String,
    pub advice: String,
}
