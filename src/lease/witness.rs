//! The second witness that tagged packets arrive: the source's count of them against the sink's counts.

use std::collections::VecDeque;

use crate::model::{Encapsulation, LeaseWitness};

const FORMS: usize = Encapsulation::COUNTED.len();
/// Fewer packets than this show nothing, and in a second stretch than this: 10 in a row that are lost by chance are rare.
const LEAST: u64 = 6;
const LEAST_SECOND: u64 = 4;
/// Packets were tagged over at least this time: a flow that ended meanwhile may not be counted by the sink yet.
const GOING_ON_NS: u64 = 100_000_000;
/// The sink counts a packet at most this time after the source does, if the flow goes on: it tells what it counts of a flow
/// every 250 ms.
const COUNTED_NS: u64 = 300_000_000;
/// A lost packet is declared lost, and counted as such, within this time.
const DECLARED_NS: u64 = 1_500_000_000;
/// The time over which counts are compared.
const WINDOW_NS: u64 = 1_000_000_000;
/// This part of the packets tagged in a window may be missing, and [`MAY_MISS`] packets more.
const MAY_MISS_SHARE: i64 = 20;
const MAY_MISS: i64 = 32;
/// If the kernel tagged packets in at least this many of its turns, and at least [`TAGGED`] packets, and the sink counts
/// none of them, then none arrives: it would count each at once.
const TURNS: u32 = 6;
const TAGGED: u64 = 16;

/// What the counts of both ends say about an encapsulation.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(super) enum WitnessFinding {
    #[default]
    Nothing,
    /// More packets are missing than may be, in this number of windows in a row. A part of that may be packets that one
    /// end has told, and the other one has not: a flow that pauses is told with its next packet.
    Missing(u32),
    /// None arrives.
    Unseen,
}

/// A stretch of time in which the sink counted no packet of an encapsulation.
#[derive(Clone, Copy, Default)]
struct Unseen {
    tagged: u64,
    /// The first and the last time that the source's count grew in it; 0: it did not.
    first_ns: u64,
    last_ns: u64,
    /// The stretch follows another one, after which the sink counts the next packet that arrives at once.
    is_second: bool,
}

impl Unseen {
    fn new(tagged: u64) -> Self {
        Self {
            tagged,
            ..Self::default()
        }
    }

    /// Packets were tagged in it, and went on being tagged.
    fn goes_on(&self, tagged: u64) -> bool {
        let least = match self.is_second {
            true => LEAST_SECOND,
            false => LEAST,
        };
        self.first_ns != 0
            && tagged - self.tagged >= least
            && self.last_ns - self.first_ns >= GOING_ON_NS
    }

    /// True if the sink should be asked now.
    fn is_suspect(&self, tagged: u64, now_ns: u64) -> bool {
        self.goes_on(tagged) && (self.is_second || now_ns >= self.first_ns + COUNTED_NS)
    }

    /// Takes an answer to a question that was asked at this time, in which the sink's count has not grown. Returns true if
    /// no packet arrives.
    fn note(&mut self, tagged: u64, asked_ns: u64) -> bool {
        if !self.goes_on(tagged) {
            return false;
        }
        if self.is_second {
            return asked_ns >= self.last_ns;
        }
        if asked_ns >= self.first_ns + COUNTED_NS {
            *self = Self {
                is_second: true,
                ..Self::new(tagged)
            };
        }
        false
    }
}

/// The packets of an encapsulation that are missing so far.
#[derive(Clone, Copy, Default)]
struct Missing {
    /// Tagged, less stripped and lost, since the counts began. Packets on their way make it negative.
    balance: i64,
    /// Its highest value at the end of a window, if as many can have been missing.
    highest: i64,
    /// Packets that had arrived or were lost at the end of the last window.
    arrived: i64,
    tagged: u64,
    strikes: u32,
}

/// The counts of a pair of addresses, from both ends.
#[derive(Default)]
pub(super) struct Witness {
    /// The source's counts, each with the time when it was read; the newest is the last.
    tagged: VecDeque<(u64, [u64; FORMS])>,
    heard: Option<LeaseWitness>,
    /// Packets that the sink stripped since the counts began.
    stripped: [u64; FORMS],
    lost: i64,
    unseen: [Unseen; FORMS],
    missing: [Missing; FORMS],
    window_ns: u64,
    /// The kernel's turns showed at this time that the sink has to count packets; 0: they do not.
    due_ns: u64,
    /// The source's counts when they began to be compared.
    base: Option<[u64; FORMS]>,
}

impl Witness {
    /// Returns by how many packets these counts of the source are higher than the last ones.
    pub(super) fn growth(&self, tagged: &[u64; FORMS]) -> u64 {
        let Some((_, last)) = self.tagged.back() else {
            return 0;
        };
        let each = tagged.iter().zip(last);
        each.map(|(now, last)| now.saturating_sub(*last)).sum()
    }

    /// Takes the kernel's turns in which packets were tagged that the sink would count at once. Returns true if the sink
    /// should be asked now.
    pub(super) fn note_turns(&mut self, turns: u32, now_ns: u64) -> bool {
        let begins = self.due_ns == 0 && turns.count_ones() >= TURNS;
        if begins {
            self.due_ns = now_ns;
        }
        begins
    }

    /// Takes the source's counts. Returns true if the sink should be asked now.
    pub(super) fn note_tagged(&mut self, tagged: [u64; FORMS], now_ns: u64) -> bool {
        let last = self.tagged.back().map_or(tagged, |(_, counts)| *counts);
        if (0..FORMS).any(|form| tagged[form] < last[form]) {
            // The record of the lease is a new one.
            *self = Self::default();
        }
        for form in 0..FORMS {
            if self.tagged.is_empty() {
                self.unseen[form].tagged = tagged[form];
            } else if tagged[form] > last[form] {
                let unseen = &mut self.unseen[form];
                unseen.last_ns = now_ns;
                if unseen.first_ns == 0 {
                    unseen.first_ns = now_ns;
                }
            }
        }
        if self.tagged.is_empty() || tagged != last {
            self.tagged.push_back((now_ns, tagged));
        }
        self.base.get_or_insert(tagged);
        // One older than all that is compared is kept: it says what was counted before.
        while let Some((second_ns, _)) = self.tagged.get(1)
            && now_ns.saturating_sub(*second_ns) > 2 * DECLARED_NS
        {
            self.tagged.pop_front();
        }
        let mut unseen = self.unseen.iter().zip(tagged);
        unseen.any(|(unseen, tagged)| unseen.is_suspect(tagged, now_ns))
    }

    /// Takes the sink's counts from an answer. Returns true if it stripped packets since the answer before.
    pub(super) fn note_answer(&mut self, counts: &LeaseWitness) -> bool {
        let Some(before) = self.heard.replace(*counts) else {
            self.begin_anew();
            return false;
        };
        let mut grew = false;
        for form in 0..FORMS {
            let more = counts.stripped[form].wrapping_sub(before.stripped[form]);
            if more > u32::MAX / 2 {
                // The sink's counts begin with its grant, which is a new one.
                self.begin_anew();
                return false;
            }
            self.stripped[form] += u64::from(more);
            if more > 0 {
                grew = true;
                self.due_ns = 0;
                self.unseen[form] = Unseen::new(self.newest()[form]);
            }
        }
        self.lost += i64::from(counts.lost.wrapping_sub(before.lost).cast_signed());
        grew
    }

    /// Compares the counts after an answer to a question that was asked at this time. Returns what they say about each
    /// encapsulation, in the order of `Encapsulation::COUNTED`.
    pub(super) fn compare(&mut self, asked_ns: u64) -> [WitnessFinding; FORMS] {
        let newest = self.newest();
        let mut findings = [WitnessFinding::Nothing; FORMS];
        if self.window_ns == 0 {
            self.window_ns = asked_ns;
        } else if asked_ns - self.window_ns >= WINDOW_NS {
            self.window_ns = asked_ns;
            let settled = self.tagged_until(asked_ns.saturating_sub(DECLARED_NS));
            for (form, finding) in findings.iter_mut().enumerate() {
                let strikes = self.end_window(form, settled[form], newest[form]);
                if strikes > 0 {
                    *finding = WitnessFinding::Missing(strikes);
                }
            }
        }
        for (form, finding) in findings.iter_mut().enumerate() {
            let unseen = &mut self.unseen[form];
            let due = self.due_ns != 0 && asked_ns >= self.due_ns;
            if due && newest[form] - unseen.tagged >= TAGGED || unseen.note(newest[form], asked_ns)
            {
                *finding = WitnessFinding::Unseen;
            }
        }
        findings
    }

    /// Forgets what is missing in the counts at this place: their form was given up.
    pub(super) fn give_up(&mut self, form: usize) {
        let newest = self.newest()[form];
        self.due_ns = 0;
        self.stripped[form] = 0;
        if let Some(base) = &mut self.base {
            base[form] = newest;
        }
        self.unseen[form] = Unseen::new(newest);
        // Lost packets are those of all forms.
        self.missing[form] = Missing {
            highest: -self.lost,
            arrived: self.lost,
            tagged: newest,
            ..Missing::default()
        };
    }

    /// Forgets all that is missing: the path was proved anew.
    pub(super) fn begin_anew(&mut self) {
        let newest = self.tagged.pop_back();
        let heard = self.heard;
        *self = Self {
            heard,
            ..Self::default()
        };
        if let Some((at_ns, counts)) = newest {
            self.tagged.push_back((at_ns, counts));
            self.base = Some(counts);
            self.unseen = counts.map(Unseen::new);
            self.missing = counts.map(|tagged| Missing {
                tagged,
                ..Missing::default()
            });
        }
    }

    /// Ends a window of an encapsulation. Returns the number of windows in a row in which too many packets are missing.
    fn end_window(&mut self, form: usize, settled: u64, newest: u64) -> u32 {
        let Some(base) = self.base else { return 0 };
        let missing = &mut self.missing[form];
        let tagged = newest.saturating_sub(missing.tagged).cast_signed();
        missing.tagged = newest;
        let arrived = self.stripped[form].cast_signed() + self.lost;
        missing.balance = settled.saturating_sub(base[form]).cast_signed() - arrived;
        let allowed = tagged / MAY_MISS_SHARE + MAY_MISS;
        // The sink may count packets that the source does not, the last ones of a flow. They say nothing of later ones:
        // no more can be missing than were tagged until now, less those that had arrived a window ago. (The balance is
        // lower than that by the packets of two windows, and rises whenever a burst of them ends.)
        let most = newest.saturating_sub(base[form]).cast_signed() - missing.arrived;
        missing.highest = missing.highest.min(most);
        missing.arrived = arrived;
        let new = missing.balance - missing.highest;
        if new > allowed {
            missing.strikes += 1;
        } else {
            missing.strikes = 0;
        }
        missing.highest = missing.highest.max(missing.balance);
        missing.strikes
    }

    fn newest(&self) -> [u64; FORMS] {
        self.tagged.back().map_or([0; FORMS], |(_, counts)| *counts)
    }

    /// The source's counts at this time.
    fn tagged_until(&self, when_ns: u64) -> [u64; FORMS] {
        let mut older = self.tagged.iter().rev();
        let found = older.find(|(at_ns, _)| *at_ns <= when_ns);
        found
            .or(self.tagged.front())
            .map_or([0; FORMS], |(_, counts)| *counts)
    }
}
