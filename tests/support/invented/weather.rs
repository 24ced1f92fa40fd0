//! What goes on in any network and means nothing: load over the day, and bursts.

use super::{Draws, InventedNetwork};

/// A burst on a link: the share of the slot in which packets wait, for how long, and the share of them that is lost.
#[derive(Clone, Copy, Default)]
pub struct Burst {
    pub share: f64,
    pub wait_ns: f64,
    pub loss: f64,
}

pub struct Weather {
    pub bursts: Vec<Burst>,
    /// The logarithm of what a host sends, of what it usually sends.
    pub host_load: Vec<f64>,
    pub load: f64,
}

impl Weather {
    pub fn new(network: &InventedNetwork, draws: &mut Draws) -> Self {
        Self {
            bursts: vec![Burst::default(); network.links.len()],
            host_load: network
                .hosts
                .iter()
                .map(|_| draws.normal() * 0.25)
                .collect(),
            load: 1.0,
        }
    }

    pub fn turn(&mut self, network: &InventedNetwork, hour: f64, draws: &mut Draws) {
        self.load = 1.0 + 0.6 * ((hour - 8.0) / 24.0 * std::f64::consts::TAU).sin();
        for load in &mut self.host_load {
            *load = 0.97 * *load + draws.normal() * 0.25 * (1.0 - 0.97_f64 * 0.97).sqrt();
        }
        for (burst, nature) in self.bursts.iter_mut().zip(&network.links) {
            if burst.share > 0.0 && !draws.chance(0.08) {
                *burst = Burst::default();
            }
            if !draws.chance(nature.bursts * self.load) {
                continue;
            }
            let loses = draws.chance(0.25);
            *burst = Burst {
                share: (0.002 * (draws.pareto(1.2) + 1.0)).min(0.3),
                wait_ns: nature.wait_ns * draws.lognormal(1.0, 0.7),
                loss: if loses {
                    draws.lognormal(0.004, 1.2).min(0.1)
                } else {
                    0.0
                },
            };
        }
    }

    /// Load in steps, so that what follows from it is not made anew each time.
    pub fn load_step(&self) -> u32 {
        (self.load * 20.0).round() as u32
    }
}
