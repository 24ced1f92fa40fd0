//! The totals in a flow's summaries, and the part that the summaries before did not include.

/// A flow is in the store from its beginning if it began at the sink at most this time before its first report came.
const SLACK_NS: u64 = 10_000_000_000;

/// The time when the flow began at the sink, and its total in the last summary.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct SummaryTotals(Option<(u64, u64)>);

impl SummaryTotals {
    /// Returns how many packets out of order the summary adds. Returns `None` for the first summary: part of it may be
    /// in the store already, as [`counts_whole`] tells.
    pub fn more(&mut self, since_ns: u64, reordered: u64) -> Option<u64> {
        let known = self.0;
        let (more, total) = match known {
            Some((known_ns, known)) if known_ns == since_ns => {
                let more = reordered.saturating_sub(known);
                // The summary may be late, after one with a larger total.
                (Some(more), known + more)
            }
            // The flow ended and began anew.
            Some(_) => (Some(reordered), reordered),
            None => (None, reordered),
        };
        self.0 = Some((since_ns, total));
        more
    }
}

/// True if a flow's first summary counts as a whole: the store has had the flow only since `first_ns`, its beginning.
/// The clocks of the sink and of the collector may differ a little.
pub fn counts_whole(first_ns: u64, since_ns: u64) -> bool {
    since_ns.saturating_add(SLACK_NS) >= first_ns
}
