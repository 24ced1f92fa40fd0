//! Interleaved rounds: each round measures every case once, so that whatever else the machine does falls on all.

/// Rounds of each section.
pub const ROUNDS: usize = 7;

/// What each case measured: a row for each round, a figure for each case.
pub struct Rounds(Vec<Vec<f64>>);

impl Rounds {
    /// Measures each of `cases` once in each round, after one round that nobody counts.
    pub fn measure(cases: usize, measure: impl FnMut(usize) -> f64) -> Self {
        Self::repeat(ROUNDS, cases, measure)
    }

    /// The same with another number of rounds.
    pub fn repeat(rounds: usize, cases: usize, mut measure: impl FnMut(usize) -> f64) -> Self {
        let mut round = || (0..cases).map(&mut measure).collect::<Vec<_>>();
        round();
        Self((0..rounds).map(|_| round()).collect())
    }

    /// The median of a case.
    pub fn median(&self, case: usize) -> f64 {
        median(self.0.iter().map(|round| round[case]).collect())
    }

    /// The median of a case less another one, each within its round.
    pub fn difference(&self, case: usize, base: usize) -> f64 {
        median(
            self.0
                .iter()
                .map(|round| round[case] - round[base])
                .collect(),
        )
    }

    /// The median of a case's ratio to another one, each within its round.
    pub fn ratio(&self, case: usize, base: usize) -> f64 {
        median(
            self.0
                .iter()
                .map(|round| round[case] / round[base])
                .collect(),
        )
    }
}

/// The middle of an odd number of figures.
pub fn median(mut figures: Vec<f64>) -> f64 {
    figures.sort_by(f64::total_cmp);
    figures[figures.len() / 2]
}

/// One line of a section's table: a name, a figure, and its ratio to the case that it is compared with.
pub fn print_row(name: &str, figure: f64, unit: &str, ratio: Option<(f64, &str)>) {
    let compared = match ratio {
        Some((ratio, with)) => format!("{ratio:6.3} x {with}"),
        None => String::new(),
    };
    println!("  {name:<58} {figure:>10.1} {unit:<6} {compared}");
}
