//! The clock that stamps a host's packets, and its synchronisation.

/// The clock that stamps packets.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
pub enum ClockSource {
    #[default]
    Unknown,
    /// The kernel's TAI clock.
    Tai,
    /// The kernel's monotonic clock plus its offset to the time since the Unix epoch.
    Realtime,
    /// The network card's clock.
    Nic,
}

impl ClockSource {
    /// `None` if the clock is unknown.
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
    /// The kernel reports that its clock is synchronised to UTC.
    pub synchronised: bool,
}

/// The flag for a synchronised clock in lease messages and in the source's lease map.
const SYNCHRONISED: u8 = 0x80;

impl ClockState {
    /// The byte that lease messages carry.
    pub fn bits(self) -> u8 {
        let source = match self.source {
            ClockSource::Tai => 1,
            ClockSource::Realtime => 2,
            ClockSource::Unknown | ClockSource::Nic => 0,
        };
        source | if self.synchronised { SYNCHRONISED } else { 0 }
    }

    pub fn from_bits(bits: u8) -> Self {
        Self {
            source: match bits & !SYNCHRONISED {
                1 => ClockSource::Tai,
                2 => ClockSource::Realtime,
                _ => ClockSource::Unknown,
            },
            synchronised: bits & SYNCHRONISED != 0,
        }
    }
}
