//! The time until which a host reported readings of its clocks, by the clock of the host that collects them.

/// The quickest word of a host takes no longer than this from the reading to the collector.
const QUICKEST_NS: i128 = 300_000_000;
/// The quickest word is looked for in the last of these times and in the one before.
const PERIOD_NS: i128 = 30_000_000_000;

/// When the newest reading was taken. The reading has the time of its host's raw clock; the readings that took least time
/// to the collector tell how that compares with the collector's clock.
#[derive(Debug, Default)]
pub(super) struct KnownUntil {
    newest_raw_ns: i128,
    /// The least distance by which the collector's clock was ahead of the raw clock when a reading arrived: in this
    /// period, and in the one before.
    least_ns: Option<(i128, i128)>,
    since_ns: i128,
}

impl KnownUntil {
    /// Takes the newest reading of what arrived now.
    pub(super) fn note(&mut self, raw_ns: i128, now_ns: u64) {
        let now_ns = i128::from(now_ns);
        let ahead_ns = now_ns - raw_ns;
        let (this, before) = self.least_ns.unwrap_or((ahead_ns, ahead_ns));
        if (now_ns - self.since_ns).abs() >= PERIOD_NS {
            self.since_ns = now_ns;
            self.least_ns = Some((ahead_ns, this));
        } else {
            self.least_ns = Some((this.min(ahead_ns), before));
        }
        self.newest_raw_ns = raw_ns;
    }

    /// True if the newest reading was taken after this time.
    pub(super) fn is_beyond(&self, until_ns: u64) -> bool {
        let Some((this, before)) = self.least_ns else {
            return false;
        };
        // It arrived no earlier than this even if it was as quick as the quickest.
        let arrived_ns = self.newest_raw_ns + this.min(before);
        arrived_ns - QUICKEST_NS > until_ns.into()
    }
}
