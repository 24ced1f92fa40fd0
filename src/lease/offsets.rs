//! The offset of a sink's clock from this host's, measured by its answers.

use crate::model::ClockOffset;

/// The number of answers whose offsets are compared. The one with the shortest round trip is the most exact.
const OFFSETS: usize = 8;

/// The last offsets of one sink.
#[derive(Default)]
pub(super) struct Offsets {
    last: [Option<ClockOffset>; OFFSETS],
    answers: usize,
}

impl Offsets {
    /// Takes the times when a question was asked, when the sink answered by its own clock, and when the answer was
    /// received. Returns the best of the last offsets. The sink stamped its answer between the other two times, so its
    /// clock is ahead by the distance from their middle, plus or minus half the round trip.
    pub(super) fn note(
        &mut self,
        (asked_ns, answered_ns, received_ns): (u64, u64, u64),
    ) -> Option<ClockOffset> {
        // If this host's clock was set back in between, nothing can be said.
        let round_trip = received_ns.checked_sub(asked_ns)?;
        let middle = i128::from(asked_ns) + i128::from(round_trip / 2);
        let offset_ns = i64::try_from(i128::from(answered_ns) - middle).ok()?;
        self.last[self.answers % OFFSETS] = Some(ClockOffset {
            offset_ns,
            error_ns: round_trip.div_ceil(2),
        });
        self.answers += 1;
        self.last
            .iter()
            .flatten()
            .min_by_key(|offset| offset.error_ns)
            .copied()
    }
}
