//! What a host's timestamps are worth.

/// The clock that stamps packets.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
pub enum ClockSource {
    #[default]
    Unknown,
    /// The kernel's TAI clock.
    Tai,
    /// The kernel's monotonic clock, and the offset to the time since the Unix epoch.
    Realtime,
    /// The network card's clock.
    Nic,
}

impl ClockSource {
    /// `None` if it is unknown.
    pub fn name(self) -> Option<&'static str> {
        match self {
            Self::Unknown => None,
            Self::Tai => Some("tai"),
            Self::Realtime => Some("realtime"),
            Self::Nic => Some("nic"),
        }
    }
}

/// The state of a host's clock.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
pub struct ClockState {
    pub source: ClockSource,
    /// Something keeps it to the time since the Unix epoch, and the kernel believes it.
    pub synchronised: bool,
}
