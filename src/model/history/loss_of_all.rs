//! The loss of all flows, told by those that a budget or a sample left to be measured.

use serde::Serialize;

use crate::model::FlowSquares;

/// The interval holds the loss of all flows this often, in hundredths.
pub const HOLDS_PERCENT: u32 = 95;

/// With losses of fewer flows than this there is no interval: what one flow more would lose is not known. Flows that lost
/// much count as one each, those that lost little together.
const LEAST_FLOWS: f64 = 3.0;

/// The shares that were measured of single pairs and classes in ten minutes may differ by this factor at most: else what was
/// measured more would count more.
pub const ALIKE: f64 = 1.5;

/// The loss of all flows that rules ask for, some of which a budget or a sample left out.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize)]
pub struct LossOfAll {
    /// Packets that were measured, in parts per million of those that rules ask for.
    pub measured_ppm: u32,
    /// The loss of all flows is between these with a probability of 95 %, in parts per billion of the packets sent.
    /// `None`: too few flows lost packets to tell, or not the same share was measured all the time and of all classes.
    pub least_ppb: Option<u32>,
    pub most_ppb: Option<u32>,
}

impl LossOfAll {
    /// The loss of all flows, of whose packets this share was measured: `sent`, of which `lost` never arrived.
    pub fn new(
        share: f64,
        (lost, sent): (u64, u64),
        squares: FlowSquares,
        are_alike: bool,
    ) -> Self {
        let interval = are_alike.then(|| interval(share, (lost as f64, sent as f64), squares));
        let interval = interval.flatten();
        let ppb = |of: f64| (of * 1e9).round() as u32;
        Self {
            measured_ppm: (share * 1e6).round() as u32,
            least_ppb: interval.map(|(least, _)| ppb(least)),
            most_ppb: interval.map(|(_, most)| ppb(most)),
        }
    }
}

/// The least and the greatest loss that all flows can well have.
///
/// Flows were drawn, not packets: flows of one path lose together. The ratio of two sums over a sample has a variance by
/// the residuals of its parts (W. G. Cochran, Sampling Techniques, 2.11), here with the correction for a share that is not
/// small. As many flows as the losses are spread over are the sample. Such a ratio is skewed, its logarithm hardly.
fn interval(share: f64, (lost, sent): (f64, f64), squares: FlowSquares) -> Option<(f64, f64)> {
    let [lost_2, lost_sent, sent_2] = squares.all().map(|sum| sum.max(0) as f64);
    let flows = lost * lost / lost_2;
    if lost == 0.0 || sent == 0.0 || flows.is_nan() || flows < LEAST_FLOWS {
        return None;
    }
    let ratio = lost / sent;
    let residuals = lost_2 - 2.0 * ratio * lost_sent + ratio * ratio * sent_2;
    let variance = (1.0 - share) * residuals.max(0.0) / (lost * lost);
    let far = (student_t(flows - 1.0) * variance.sqrt()).exp();
    Some((ratio / far, (ratio * far).min(1.0)))
}

/// The 97.5 % quantile of Student's t (M. Abramowitz, I. Stegun, Handbook of Mathematical Functions, 26.7.5): from 2
/// degrees of freedom on it is at most 1 % less than the true one.
fn student_t(freedom: f64) -> f64 {
    /// That of the normal distribution.
    const Z: f64 = 1.959_963_985;
    let odd = |factors: &[f64]| factors.iter().rev().fold(0.0, |sum, of| sum * Z * Z + of) * Z;
    let terms = [
        odd(&[1.0, 1.0]) / 4.0,
        odd(&[3.0, 16.0, 5.0]) / 96.0,
        odd(&[-15.0, 17.0, 19.0, 3.0]) / 384.0,
        odd(&[-945.0, -1920.0, 1482.0, 776.0, 79.0]) / 92160.0,
    ];
    terms
        .iter()
        .rev()
        .fold(0.0, |sum, term| (sum + term) / freedom)
        + Z
}
