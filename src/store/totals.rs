//! What a flow's summary tells beyond the one before it.

/// A flow that began at the sink no longer before its first report came is in the store from its beginning.
const SLACK_NS: u64 = 10_000_000_000;

/// What is known of a flow's totals. Times of the sink and of the collector may differ a little.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Totals {
    /// The store had the flow before: part of its totals is there already, nobody knows which.
    Unknown,
    /// The store has the flow since this time.
    New { since_ns: u64 },
    /// As the last summary had it, of the flow that began at the sink at this time.
    Known { since_ns: u64, reordered: u64 },
}

impl Totals {
    /// How many packets more came out of order than were known to.
    pub fn more(&mut self, since_ns: u64, reordered: u64) -> u64 {
        let more = match self {
            Self::Known {
                since_ns: known_ns,
                reordered: known,
            } if *known_ns == since_ns => {
                let more = reordered.saturating_sub(*known);
                // It may have come late, after one that tells more.
                *known += more;
                return more;
            }
            // It ended, and began anew.
            Self::Known { .. } => reordered,
            Self::New { since_ns: first_ns } if since_ns.saturating_add(SLACK_NS) >= *first_ns => {
                reordered
            }
            Self::New { .. } | Self::Unknown => 0,
        };
        *self = Self::Known {
            since_ns,
            reordered,
        };
        more
    }
}
