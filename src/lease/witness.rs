//! The second witness that tagged packets arrive: the source's count of them against the sink's counts.

use std::collections::VecDeque;

use crate::model::{Encapsulation, LeaseWitness};

const FORMS: usize = Encapsulation::COUNTED.len();
/// The sink counts a packet at once if it has counted none of its flow for 250 ms.
const COUNTED_NS: u64 = 300_000_000;
/// If the sink has not counted this many such packets this time after the first of them, they may be lost by chance, or all are.
const SUSPECT: u64 = 2;
const SUSPECT_NS: u64 = 100_000_000;
/// If it has not counted this many over this time, none arrives.
const LEAST: u64 = 10;
const LEAST_NS: u64 = 200_000_000;
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
    /// None of the last few has arrived.
    Suspect,
    /// None arrives.
    Unseen,
}

/// A stretch of time in which the sink counted no packet of an encapsulation.
#[derive(Clone, Copy, Default)]
struct Unseen {
    /// The source's count at its begin.
    tagged: u64,
    begin_ns: u64,
    /// The source counted this many packets so late in it that the sink would count each at once.
    late: u64,
    /// The first and the last time that it did.
    first_ns: u64,
    last_ns: u64,
    /// How many there were when the sink was asked for their sake.
    asked: u64,
}

impl Unseen {
    fn new(tagged: u64, begin_ns: u64) -> Self {
        Self {
            tagged,
            begin_ns,
            ..Self::default()
        }
    }

    /// Takes packets that the source counted between these times.
    fn add(&mut self, packets: u64, (since_ns, now_ns): (u64, u64)) {
        if packets == 0 || since_ns < self.begin_ns + COUNTED_NS {
            return;
        }
        if self.late == 0 {
            self.first_ns = now_ns;
        }
        self.late += packets;
        self.last_ns = now_ns;
    }

    /// True if the sink should be asked now.
    fn is_suspect(&mut self, now_ns: u64) -> bool {
        let is_new = self.late > self.asked && self.finding(now_ns) != WitnessFinding::Nothing;
        if is_new {
            self.asked = self.late;
        }
        is_new
    }

    /// What it shows that an answer to a question of this time has not ended it.
    fn finding(&self, asked_ns: u64) -> WitnessFinding {
        let goes_on = self.last_ns - self.first_ns >= LEAST_NS && asked_ns >= self.last_ns;
        if self.late >= LEAST && goes_on {
            WitnessFinding::Unseen
        } else if self.late >= SUSPECT && asked_ns >= self.first_ns + SUSPECT_NS {
            WitnessFinding::Suspect
        } else {
            WitnessFinding::Nothing
        }
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
    /// The time when they were read last, grown or not.
    looked_ns: u64,
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
        let mut last = self.tagged.back().map_or(tagged, |(_, counts)| *counts);
        if (0..FORMS).any(|form| tagged[form] < last[form]) {
            // The record of the lease is a new one.
            *self = Self::default();
            last = tagged;
        }
        for form in 0..FORMS {
            if self.tagged.is_empty() {
                self.unseen[form] = Unseen::new(tagged[form], now_ns);
            }
            self.unseen[form].add(tagged[form] - last[form], (self.looked_ns, now_ns));
        }
        self.looked_ns = now_ns;
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
        let mut unseen = self.unseen.iter_mut();
        unseen.any(|unseen| unseen.is_suspect(now_ns))
    }

    /// Takes the sink's counts from an answer. Returns true if it stripped packets since the answer before.
    pub(super) fn note_answer(&mut self, counts: &LeaseWitness, now_ns: u64) -> bool {
        let Some(before) = self.heard.replace(*counts) else {
            self.begin_anew(now_ns);
            return false;
        };
        let mut grew = false;
        for form in 0..FORMS {
            let more = counts.stripped[form].wrapping_sub(before.stripped[form]);
            if more > u32::MAX / 2 {
                // The sink's counts begin with its grant, which is a new one.
                self.begin_anew(now_ns);
                return false;
            }
            self.stripped[form] += u64::from(more);
            if more > 0 {
                grew = true;
                self.due_ns = 0;
                self.unseen[form] = Unseen::new(self.newest()[form], now_ns);
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
            let unseen = &self.unseen[form];
            let due = self.due_ns != 0 && asked_ns >= self.due_ns;
            let shown = match due && newest[form] - unseen.tagged >= TAGGED {
                true => WitnessFinding::Unseen,
                false => unseen.finding(asked_ns),
            };
            if shown != WitnessFinding::Nothing {
                *finding = shown;
            }
        }
        findings
    }

    /// Forgets what is missing in the counts at this place: their form was given up.
    pub(super) fn give_up(&mut self, form: usize, now_ns: u64) {
        let newest = self.newest()[form];
        self.due_ns = 0;
        self.stripped[form] = 0;
        if let Some(base) = &mut self.base {
            base[form] = newest;
        }
        self.unseen[form] = Unseen::new(newest, now_ns);
        // Lost packets are those of all forms.
        self.missing[form] = Missing {
            highest: -self.lost,
            arrived: self.lost,
            tagged: newest,
            ..Missing::default()
        };
    }

    /// Forgets all that is missing: the path was proved anew.
    pub(super) fn begin_anew(&mut self, now_ns: u64) {
        let newest = self.tagged.pop_back();
        let heard = self.heard;
        *self = Self {
            heard,
            looked_ns: self.looked_ns,
            ..Self::default()
        };
        if let Some((at_ns, counts)) = newest {
            self.tagged.push_back((at_ns, counts));
            self.base = Some(counts);
            self.unseen = counts.map(|tagged| Unseen::new(tagged, now_ns));
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
