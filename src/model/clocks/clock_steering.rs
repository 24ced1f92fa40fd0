//! The rate by which a time daemon steers a host's clock, as lease answers tell it.

/// A rate without its sign, rounded up to 4 ppm: the most of the last minute.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
pub struct ClockSteering(u8);

const UNIT_PPB: u64 = 4_000;
const BEYOND: u8 = u8::MAX;

impl ClockSteering {
    /// It was not asked for, or an older version does not tell it.
    pub const UNTOLD: Self = Self(0);
    /// More than can be reported.
    pub const BEYOND: Self = Self(BEYOND);

    pub fn of_ppb(ppb: u64) -> Self {
        let units = ppb.div_ceil(UNIT_PPB).max(1);
        Self(u8::try_from(units).unwrap_or(BEYOND))
    }

    pub fn from_bits(bits: u8) -> Self {
        Self(bits)
    }

    pub fn bits(self) -> u8 {
        self.0
    }

    /// `None`: it was not reported.
    pub fn most_ppb(self) -> Option<u32> {
        match self {
            Self::UNTOLD | Self::BEYOND => None,
            Self(units) => Some(u32::from(units) * UNIT_PPB as u32),
        }
    }
}
