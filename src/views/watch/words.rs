//! Figures in few characters.

use crate::views::digits::{Grouped, Nanoseconds};

/// The text for an unknown figure.
pub const NONE: &str = "-";

/// A rate per second: `0`, `0.3`, `12,345`, `1.23M`.
pub fn rate(rate: f64) -> String {
    match rate {
        0.0 => "0".to_owned(),
        ..0.05 => "<0.1".to_owned(),
        ..9.95 => format!("{rate:.1}"),
        ..999_999.5 => Grouped(rate.round() as u64).to_string(),
        ..9_995_000.0 => format!("{:.2}M", rate / 1e6),
        ..999_500_000.0 => format!("{:.0}M", rate / 1e6),
        _ => format!("{:.1}G", rate / 1e9),
    }
}

pub fn maybe_rate(some: Option<f64>) -> String {
    some.map_or_else(|| NONE.to_owned(), rate)
}

/// A share in percent: `0%`, `0.004%`, `12.3%`, `100%`.
pub fn percent(share: f64) -> String {
    let percent = share * 100.0;
    match percent {
        0.0 => "0%".to_owned(),
        ..0.001 => "<.001%".to_owned(),
        ..0.9995 => format!("{percent:.3}%"),
        ..9.995 => format!("{percent:.2}%"),
        // A share below 1 is never shown as 100 %.
        ..100.0 => format!("{:.1}%", percent.min(99.9)),
        _ => "100%".to_owned(),
    }
}

pub fn maybe_percent(some: Option<f64>) -> String {
    some.map_or_else(|| NONE.to_owned(), percent)
}

pub fn maybe_ns(some: Option<i64>) -> String {
    some.map_or_else(|| NONE.to_owned(), |ns| Nanoseconds(ns).to_string())
}

/// A span of time in one unit: `3s`, `12m`, `5h`, `8d`.
pub fn span(ns: u64) -> String {
    let s = ns / 1_000_000_000;
    match s {
        0..60 => format!("{s}s"),
        60..3600 => format!("{}m", s / 60),
        3600..86_400 => format!("{}h", s / 3600),
        _ => format!("{}d", s / 86_400),
    }
}

/// A time of day.
pub fn time_of_day(wall_ns: u64) -> String {
    let s = wall_ns / 1_000_000_000 % 86_400;
    format!("{:02}:{:02}:{:02} UTC", s / 3600, s / 60 % 60, s % 60)
}
