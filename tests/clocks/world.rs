//! Simulated hosts: crystals that drift, clocks that are slewed and set, paths with queues. Times are whole nanoseconds.

use hostint::clocks::{Bounds, ClockInterval, OwnClock, RawMinimum, Reading};
use hostint_testing::random::Random;

pub const MS: i128 = 1_000_000;
pub const SECOND: i128 = 1_000 * MS;
/// The window of evidence, and a sub-window of it.
pub const WINDOW: i128 = 10 * SECOND;
pub const SUB_WINDOW: i128 = 500 * MS;

/// What a host's clocks do.
#[derive(Clone, Copy)]
pub struct Habits {
    /// The crystal runs up to this much too fast or too slow, and changes its rate at any time.
    pub crystal_ppb: i64,
    /// The crystal always runs by exactly that much too fast.
    pub is_steady: bool,
    /// The kernel steers by up to this. The rate changes at any time, but not twice between two readings.
    pub steered_ppb: i64,
    /// The probability that the clock is set once in a window.
    pub steps: f64,
}

pub const STEERED_PPB: i64 = 500_000;

/// Free, slewed or stepped, by the toss of a coin.
pub fn any_habits(random: &mut Random, crystal_ppb: i64) -> Habits {
    Habits {
        crystal_ppb,
        is_steady: false,
        steered_ppb: random.pick(&[0, 1_000, STEERED_PPB]),
        steps: random.pick(&[0.0, 0.0, 0.5]),
    }
}

impl Habits {
    fn crystal(&self, random: &mut Random) -> i64 {
        match self.is_steady {
            true => self.crystal_ppb,
            false => within(random, self.crystal_ppb),
        }
    }
}

/// From this true time on.
#[derive(Clone, Copy)]
struct Piece {
    from: i128,
    raw: i128,
    ahead: i128,
    crystal_ppb: i64,
    steered_ppb: i64,
}

/// A host's clocks by true time.
#[derive(Clone)]
pub struct Host {
    pieces: Vec<Piece>,
    /// The true times when the clock was set.
    pub steps: Vec<i128>,
}

fn part(time: i128, ppb: i64) -> i128 {
    (time * i128::from(ppb)).div_euclid(1_000_000_000)
}

/// A number between -most and most.
pub fn within(random: &mut Random, most: i64) -> i64 {
    random.below(2 * most.unsigned_abs() as usize + 1) as i64 - most
}

pub fn below(random: &mut Random, limit: i128) -> i128 {
    random.below(limit as usize) as i128
}

/// An exponentially distributed time.
pub fn exponential(random: &mut Random, mean_ns: f64) -> i128 {
    let uniform = ((random.next() >> 11) as f64 + 1.0) / (1u64 << 53) as f64;
    (-uniform.ln() * mean_ns) as i128
}

impl Piece {
    fn raw_at(&self, t: i128) -> i128 {
        let time = t - self.from;
        self.raw + time + part(time, self.crystal_ppb)
    }

    fn ahead_at(&self, t: i128) -> i128 {
        self.ahead + part(self.raw_at(t) - self.raw, self.steered_ppb)
    }
}

impl Host {
    /// A host with these clocks, from a little before the window until a little after it.
    pub fn new(random: &mut Random, habits: Habits) -> Self {
        let (begin, end) = (-3 * SECOND, WINDOW + 10 * SECOND);
        let mut host = Self {
            pieces: vec![Piece {
                from: begin,
                raw: below(random, 1_000_000 * SECOND),
                // Apart by up to 10 s.
                ahead: 1_700_000_000 * SECOND + below(random, 10 * SECOND),
                crystal_ppb: habits.crystal(random),
                steered_ppb: within(random, habits.steered_ppb),
            }],
            steps: Vec::new(),
        };
        let step_at = random
            .chance(habits.steps)
            .then(|| below(random, WINDOW + SECOND));
        let mut at = begin + below(random, 5 * SECOND);
        let mut stepped = step_at.is_none();
        let mut steered_at = begin;
        while at < end {
            if let (Some(step_at), false) = (step_at, stepped)
                && step_at <= at
            {
                host.step(random, step_at);
                stepped = true;
            }
            let last = *host.pieces.last().unwrap();
            let mut next = Piece {
                from: at,
                raw: last.raw_at(at),
                ahead: last.ahead_at(at),
                ..last
            };
            next.crystal_ppb = habits.crystal(random);
            if random.chance(0.5) && at - steered_at > SECOND + 30 * MS {
                next.steered_ppb = within(random, habits.steered_ppb);
                steered_at = at;
            }
            host.pieces.push(next);
            at += 1 + below(random, 5 * SECOND);
        }
        host
    }

    /// Sets the clock by between 10 us and 10 s, by little as often as by much.
    fn step(&mut self, random: &mut Random, at: i128) {
        let last = *self.pieces.last().unwrap();
        let most = random.pick(&[MS / 10, MS, 10 * MS, SECOND, 10 * SECOND]);
        let size = MS / 100 + below(random, most);
        let size = if random.chance(0.5) { size } else { -size };
        self.pieces.push(Piece {
            from: at,
            raw: last.raw_at(at),
            ahead: last.ahead_at(at) + size,
            ..last
        });
        self.steps.push(at);
    }

    /// A host whose crystal's rate walks, as a real one's does: by 0.1 ppm in a second.
    pub fn walking(random: &mut Random) -> Self {
        let begin = -3 * SECOND;
        let mut host = Self {
            pieces: vec![Piece {
                from: begin,
                raw: below(random, 1_000_000 * SECOND),
                ahead: 1_700_000_000 * SECOND + below(random, 20 * MS),
                crystal_ppb: within(random, 30_000),
                steered_ppb: 0,
            }],
            steps: Vec::new(),
        };
        for at in (begin..WINDOW + 10 * SECOND)
            .step_by(100 * MS as usize)
            .skip(1)
        {
            let last = *host.pieces.last().unwrap();
            host.pieces.push(Piece {
                from: at,
                raw: last.raw_at(at),
                ahead: last.ahead_at(at),
                crystal_ppb: last.crystal_ppb + within(random, 55),
                ..last
            });
        }
        host
    }

    /// A host whose time daemon keeps its clock at this distance from true time.
    pub fn synchronised(random: &mut Random, off: i128) -> Self {
        let begin = -3 * SECOND;
        let raw = below(random, 1_000_000 * SECOND);
        let crystal_ppb = within(random, 30_000);
        Self {
            pieces: vec![Piece {
                from: begin,
                raw,
                ahead: 1_700_000_000 * SECOND + begin + off - raw,
                crystal_ppb,
                steered_ppb: -crystal_ppb,
            }],
            steps: Vec::new(),
        }
    }

    fn piece(&self, t: i128) -> &Piece {
        let after = self.pieces.partition_point(|piece| piece.from <= t);
        &self.pieces[after.saturating_sub(1)]
    }

    pub fn raw(&self, t: i128) -> i128 {
        self.piece(t).raw_at(t)
    }

    /// The clock that stamps packets.
    pub fn clock(&self, t: i128) -> i128 {
        self.raw(t) + self.piece(t).ahead_at(t)
    }

    /// Readings of about every second, with what adjtimex tells.
    pub fn own_clock(&self, random: &mut Random) -> OwnClock {
        let mut own = OwnClock::default();
        let mut at = -2 * SECOND + below(random, SECOND);
        let mut before = at;
        while at < WINDOW + 8 * SECOND {
            own.note(self.reading_since(random, before, at));
            before = at;
            at += SECOND + below(random, 20 * MS);
        }
        own
    }

    /// A reading that begins at this time, and says whether the clock was set since the one before.
    pub fn reading_since(&self, random: &mut Random, before: i128, at: i128) -> Reading {
        let set_in = |from, until| self.steps.iter().any(|step| (from..until).contains(step));
        let mut at = at;
        let reading = loop {
            let reading = self.reading(random, at);
            let after = at + reading.took_ns + 10;
            // A clock that is set while it is read is read again.
            if !set_in(at, after) {
                break reading;
            }
            at = after;
        };
        Reading {
            is_after_set: set_in(before, at),
            ..reading
        }
    }

    /// A reading that begins at this time.
    pub fn reading(&self, random: &mut Random, at: i128) -> Reading {
        let took = 40 + exponential(random, 300.0);
        let middle = at + below(random, took + 1);
        let steered = self.piece(middle).steered_ppb;
        Reading {
            raw_ns: self.raw(at),
            took_ns: self.raw(at + took) - self.raw(at),
            clock_ns: self.clock(middle),
            steered_ppb: (steered, steered),
            is_after_set: false,
        }
    }
}

/// A path in one direction.
#[derive(Clone, Copy)]
pub struct Path {
    /// No packet is quicker.
    pub least: i128,
    /// The probability that the queue is empty, and the mean wait else.
    pub empty: f64,
    pub mean_ns: f64,
}

impl Path {
    pub fn delay(&self, random: &mut Random) -> i128 {
        let queue = match random.chance(self.empty) {
            true => 0,
            false => exponential(random, self.mean_ns),
        };
        self.least + exponential(random, 400.0) + queue
    }
}

/// Both directions of a path: asymmetric, loaded, with queues that never empty.
pub fn any_paths(random: &mut Random) -> [Path; 2] {
    let least = random.pick(&[100, 5_000, 30_000, 2_000_000]);
    [(); 2].map(|()| Path {
        least: least
            + below(random, 30_000)
            + random.pick(&[0, 0, 100_000])
            + random.pick(&[0, 0, 40_000, 5_000_000]),
        empty: random.pick(&[0.7, 0.1, 0.02]),
        mean_ns: random.pick(&[20_000.0, 300_000.0, 10_000_000.0]),
    })
}

/// The quickest packet of each sub-window, of so many packets.
pub fn minima(
    random: &mut Random,
    (from, to): (&Host, &Host),
    path: Path,
    packets: usize,
) -> Vec<Minimum> {
    let mut found = Vec::new();
    let mut begin = 0;
    while begin < WINDOW {
        let samples = (0..packets).map(|_| {
            let sent = begin + below(random, SUB_WINDOW);
            let arrived = sent + path.delay(random);
            Minimum {
                sent_ns: from.clock(sent),
                arrived_ns: to.clock(arrived),
            }
        });
        found.extend(samples.min_by_key(|one| one.arrived_ns - one.sent_ns));
        begin += SUB_WINDOW;
    }
    found
}

/// The packet of a sub-window that took least time from one host to another.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Minimum {
    /// By the sender's clock.
    pub sent_ns: i128,
    /// By the receiver's clock.
    pub arrived_ns: i128,
}

/// Converts stamps to raw clocks. Those of times when a clock was set, or was not read, are left out.
pub fn raw_minima(sender: &OwnClock, receiver: &OwnClock, minima: &[Minimum]) -> Vec<RawMinimum> {
    let raw = |minimum: &Minimum| {
        Some(RawMinimum {
            sent: sender.raw_of(minimum.sent_ns)?,
            arrived: receiver.raw_of(minimum.arrived_ns)?,
        })
    };
    minima.iter().filter_map(raw).collect()
}

/// The distance by which the clock of `to` that stamps packets is ahead of that of `from`.
pub fn clock_ahead(
    bounds: &Bounds,
    clocks: &[OwnClock],
    from: usize,
    to: usize,
) -> Option<ClockInterval> {
    let ahead = |host: usize| clocks.get(host)?.ahead_within(bounds.moment(host)?);
    Some(bounds.ahead(from, to)?.plus(ahead(to)?).minus(ahead(from)?))
}
