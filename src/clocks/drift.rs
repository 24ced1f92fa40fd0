//! The rate at which two clocks can drift apart.

/// A greatest rate of drift.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub struct Drift {
    ppb: u32,
}

impl Drift {
    /// Between a raw clock and true time: twice what data sheets of crystals say at worst, and 50 ppb for an age that is
    /// itself measured by such a clock.
    pub const CRYSTAL: Self = Self { ppb: 100_050 };

    /// Between the raw clocks of two hosts. Data sheets of crystals say 50 ppm at worst. Twice that is allowed for each,
    /// and 100 ppb for the product of both rates and for an age that is itself measured by such a clock.
    pub const CRYSTALS: Self = Self { ppb: 200_100 };

    /// Between raw clocks that are what data sheets say, with the same 100 ppb. Packets that prove a greater drift show a
    /// clock that is not to be trusted.
    pub const SPECIFIED: Self = Self { ppb: 100_100 };

    /// Between the clocks of most hosts. Estimates may rely on it, bounds may not.
    pub const LIKELY: Self = Self { ppb: 30_000 };

    /// The drift if one of the clocks is steered besides by up to this rate.
    pub const fn steered(self, ppb: u32) -> Self {
        Self {
            ppb: self.ppb.saturating_add(ppb),
        }
    }

    pub const fn of_ppb(ppb: u32) -> Self {
        Self { ppb }
    }

    pub const fn ppb(self) -> u32 {
        self.ppb
    }

    /// Returns the greatest drift during this time, rounded up.
    pub fn over(self, time_ns: i128) -> i128 {
        let ns = time_ns.saturating_abs();
        // A division of 128 bits takes four times as long, and each lease answer is compared with 16 others.
        let short = u64::try_from(ns).ok();
        if let Some(product) = short.and_then(|ns| ns.checked_mul(self.ppb.into())) {
            return product.div_ceil(1_000_000_000).into();
        }
        let product = ns.saturating_mul(self.ppb.into());
        product.saturating_add(999_999_999) / 1_000_000_000
    }
}
