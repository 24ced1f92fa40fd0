//! What is usual at an hour of the day: the median of the same hour of earlier days; and the last hours of a history.

use std::collections::HashMap;

use super::past::{DAYS, HourUsual, KnownPast, LastHours, SourceToSink, hour_of};
use super::usual::{LEAST_PACKETS, greatest_usual, without_clocks};
use crate::model::{
    HOUR_NS, LatencyHistogram, NetworkEvent, NodeNames, PairHour, Span, UsualFigures, UsualOrigin,
};

const DAY_NS: u64 = 24 * HOUR_NS;
/// The fewest days that say what is usual.
const LEAST_DAYS: usize = 3;
/// The last hours, of which the present one is a part.
const LAST_HOURS: u64 = 4;
/// The most pairs.
const MOST_PAIRS: usize = 65_536;

/// A day's figures of a pair at this hour.
#[derive(Clone, Copy, Debug)]
struct DayFigures {
    is_good: bool,
    sent: u64,
    loss: f64,
    /// The quantiles, and the share of slow packets; `None`: the clocks were not known.
    latency: Option<([i64; 3], f64)>,
}

/// What is asked of a history, and what it answers.
#[derive(Debug)]
pub struct PastQuestion {
    /// The begin of the hour that is asked about.
    hour_ns: u64,
    is_last: bool,
    degraded: Vec<Span>,
    /// What was accepted as usual: what pairs were before that does not count.
    accepted: Vec<NetworkEvent>,
    names: NodeNames,
    days: HashMap<SourceToSink, Vec<DayFigures>>,
    last: HashMap<SourceToSink, LastHours>,
}

impl PastQuestion {
    fn of(time_ns: u64, is_last: bool) -> Self {
        Self {
            hour_ns: hour_of(time_ns),
            is_last,
            degraded: Vec::new(),
            accepted: Vec::new(),
            names: NodeNames::NONE,
            days: HashMap::new(),
            last: HashMap::new(),
        }
    }

    /// What is usual in the hour of a time.
    pub fn same_hour(time_ns: u64) -> Self {
        Self::of(time_ns, false)
    }

    /// The hours until a time.
    pub fn last_hours(time_ns: u64) -> Self {
        Self::of(time_ns, true)
    }

    /// The begins of the hours that answer it.
    pub fn begins(&self) -> Vec<u64> {
        let before = |number: u64, distance_ns| self.hour_ns.checked_sub(number * distance_ns);
        match self.is_last {
            true => (0..LAST_HOURS)
                .filter_map(|at| before(at, HOUR_NS))
                .collect(),
            false => (1..=DAYS).filter_map(|at| before(at, DAY_NS)).collect(),
        }
    }

    /// The time that it is about.
    pub fn span(&self) -> Span {
        Span {
            since_ns: self.begins().last().copied().unwrap_or(0),
            until_ns: self.hour_ns + HOUR_NS,
        }
    }

    /// Leaves hours in which something was degraded out, as far as enough others are left.
    pub fn without(mut self, degraded: Vec<Span>) -> Self {
        self.degraded = degraded;
        self
    }

    /// Leaves what was before the present was accepted as usual out.
    pub fn since(self, accepted: Vec<NetworkEvent>, names: NodeNames) -> Self {
        Self {
            accepted,
            names,
            ..self
        }
    }

    /// Takes what a pair's packets were in one of these hours.
    pub fn take(&mut self, hour: &PairHour) {
        let pair = (hour.source, hour.sink);
        let until_ns = hour.begin_ns + HOUR_NS;
        let name = |node| self.names.name(node);
        let is_before =
            |event: &NetworkEvent| hour.begin_ns < event.time_ns && event.is_of_pair(pair, &name);
        if self.accepted.iter().any(is_before) {
            return;
        }
        let is_good = !(self.degraded.iter())
            .any(|one| one.since_ns < until_ns && one.until_ns > hour.begin_ns);
        let latency = (hour.clocks_ns).map(|(ahead_ns, _)| without_clocks(&hour.latency, ahead_ns));
        if self.is_last {
            let is_known = self.last.contains_key(&pair);
            if is_good && (is_known || self.last.len() < MOST_PAIRS) {
                let last = self.last.entry(pair).or_default();
                last.sent += hour.counts.sent;
                last.lost += hour.counts.lost;
                last.hours += 1;
                last.latency.merge(&latency.unwrap_or_default());
            }
            return;
        }
        let is_known = self.days.contains_key(&pair);
        if hour.counts.sent >= LEAST_PACKETS && (is_known || self.days.len() < MOST_PAIRS) {
            self.days.entry(pair).or_default().push(DayFigures {
                is_good,
                sent: hour.counts.sent,
                loss: hour.counts.lost as f64 / hour.counts.sent as f64,
                latency: latency.and_then(|latency| quantiles(&latency, hour.clocks_ns)),
            });
        }
    }

    /// What is known now.
    pub fn answer(self) -> KnownPast {
        let mut known = KnownPast {
            last: self.last,
            ..KnownPast::default()
        };
        if !self.is_last {
            let usual = |(pair, days)| Some((pair, usual_of(days)?));
            let pairs = self.days.into_iter().filter_map(usual).collect();
            known.hours.push((self.hour_ns, pairs));
        }
        known
    }
}

/// `None`: too few packets, or the clocks moved within the hour by more than the latencies.
fn quantiles(latency: &LatencyHistogram, clocks_ns: Option<(i64, u64)>) -> Option<([i64; 3], f64)> {
    if latency.samples() < LEAST_PACKETS {
        return None;
    }
    let of = |share| latency.quantile(share);
    let [p05_ns, p50_ns, p99_ns] = [of(0.05)?, of(0.5)?, of(0.99)?];
    let error_ns = clocks_ns.map_or(0, |(_, error_ns)| error_ns.cast_signed());
    if p99_ns <= 0 || p05_ns < -error_ns {
        return None;
    }
    let greatest = greatest_usual(p99_ns);
    let slow = latency.slots().filter(|(ns, _)| *ns as f64 > greatest);
    let slow: u64 = slow.map(|(_, count)| count).sum();
    let above = slow as f64 / latency.samples() as f64;
    Some(([p05_ns, p50_ns, p99_ns], above))
}

/// The median day; `None`: too few days.
fn usual_of(mut days: Vec<DayFigures>) -> Option<HourUsual> {
    if days.iter().filter(|day| day.is_good).count() >= LEAST_DAYS {
        days.retain(|day| day.is_good);
    }
    if days.len() < LEAST_DAYS {
        return None;
    }
    let mut figures = UsualFigures {
        of: UsualOrigin::SameHour,
        days: u32::try_from(days.len()).unwrap_or(u32::MAX),
        packets: days.iter().map(|day| day.sent).sum(),
        loss: median(days.iter().map(|day| day.loss)),
        ..UsualFigures::default()
    };
    let known: Vec<_> = days.iter().filter_map(|day| day.latency).collect();
    let mut above = 0.0;
    if known.len() >= LEAST_DAYS {
        let quantile = |at: usize| median(known.iter().map(|(all, _)| all[at] as f64)) as i64;
        figures.is_corrected = true;
        figures.p05_ns = quantile(0);
        figures.p50_ns = quantile(1);
        figures.p99_ns = quantile(2);
        above = median(known.iter().map(|(_, above)| *above));
    }
    Some(HourUsual { figures, above })
}

/// The middle one; of two, the greater.
fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(0.0)
}
