//! Random numbers of the distributions that networks have.

use crate::random::Random;

/// Below this mean counts are drawn exactly, above it from the normal distribution.
const EXACT: f64 = 25.0;

pub struct Draws {
    random: Random,
    /// Normal numbers are drawn in pairs.
    spare: Option<f64>,
}

impl Draws {
    pub fn seeded(seed: u64) -> Self {
        Self {
            random: Random::seeded(seed),
            spare: None,
        }
    }

    /// More than 0 and less than 1.
    pub fn share(&mut self) -> f64 {
        ((self.random.next() >> 11) as f64 + 0.5) / (1_u64 << 53) as f64
    }

    pub fn between(&mut self, least: f64, most: f64) -> f64 {
        least + (most - least) * self.share()
    }

    pub fn chance(&mut self, probability: f64) -> bool {
        probability > 0.0 && self.share() < probability
    }

    pub fn below(&mut self, limit: usize) -> usize {
        self.random.below(limit)
    }

    pub fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        self.random.pick(from)
    }

    pub fn normal(&mut self) -> f64 {
        if let Some(spare) = self.spare.take() {
            return spare;
        }
        // A point within the circle, by the polar method.
        loop {
            let (x, y) = (self.between(-1.0, 1.0), self.between(-1.0, 1.0));
            let square = x * x + y * y;
            if square < 1.0 && square > 0.0 {
                let size = (-2.0 * square.ln() / square).sqrt();
                self.spare = Some(x * size);
                return y * size;
            }
        }
    }

    pub fn exponential(&mut self, mean: f64) -> f64 {
        -mean * self.share().ln()
    }

    pub fn lognormal(&mut self, median: f64, sigma: f64) -> f64 {
        median * (sigma * self.normal()).exp()
    }

    /// A heavy tail that begins at 0.
    pub fn pareto(&mut self, tail: f64) -> f64 {
        self.share().powf(-1.0 / tail) - 1.0
    }

    pub fn poisson(&mut self, mean: f64) -> u64 {
        if mean <= 0.0 {
            return 0;
        }
        if mean > EXACT {
            return (mean + mean.sqrt() * self.normal()).round().max(0.0) as u64;
        }
        let least = (-mean).exp();
        let (mut count, mut product) = (0, self.share());
        while product > least {
            count += 1;
            product *= self.share();
        }
        count
    }

    /// How many of `count` have what one has with this probability.
    pub fn binomial(&mut self, count: u64, probability: f64) -> u64 {
        if count == 0 || probability <= 0.0 {
            return 0;
        }
        if probability >= 1.0 {
            return count;
        }
        if probability > 0.5 {
            return count - self.binomial(count, 1.0 - probability);
        }
        let mean = count as f64 * probability;
        if mean < 0.05 && self.share() > mean {
            // It is more likely by at most the square of the mean, which is left out.
            return 0;
        }
        if mean < 0.05 {
            return 1;
        }
        if mean > EXACT {
            let spread = (mean * (1.0 - probability)).sqrt();
            let drawn = (mean + spread * self.normal()).round().max(0.0);
            return (drawn as u64).min(count);
        }
        let pass = (-probability).ln_1p();
        let (mut found, mut at) = (0, 0.0);
        loop {
            at += (self.share().ln() / pass).floor() + 1.0;
            if at > count as f64 {
                return found;
            }
            found += 1;
        }
    }

    /// An index, by weight.
    pub fn weighted(&mut self, weights: &[f64]) -> usize {
        let mut rest = self.share() * weights.iter().sum::<f64>();
        for (at, weight) in weights.iter().enumerate() {
            rest -= weight;
            if rest < 0.0 {
                return at;
            }
        }
        weights.iter().rposition(|one| *one > 0.0).unwrap_or(0)
    }
}
