//! Departures of devices from the standards that leave the meaning of their bytes unambiguous.

use std::fmt;

use serde::{Deserialize, Serialize};

/// What a device wrote otherwise than the standard says, although its bytes can be read in one way only.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Quirk {
    /// The INT header states version 0. Its lengths are those of v1.0, and contradict v0.5.
    IntVersionZero,
    /// The report header of v1.0 states a length of 1 word, although it has no optional words and the fixed ones are 4.
    ReportHeaderOneWord,
}

impl Quirk {
    /// The name in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::IntVersionZero => "int-version-zero",
            Self::ReportHeaderOneWord => "report-header-one-word",
        }
    }
}

impl fmt::Display for Quirk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::IntVersionZero => "its INT header states version 0 and has the layout of 1.0",
            Self::ReportHeaderOneWord => "its report header states 1 word and has 4",
        })
    }
}
