//! Drops of a host as lines of JSON.

use serde::Serialize;

use crate::model::{DropTotals, HostDrop};

const SCHEMA: &str = "hostint.postcards/1";

/// A line.
#[derive(Serialize)]
pub struct DropsJson<'a, T> {
    schema: &'static str,
    kind: &'static str,
    #[serde(flatten)]
    content: &'a T,
}

impl<'a> DropsJson<'a, HostDrop> {
    /// The drops of a flow.
    pub fn flow(drop: &'a HostDrop) -> Self {
        Self {
            schema: SCHEMA,
            kind: "host-drop",
            content: drop,
        }
    }
}

impl<'a> DropsJson<'a, DropTotals> {
    /// All counts.
    pub fn totals(totals: &'a DropTotals) -> Self {
        Self {
            schema: SCHEMA,
            kind: "drop-totals",
            content: totals,
        }
    }
}
