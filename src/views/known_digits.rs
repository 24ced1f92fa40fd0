//! A time with its greatest error: no digit is shown that is not known.

use super::digits::Nanoseconds;

/// A measured time as text.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct KnownDigits {
    /// The value and its unit, as in `-26.8 us`.
    pub value: String,
    /// The error in the same unit, as in `1.9`.
    pub error: String,
}

/// A time without digits that its error leaves unknown, and with no more than other times have.
pub fn certain(value_ns: i64, error_ns: u64) -> String {
    let known = KnownDigits::new(value_ns, error_ns).value;
    let usual = Nanoseconds(value_ns).to_string();
    if known.len() < usual.len() {
        known
    } else {
        usual
    }
}

/// A time with its error, or with three digits alone if the error does not reach them.
pub fn with_error(value_ns: i64, error_ns: u64) -> String {
    let mut place = 1;
    while value_ns.unsigned_abs() / place >= 1000 {
        place *= 10;
    }
    if error_ns >= place / 2 && error_ns > 0 {
        let KnownDigits { value, error } = KnownDigits::new(value_ns, error_ns);
        return format!("{value} ± {error}");
    }
    KnownDigits::to_place(value_ns, u128::from(place)).value
}

/// Units, the longest first, and the nanoseconds in each.
const UNITS: [(&str, u128); 4] = [
    ("s", 1_000_000_000),
    ("ms", 1_000_000),
    ("us", 1_000),
    ("ns", 1),
];

/// The place of an error's last digit that is shown: the second if the first is 1, else the first.
fn last_place(error_ns: u128) -> u128 {
    let mut place = 1;
    while error_ns / place >= 20 {
        place *= 10;
    }
    place
}

impl KnownDigits {
    pub fn new(value_ns: i64, error_ns: u64) -> Self {
        Self::shown(value_ns, error_ns.into(), last_place(error_ns.into()))
    }

    /// A value whose error is below this place.
    fn to_place(value_ns: i64, place: u128) -> Self {
        Self::shown(value_ns, 0, place)
    }

    fn shown(value_ns: i64, error: u128, place: u128) -> Self {
        let value = u128::from(value_ns.unsigned_abs());
        let rounded = (value + place / 2) / place * place;
        // What rounding takes from the value is added to the error, so that the true value stays between both ends.
        let error = (error + rounded.abs_diff(value)).div_ceil(place) * place;
        let unit = UNITS
            .into_iter()
            .find(|(_, ns)| rounded.max(error) >= *ns)
            .unwrap_or(("ns", 1));
        let sign = if value_ns < 0 && rounded != 0 {
            "-"
        } else {
            ""
        };
        Self {
            value: format!("{sign}{} {}", decimal(rounded, unit.1, place), unit.0),
            error: match error {
                0 => "0".to_owned(),
                _ => decimal(error, unit.1, place),
            },
        }
    }
}

/// Writes a multiple of `place` in a unit, with the decimals that `place` has.
fn decimal(ns: u128, unit: u128, place: u128) -> String {
    let mut decimals = 0;
    let mut step = unit;
    while step > place {
        step /= 10;
        decimals += 1;
    }
    if decimals == 0 {
        return (ns / unit).to_string();
    }
    format!("{}.{:0decimals$}", ns / unit, ns % unit / step,)
}
