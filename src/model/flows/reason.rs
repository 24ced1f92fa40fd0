//! A reason why packets are not tagged, not stripped or not measured.

use serde::{Deserialize, Serialize};

use crate::model::interned_name::{self, InternedName};

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
    /// What the counter grew by in the last `recent_s` seconds; `None` if no daemon reports.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recent: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recent_s: Option<u64>,
    /// A sentence without the number it may begin with.
    pub text: String,
    pub advice: String,
}

impl Reason {
    /// True if its counter stopped growing: it is no trouble any more.
    pub fn is_over(&self) -> bool {
        self.recent == Some(0)
    }

    /// Its number, and the words that say since when: of the last minute if that is known, or else of all.
    pub fn number(&self) -> (Option<u64>, String) {
        match (self.recent, self.recent_s) {
            (Some(0), Some(seconds)) => (self.count, format!(", none in the last {seconds} s")),
            (Some(recent), Some(seconds)) => (Some(recent), format!(" in the last {seconds} s")),
            _ => (self.count, String::new()),
        }
    }
}
