//! The pace of renewals: the more often a sink is asked, the sooner it is seen that nothing arrives, and all questions
//! together stay below 1 Mbit/s.

use super::peer::{IDLE_NS, LeasePeer, READY, RENEW_MANY_NS, RENEW_USED_NS};

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

    /// The time between renewals of leases with many packets: they share the questions that all others leave.
    pub(super) fn busy_ns<'a>(peers: impl Iterator<Item = &'a LeasePeer>, now_ns: u64) -> u64 {
        let (mut all, mut busy, mut idle) = (0_u64, 0, 0);
        for peer in peers {
            all += 1;
            busy += u64::from(peer.proof.is_busy(now_ns));
            idle += u64::from(peer.idle);
        }
        let other = all.saturating_sub(busy + idle);
        let taken = idle * SECOND_NS / IDLE_NS + other * SECOND_NS / RENEW_MANY_NS;
        let left = MOST_QUESTIONS.saturating_sub(taken).max(1);
        (busy * SECOND_NS / left).clamp(RENEW_USED_NS, RENEW_MANY_NS)
    }
}
