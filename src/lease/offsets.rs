//! By how much a sink's clock differs, by what its answers say.

use crate::model::ClockOffset;

/// Offsets of this many answers are compared: the quickest is the best.
const OFFSETS: usize = 8;

/// Those of one sink.
#[derive(Default)]
pub(super) struct Offsets {
    last: [Option<ClockOffset>; OFFSETS],
    answers: usize,
}

impl Offsets {
    /// When a question was asked, answered, by the sink's clock, and its answer came in: the best offset since. The sink
    /// stamped between the two: its clock is ahead by the distance from the middle, give or take half the round trip.
    pub(super) fn note(
        &mut self,
        (asked_ns, answered_ns, received_ns): (u64, u64, u64),
    ) -> Option<ClockOffset> {
        // A step of our own clock in between makes no offset.
        let round_trip = received_ns.checked_sub(asked_ns)?;
        let middle = i128::from(asked_ns) + i128::from(round_trip / 2);
        let offset_ns = i64::try_from(i128::from(answered_ns) - middle).ok()?;
        self.last[self.answers % OFFSETS] = Some(ClockOffset {
            offset_ns,
            error_ns: round_trip.div_ceil(2),
        });
        self.answers += 1;
        let known = self.last.iter().flatten();
        known.min_by_key(|offset| offset.error_ns).copied()
    }
}
