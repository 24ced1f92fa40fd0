//! A number of bytes with its unit: `64M`, `1G`, `500k`.

use std::fmt;
use std::str::FromStr;

/// Units, largest first; each is 1024 times the next.
const UNITS: [(char, u64); 4] = [
    ('T', 1 << 40),
    ('G', 1 << 30),
    ('M', 1 << 20),
    ('k', 1 << 10),
];

/// A size as users write it.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub struct Size(pub u64);

impl FromStr for Size {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let wrong =
            || "expected bytes, or a number with k, M, G or T (write for instance 64M)".to_owned();
        let (unit, number) = UNITS
            .iter()
            .find_map(|(name, unit)| {
                Some((
                    *unit,
                    text.strip_suffix([
                        *name,
                        name.to_ascii_lowercase(),
                        name.to_ascii_uppercase(),
                    ])?,
                ))
            })
            .unwrap_or((1, text));
        let number: u64 = number.parse().map_err(|_| wrong())?;
        number.checked_mul(unit).map(Self).ok_or_else(wrong)
    }
}

impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let unit = UNITS
            .iter()
            .find(|(_, unit)| self.0 > 0 && self.0.is_multiple_of(*unit));
        match unit {
            Some((name, unit)) => write!(f, "{}{name}", self.0 / unit),
            None => write!(f, "{}", self.0),
        }
    }
}
