//! Departures of devices from the standards that leave the meaning of their bytes unambiguous.

use std::fmt;

use serde::{Deserialize, Serialize};

/// What a device wrote otherwise than the standard says, although its bytes can be read in one way only.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Quirk {
    /// The INT header states version 0. Its lengths are those of v1.0, and contradict v0.5.
    IntVersionZero,
    /// The INT header states version 2 and has the layout of v1.0.
    IntVersionTwo,
    /// The stamps in an INT v1.0 stack have 64 bits, as its hop length says.
    IntLongStamps,
    /// The level 2 ports in an INT v1.0 stack have 16 bits each, as its hop length says.
    IntShortPorts,
    /// The reserved word of an INT v1.0 header is not 0: some devices number packets there.
    IntReservedWord,
    /// The report header of v1.0 states a length of 1 word, although it has no optional words and the fixed ones are 4.
    ReportHeaderOneWord,
    /// A report of v2.0 states a length of 0, although a packet follows, and nothing behind it.
    ReportLengthZero,
    /// The same, and the packet is of another type than the report states.
    ReportInnerType,
}

impl Quirk {
    /// The name in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::IntVersionZero => "int-version-zero",
            Self::IntVersionTwo => "int-version-two",
            Self::IntLongStamps => "int-long-stamps",
            Self::IntShortPorts => "int-short-ports",
            Self::IntReservedWord => "int-reserved-word",
            Self::ReportHeaderOneWord => "report-header-one-word",
            Self::ReportLengthZero => "report-length-zero",
            Self::ReportInnerType => "report-inner-type",
        }
    }
}

impl fmt::Display for Quirk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::IntVersionZero => "its INT header states version 0 and has the layout of 1.0",
            Self::IntVersionTwo => "its INT header states version 2 and has the layout of 1.0",
            Self::IntLongStamps => "the stamps of its INT 1.0 have 64 bits",
            Self::IntShortPorts => "the level 2 ports of its INT 1.0 have 16 bits",
            Self::IntReservedWord => "the reserved word of its INT 1.0 is not 0",
            Self::ReportHeaderOneWord => "its report header states 1 word and has 4",
            Self::ReportLengthZero => "its report states 0 words and has a packet",
            Self::ReportInnerType => {
                "its report states 0 words, and another type of packet than it has"
            }
        })
    }
}
