//! The encapsulation that a source is configured to use: a certain one, or the best one that passes the path.

use std::fmt;
use std::str::FromStr;

use crate::model::Encapsulation;

/// What `--encap` of a source says.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
pub enum SourceEncapsulation {
    /// vxlan-gpe, or extension-udp where vxlan-gpe does not pass. over-tcp-udp for sinks of Host-INT and of 0.1.0.
    #[default]
    Auto,
    /// This one where it passes, or else as `Auto`.
    Preferred(Encapsulation),
}

/// Why destinations without leases do not go with `--encap auto`.
pub const FORM_UNKNOWN: &str = "no lease tells which form of packets their sinks read (try to attach the source with --compat \
     host-int for sinks of Host-INT, or with --encap over-tcp-udp for those of hostint)";

/// The word for `Auto`.
const AUTO: &str = "auto";

impl SourceEncapsulation {
    pub fn name(self) -> &'static str {
        match self {
            Self::Auto => AUTO,
            Self::Preferred(encapsulation) => encapsulation.name(),
        }
    }
}

impl From<Encapsulation> for SourceEncapsulation {
    fn from(encapsulation: Encapsulation) -> Self {
        Self::Preferred(encapsulation)
    }
}

impl fmt::Display for SourceEncapsulation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// A name that is neither `auto` nor an encapsulation's.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error(
    "unknown encapsulation {0:?}: expected auto, over-tcp-udp, extension-udp, vxlan-gpe, int-md or ioam"
)]
pub struct UnknownSourceEncapsulation(pub String);

impl FromStr for SourceEncapsulation {
    type Err = UnknownSourceEncapsulation;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if text == AUTO {
            return Ok(Self::Auto);
        }
        let encapsulation = text.parse::<Encapsulation>();
        encapsulation
            .map(Self::Preferred)
            .map_err(|_| UnknownSourceEncapsulation(text.to_owned()))
    }
}
