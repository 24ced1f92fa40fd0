//! The encapsulation that a source is configured to use: a certain one, or the best one that passes the path.

use std::fmt;
use std::str::FromStr;

use super::source_hook::SourceHook;
use crate::model::Encapsulation;

/// What `--encap` of a source says.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum SourceEncapsulation {
    /// vxlan-gpe, or extension-udp where vxlan-gpe does not pass. over-tcp-udp for sinks of Host-INT and of 0.1.0.
    Tunnel,
    /// This one where it passes, or else, but for options, as `Tunnel`.
    Preferred(Encapsulation),
}

/// Why destinations without leases do not go with `--encap options` or `--encap tunnel`.
pub const FORM_UNKNOWN: &str = "no lease says which form of packets their sinks read (try to attach the source with --compat \
     host-int for sinks of Host-INT, or with --encap over-tcp-udp for those of hostint)";

/// The word for `Tunnel`.
const TUNNEL: &str = "tunnel";

impl SourceEncapsulation {
    pub fn name(self) -> &'static str {
        match self {
            Self::Tunnel => TUNNEL,
            Self::Preferred(encapsulation) => encapsulation.name(),
        }
    }

    /// True if it takes a lease to know whether packets go in it.
    pub fn is_left_to_leases(self) -> bool {
        matches!(self, Self::Tunnel | Self::Preferred(Encapsulation::Options))
    }

    /// Why the source cannot send packets in it at this hook, if so.
    pub(super) fn impossible_at(self, hook: SourceHook) -> Option<&'static str> {
        let Self::Preferred(one) = self else {
            return None;
        };
        match (hook, one) {
            (SourceHook::Xdp, Encapsulation::OverTcpUdp) => Some(
                "XDP cannot see whether a checksum is finished, so over-tcp-udp is not possible there \
                 (try --hook tc-ingress, or --encap extension-udp)",
            ),
            (SourceHook::Xdp, Encapsulation::IntMd) => Some(
                "XDP cannot see whether a checksum is finished, so int-md is not possible there (try --hook tc-ingress)",
            ),
            (SourceHook::Xdp, Encapsulation::VxlanGpe) => Some(
                "XDP cannot recognise superpackets, so vxlan-gpe is not possible there (try --hook tc-ingress)",
            ),
            (SourceHook::Xdp, Encapsulation::Ioam) => {
                Some("ioam is not possible at XDP (try --hook tc-ingress)")
            }
            (SourceHook::Xdp, Encapsulation::Options) => Some(
                "XDP cannot see whether a checksum is finished, so options are not possible there (try --hook tc-ingress, or \
                 leave encap out)",
            ),
            _ => None,
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

/// A name that is neither `tunnel` nor an encapsulation's.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error(
    "unknown encapsulation {0:?}: expected options, tunnel, over-tcp-udp, extension-udp, vxlan-gpe, int-md or ioam"
)]
pub struct UnknownSourceEncapsulation(pub String);

impl FromStr for SourceEncapsulation {
    type Err = UnknownSourceEncapsulation;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if text == TUNNEL {
            return Ok(Self::Tunnel);
        }
        let encapsulation = text.parse::<Encapsulation>();
        encapsulation
            .map(Self::Preferred)
            .map_err(|_| UnknownSourceEncapsulation(text.to_owned()))
    }
}
