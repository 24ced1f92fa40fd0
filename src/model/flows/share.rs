//! The share of flows that a host measures, so that its work stays within the budget.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

/// The CPU time that hostint may take on a host, in millionths of that of all its CPUs; 0: all that it needs.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct CpuBudget(pub u32);

/// The programs' work in some time, in runs.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct HostWork {
    pub tagged: u64,
    pub tagged_flows: u64,
    pub roomless: u64,
    /// Packets that no rule and no share wants.
    pub left_alone: u64,
    /// Packets that arrive, with INT and without.
    pub seen: u64,
    pub received: u64,
    pub received_flows: u64,
}

/// The CPU time of some time's work, in ns.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Spent {
    /// For packets that leave, which a smaller share of this host's flows spares.
    pub leaving: u64,
    /// For packets that arrive, which other hosts can spare it.
    pub arriving: u64,
    /// What no share spares, as the daemon's own work, and packets without INT.
    pub besides: u64,
}

/// What a packet costs the host, in hundredths of a step: as many short connections and requests as went missing in
/// BENCHMARKS.md, shared among the packets that hosts handled, which is more than the programs' own time.
const TAGGED: u64 = 700;
const RECEIVED: u64 = 700;
/// A segment without room for an option: a connection's first and last one, for the most part.
const ROOMLESS: u64 = 1_900;
/// A packet that leaves or arrives without INT: the programs, and running any in their place.
const LEFT_ALONE: u64 = 40;
const PASSED: u64 = 50;
/// A flow that is in no table yet.
const TAGGED_FLOW: u64 = 2_000;
const RECEIVED_FLOW: u64 = 2_500;

/// One flow in two to the power of this is the least that is measured.
pub const MOST_SHIFT: u32 = 16;
/// The share falls after this time above the budget.
const OVER: Duration = Duration::from_secs(3);
/// The share rises after this time in which twice the flows would fit.
const UNDER: Duration = Duration::from_secs(10);
/// Flows may have this part of the budget, in hundredths, if all else takes more than the rest.
const LEAST_FOR_FLOWS: u64 = 25;
/// Twice the flows fit if they would take this part of the budget, in hundredths.
const ROOM: u64 = 80;

impl HostWork {
    /// What is more in this than in an earlier one. Counters that began anew count from 0.
    pub fn since(self, before: Self) -> Self {
        let more = |now: u64, then: u64| now.checked_sub(then).unwrap_or(now);
        Self {
            tagged: more(self.tagged, before.tagged),
            tagged_flows: more(self.tagged_flows, before.tagged_flows),
            roomless: more(self.roomless, before.roomless),
            left_alone: more(self.left_alone, before.left_alone),
            seen: more(self.seen, before.seen),
            received: more(self.received, before.received),
            received_flows: more(self.received_flows, before.received_flows),
        }
    }

    /// Its CPU time, and that of the daemons.
    pub fn cost(self, step_ns: u32, daemons_ns: u64) -> Spent {
        let time = |hundredths: u64| hundredths * u64::from(step_ns) / 100;
        let passed = self.seen.saturating_sub(self.received);
        Spent {
            leaving: time(
                self.tagged * TAGGED + self.roomless * ROOMLESS + self.tagged_flows * TAGGED_FLOW,
            ),
            arriving: time(self.received * RECEIVED + self.received_flows * RECEIVED_FLOW),
            besides: daemons_ns + time(self.left_alone * LEFT_ALONE + passed * PASSED),
        }
    }
}

impl Spent {
    fn all(self) -> u64 {
        self.leaving + self.arriving + self.besides
    }

    /// In millionths of this time of all CPUs.
    pub fn ppm(self, of_ns: u64) -> u32 {
        let ppm = u128::from(self.all()) * 1_000_000 / u128::from(of_ns.max(1));
        u32::try_from(ppm).unwrap_or(u32::MAX)
    }
}

/// Chooses the share: one flow in two to the power of `shift`.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Share {
    pub shift: u32,
    over: Duration,
    under: Duration,
}

impl Share {
    /// Goes on with what a daemon before this one chose.
    pub fn of(shift: u32) -> Self {
        Self {
            shift: shift.min(MOST_SHIFT),
            ..Self::default()
        }
    }

    /// Notes what was spent in this time, in which all CPUs had `of_ns`: `by_flows` of it by the flows of which this is the
    /// share. Returns true if the share changes.
    pub fn note(
        &mut self,
        budget: CpuBudget,
        by_flows: u64,
        spent: Spent,
        (time, of_ns): (Duration, u64),
    ) -> bool {
        let before = self.shift;
        if budget == CpuBudget::OFF {
            *self = Self::default();
            return before != 0;
        }
        let allowed = (u128::from(of_ns) * u128::from(budget.0) / 1_000_000) as u64;
        let for_flows =
            (allowed.saturating_sub(spent.all() - by_flows)).max(allowed * LEAST_FOR_FLOWS / 100);
        self.over = match by_flows > for_flows {
            true => self.over + time,
            false => Duration::ZERO,
        };
        self.under = match self.shift > 0 && by_flows * 2 < for_flows * ROOM / 100 {
            true => self.under + time,
            false => Duration::ZERO,
        };
        if self.over >= OVER {
            self.shift += halvings(by_flows, for_flows.max(1));
        } else if self.under >= UNDER {
            self.shift -= 1;
        }
        self.shift = self.shift.min(MOST_SHIFT);
        if self.shift != before {
            *self = Self::of(self.shift);
        }
        self.shift != before
    }
}

/// How often something is to be halved until it is at most this.
fn halvings(of: u64, most: u64) -> u32 {
    (0..MOST_SHIFT)
        .find(|n| of >> n <= most)
        .unwrap_or(MOST_SHIFT)
}

impl CpuBudget {
    pub const OFF: Self = Self(0);
    /// The most that a budget may be: all CPUs.
    const ALL: f64 = 100.0;
}

impl Default for CpuBudget {
    fn default() -> Self {
        Self(20_000)
    }
}

/// Percents, such as `2%` or `0.5%`, or `off`.
impl FromStr for CpuBudget {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if text == "off" {
            return Ok(Self::OFF);
        }
        let percent = text
            .strip_suffix('%')
            .and_then(|number| number.trim().parse::<f64>().ok())
            .filter(|percent| *percent > 0.0 && *percent <= Self::ALL)
            .ok_or("not a part of the CPUs' time (write for instance 2% or 0.5%, or off)")?;
        Ok(Self(((percent * 10_000.0) as u32).max(1)))
    }
}

impl fmt::Display for CpuBudget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::OFF => f.write_str("off"),
            Self(ppm) => write!(f, "{}%", f64::from(ppm) / 10_000.0),
        }
    }
}
