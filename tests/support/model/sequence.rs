//! A model of a flow's accounting with a set of every number ever seen, instead of bitmaps.
//!
//! Numbers are 64 bits wide and never wrap; only what is written on the wire does.

use std::collections::{BTreeMap, HashSet};

use hostint::datapath::abi::sink_flow;

use super::far::{Far, QUIET_NS};

/// As many numbers can be told apart, the newest one included.
pub const WINDOW: u64 = 256;
/// Up to here a number behind the newest one may be a new numbering, after a silence.
const LOW_NUMBERS: u32 = 64;

/// How long a number is missing already.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Missing {
    /// Since this loss period or later.
    Fresh,
    /// Since before this loss period began.
    Aging,
    /// Counted as lost.
    Declared,
}

#[derive(Clone, Debug, Default)]
pub struct Flow {
    timeout_ns: u64,
    begun: bool,
    first: u64,
    head: u64,
    seen: HashSet<u64>,
    missing: BTreeMap<u64, Missing>,
    period_began: Option<u64>,
    pub packets: u64,
    pub lost: u64,
    pub recovered: u64,
    pub reordered: u64,
    pub duplicates: u64,
    pub late: u64,
    pub restarts: u64,
    pub damaged: u64,
    lost_before_restart: u64,
    first_ns: u64,
    last_ns: u64,
    pub far: Far,
}

impl Flow {
    pub fn new(timeout_ns: u64) -> Self {
        Flow {
            timeout_ns,
            ..Self::default()
        }
    }

    pub fn head(&self) -> u64 {
        self.head
    }

    pub fn last_ns(&self) -> u64 {
        self.last_ns
    }

    pub fn period_began(&self) -> Option<u64> {
        self.period_began
    }

    /// Numbers between the first and the newest one that did not come: what a sink is to find out.
    pub fn true_loss(&self) -> u64 {
        let expected = if self.begun {
            self.head + 1 - self.first
        } else {
            0
        };
        let came = (self.seen.iter())
            .filter(|n| (self.first..=self.head).contains(n))
            .count();
        self.lost_before_restart + expected - came as u64
    }

    /// What came, as it is written on the wire.
    pub fn came(&self) -> HashSet<u32> {
        self.seen.iter().map(|number| *number as u32).collect()
    }

    /// The first packet that the sink sees. `from`: the first number that it is to await.
    pub fn begin(&mut self, number: u64, from: u64, now: u64) {
        self.begun = true;
        self.packets += 1;
        self.first = from;
        self.first_ns = now;
        self.last_ns = now;
        self.far = Far::default();
        self.head = from - 1;
        self.advance(number, now);
        self.seen.insert(number);
    }

    /// The source numbers anew: nothing that is awaited will come any more.
    pub fn restart(&mut self, number: u64, from: u64, now: u64) {
        self.lost_before_restart = self.true_loss();
        self.give_up();
        self.restarts += 1;
        self.seen.clear();
        self.begin(number, from, now);
    }

    pub fn arrive(&mut self, number: u64, now: u64) {
        self.arrive_together(&[number], now);
    }

    /// A packet that stands for several numbers. Its source states no age.
    pub fn arrive_together(&mut self, numbers: &[u64], now: u64) {
        if self.seems_restarted(numbers[0], now) {
            self.restart(numbers[0], numbers[0], now);
            if numbers.len() > 1 {
                self.arrive_together(&numbers[1..], now);
            }
            return;
        }
        self.packets += numbers.len() as u64;
        if self.is_far(numbers, now) {
            self.take_far(numbers, now);
        } else {
            self.look_at_clock(now);
            let strays = match self.far.head == self.head && numbers[0] > self.head {
                true => self.far.strays.min(64).min(numbers[0] - self.head - 1),
                false => 0,
            };
            if strays > 0 {
                self.damaged += strays;
                self.far.strays = 0;
                self.far.packets = 0;
            }
            for number in (numbers[0] - strays..numbers[0]).chain(numbers.iter().copied()) {
                if number > self.head {
                    self.advance(number, now);
                } else {
                    self.old_number(number);
                }
                self.seen.insert(number);
            }
        }
        self.seen.extend(numbers);
        self.last_ns = self.last_ns.max(now);
    }

    fn was_silent(&self, now: u64) -> bool {
        now > self.last_ns + QUIET_NS
    }

    fn seems_restarted(&self, number: u64, now: u64) -> bool {
        number <= self.head && number as u32 <= LOW_NUMBERS && self.was_silent(now)
    }

    fn is_far(&self, numbers: &[u64], now: u64) -> bool {
        let last = numbers[numbers.len() - 1];
        if numbers[0] > self.head {
            return numbers[0] > self.head + WINDOW;
        }
        self.head >= last + WINDOW && (self.was_silent(now) || self.recovered >= self.lost)
    }

    fn take_far(&mut self, numbers: &[u64], now: u64) {
        let (known, confirmed) = self.far.note(numbers, self.head, self.last_ns, now);
        self.duplicates += known;
        if confirmed {
            self.move_to_far(now);
            return;
        }
        self.look_at_clock(now);
        if numbers[0] <= self.head {
            self.late += numbers.len() as u64;
            self.reordered += numbers.len() as u64;
        }
    }

    fn move_to_far(&mut self, now: u64) {
        let (first, last) = (self.far.first(), self.far.last());
        let restart = !self.far.is_ahead() || {
            let skipped = first - self.head - 1;
            skipped >= 4_096 && skipped >= self.far.silence() >> 5
        };
        let lone = self.head == self.first && self.first as u32 != 1;
        let anew = restart || lone;
        if anew {
            self.lost_before_restart = self.true_loss();
            self.seen.clear();
            self.seen.extend(&self.far.numbers);
        }
        self.give_up();
        if anew {
            self.restarts += u64::from(!lone);
            self.first = first;
            self.first_ns = now;
            self.head = first - 1;
        }
        let oldest = (last + 1).saturating_sub(WINDOW).max(self.head + 1);
        let over = oldest - self.head - 1;
        let others = self
            .far
            .strays
            .saturating_sub(self.far.numbers.len() as u64);
        self.lost += over - over.min(others);
        self.head = last;
        for number in oldest..=last {
            if !self.far.numbers.contains(&number) {
                self.await_number(number, now);
            }
        }
        self.far.packets = 0;
        self.far.strays = 0;
    }

    /// The daemon sweeps the flow.
    pub fn sweep(&mut self, now: u64) {
        if self.far.is_due(now, self.timeout_ns) {
            self.far.waits = false;
            if self.far.fits_rate(self.head, self.first_ns, self.packets) {
                self.move_to_far(now);
                return;
            }
        }
        self.look_at_clock(now);
    }

    /// As if the far numbers fitted the flow's rate.
    pub fn believe_far(&mut self) {
        self.move_to_far(self.last_ns);
    }

    /// Far numbers that wait for a sweep's decision, since when.
    pub fn far_waits(&self) -> Option<u64> {
        (self.far.packets > 0 && self.far.waits).then_some(self.far.began)
    }

    /// A number that is missing is lost between one and two timeouts later: when a whole period went by without it.
    pub fn look_at_clock(&mut self, now: u64) {
        let Some(began) = self.period_began else {
            return;
        };
        if now < began + self.timeout_ns {
            return;
        }
        let mut any_fresh = false;
        for state in self.missing.values_mut() {
            match state {
                Missing::Aging => {
                    self.lost += 1;
                    *state = Missing::Declared;
                }
                Missing::Fresh => {
                    any_fresh = true;
                    *state = Missing::Aging;
                }
                Missing::Declared => {}
            }
        }
        self.period_began = any_fresh.then_some(now);
    }

    /// The kernel's clock at a sweep is known from the period that it began.
    pub fn correct_period(&mut self, began: u64) {
        if let Some(period) = &mut self.period_began {
            *period = began;
        }
    }

    fn await_number(&mut self, number: u64, now: u64) {
        self.period_began.get_or_insert(now);
        self.missing.insert(number, Missing::Fresh);
    }

    fn give_up(&mut self) {
        let undeclared = |state: &&Missing| **state != Missing::Declared;
        self.lost += self.missing.values().filter(undeclared).count() as u64;
        self.missing.clear();
        self.period_began = None;
    }

    fn advance(&mut self, number: u64, now: u64) {
        let oldest = (number + 1).saturating_sub(WINDOW);
        self.lost += oldest.saturating_sub(self.head + 1);
        for skipped in (self.head + 1).max(oldest)..number {
            self.await_number(skipped, now);
        }
        self.head = number;
        let kept = self.missing.split_off(&oldest);
        let fell = std::mem::replace(&mut self.missing, kept);
        let undeclared = |state: &&Missing| **state != Missing::Declared;
        self.lost += fell.values().filter(undeclared).count() as u64;
    }

    fn old_number(&mut self, number: u64) {
        if self.head - self.first < WINDOW && number < self.first {
            self.reordered += 1; // sent before this sink began to look
        } else if number + WINDOW <= self.head {
            self.late += 1;
            self.reordered += 1;
            self.recovered += u64::from(self.recovered < self.lost);
        } else if self.seen.contains(&number) {
            self.duplicates += 1;
        } else {
            self.reordered += 1;
            let was = self.missing.remove(&number);
            self.recovered += u64::from(was == Some(Missing::Declared));
        }
    }

    /// Compares with the kernel's record of the flow; says what differs.
    pub fn differences(&self, flow: &sink_flow) -> Vec<String> {
        let count = |wanted: Missing| {
            let states = self.missing.values();
            states.filter(|state| **state == wanted).count() as u64
        };
        let bits = |bitmap: &[u64; 4]| bitmap.iter().map(|w| u64::from(w.count_ones())).sum();
        let mut wrong = Vec::new();
        let mut check = |what: &str, is: u64, should: u64| {
            if is != should {
                wrong.push(format!("{what} is {is}, should be {should}"));
            }
        };
        check("packets", flow.packets, self.packets);
        check("newest number", flow.head.into(), self.head & 0xffff_ffff);
        check("lost", flow.lost, self.lost);
        check("recovered", flow.recovered, self.recovered);
        check("reordered", flow.reordered, self.reordered);
        check("duplicates", flow.duplicates, self.duplicates);
        check("late", flow.late, self.late);
        check("restarts", flow.restarts.into(), self.restarts);
        check("damaged", flow.damaged.into(), self.damaged);
        check("far packets", flow.far_packets.into(), self.far.packets);
        check("awaited", flow.awaited.into(), self.missing.len() as u64);
        check("fresh numbers", bits(&flow.fresh), count(Missing::Fresh));
        check("aging numbers", bits(&flow.aging), count(Missing::Aging));
        check(
            "declared numbers",
            bits(&flow.declared),
            count(Missing::Declared),
        );
        for (number, state) in &self.missing {
            let (word, bit) = ((number >> 6) as usize % 4, number & 63);
            let bitmap = match state {
                Missing::Fresh => &flow.fresh,
                Missing::Aging => &flow.aging,
                Missing::Declared => &flow.declared,
            };
            if bitmap[word] >> bit & 1 == 0 {
                wrong.push(format!("{number} is not {state:?}"));
            }
        }
        wrong
    }
}
