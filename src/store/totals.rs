//! What a flow's summary tells beyond the one before it.

/// A flow that began at the sink no longer before its first report came is in the store from its beginning.
const SLACK_NS: u64 = 10_000_000_000;

/// What is known of a flow's totals: as the last summary had them, of the flow that began at the sink at a time.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Totals(Option<(u64, u64)>);

impl Totals {
    /// How many packets more came out of order than were known to. `None` for the first summary: part of it may be in
    /// the store already, which [`counts_whole`] tells.
    pub fn more(&mut self, since_ns: u64, reordered: u64) -> Option<u64> {
        let known = self.0;
        let (more, total) = match known {
            Some((known_ns, known)) if known_ns == since_ns => {
                let more = reordered.saturating_sub(known);
                // It may have come late, after one that tells more.
                (Some(more), known + more)
            }
            // It ended, and began anew.
            Some(_) => (Some(reordered), reordered),
            None => (None, reordered),
        };
        self.0 = Some((since_ns, total));
        more
    }
}

/// Whether a flow's first summary counts as a whole: the store has the flow since `first_ns`, and had it never before.
/// Times of the sink and of the collector may differ a little.
pub fn counts_whole(first_ns: u64, since_ns: u64) -> bool {
    since_ns.saturating_add(SLACK_NS) >= first_ns
}
