//! The pace of renewals: the more often a sink is asked, the sooner it is seen that nothing arrives, and all questions
//! together stay below 1 Mbit/s.

/// The same while packets are tagged: the sooner the sink answers, the sooner it is seen that none arrives.
pub(super) const RENEW_USED_NS: u64 = 200_000_000;
/// The same with very many sinks, which leaves less time to repeat questions.
pub(super) const RENEW_MANY_NS: u64 = 800_000_000;
/// With more leases than [`READY`], a sink that no packet goes to is asked after this time, and at once when one does.
pub(super) const IDLE_NS: u64 = 5_000_000_000;
/// The most leases that are all kept ready.
pub(super) const READY: usize = 256;
/// Questions that are not urgent are asked at whole multiples of this time, so that many are sent together: one among a
/// hundred finds everything in the CPU's caches, and costs half of one that is sent alone.
pub(super) const TOGETHER_NS: u64 = 100_000_000;

const SECOND_NS: u64 = 1_000_000_000;
/// Questions per second that take 1 Mbit/s. A thousand leases that all have a few packets leave 50 of them.
const MOST_QUESTIONS: u64 = 1_300;

/// While packets are tagged, stray packets are sent again after this time: a firewall may begin at any time to drop what it
/// did not see begin, and a flow of datagrams has no guard.
const STRAYS_NS: u64 = 10_000_000_000;
/// With many leases, those of all together are sent this far apart.
const STRAYS_APART_NS: u64 = 200_000_000;

/// The time between stray packets of one of these pairs.
pub(super) fn strays_every_ns(pairs: usize) -> u64 {
    STRAYS_NS.max(pairs as u64 * STRAYS_APART_NS)
}

/// The pace of renewals of all leases.
#[derive(Clone, Copy)]
pub(super) struct RenewalPace {
    /// The leases are few enough that all are kept ready.
    pub(super) ready: bool,
    /// With more leases, those with many packets are renewed after this time.
    pub(super) busy_ns: u64,
}

impl RenewalPace {
    pub(super) fn of(leases: usize, busy_ns: u64) -> Self {
        let ready = leases <= READY;
        Self { ready, busy_ns }
    }

    /// The time between renewals of leases with many packets: they share the questions that all others
    /// leave. Of each lease: are its packets many, and are there none?
    pub(super) fn busy_ns(pairs: impl Iterator<Item = (bool, bool)>) -> u64 {
        let (mut all, mut busy, mut idle) = (0_u64, 0, 0);
        for (is_busy, is_idle) in pairs {
            all += 1;
            busy += u64::from(is_busy);
            idle += u64::from(is_idle);
        }
        let other = all.saturating_sub(busy + idle);
        let taken = idle * SECOND_NS / IDLE_NS + other * SECOND_NS / RENEW_MANY_NS;
        let left = MOST_QUESTIONS.saturating_sub(taken).max(1);
        (busy * SECOND_NS / left).clamp(RENEW_USED_NS, RENEW_MANY_NS)
    }
}

/// Returns the multiple of [`TOGETHER_NS`] that is nearest to a time.
pub(super) fn together(due_ns: u64) -> u64 {
    (due_ns + TOGETHER_NS / 2) / TOGETHER_NS * TOGETHER_NS
}
