//! The differences of all hosts' raw clocks that fit the corridors of all links best: by least absolute residuals, so
//! that links with a standing queue are outvoted.

use super::corridor::corridor;
use super::drift::Drift;
use super::link::ClockLink;
use super::mesh::Bounds;

/// The most rounds of least squares, each weighted by the residuals of the one before.
const ROUNDS: usize = 30;
/// They end when a round moves no host by more than this.
const SETTLED_NS: f64 = 5.0;
/// A residual below this counts as this.
const LEAST_RESIDUAL_NS: f64 = 10.0;
/// A corridor narrower than this weighs no more.
const LEAST_WIDTH_NS: f64 = 1_000.0;

/// Beyond what residuals show, an estimate is off by this.
const LEAST_ERROR_NS: i128 = 1_000;

/// The estimates of all hosts' raw clocks.
#[derive(Clone, Debug)]
pub struct Estimates {
    /// The distance by which each host's raw clock is ahead of the first one's. `None`: no links in both directions lead
    /// there.
    pub ahead_ns: Vec<Option<i128>>,
    /// The error of most differences is no greater.
    pub error_ns: i128,
}

/// A link's estimate, and its weight.
struct Estimate {
    from: usize,
    to: usize,
    /// Less the middle of the bounds, so that 64 bits of a float keep fractions of a nanosecond.
    ahead_ns: f64,
    weight: f64,
    half_width_ns: f64,
}

impl Estimate {
    fn residual_ns(&self, solution: &[f64]) -> f64 {
        (solution[self.to] - solution[self.from] - self.ahead_ns).abs()
    }
}

/// Estimates the distance by which each host's raw clock is ahead of that of the host `first`, clipped into the bounds.
pub fn estimates(
    links: &[ClockLink],
    bounds: &Bounds,
    first: usize,
    hosts: usize,
    drift: Drift,
) -> Estimates {
    let base: Vec<Option<i128>> = (0..hosts)
        .map(|host| Some(bounds.ahead(first, host)?.middle_ns()))
        .collect();
    let of_link = |link: &ClockLink| {
        let (from, to) = ((*base.get(link.from)?)?, (*base.get(link.to)?)?);
        let found = corridor(link, bounds.moment(link.from)?, drift)?;
        Some(Estimate {
            from: link.from,
            to: link.to,
            ahead_ns: found.ahead_ns - (to - from) as f64,
            weight: 1.0 / found.half_width_ns.max(LEAST_WIDTH_NS),
            half_width_ns: found.half_width_ns,
        })
    };
    let known: Vec<Estimate> = links.iter().filter_map(of_link).collect();
    let mut solution = vec![0.0; hosts];
    for round in 0..ROUNDS {
        let weights = known.iter().map(|one| match round {
            0 => one.weight * one.weight,
            _ => one.weight / one.residual_ns(&solution).max(LEAST_RESIDUAL_NS),
        });
        let weights: Vec<f64> = weights.collect();
        let next = least_squares(&known, &weights, first, hosts);
        let moves = solution
            .iter()
            .zip(&next)
            .map(|(old, new)| (old - new).abs());
        let moved_ns = moves.fold(0.0, f64::max);
        solution = next;
        if moved_ns < SETTLED_NS {
            break;
        }
    }
    let clipped = |(host, base): (usize, Option<i128>)| {
        let rounded = solution[host].round() as i128;
        Some(bounds.ahead(first, host)?.clip(base? + rounded))
    };
    let reached = base.iter().flatten().count();
    Estimates {
        error_ns: error_ns(&known, &solution, reached),
        ahead_ns: base.into_iter().enumerate().map(clipped).collect(),
    }
}

/// Links that check each other tell by their residuals how far estimates are off. Without such links nothing tells one
/// direction's least latency from the other's, so that an estimate may be anywhere in its corridor.
fn error_ns(known: &[Estimate], solution: &[f64], hosts: usize) -> i128 {
    let mut errors: Vec<f64> = if known.len() < hosts {
        known.iter().map(|one| one.half_width_ns).collect()
    } else {
        known.iter().map(|one| one.residual_ns(solution)).collect()
    };
    errors.sort_by(f64::total_cmp);
    let most = errors.get(errors.len() * 95 / 100).or(errors.last());
    LEAST_ERROR_NS + most.map_or(0, |ns| ns.max(0.0).ceil() as i128)
}

/// Solves the normal equations by elimination; the host `first` stays at 0, and so do hosts without links.
fn least_squares(known: &[Estimate], weights: &[f64], first: usize, hosts: usize) -> Vec<f64> {
    let width = hosts + 1;
    let mut rows = vec![vec![0.0; width]; hosts];
    for (one, weight) in known.iter().zip(weights) {
        for (at, other, sign) in [(one.to, one.from, 1.0), (one.from, one.to, -1.0)] {
            rows[at][at] += weight;
            rows[at][other] -= weight;
            rows[at][hosts] += sign * weight * one.ahead_ns;
        }
    }
    for (host, row) in rows.iter_mut().enumerate() {
        if host == first || row[host] <= 0.0 {
            row.fill(0.0);
            row[host] = 1.0;
        }
    }
    // The matrix is diagonally dominant: no exchange of rows is needed.
    for pivot in 0..hosts {
        let (above, below) = rows.split_at_mut(pivot + 1);
        let top = &above[pivot];
        for row in below {
            let factor = row[pivot] / top[pivot];
            if factor.is_finite() && factor != 0.0 {
                for (cell, from) in row.iter_mut().zip(top).skip(pivot) {
                    *cell -= factor * from;
                }
            }
        }
    }
    let mut solution = vec![0.0; hosts];
    for host in (0..hosts).rev() {
        let known: f64 = (host + 1..hosts)
            .map(|at| rows[host][at] * solution[at])
            .sum();
        let value = (rows[host][hosts] - known) / rows[host][host];
        solution[host] = if value.is_finite() { value } else { 0.0 };
    }
    solution
}
