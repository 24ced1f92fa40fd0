//! An interval of nanoseconds that a value is known to lie in.

/// The ends belong to it.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct ClockInterval {
    pub low_ns: i128,
    pub high_ns: i128,
}

impl ClockInterval {
    pub const fn new(low_ns: i128, high_ns: i128) -> Self {
        Self { low_ns, high_ns }
    }

    pub const fn exactly(ns: i128) -> Self {
        Self::new(ns, ns)
    }

    pub fn contains(self, ns: i128) -> bool {
        (self.low_ns..=self.high_ns).contains(&ns)
    }

    pub fn width_ns(self) -> i128 {
        self.high_ns - self.low_ns
    }

    pub fn middle_ns(self) -> i128 {
        self.low_ns + self.width_ns() / 2
    }

    /// Both ends move outwards by this.
    pub fn widened(self, by_ns: i128) -> Self {
        Self::new(self.low_ns - by_ns, self.high_ns + by_ns)
    }

    /// The sum of a value in this interval and one in the other.
    pub fn plus(self, other: Self) -> Self {
        Self::new(self.low_ns + other.low_ns, self.high_ns + other.high_ns)
    }

    /// The difference of a value in this interval and one in the other.
    pub fn minus(self, other: Self) -> Self {
        Self::new(self.low_ns - other.high_ns, self.high_ns - other.low_ns)
    }

    /// The smallest interval that contains both.
    pub fn hull(self, other: Self) -> Self {
        Self::new(
            self.low_ns.min(other.low_ns),
            self.high_ns.max(other.high_ns),
        )
    }

    /// `None` if no value lies in both.
    pub fn intersection(self, other: Self) -> Option<Self> {
        let both = Self::new(
            self.low_ns.max(other.low_ns),
            self.high_ns.min(other.high_ns),
        );
        (both.low_ns <= both.high_ns).then_some(both)
    }

    /// The value in this interval that is nearest to this one.
    pub fn clip(self, ns: i128) -> i128 {
        ns.max(self.low_ns).min(self.high_ns)
    }
}
