//! A model of a flow's accounting with a set of every number ever seen, instead of bitmaps.
//!
//! Numbers are 64 bits wide and never wrap; only what is written on the wire does.

use std::collections::{BTreeMap, HashSet};

use hostint::datapath::abi::sink_flow;

/// As many numbers can be told apart, the newest one included.
pub const WINDOW: u64 = 256;

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
    lost_before_restart: u64,
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
        let came = self.seen.iter().filter(|n| **n >= self.first).count();
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
        self.packets += 1;
        let leap = number > self.head + WINDOW;
        if leap {
            self.give_up();
        }
        self.look_at_clock(now);
        if number > self.head {
            self.advance(number, now);
        } else {
            self.old_number(number);
        }
        self.seen.insert(number);
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
