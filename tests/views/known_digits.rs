//! A time with its error shows the digits that are known, and no more; the true value stays between both ends.

use hostint::views::known_digits::{KnownDigits, certain, with_error};
use hostint_testing::random::Random;

#[test]
fn digits_are_cut_to_what_is_known() {
    let cases: [(i64, u64, &str); 16] = [
        (6_140, 1_800, "6.1 us 1.9"),
        (6_140, 2_000, "6 us 3"),
        (26_800, 1_900, "26.8 us 1.9"),
        (-26_800, 1_900, "-26.8 us 1.9"),
        (-4_100, 92_300, "0 us 100"),
        (4_100, 0, "4.100 us 0"),
        (0, 0, "0 ns 0"),
        (7, 1, "7 ns 1"),
        (-7, 19, "-7 ns 19"),
        (999, 20, "1.00 us 0.03"),
        (0, 35_000_000, "0 ms 40"),
        (12_345_678_901, 90_000, "12.34568 s 0.00010"),
        (-10_000_000_000, 2_000_000_000, "-10 s 2"),
        (1, u64::MAX, "0 s 19000000000"),
        (i64::MIN, 1_000_000_000, "-9223372036.9 s 1.1"),
        (i64::MAX, 3_000_000_000, "9223372037 s 4"),
    ];
    for (value, error, expected) in cases {
        let KnownDigits {
            value: text,
            error: bound,
        } = KnownDigits::new(value, error);
        assert_eq!(format!("{text} {bound}"), expected, "{value} and {error}");
    }
}

#[test]
fn a_time_alone_has_no_more_digits_than_others() {
    for (value, error, expected) in [
        (6_140, 0, "6.1 us"),
        (6_140, 2_000, "6 us"),
        (6_140, 20, "6.1 us"),
        (1_234_567, 20, "1.2 ms"),
        (1_234_567, 900_000, "1.2 ms"),
        (400, 3_000, "0 us"),
        (-70_321, 4_000, "-70 us"),
    ] {
        assert_eq!(certain(value, error), expected, "{value} and {error}");
    }
}

#[test]
fn an_error_below_three_digits_is_left_out_with_the_digits_behind_them() {
    for (value, error, expected) in [
        (6_241_291, 0, "6.24 ms"),
        (6_241_291, 4_999, "6.24 ms"),
        (6_241_291, 5_000, "6.241 ms ± 0.006"),
        (11_973, 0, "12.0 us"),
        (-70_321, 4_000, "-70 us ± 5"),
        (999_600, 0, "1.000 ms"),
        (417, 0, "417 ns"),
        (417, 1, "417 ns ± 1"),
        (0, 0, "0 ns"),
    ] {
        assert_eq!(with_error(value, error), expected, "{value} and {error}");
    }
}

/// Reads a number with this unit back, in ns.
fn read(number: &str, unit: &str) -> f64 {
    let ns = match unit {
        "s" => 1e9,
        "ms" => 1e6,
        "us" => 1e3,
        _ => 1.0,
    };
    number.parse::<f64>().unwrap() * ns
}

#[test]
fn rounding_takes_no_true_value_from_the_interval() {
    let mut random = Random::seeded(1);
    for _ in 0..20_000 {
        let (value, error) = (
            random.u32() >> random.below(32),
            random.u32() >> random.below(32),
        );
        let shown = KnownDigits::new(value.into(), error.into());
        let (number, unit) = shown.value.split_once(' ').unwrap();
        let (middle, bound) = (read(number, unit), read(&shown.error, unit));
        let (value, error) = (f64::from(value), f64::from(error));
        assert!(
            middle - bound <= value - error + 0.01 && middle + bound >= value + error - 0.01,
            "{value} and {error} are shown as {shown:?}"
        );
    }
}
