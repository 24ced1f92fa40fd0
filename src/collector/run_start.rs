//! Whether what hosts count began while the collector ran, by clocks that are not the same.

/// The time by which the clock of a host may differ from this one.
pub(super) const SLACK_NS: u64 = 2_000_000_000;

/// Says whether counts that began at this time have nothing that an earlier run of the collector may have counted.
pub(super) fn begins_in_run(begun_ns: u64, started_ns: u64) -> bool {
    begun_ns.saturating_add(SLACK_NS) >= started_ns
}
