//! The resolution of a latency histogram: how many slots it has for each power of two.

/// The coarsest resolution that went into a histogram, which bounds the error of its quantiles.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum LatencyResolution {
    /// A slot for each power of two, and one for 0 and all below: the histogram of 32 slots.
    Coarse,
    /// Eight slots for each power of two.
    Middle,
    /// 32 slots for each power of two, on both sides of 0.
    #[default]
    Fine,
}

impl LatencyResolution {
    pub const ALL: [Self; 3] = [Self::Coarse, Self::Middle, Self::Fine];

    /// The number of slots for each power of two.
    pub fn steps(self) -> u8 {
        1 << self.step_bits()
    }

    pub fn from_steps(steps: u8) -> Option<Self> {
        Self::ALL.into_iter().find(|one| one.steps() == steps)
    }

    fn step_bits(self) -> u32 {
        match self {
            Self::Coarse => 0,
            Self::Middle => 3,
            Self::Fine => 5,
        }
    }

    /// The least and the largest value of the slot that counts a value.
    pub fn bounds(self, ns: i64) -> (i64, i64) {
        if ns <= 0 && self != Self::Fine {
            return (i64::MIN, 0);
        }
        let size = ns.unsigned_abs();
        let shift = size.checked_ilog2().unwrap_or(0);
        let shift = shift.saturating_sub(self.step_bits());
        let least = size >> shift << shift;
        let most = least + ((1 << shift) - 1);
        let [least, most] = [least, most].map(|size| i64::try_from(size).unwrap_or(i64::MAX));
        match ns {
            0.. => (least, most),
            _ if most == i64::MAX => (i64::MIN, -least),
            _ => (-most, -least),
        }
    }
}
