//! Runs an incident, and scores what was said of it.

use std::collections::{BTreeMap, HashMap};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use hostint::model::{NetworkVerdict, NodeId, VerdictSlot, VerdictState};
use hostint::verdict::VerdictEngine;
use hostint_testing::invented::{InventedClock, InventedWorld, SLOT_S};

use super::expected::Words;
use super::figures::Line;
use super::incident::{BEGIN, Incident};

/// Slots after an incident in which something may still be said of it, and how many are judged in all.
const LINGERS: u64 = 15;
const AFTER: u64 = 30;
/// The longest time until it is said, and the most by which its beginning may be off.
const SOON_S: f64 = 60.0;
const NEAR_S: f64 = 20.0;

/// What became of a case.
pub struct Score {
    pub sentence: &'static str,
    pub seed: u64,
    /// The cause that was named for most of the time is right, and so is the state.
    pub right: bool,
    pub first_words_right: bool,
    /// From the incident's beginning to the first right words.
    pub delay_s: Option<f64>,
    pub onset_off_s: Option<f64>,
    /// Slots with words before it, long after it, or of something else.
    pub false_words: usize,
    pub said: String,
}

impl Score {
    pub fn is_soon(&self) -> bool {
        self.delay_s.is_none_or(|delay| delay <= SOON_S)
    }

    pub fn is_near(&self) -> bool {
        self.onset_off_s.is_none_or(|off| off <= NEAR_S)
    }
}

/// What was said in each slot.
pub struct Run {
    pub incident: Incident,
    pub verdicts: Vec<NetworkVerdict>,
    /// When the incident began, ns since the Unix epoch.
    pub began_ns: u64,
}

/// A slot, and the clocks in it.
pub type Slot = (VerdictSlot, BTreeMap<NodeId, InventedClock>);

/// Who is shown each slot, and says what it is.
pub trait Judge: Default {
    fn judge(&mut self, slot: Slot) -> NetworkVerdict;
}

/// The slots as they are.
impl Judge for VerdictEngine {
    fn judge(&mut self, (slot, _): Slot) -> NetworkVerdict {
        self.slot(&slot)
    }
}

fn run<J: Judge>(line: &Line, seed: u64) -> Run {
    let (network, incident) = Incident::new(line.clone(), seed);
    let mut world = InventedWorld::new(network, seed + 77, 10);
    let began_ns = world.begins_ns(0) + (incident.begins_s() * 1e9) as u64;
    let mut judge = J::default();
    let verdicts = (0..incident.end + AFTER).map(|number| {
        let harm = incident.harm(&world.network, number);
        let slot = world.slot(&harm);
        let clocks = world.clocks(&harm);
        judge.judge((slot, clocks))
    });
    Run {
        verdicts: verdicts.collect(),
        incident,
        began_ns,
    }
}

fn most_frequent(words: &[Option<Words>]) -> Option<Words> {
    let mut counts: HashMap<&Words, usize> = HashMap::new();
    for words in words.iter().flatten() {
        *counts.entry(words).or_default() += 1;
    }
    let most = counts.into_iter().max_by_key(|(_, count)| *count);
    most.map(|(words, _)| words.clone())
}

impl Run {
    pub fn score(&self, seed: u64) -> Score {
        let expected = &self.incident.expected;
        let said: Vec<Option<Words>> = self
            .verdicts
            .iter()
            .map(|one| expected.words(one))
            .collect();
        let is_right =
            |words: &Option<Words>| words.as_ref().is_some_and(|one| expected.is_right(one));
        if std::env::var_os("HOSTINT_CASES").is_some() {
            self.print_changes(&said);
        }
        // A restart is noted when it is over.
        let lasts = self.incident.end + if expected.note { LINGERS } else { 0 };
        let (begin, end) = (BEGIN as usize, lasts as usize);
        let during = &said[begin..end];
        let hit = during.iter().position(is_right);
        let first = during.iter().flatten().next();
        let main = most_frequent(during);
        let states = &self.verdicts[begin..end];
        let in_state = states
            .iter()
            .filter(|one| one.state == expected.state)
            .count();
        let right = match (expected.state, expected.note) {
            (VerdictState::Healthy, false) => first.is_none() && in_state * 10 >= states.len() * 9,
            (VerdictState::Healthy, true) => {
                hit.is_some() && is_right(&main) && in_state * 10 >= states.len() * 9
            }
            _ => {
                let at = hit.map(|hit| states[hit..].iter());
                let whole = at.is_some_and(|mut at| at.any(|one| expected.is_whole(one)));
                let state = hit.is_some_and(|hit| states[hit].state == expected.state);
                is_right(&main) && whole && state
            }
        };
        let lingers = (lasts + LINGERS).min(said.len() as u64) as usize;
        let apart = said[..begin]
            .iter()
            .chain(&said[lingers..])
            .flatten()
            .count();
        let others = said[begin..lingers]
            .iter()
            .filter(|one| one.is_some() && !is_right(one));
        Score {
            sentence: self.incident.line.sentence,
            seed,
            right,
            first_words_right: first.is_none_or(|one| expected.is_right(one)) && right,
            delay_s: hit
                .map(|hit| ((begin + hit + 1) * SLOT_S as usize) as f64 - self.incident.begins_s()),
            onset_off_s: self.onset_off_s(&said, begin, end),
            false_words: apart + others.count(),
            said: self.text(&main),
        }
    }

    /// By how much the beginning is off that is named last. A note has none that is compared.
    fn onset_off_s(&self, said: &[Option<Words>], begin: usize, end: usize) -> Option<f64> {
        let expected = &self.incident.expected;
        let at = (begin..end).rev().find(|at| {
            let words = said[*at].as_ref();
            words.is_some_and(|words| expected.is_right(words))
        })?;
        let since_ns = self.verdicts[at].causes.first()?.since_ns;
        (!expected.note).then_some((since_ns as f64 - self.began_ns as f64).abs() / 1e9)
    }

    /// Each change of words, for who looks at single cases.
    fn print_changes(&self, said: &[Option<Words>]) {
        println!("{}", self.incident.line.sentence);
        let mut last = None;
        for (number, words) in said.iter().enumerate() {
            if last != Some(words) {
                println!("  slot {number}: {}", self.text(words));
            }
            last = Some(words);
        }
    }

    fn text(&self, main: &Option<Words>) -> String {
        match main {
            Some((kind, subjects, some)) => {
                let some = if *some { " some" } else { "" };
                format!("{}{some} {subjects:?}", kind.name())
            }
            None => {
                let last = &self.verdicts[self.incident.end as usize - 1];
                last.state.name().to_string()
            }
        }
    }
}

/// Runs all lines, each with a seed of its own, as many at a time as there are processors.
pub fn scores<J: Judge>(lines: &[Line], first_seed: u64) -> Vec<Score> {
    let next = AtomicUsize::new(0);
    let found = Mutex::new(Vec::new());
    let threads = std::thread::available_parallelism().map_or(1, |count| count.get());
    let work = || {
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            let Some(line) = lines.get(at) else {
                return;
            };
            let seed = first_seed + 13 * at as u64;
            let score = run::<J>(line, seed).score(seed);
            found.lock().unwrap().push((at, score));
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(work);
        }
    });
    let mut found = found.into_inner().unwrap();
    found.sort_by_key(|(at, _)| *at);
    found.into_iter().map(|(_, score)| score).collect()
}
