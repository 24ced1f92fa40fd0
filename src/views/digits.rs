//! Numbers as people read them: counts in groups, and nanoseconds in the unit that fits.

use std::fmt;

/// Displays 1234567 as `1,234,567`.
#[derive(Clone, Copy, Debug)]
pub struct Grouped(pub u64);

impl fmt::Display for Grouped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let digits = self.0.to_string();
        let mut text = String::with_capacity(digits.len() * 4 / 3);
        for (i, digit) in digits.chars().enumerate() {
            if i > 0 && (digits.len() - i).is_multiple_of(3) {
                text.push(',');
            }
            text.push(digit);
        }
        f.pad_integral(true, "", &text)
    }
}

/// Displays signed nanoseconds in the most readable unit.
#[derive(Clone, Copy, Debug)]
pub struct Nanoseconds(pub i64);

impl fmt::Display for Nanoseconds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (sign, ns) = (if self.0 < 0 { "-" } else { "" }, self.0.unsigned_abs());
        let (unit, tenth) = match ns {
            0..=999 => return write!(f, "{sign}{ns} ns"),
            1_000..=999_949 => ("us", 100),
            999_950..=999_949_999 => ("ms", 100_000),
            _ => ("s", 100_000_000),
        };
        let tenths = (ns + tenth / 2) / tenth;
        write!(f, "{sign}{}.{} {unit}", tenths / 10, tenths % 10)
    }
}
