//! What is usual for a cell: learned from slots without a fault.

use super::likelihood::{Border, PacketSums};
use super::past::{HourUsual, LastHours};
use crate::model::{
    CellGrowth, LatencyHistogram, LatencyResolution, PairUsual, UsualFigures, UsualOrigin,
};

/// Slots that wait before they are learned, at first and later: a fault is often noticed behind its begin.
const FIRST_SLOTS: u32 = 6;
const SLOTS: u32 = 30;
/// The hours that are remembered are two of these.
const GENERATION_SLOTS: u32 = 1080;
/// Latency is judged from this number of packets and of slots on.
pub const LEAST_PACKETS: u64 = 500;
const LEAST_SLOTS: u32 = 30;
/// What was learned in less than an hour may be exceeded by twice as much.
const YOUNG_SLOTS: u32 = 360;
/// A cell that never was without a fault for this number of slots has it as usual.
const BAD_AS_USUAL_SLOTS: u32 = 360;
/// Packets that take longer than the slowest usual ones by this are slow, ns: the scheduler of a host does less.
const MORE_NS: f64 = 50_000.0;
/// Slots in which clocks are known, or unknown, other than before, until latencies are learned anew.
const OTHER_CLOCKS_SLOTS: u32 = 6;
/// The weight of the network's own loss in that of a cell, in packets.
const POOL_PACKETS: f64 = 2e5;
/// The loss of a network of which nothing is known.
pub const UNKNOWN_LOSS: f64 = 1e-5;

/// Slots of an hour.
const HOUR_SLOTS: u32 = 360;

/// Packets of a time.
#[derive(Clone, Debug, Default)]
struct Learned {
    slots: u32,
    /// Those of them whose latencies are known.
    latency_slots: u32,
    sent: u64,
    lost: u64,
    latency: LatencyHistogram,
}

impl Learned {
    fn add(&mut self, other: &Self) {
        self.slots += other.slots;
        self.latency_slots += other.latency_slots;
        self.sent += other.sent;
        self.lost += other.lost;
        self.latency.merge(&other.latency);
    }
}

/// The usual of a cell.
#[derive(Clone, Debug, Default)]
pub struct Usual {
    /// True if latencies are without the difference of the clocks.
    is_corrected: bool,
    /// The last slots in a row for which that is otherwise.
    otherwise: u32,
    older: Learned,
    newer: Learned,
    /// What waits, and what is being filled.
    waiting: Learned,
    filling: Learned,
    bad_slots: u32,
    /// The last hours, as figures.
    last_hours: UsualFigures,
    /// The mean of the last hours.
    mean_ns: i64,
    /// The share of slow packets in the last hours.
    above: f64,
    /// The greatest latency that is not slow, but for the error of the clocks; `None`: not known yet.
    limit_ns: Option<f64>,
    /// The same hour of earlier days, of all classes of the pair, and true if there is no other class.
    hour: Option<HourUsual>,
    is_alone: bool,
    /// The loss that was accepted as usual in this run.
    accepted_loss: Option<f64>,
    /// Latencies of the last hours before the start, until the clocks are known again.
    seed: Option<Box<Learned>>,
}

/// The greatest latency that is not slow if this is the usual p99.
pub fn greatest_usual(p99_ns: i64) -> f64 {
    let p99_ns = p99_ns as f64;
    p99_ns + (0.25 * p99_ns).max(MORE_NS)
}

/// The latencies of a slot without the known difference of the clocks.
pub fn corrected(growth: &CellGrowth) -> LatencyHistogram {
    without_clocks(
        &growth.latency,
        growth.clocks_ns.map_or(0, |(ahead_ns, _)| ahead_ns),
    )
}

/// Latencies that were stamped by a clock that is ahead by this.
pub fn without_clocks(stamped: &LatencyHistogram, ahead_ns: i64) -> LatencyHistogram {
    if ahead_ns == 0 {
        return stamped.clone();
    }
    let moved = |ns: i64| ns.saturating_sub(ahead_ns);
    let counts = stamped.slots().map(|(ns, count)| (moved(ns), count));
    let ends = stamped.ends().unwrap_or_default();
    let sum = stamped.whole_sum_ns() - i128::from(ahead_ns) * i128::from(stamped.samples());
    LatencyHistogram::of_counts(
        LatencyResolution::Fine,
        (moved(ends.0), moved(ends.1)),
        sum,
        counts,
    )
}

impl Usual {
    /// A clock was set: latencies in which the difference of the clocks still is are learned anew.
    pub fn see_clock_set(&mut self) {
        if !self.is_corrected {
            self.forget_latencies();
            self.set_limit();
        }
    }

    fn forget_latencies(&mut self) {
        for one in [
            &mut self.older,
            &mut self.newer,
            &mut self.waiting,
            &mut self.filling,
        ] {
            (one.latency, one.latency_slots) = Default::default();
        }
    }

    /// Learns a slot, or leaves out what was not learned yet because there may be a fault.
    pub fn learn(&mut self, growth: &CellGrowth, latency: &LatencyHistogram, is_suspect: bool) {
        let is_corrected = growth.clocks_ns.is_some();
        let is_otherwise = !self.is_comparable(growth);
        self.otherwise = if is_otherwise { self.otherwise + 1 } else { 0 };
        if is_otherwise && self.is_known() && self.otherwise < OTHER_CLOCKS_SLOTS {
            return;
        }
        if is_otherwise {
            // Latencies of the two kinds cannot be compared.
            self.is_corrected = is_corrected;
            self.forget_latencies();
            if is_corrected && let Some(seed) = self.seed.take() {
                self.newer.add(&seed);
                self.set_figures();
            }
            self.set_limit();
        }
        if is_suspect {
            self.bad_slots += 1;
            if self.is_known() || self.bad_slots < BAD_AS_USUAL_SLOTS {
                (self.waiting, self.filling) = Default::default();
                return;
            }
        } else {
            self.bad_slots = 0;
        }
        self.filling.add(&Learned {
            slots: 1,
            latency_slots: 1,
            sent: growth.counts.sent,
            lost: growth.counts.lost,
            latency: latency.clone(),
        });
        let full = if self.newer.slots < SLOTS {
            FIRST_SLOTS
        } else {
            SLOTS
        };
        if self.filling.slots >= full {
            self.newer.add(&self.waiting);
            self.waiting = std::mem::take(&mut self.filling);
            if self.newer.slots >= GENERATION_SLOTS {
                self.older = std::mem::take(&mut self.newer);
            }
            if self.is_corrected {
                self.seed = None;
            }
            self.set_figures();
        }
    }

    fn set_figures(&mut self) {
        let mut both = self.older.clone();
        both.add(&self.newer);
        let quantile = |share| both.latency.quantile(share).unwrap_or(0);
        self.last_hours = UsualFigures {
            of: UsualOrigin::LastHours,
            days: 0,
            packets: both.sent,
            loss: both.lost as f64 / both.sent.max(1) as f64,
            is_corrected: self.is_corrected,
            p05_ns: quantile(0.05),
            p50_ns: quantile(0.5),
            p99_ns: quantile(0.99),
        };
        self.mean_ns = both.latency.figures().map_or(0, |figures| figures.mean_ns);
        self.set_limit();
        let limit_ns = self.limit_ns.unwrap_or(f64::MAX);
        let slow = both.latency.slots().filter(|(ns, _)| *ns as f64 > limit_ns);
        let slow: u64 = slow.map(|(_, count)| count).sum();
        self.above = slow as f64 / both.latency.samples().max(1) as f64;
    }

    fn set_limit(&mut self) {
        let known = &self.last_hours;
        let is_enough = known.packets >= LEAST_PACKETS
            && self.older.latency_slots + self.newer.latency_slots >= LEAST_SLOTS
            && known.is_corrected == self.is_corrected
            && known.p99_ns > 0;
        self.limit_ns = is_enough.then(|| greatest_usual(known.p99_ns));
    }

    /// Takes these packets as usual, whatever was usual before.
    pub fn accept(&mut self, packets: PacketSums, latency: LatencyHistogram) {
        *self = Self {
            is_corrected: self.is_corrected,
            is_alone: self.is_alone,
            accepted_loss: Some(packets.lost / packets.sent.max(1.0)),
            newer: Learned {
                slots: LEAST_SLOTS,
                latency_slots: LEAST_SLOTS,
                sent: packets.sent as u64,
                lost: packets.lost as u64,
                latency,
            },
            ..Self::default()
        };
        self.set_figures();
    }

    /// Takes what is usual at this hour of the day. `is_alone`: the pair has no packets of another class.
    pub fn set_hour(&mut self, hour: Option<HourUsual>, is_alone: bool) {
        // Earlier days were before that.
        self.hour = hour.filter(|_| self.accepted_loss.is_none());
        self.is_alone = is_alone;
    }

    /// Begins with what a history has of the last hours, if nothing was learned yet.
    pub fn begin_with(&mut self, last: LastHours) {
        let latency_slots = match last.latency.is_empty() {
            true => 0,
            false => last.hours * HOUR_SLOTS,
        };
        let latency = Learned {
            latency_slots,
            latency: last.latency,
            ..Learned::default()
        };
        if self.filling.slots + self.waiting.slots == 0 && latency_slots > 0 {
            self.is_corrected = true;
        }
        self.newer = Learned {
            slots: last.hours * HOUR_SLOTS,
            sent: last.sent,
            lost: last.lost,
            ..Learned::default()
        };
        if self.is_corrected {
            self.newer.add(&latency);
        }
        self.seed = (latency_slots > 0).then(|| Box::new(latency));
        self.set_figures();
    }

    /// The hour's usual, if it says more than the last hours do: a whole week is believed; fewer days only excuse.
    fn hour_in_use(&self, is_corrected: bool) -> Option<HourUsual> {
        let hour = self.hour?;
        let is_latency_known = is_corrected && hour.figures.p99_ns > 0;
        let is_slower = is_latency_known
            && match self.limit_ns {
                Some(own_ns) => greatest_usual(hour.figures.p99_ns) > own_ns,
                None => self.is_alone,
            };
        (is_slower || self.hour_replaces() && is_latency_known).then_some(hour)
    }

    fn hour_replaces(&self) -> bool {
        self.is_alone && self.hour.is_some_and(|hour| hour.is_of_a_week())
    }

    /// True if latencies of this slot are of the kind that was learned: with the clocks known, or without.
    pub fn is_comparable(&self, growth: &CellGrowth) -> bool {
        growth.clocks_ns.is_some() == self.is_corrected
    }

    pub fn is_known(&self) -> bool {
        self.slots() > 0
    }

    /// Packets that were learned of, and how many of them were lost.
    pub fn learned(&self) -> (u64, u64) {
        (
            self.newer.sent + self.older.sent,
            self.newer.lost + self.older.lost,
        )
    }

    /// For how many slots it has learned.
    pub fn slots(&self) -> u32 {
        self.newer.slots + self.older.slots
    }

    /// The greatest latency that is not slow, with these clocks; `None`: latency is not judged.
    pub fn limit_ns(&self, clocks_ns: Option<(i64, u64)>) -> Option<f64> {
        let limit_ns = match self.hour_in_use(clocks_ns.is_some()) {
            Some(hour) => greatest_usual(hour.figures.p99_ns),
            // Latencies of the two kinds cannot be compared.
            None => (self.limit_ns).filter(|_| self.is_corrected == clocks_ns.is_some())?,
        };
        let error_ns = clocks_ns.map_or(0, |(_, error_ns)| error_ns) as f64;
        (error_ns <= limit_ns).then_some(limit_ns + error_ns)
    }

    /// The shares of bad packets above which they are no longer usual; `pool` is the loss of the network.
    pub fn border(&self, pool: f64, is_corrected: bool) -> Border {
        let loss_border = |(sent, lost): (f64, f64), times: f64| {
            let loss = (lost + pool * POOL_PACKETS) / (sent + POOL_PACKETS);
            let loss = loss.max(self.accepted_loss.unwrap_or(0.0));
            (3.0 * times * loss).max(loss + 3e-5 * times)
        };
        let (sent, lost) = self.learned();
        let is_young = self.slots() < YOUNG_SLOTS;
        let times = if is_young { 2.0 } else { 1.0 };
        let own = loss_border((sent as f64, lost as f64), times);
        let of_hour = self.hour.map(|hour| {
            let sent = hour.figures.packets as f64;
            loss_border((sent, hour.figures.loss * sent), 1.0)
        });
        let loss = match of_hour {
            Some(loss) if self.hour_replaces() => loss,
            Some(loss) => loss.max(own),
            None => own,
        };
        let slow =
            |above: f64, times: f64| (2.0 * times * above).max(above + 0.01 * times).min(0.5);
        let slow = match self.hour_in_use(is_corrected) {
            Some(hour) => Some(slow(hour.above, 1.0)),
            None => self.limit_ns.map(|_| slow(self.above, times)),
        };
        Border { loss, slow }
    }

    /// True if latencies are known without the difference of the clocks.
    pub fn is_corrected(&self) -> bool {
        self.is_corrected
    }

    /// The days of which the same hour is known.
    pub fn days(&self) -> u32 {
        self.hour.map_or(0, |hour| hour.figures.days)
    }

    /// What is shown to people as usual.
    pub fn figures(&self) -> UsualFigures {
        let more_lost = |hour: &HourUsual| hour.figures.loss > self.last_hours.loss;
        let is_of_loss = self
            .hour
            .filter(|hour| self.hour_replaces() || more_lost(hour));
        let hour = self.hour_in_use(self.is_corrected).or(is_of_loss);
        hour.map_or(self.last_hours, |hour| hour.figures)
    }

    /// The same as part of a pair's, with the greatest share of lost packets that is usual; `None`: nothing was learned yet.
    pub fn of_pair(&self, most_loss: f64) -> Option<PairUsual> {
        let figures = self.figures();
        let most_ns = self.limit_ns(self.is_corrected.then_some((0, 0)));
        self.is_known().then(|| PairUsual {
            loss: figures.loss,
            most_loss,
            p99_ns: most_ns.map(|most_ns| (figures.p99_ns, most_ns as i64)),
            is_corrected: self.is_corrected,
        })
    }

    /// The fifth of a hundred latencies, which queues leave alone, and clocks and paths do not, and the mean.
    pub fn p05_and_mean_ns(&self) -> Option<(i64, i64)> {
        let figures = self.last_hours;
        (figures.packets >= LEAST_PACKETS && figures.is_corrected == self.is_corrected)
            .then_some((figures.p05_ns, self.mean_ns))
    }
}
