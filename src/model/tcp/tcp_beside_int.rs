//! INT's exact loss beside the retransmissions of a connection.

use serde::Serialize;

/// Packets that the kernel sends for a connection without its socket, so that `segments_out` lacks them: SYN-ACKs, and
/// acknowledgements after the end. As many retransmissions are not taken for spurious.
pub const WITHOUT_SOCKET: u64 = 8;

/// What INT measured of the segments of a connection, or why that is not known.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize)]
#[serde(untagged)]
pub enum BesideInt {
    Known(IntOfConnection),
    Unknown { unknown: BesideIntUnknown },
}

impl BesideInt {
    pub fn known(&self) -> Option<IntOfConnection> {
        match self {
            Self::Known(known) => Some(*known),
            Self::Unknown { .. } => None,
        }
    }
}

/// What INT measured of the segments of a connection.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq, Serialize)]
pub struct IntOfConnection {
    /// Segments that arrived at the sink's host.
    pub arrived: u64,
    /// Segments that INT misses.
    pub lost: u64,
    /// Segments that the sender counts and that INT did not tag, or does not miss yet.
    pub unseen: u64,
    /// Segments that arrived, and that the sink's host dropped behind the strip, if it tells drops.
    pub dropped_behind_strip: u64,
    /// The least number of retransmitted segments that repeat segments that had arrived.
    pub spurious_least: u64,
}

/// Why INT's loss cannot be compared with a connection's retransmissions.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum BesideIntUnknown {
    /// It has not ended.
    NotEnded,
    /// It began before its host looked.
    BegunBefore,
    /// Its end was not seen.
    EndUnseen,
    /// INT did not measure its segments, or no summary reported all of them.
    NotMeasured,
    /// Other connections of the same addresses and ports, or other packets of them, are among what INT counted.
    OtherPackets,
}
