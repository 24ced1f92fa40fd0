//! The times in a file of reports, of which a wrong clock may have made some: each is judged by those around it.

use std::collections::VecDeque;

/// The number of readings that are judged together, and that of earlier ones which they are compared with.
const READINGS: usize = 512;
const BEFORE: usize = READINGS / 2;

/// The number of readings that a live stream waits for if one is far from those before it.
const LIVE_READINGS: usize = 8;

/// A reading that is off by less is taken as it is: packets come out of order, and clocks are set by seconds.
const SLACK_NS: u64 = 600 * NS_PER_S;

/// Readings that are apart by more are of different captures, or of a wrong clock.
const APART_NS: u64 = 3600 * NS_PER_S;

/// Fewer readings than this at an end, apart from many others, are of a wrong clock.
const LEAST_APART: usize = 3;
const MANY: usize = 10;
/// Apart is more than this many times the usual distance of the others.
const USUAL: u64 = 8;

const NS_PER_S: u64 = 1_000_000_000;

/// Takes readings with what was read at them, and gives them back in their order.
pub struct StampJudge<T> {
    wall_ns: fn() -> u64,
    is_live: bool,
    waiting: VecDeque<(u64, T)>,
    judged: VecDeque<JudgedReading<T>>,
    /// The readings that were judged last, as they were read.
    before: VecDeque<u64>,
    /// The last time that is trusted.
    trusted_ns: Option<u64>,
    wrong: u64,
}

/// A reading that was judged.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct JudgedReading<T> {
    /// The time that most readings around it say.
    pub time_ns: u64,
    /// It was read otherwise.
    pub is_wrong: bool,
    pub item: T,
}

impl<T> StampJudge<T> {
    /// A judge of a file, or of a live stream, in which readings do not wait without need.
    pub fn new(is_live: bool, wall_ns: fn() -> u64) -> Self {
        Self {
            wall_ns,
            is_live,
            waiting: VecDeque::new(),
            judged: VecDeque::new(),
            before: VecDeque::new(),
            trusted_ns: None,
            wrong: 0,
        }
    }

    /// Returns how many readings were wrong.
    pub fn wrong(&self) -> u64 {
        self.wrong
    }

    /// Takes a reading in nanoseconds since the Unix epoch; 0 is none.
    pub fn push(&mut self, stamp_ns: u64, item: T) {
        self.waiting.push_back((stamp_ns, item));
        let (is_near, count) = (self.is_near(stamp_ns), self.waiting.len());
        match self.is_live {
            true if count == 1 && is_near || count >= LIVE_READINGS => self.judge(count),
            false if count >= READINGS => self.judge(READINGS - BEFORE),
            _ => {}
        }
    }

    /// Judges all readings that wait: no others will come.
    pub fn end(&mut self) {
        self.judge(self.waiting.len());
    }

    /// Returns the next reading that was judged.
    pub fn next_judged(&mut self) -> Option<JudgedReading<T>> {
        self.judged.pop_front()
    }

    fn is_near(&self, stamp_ns: u64) -> bool {
        match self.trusted_ns {
            Some(trusted_ns) => stamp_ns.abs_diff(trusted_ns) <= SLACK_NS,
            None => stamp_ns <= (self.wall_ns)().saturating_add(APART_NS),
        }
    }

    /// Judges the first `count` readings that wait by all others.
    fn judge(&mut self, count: usize) {
        let is_begin = self.before.is_empty();
        let is_end = count == self.waiting.len() && !self.is_live;
        let begin = self.before.len();
        let waiting = self.waiting.iter().map(|(stamp_ns, _)| *stamp_ns);
        let stamps: Vec<u64> = self.before.iter().copied().chain(waiting).collect();
        let mut right = right_ones(&stamps, (self.wall_ns)().saturating_add(APART_NS));
        if is_end {
            drop_few_apart(&stamps, &mut right);
        }
        if is_begin {
            right.reverse();
            drop_few_apart(&stamps, &mut right);
            right.reverse();
        }
        let mut right = right.into_iter().peekable();
        while right.next_if(|place| *place < begin).is_some() {}
        for place in begin..begin + count {
            let Some((stamp_ns, item)) = self.waiting.pop_front() else {
                return;
            };
            if right.next_if_eq(&place).is_some() {
                self.trusted_ns = Some(stamp_ns);
            }
            let next_ns = right.peek().and_then(|place| stamps.get(*place).copied());
            let others_ns = self.trusted_ns.or(next_ns).unwrap_or(stamp_ns);
            let is_wrong = stamp_ns.abs_diff(others_ns) > SLACK_NS;
            self.wrong += u64::from(is_wrong);
            self.judged.push_back(JudgedReading {
                time_ns: if is_wrong { others_ns } else { stamp_ns },
                is_wrong,
                item,
            });
            self.before.push_back(stamp_ns);
        }
        while self.before.len() > BEFORE {
            self.before.pop_front();
        }
    }
}

/// Returns the places of the readings that a right clock can have made: none is ahead of this host's clock, unless all
/// are, and as many as possible never go back.
fn right_ones(stamps: &[u64], until_ns: u64) -> Vec<usize> {
    let is_any_before = stamps.iter().any(|ns| (1..=until_ns).contains(ns));
    let most_ns = if is_any_before { until_ns } else { u64::MAX };
    let possible = |place: &usize| (1..=most_ns).contains(&stamps[*place]);
    // By patience sorting: the last places of the longest rows of each length, and the place before each one.
    let mut lasts: Vec<usize> = Vec::new();
    let mut before = vec![None; stamps.len()];
    for place in (0..stamps.len()).filter(possible) {
        let length = lasts.partition_point(|last| stamps[*last] <= stamps[place]);
        before[place] = length.checked_sub(1).map(|shorter| lasts[shorter]);
        match lasts.get_mut(length) {
            Some(last) => *last = place,
            None => lasts.push(place),
        }
    }
    let mut right: Vec<usize> =
        std::iter::successors(lasts.last().copied(), |place| before[*place]).collect();
    right.reverse();
    right
}

/// Drops readings at the end of `right` that are few, and apart from many others.
fn drop_few_apart(stamps: &[u64], right: &mut Vec<usize>) {
    let distance_ns = |pair: &[usize]| stamps[pair[0]].abs_diff(stamps[pair[1]]);
    for few in 1..LEAST_APART {
        let others = right.len().saturating_sub(few);
        if others < MANY {
            return;
        }
        // Where packets are rare, all of them are apart.
        let between = right.get(..others).unwrap_or_default();
        let span_ns = between
            .windows(2)
            .map(distance_ns)
            .fold(0, u64::saturating_add);
        let usual_ns = span_ns / others as u64;
        let gap_ns = right.get(others - 1..=others).map_or(0, distance_ns);
        if gap_ns > APART_NS.max(USUAL.saturating_mul(usual_ns)) {
            right.truncate(others);
            return;
        }
    }
}
