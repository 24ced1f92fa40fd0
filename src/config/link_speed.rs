//! The speed of a link with its unit: `10G`, `2500M`.

use std::fmt;
use std::str::FromStr;

/// Mbit/s in a Gbit/s.
const GBIT: u32 = 1000;

/// A speed in Mbit/s, as users write it.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct LinkSpeed(pub u32);

impl FromStr for LinkSpeed {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let wrong =
            || "expected bits a second with M or G (write for instance 10G or 2500M)".to_owned();
        let (number, unit) = match text.strip_suffix(['G', 'g']) {
            Some(number) => (number, GBIT),
            None => (text.strip_suffix(['M', 'm']).ok_or_else(wrong)?, 1),
        };
        let number: u32 = number.parse().map_err(|_| wrong())?;
        let mbit = number.checked_mul(unit).filter(|mbit| *mbit != 0);
        mbit.map(Self).ok_or_else(wrong)
    }
}

impl fmt::Display for LinkSpeed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            mbit if mbit.is_multiple_of(GBIT) => write!(f, "{}G", mbit / GBIT),
            mbit => write!(f, "{mbit}M"),
        }
    }
}
