//! The line through the widest corridor between the packets of both directions: offset and skew of two raw clocks.

use super::drift::Drift;
use super::interval::ClockInterval;
use super::link::{ClockLink, RawMinimum};

/// The search for the skew ends after so many steps, each of which leaves two thirds: below a nanosecond in a minute.
const STEPS: u32 = 45;

/// The estimated difference of two raw clocks at one moment.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Corridor {
    /// The distance by which the clock of `to` is ahead of that of `from`.
    pub ahead_ns: f64,
    /// Half the width of the corridor: the least latency that fits both directions.
    pub half_width_ns: f64,
}

/// A point: time and latency, both less a base, so that 64 bits of a float keep fractions of a nanosecond.
struct Points(Vec<(f64, f64)>);

impl Points {
    /// The least distance of the points from a line of this slope through the origin.
    fn least_above(&self, slope: f64) -> f64 {
        let above = self.0.iter().map(|(time, value)| value - slope * time);
        above.fold(f64::INFINITY, f64::min)
    }
}

/// Finds the widest corridor at the moment when the raw clock of `from` shows `moment`. `None` unless there are packets
/// of both directions. Delays are one-sided: forward packets lie above the line, reverse packets below.
pub fn corridor(link: &ClockLink, moment: ClockInterval, drift: Drift) -> Option<Corridor> {
    if link.same_clock {
        return Some(Corridor {
            ahead_ns: 0.0,
            half_width_ns: 0.0,
        });
    }
    let base_ns = link.forward.first()?.latency_ns();
    let now_ns = moment.middle_ns();
    let time = |raw: ClockInterval| (raw.middle_ns() - now_ns) as f64;
    let forward = |one: &RawMinimum| (time(one.sent), (one.latency_ns() - base_ns) as f64);
    let reverse = |one: &RawMinimum| (time(one.arrived), (one.latency_ns() + base_ns) as f64);
    let forward = Points(link.forward.iter().map(forward).collect());
    let reverse = Points(link.reverse.iter().map(reverse).collect());
    if reverse.0.is_empty() {
        return None;
    }
    // For each slope the best line lies in the middle. Its margin is concave, and so has one summit.
    let width = |slope: f64| forward.least_above(slope) + reverse.least_above(-slope);
    let most = f64::from(drift.ppb()) / 1e9;
    let (mut low, mut high) = (-most, most);
    for _ in 0..STEPS {
        let (first, second) = (low + (high - low) / 3.0, high - (high - low) / 3.0);
        if width(first) < width(second) {
            low = first;
        } else {
            high = second;
        }
    }
    let slope = low + (high - low) / 2.0;
    let (above, below) = (forward.least_above(slope), -reverse.least_above(-slope));
    Some(Corridor {
        ahead_ns: base_ns as f64 + (above + below) / 2.0,
        half_width_ns: (above - below) / 2.0,
    })
}
