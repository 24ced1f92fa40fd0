//! How much more likely packets are with a fault than without one, as logarithms.

/// What a fault adds to the share of lost packets, and to that of slow ones: steps to watch for.
pub const LOSS_STEPS: [f64; 4] = [3e-4, 3e-3, 3e-2, 0.3];
pub const SLOW_STEPS: [f64; 3] = [0.04, 0.15, 0.6];

/// The number of steps.
pub const STEPS: usize = LOSS_STEPS.len() + SLOW_STEPS.len();

/// Finer steps, to explain with.
pub const LOSS_GRID: [f64; 17] = [
    1e-4, 1.78e-4, 3.16e-4, 5.62e-4, 1e-3, 1.78e-3, 3.16e-3, 5.62e-3, 1e-2, 1.78e-2, 3.16e-2,
    5.62e-2, 0.1, 0.178, 0.316, 0.562, 1.0,
];
pub const SLOW_GRID: [f64; 8] = [0.02, 0.04, 0.08, 0.15, 0.3, 0.5, 0.7, 0.9];

/// Shares of packets above which they are no longer usual.
#[derive(Clone, Copy, Debug)]
pub struct Border {
    pub loss: f64,
    /// `None`: latency is not judged.
    pub slow: Option<f64>,
}

/// Packets of a cell.
#[derive(Clone, Copy, Debug, Default)]
pub struct PacketSums {
    pub sent: f64,
    pub lost: f64,
    /// Of those that arrived, and whose latency is judged.
    pub slow: f64,
    pub judged: f64,
}

impl PacketSums {
    pub fn add(&mut self, other: Self) {
        self.sent += other.sent;
        self.lost += other.lost;
        self.slow += other.slow;
        self.judged += other.judged;
    }

    /// The gain of a loss that is greater by `step` than at the border.
    pub fn loss_gain(&self, border: &Border, step: f64) -> f64 {
        self.lost * (step / border.loss).ln_1p() - self.sent * step
    }

    /// The gain of a share of slow packets that is greater by `step`.
    pub fn slow_gain(&self, border: &Border, step: f64) -> f64 {
        let Some(q) = border.slow.filter(|_| self.judged > 0.0) else {
            return 0.0;
        };
        let now = (q + step * (1.0 - q)).min(0.995);
        let rest = ((1.0 - now) / (1.0 - q)).ln();
        self.slow * ((now / q).ln() - rest) + self.judged * rest
    }

    /// The gains of all steps to watch for.
    pub fn gains(&self, border: &Border) -> [f64; STEPS] {
        let mut gains = [0.0; STEPS];
        let (loss, slow) = gains.split_at_mut(LOSS_STEPS.len());
        for (gain, step) in loss.iter_mut().zip(LOSS_STEPS) {
            *gain = self.loss_gain(border, step);
        }
        for (gain, step) in slow.iter_mut().zip(SLOW_STEPS) {
            *gain = self.slow_gain(border, step);
        }
        gains
    }
}
