//! Tagged packets of a pair of which no sink reported, although it had the time to.

/// Both ends tell within this time, unless the sink says that it tells more rarely.
const SPAN_NS: u64 = 65_000_000_000;

/// The packets that the source of a pair tagged, and those that its sink accounted for.
///
/// The ends tell at different times, so the difference swings by what was sent between. Right after the sink told it has
/// no more than packets that the sink does not know of, so the least difference of a span in which it told is that number.
#[derive(Debug)]
pub(super) struct TaggedBalance {
    difference: i64,
    /// The beginning of the present span.
    since_ns: u64,
    span_ns: u64,
    least: i64,
    /// The least difference of the span before.
    least_before: i64,
    /// Until then the ends tell of packets that were sent before the collector started, each from another time on.
    settled_ns: Option<u64>,
    most: i64,
    most_before: i64,
    /// The sink accounted for packets.
    has_sink: bool,
    untold: i64,
}

impl TaggedBalance {
    /// Begins with a pair of which a collector first hears now that runs since `started_ns`.
    pub(super) fn new(started_ns: u64, now_ns: u64) -> Self {
        let settled_ns = started_ns.saturating_add(3 * SPAN_NS);
        Self {
            difference: 0,
            since_ns: now_ns,
            span_ns: SPAN_NS,
            least: 0,
            least_before: 0,
            settled_ns: (now_ns < started_ns.saturating_add(SPAN_NS)).then_some(settled_ns),
            most: 0,
            most_before: 0,
            has_sink: false,
            untold: 0,
        }
    }

    /// Adds packets that the source tagged. Returns how many more than before no sink told of, which may be negative.
    pub(super) fn tagged(&mut self, packets: u64, now_ns: u64) -> i64 {
        self.add(i64::try_from(packets).unwrap_or(i64::MAX), now_ns)
    }

    /// Adds packets that the sink measured, knows to be lost, or could not measure.
    pub(super) fn accounted(&mut self, packets: u64, period_ns: u64, now_ns: u64) -> i64 {
        self.span_ns = self.span_ns.max(period_ns.saturating_mul(2));
        self.has_sink = true;
        let packets = i64::try_from(packets).unwrap_or(i64::MAX);
        self.add(packets.saturating_neg(), now_ns)
    }

    fn add(&mut self, packets: i64, now_ns: u64) -> i64 {
        self.difference = self.difference.saturating_add(packets);
        if now_ns.saturating_sub(self.since_ns) >= self.span_ns {
            self.since_ns = now_ns;
            self.least_before = std::mem::replace(&mut self.least, self.difference);
            self.most_before = std::mem::replace(&mut self.most, self.difference);
        } else {
            self.least = self.least.min(self.difference);
            self.most = self.most.max(self.difference);
        }
        if let Some(settled_ns) = self.settled_ns {
            if now_ns < settled_ns {
                return 0;
            }
            // What the difference of two ends swings by until now says nothing.
            if self.has_sink {
                let base = self.most.max(self.most_before);
                self.difference = self.difference.saturating_sub(base);
            }
            (self.least, self.least_before) = (self.difference, self.difference);
            self.settled_ns = None;
        }
        let untold = self.least.min(self.least_before).max(0);
        untold - std::mem::replace(&mut self.untold, untold)
    }
}
