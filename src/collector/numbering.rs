//! The numbering of an exporter: its sequence numbers tell of losses, duplicates, late arrivals and restarts.

use serde::Serialize;

/// The distance behind the newest number within which a late arrival can be told from a duplicate.
const WINDOW: u32 = 64;

/// A larger jump ahead is not a loss but another numbering.
const MAX_JUMP: u32 = 1 << 24;

/// In a shorter numbering a jump by more than this part of all numbers is another numbering: most restarts jump
/// further.
const SHORT_JUMP: u32 = 16;

/// This many old numbers that rise from arrival to arrival, without a new one between them, are a restart. Fewer are
/// stray datagrams.
const RESTART_RUN: usize = 3;

/// The largest step between two numbers of such a run.
const RESTART_STEP: u32 = 8;

/// The relation of one number to those before it.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Continuity {
    /// The first report of this exporter.
    First,
    InOrder,
    /// This many numbers were skipped. They may still arrive.
    Gap(u32),
    /// The number had been skipped, or is older than the first one that arrived.
    Late,
    Duplicate,
    /// The number is that of the datagram before it, whose content was another: the exporter does not number.
    Unnumbered,
    /// The number is older than the window, and may be late or a duplicate.
    Stale,
    /// The exporter restarted its numbering.
    Restart,
}

/// Sums over all datagrams. As far as the numbers tell, the exporter sent `received - duplicates + lost` datagrams.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq, Serialize)]
pub struct NumberingCounts {
    /// All datagrams. Before v2.0 each of them is one report.
    pub received: u64,
    /// Numbers that have not arrived.
    pub lost: u64,
    pub duplicates: u64,
    pub late: u64,
    pub stale: u64,
    pub restarts: u64,
    /// Datagrams with the number and without the content of the one before them: of exporters that do not number.
    pub unnumbered: u64,
}

/// The state of one exporter's numbering, in constant memory.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Numbering {
    /// The largest number, which 0 follows.
    last: u32,
    newest: Option<Newest>,
    run: RestartRun,
    /// The last datagram's number and a hash of its content, if the exporter may be one that does not number.
    before: Option<(u32, u64)>,
    counts: NumberingCounts,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
struct Newest {
    number: u32,
    /// Bit n is set if `number - n` has arrived.
    seen: u64,
    /// The numbers of the window that count as lost if they are missing: those since the beginning.
    accountable: u32,
}

/// Old numbers that arrive one after another as if from a new numbering.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
struct RestartRun {
    numbers: [u32; RESTART_RUN],
    length: usize,
    duplicates: u64,
    stale: u64,
}

impl NumberingCounts {
    pub(super) fn add(&mut self, other: &Self) {
        self.received += other.received;
        self.lost += other.lost;
        self.duplicates += other.duplicates;
        self.late += other.late;
        self.stale += other.stale;
        self.restarts += other.restarts;
        self.unnumbered += other.unnumbered;
    }
}

impl Default for Numbering {
    fn default() -> Self {
        Self::of_bits(32)
    }
}

impl Numbering {
    /// A numbering whose numbers have `bits` bits, at most 32.
    pub fn of_bits(bits: u32) -> Self {
        Self {
            last: u32::MAX
                .checked_shr(32_u32.saturating_sub(bits))
                .unwrap_or(0),
            newest: None,
            run: RestartRun::default(),
            before: None,
            counts: NumberingCounts::default(),
        }
    }

    /// Returns the distance from `from` ahead to `to`.
    fn ahead(&self, from: u32, to: u32) -> u32 {
        to.wrapping_sub(from) & self.last
    }

    /// Counts the next arrival of a datagram whose content has this hash.
    pub fn arrived_with(&mut self, number: u32, content: u64) -> Continuity {
        let before = self.before.replace((number, content));
        match before {
            Some((same, other)) if same == number && other != content => {
                self.counts.received += 1;
                self.counts.unnumbered += 1;
                Continuity::Unnumbered
            }
            _ => self.arrived(number),
        }
    }

    /// Counts the next arrival.
    pub fn arrived(&mut self, number: u32) -> Continuity {
        self.counts.received += 1;
        let Some(mut newest) = self.newest else {
            self.newest = Some(Newest::first(number, 1));
            return Continuity::First;
        };
        let ahead = self.ahead(newest.number, number);
        let behind = self.ahead(number, newest.number);
        let continuity = if (1..=MAX_JUMP.min(self.last / SHORT_JUMP)).contains(&ahead) {
            newest.advance(ahead, self.last);
            self.counts.lost += u64::from(ahead - 1);
            self.newest = Some(newest);
            match ahead {
                1 => Continuity::InOrder,
                _ => Continuity::Gap(ahead - 1),
            }
        } else if behind < WINDOW {
            let bit = 1 << behind;
            if newest.seen & bit != 0 {
                Continuity::Duplicate
            } else {
                if behind < newest.accountable {
                    self.counts.lost = self.counts.lost.saturating_sub(1);
                }
                newest.seen |= bit;
                self.newest = Some(newest);
                Continuity::Late
            }
        } else {
            Continuity::Stale
        };
        match continuity {
            Continuity::Duplicate => self.old(number, 1, 0),
            Continuity::Stale => self.old(number, 0, 1),
            _ => {
                self.counts.late += u64::from(continuity == Continuity::Late);
                self.run = RestartRun::default();
                return continuity;
            }
        }
        if self.run.length < RESTART_RUN {
            return continuity;
        }
        self.restart();
        Continuity::Restart
    }

    pub fn counts(&self) -> NumberingCounts {
        self.counts
    }

    /// Counts an old number, and adds it to the run if it continues that.
    fn old(&mut self, number: u32, duplicate: u64, stale: u64) {
        self.counts.duplicates += duplicate;
        self.counts.stale += stale;
        let continues = self.run.length > 0 && {
            let step = self.ahead(self.run.numbers[self.run.length - 1], number);
            (1..=RESTART_STEP).contains(&step)
        };
        if !continues {
            self.run = RestartRun::default();
        }
        self.run.numbers[self.run.length] = number;
        self.run.length += 1;
        self.run.duplicates += duplicate;
        self.run.stale += stale;
    }

    /// Begins anew with the numbers of the run, which were the first of the new numbering. A numbering starts at 1, so
    /// the numbers before a small one were lost; before a large one that is not known.
    fn restart(&mut self) {
        let run = std::mem::take(&mut self.run);
        self.counts.duplicates -= run.duplicates;
        self.counts.stale -= run.stale;
        self.counts.restarts += 1;
        let [first, others @ ..] = run.numbers;
        let missed = match first {
            1..=WINDOW => first - 1,
            _ => 0,
        };
        self.counts.lost += u64::from(missed);
        let mut newest = Newest::first(first, missed + 1);
        for number in others {
            let ahead = self.ahead(newest.number, number);
            newest.advance(ahead, self.last);
            self.counts.lost += u64::from(ahead - 1);
        }
        self.newest = Some(newest);
    }
}

impl Newest {
    fn first(number: u32, accountable: u32) -> Self {
        Self {
            number,
            seen: 1,
            accountable: accountable.min(WINDOW),
        }
    }

    fn advance(&mut self, by: u32, last: u32) {
        self.number = self.number.wrapping_add(by) & last;
        self.seen = self.seen.checked_shl(by).unwrap_or(0) | 1;
        self.accountable = self.accountable.saturating_add(by).min(WINDOW);
    }
}
