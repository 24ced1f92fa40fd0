//! Of each incident the right cause is named, soon, with its beginning, and nothing else is.
//!
//! `cargo test --test verdict incidents -- --nocapture` prints the table; `HOSTINT_CASES="flaps,drops-in"` chooses,
//! and `HOSTINT_SEED=750` takes another first seed.

use hostint::verdict::VerdictEngine;
use hostint_testing::random::env_number;

use super::figures::{Line, table};
use super::referee::{Judge, Score, scores};

/// Without HOSTINT_LONG, one of this number of cases is judged, of networks with at most this number of hosts.
const ONE_OF: usize = 5;
const FEW_HOSTS: usize = 24;

/// The seeds of both sets.
const SETS: [u64; 2] = [100, 40_000];

pub fn is_long() -> bool {
    env_number("HOSTINT_LONG", 0) > 0
}

/// The lines that `HOSTINT_CASES` chooses, or all, or a few of them.
pub fn chosen() -> Vec<Line> {
    let words = std::env::var("HOSTINT_CASES").unwrap_or_default();
    let words: Vec<&str> = words.split(',').filter(|one| !one.is_empty()).collect();
    let is_chosen = |line: &Line| {
        let named = |word: &&str| line.sentence.contains(*word) || line.kind == *word;
        words.is_empty() || words.iter().any(named)
    };
    let chosen = table().into_iter().filter(is_chosen);
    if is_long() || !words.is_empty() {
        return chosen.collect();
    }
    let few = chosen.filter(|line| line.hosts <= FEW_HOSTS);
    few.step_by(ONE_OF).collect()
}

fn print(score: &Score) {
    let seconds = |one: Option<f64>| one.map_or("-".to_string(), |one| format!("{one:.0} s"));
    println!(
        "{:72} {:>6} {:>5} {:>5} {:>6} {:>6} {:>5}  {}",
        score.sentence,
        score.seed,
        if score.right { "yes" } else { "NO" },
        if score.first_words_right { "yes" } else { "no" },
        seconds(score.delay_s),
        seconds(score.onset_off_s),
        score.false_words,
        score.said
    );
}

/// The share of these cases with a property, in percent, which is printed.
fn share<'a>(
    name: &str,
    scores: impl Iterator<Item = &'a Score> + Clone,
    is: impl Fn(&Score) -> bool,
) -> f64 {
    let all = scores.clone().count();
    let count = scores.filter(|one| is(one)).count();
    let percent = count as f64 * 100.0 / all.max(1) as f64;
    println!("{name}: {count} of {all} ({percent:.1} %)");
    percent
}

/// The shares of a set: right, first words right; of those that are right, said soon, and with their beginning; no false words.
pub fn judge<J: Judge>(lines: &[Line], first_seed: u64) -> [f64; 5] {
    let scores = scores::<J>(lines, env_number("HOSTINT_SEED", first_seed));
    println!(
        "{:72} {:>6} {:>5} {:>5} {:>6} {:>6} {:>5}  said",
        "case", "seed", "right", "first", "after", "onset", "false"
    );
    scores.iter().for_each(print);
    let right = || scores.iter().filter(|one| one.right);
    [
        share("right cause", scores.iter(), |one| one.right),
        share("first words right", scores.iter(), |one| {
            one.first_words_right
        }),
        share("within 60 s, of those", right(), |one| one.is_soon()),
        share("beginning within 20 s, of those", right(), |one| {
            one.is_near()
        }),
        share("no false words", scores.iter(), |one| one.false_words == 0),
    ]
}

#[test]
fn the_cause_is_named_in_the_first_set() {
    let [right, ..] = judge::<VerdictEngine>(&chosen(), SETS[0]);
    assert!(right >= 95.0, "right: {right} %");
}

/// Only if HOSTINT_LONG is set.
#[test]
fn the_cause_is_named_in_the_second_set() {
    if !is_long() {
        return;
    }
    let [right, ..] = judge::<VerdictEngine>(&chosen(), SETS[1]);
    assert!(right >= 95.0, "right: {right} %");
}
