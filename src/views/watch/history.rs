//! The history of a flow while it is on the screen, one interval after the other.

use std::collections::VecDeque;

use super::histogram::{SlotCount, powers_of, window};
use super::rates::Rates;
use crate::model::FlowStatus;

/// Number of intervals that are kept for a flow: ten minutes of seconds.
const LONGEST: usize = 600;

/// The history of one flow.
#[derive(Debug, Default)]
pub struct FlowHistory {
    points: VecDeque<Option<Rates>>,
    /// The packets of the last interval in powers of two, if there was one.
    pub window: Option<Vec<SlotCount>>,
    before: Option<(u64, Vec<SlotCount>)>,
    /// The number of the refresh at which it was last on the screen.
    pub looked_at: u64,
}

impl FlowHistory {
    /// A history that starts with this state of the flow.
    pub fn of(flow: &FlowStatus) -> Self {
        Self {
            before: Some((flow.packets, powers_of(flow))),
            ..Self::default()
        }
    }

    /// Takes a refresh of the flow; `again` if it is not the first.
    pub fn push(&mut self, flow: Option<&FlowStatus>, rates: Option<Rates>, again: bool) {
        let before = self.before.take();
        self.window = None;
        if let Some(flow) = flow {
            if let (Some((packets, counts)), Some(_)) = (&before, rates) {
                let came = flow.packets.saturating_sub(*packets);
                self.window = window(&powers_of(flow), counts, came);
            }
            self.before = Some((flow.packets, powers_of(flow)));
        }
        if !again {
            return;
        }
        if self.points.len() == LONGEST {
            self.points.pop_front();
        }
        self.points.push_back(rates);
    }

    /// One figure over the last intervals, the latest at the end.
    pub fn last(&self, count: usize, figure: fn(&Rates) -> Option<f64>) -> Vec<Option<f64>> {
        let from = self.points.len().saturating_sub(count);
        let points = self.points.iter().skip(from);
        points
            .map(|rates| rates.as_ref().and_then(figure))
            .collect()
    }

    pub fn len(&self) -> usize {
        self.points.len()
    }
}
