//! The latencies of a cell: log-logistic ones, which have a heavy tail, and waits in queues, as a sink counts them.

use hostint::model::{LatencyHistogram, LatencyResolution};

use super::Draws;

/// The shares of packets below the first slot that is told apart, and above the last one.
const ENDS: (f64, f64) = (0.0002, 0.99998);
/// Shares of which the slot is known at once.
const GUIDES: usize = 128;
/// More packets than this for a slot are drawn together.
const TOGETHER: f64 = 8.0;
/// A queue's waits are drawn one by one up to this number; of more packets each draw stands for several.
const MOST_WAITS: u64 = 300;

/// Slots of a histogram, and what share of the packets is in them or below.
#[derive(Default)]
pub struct LatencyTable {
    made_for: Option<(u32, i64)>,
    bounds: Vec<i64>,
    up_to: Vec<f64>,
    /// The slot that each step of the shares begins in.
    guide: Vec<usize>,
}

/// Packets of one cell in one slot, while they are drawn.
#[derive(Default)]
pub struct LatencyCounts {
    counts: Vec<u64>,
    apart: Vec<(i64, u64)>,
}

impl LatencyTable {
    /// Stamps are moved by `shift_ns`, as clocks differ, or the path is longer.
    pub fn set(&mut self, median_ns: f64, steepness: f64, load_step: u32, shift_ns: i64) {
        if self.made_for == Some((load_step, shift_ns)) {
            return;
        }
        self.made_for = Some((load_step, shift_ns));
        let quantile = |share: f64| median_ns * (share / (1.0 - share)).powf(1.0 / steepness);
        let last = quantile(ENDS.1) as i64 + shift_ns;
        let mut ns = quantile(ENDS.0) as i64 + shift_ns;
        self.bounds.clear();
        self.up_to.clear();
        while ns <= last {
            let bound = bound_of(ns);
            let true_ns = (bound - shift_ns).max(1) as f64 + 0.5;
            let share = 1.0 / (1.0 + (true_ns / median_ns).powf(-steepness));
            self.bounds.push(bound);
            self.up_to.push(share);
            ns = bound + 1;
        }
        if let Some(last) = self.up_to.last_mut() {
            *last = 1.0;
        }
        let steps = (0..GUIDES).map(|step| step as f64 / GUIDES as f64);
        let first = |share: f64| self.up_to.partition_point(|up_to| *up_to < share);
        self.guide.clear();
        self.guide.extend(steps.map(first));
    }

    fn slot(&self, share: f64) -> usize {
        let (guide, up_to) = (self.guide.as_slice(), self.up_to.as_slice());
        let step = (share * GUIDES as f64) as usize;
        let mut at = guide[step.min(GUIDES - 1)];
        while up_to[at] < share {
            at += 1;
        }
        at
    }

    /// Draws packets that wait nowhere. Its loops are plain because all tests of the verdict wait for them.
    pub fn draw(&self, packets: u64, draws: &mut Draws, into: &mut LatencyCounts) {
        into.counts.resize(self.bounds.len(), 0);
        let (counts, up_to) = (into.counts.as_mut_slice(), self.up_to.as_slice());
        let least = TOGETHER / packets as f64;
        let (mut first, mut last, mut below) = (up_to.len(), 0, 0.0);
        let mut at = 0;
        while at < up_to.len() {
            if up_to[at] - below >= least {
                first = first.min(at);
                last = at;
            }
            below = up_to[at];
            at += 1;
        }
        let (mut left, mut rest) = (packets, 1.0);
        let low = match first {
            0 => 0.0,
            first => up_to[first - 1],
        };
        let (mut at, mut below) = (first, low);
        while at <= last {
            let share = up_to[at] - below;
            let here = draws.binomial(left, share / rest);
            counts[at] += here;
            left -= here;
            rest -= share;
            below = up_to[at];
            at += 1;
        }
        // The rare slots are at both ends.
        let high = if last < first { 0.0 } else { 1.0 - up_to[last] };
        while left > 0 {
            let share = draws.share() * (low + high);
            let share = if share < low {
                share
            } else {
                1.0 - (share - low)
            };
            counts[self.slot(share)] += 1;
            left -= 1;
        }
    }

    /// Draws packets that wait in a queue, too.
    pub fn draw_waiting(
        &self,
        packets: u64,
        mean_wait_ns: f64,
        draws: &mut Draws,
        into: &mut LatencyCounts,
    ) {
        let drawn = packets.min(MOST_WAITS);
        for number in 0..drawn {
            let stands_for = packets * (number + 1) / drawn - packets * number / drawn;
            // Even steps, so that several packets in one draw do not make the waits more uneven.
            let share = (number as f64 + draws.share()) / drawn as f64;
            let wait_ns = -mean_wait_ns * share.ln();
            let ns = self.bounds[self.slot(draws.share())] + wait_ns as i64;
            into.apart.push((bound_of(ns), stands_for));
        }
    }

    /// What a sink has of the packets that were drawn. `into` is empty after it.
    pub fn histogram(&self, into: &mut LatencyCounts) -> LatencyHistogram {
        into.apart.sort_unstable();
        let mut counts = Vec::with_capacity(self.bounds.len() + into.apart.len());
        let (bounds, drawn) = (self.bounds.as_slice(), into.counts.as_mut_slice());
        let (mut sum, mut at) = (0, 0);
        while at < drawn.len() {
            if drawn[at] > 0 {
                counts.push((bounds[at], drawn[at]));
                sum += i128::from(bounds[at]) * i128::from(drawn[at]);
                drawn[at] = 0;
            }
            at += 1;
        }
        for (bound, count) in into.apart.drain(..) {
            counts.push((bound, count));
            sum += i128::from(bound) * i128::from(count);
        }
        // Sinks count latencies below 0 together with 0, and are less than fine then.
        let least = counts.first().map_or(0, |one| one.0);
        let resolution = match least {
            ..0 => LatencyResolution::Middle,
            _ => LatencyResolution::Fine,
        };
        let counts = counts
            .into_iter()
            .map(|(bound, count)| (bound.max(0), count));
        LatencyHistogram::of_counts(resolution, (least, i64::MAX), sum, counts)
    }
}

/// The upper bound of the values that are drawn as one.
fn bound_of(ns: i64) -> i64 {
    match ns {
        ..0 => -LatencyResolution::Middle.bounds(-ns).0,
        _ => LatencyResolution::Fine.bounds(ns).1,
    }
}
