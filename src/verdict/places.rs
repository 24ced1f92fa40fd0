//! The evidence against each place, added up from slot to slot.

use std::collections::HashMap;

use super::likelihood::STEPS;
use super::place::FaultPlace;

/// The evidence at which a place is named, and below which it is over.
pub const ALARM: f64 = 28.0;
pub const RELEASE: f64 = 6.0;
/// The most that a slot adds, so that one burst is never enough; the most that it takes, and what time takes.
pub const MOST: f64 = 8.0;
pub const LEAST: f64 = -2.0;
const FORGOTTEN: f64 = 0.5;
/// Slots for which a place is still fed by its last bad slot.
const FED_SLOTS: u32 = 6;
/// The slots of a sum that finds what is faint and stays.
const LONG_SLOTS: u64 = 30;
/// A gain that shows that a slot was bad.
pub const BAD: f64 = 0.5;

/// The evidence against a place, for each step.
#[derive(Clone, Debug, Default)]
struct Suspicion {
    quick: [f64; STEPS],
    slow: [f64; STEPS],
    /// The sum for the slow ones.
    long: [f64; STEPS],
    /// The gains of this slot.
    gains: [f64; STEPS],
    /// Slots since the last bad one.
    fed: u32,
}

/// All places of the cells that there are.
#[derive(Debug, Default)]
pub struct FaultPlaces {
    known: HashMap<FaultPlace, usize>,
    places: Vec<FaultPlace>,
    cells: Vec<Vec<usize>>,
    suspicions: Vec<Suspicion>,
    slots: u64,
}

impl FaultPlaces {
    /// The number of a place that has this cell too.
    pub fn add(&mut self, place: FaultPlace, cell: usize) -> usize {
        let next = self.places.len();
        let number = *self.known.entry(place.clone()).or_insert(next);
        if number == next {
            self.places.push(place);
            self.cells.push(Vec::new());
            self.suspicions.push(Suspicion {
                fed: FED_SLOTS + 1,
                ..Suspicion::default()
            });
        }
        self.cells[number].push(cell);
        number
    }

    /// Forgets which cells places have; what speaks against them stays.
    pub fn without_cells(&mut self) {
        self.cells.iter_mut().for_each(Vec::clear);
    }

    pub fn place(&self, number: usize) -> &FaultPlace {
        &self.places[number]
    }

    pub fn cells(&self, number: usize) -> &[usize] {
        &self.cells[number]
    }

    /// The evidence at which a place is named: more places are more chances to be wrong.
    pub fn alarm(&self) -> f64 {
        ALARM + (self.places.len() as f64 / 1000.0).max(1.0).ln()
    }

    pub fn begin_slot(&mut self) {
        for one in &mut self.suspicions {
            one.gains = [0.0; STEPS];
        }
    }

    /// Adds what the packets of a cell in this slot say.
    pub fn blame(&mut self, number: usize, gains: &[f64; STEPS]) {
        for (sum, gain) in self.suspicions[number].gains.iter_mut().zip(gains) {
            *sum += gain;
        }
    }

    pub fn end_slot(&mut self) {
        let most = self.alarm() + MOST;
        self.slots += 1;
        let is_long = self.slots.is_multiple_of(LONG_SLOTS);
        let add = |sum: &mut f64, gain: f64| {
            *sum = (*sum + gain.clamp(LEAST, MOST) - FORGOTTEN).clamp(0.0, most);
        };
        for one in &mut self.suspicions {
            let bad = one.gains.iter().any(|gain| *gain > BAD);
            one.fed = if bad { 0 } else { one.fed.saturating_add(1) };
            for step in 0..STEPS {
                let gain = one.gains[step];
                add(&mut one.quick[step], gain);
                one.long[step] += gain.clamp(-MOST, MOST);
                if is_long {
                    add(&mut one.slow[step], one.long[step]);
                }
            }
            if is_long {
                if one.long.iter().any(|gain| *gain > BAD) {
                    one.fed = 0;
                }
                one.long = [0.0; STEPS];
            }
        }
    }

    /// The greatest evidence against a place.
    pub fn evidence(&self, number: usize) -> f64 {
        let one = &self.suspicions[number];
        one.quick
            .iter()
            .chain(&one.slow)
            .copied()
            .fold(0.0, f64::max)
    }

    /// That of single slots alone.
    pub fn quick_evidence(&self, number: usize) -> f64 {
        let one = &self.suspicions[number];
        one.quick.iter().copied().fold(0.0, f64::max)
    }

    /// True if this slot was bad there.
    pub fn is_bad_now(&self, number: usize) -> bool {
        self.suspicions[number].gains.iter().any(|gain| *gain > BAD)
    }

    fn is_fed(&self, number: usize) -> bool {
        let one = &self.suspicions[number];
        let slow = one.slow.iter().copied().fold(0.0, f64::max);
        let fed = if slow >= RELEASE {
            FED_SLOTS + LONG_SLOTS as u32
        } else {
            FED_SLOTS
        };
        one.fed <= fed
    }

    /// The places with at least this evidence that a slot of the last minute fed.
    pub fn suspects(&self, evidence: f64) -> Vec<usize> {
        let numbers = 0..self.places.len();
        numbers
            .filter(|number| self.is_fed(*number) && self.evidence(*number) >= evidence)
            .collect()
    }

    /// Forgets all evidence.
    pub fn forget(&mut self) {
        for one in &mut self.suspicions {
            *one = Suspicion {
                fed: FED_SLOTS + 1,
                ..Suspicion::default()
            };
        }
    }
}
