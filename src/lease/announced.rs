//! Rounds of probes that sources announced to this host's sink: each probe that arrives pays for one stray packet back.

use std::collections::VecDeque;
use std::net::IpAddr;

use crate::model::{LeaseProbe, NodeId, ProbeForm};
use crate::wire::lease::probe_packet::ProbePacket;
use crate::wire::lease::reverse::AnsweredRound;

/// Most rounds that are watched at once.
const MOST_ROUNDS: usize = 256;
/// A round is watched for this time.
const WATCHED_NS: u64 = 5_000_000_000;
/// Most strays in a round: each number goes six times, so that random loss hardly takes all of one.
const MOST_STRAYS: u32 = 6 * ProbeForm::STRAYS_BACK as u32;

/// Strays from a sink's host may arrive for this time after a round began, even if it has ended.
pub(super) const STRAYS_NS: u64 = 5_000_000_000;

struct AnnouncedRound {
    round: u64,
    prober: IpAddr,
    from: IpAddr,
    to: IpAddr,
    /// The number of probes that had arrived when the round was announced, or that have paid for a stray.
    counted: u32,
    sent: u32,
    until_ns: u64,
}

/// Rounds that sources announced to this host's sink, oldest first.
#[derive(Default)]
pub(super) struct AnnouncedRounds(VecDeque<AnnouncedRound>);

impl AnnouncedRounds {
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn note(&mut self, answered: &AnsweredRound, from: IpAddr, to: IpAddr, now_ns: u64) {
        // The same probes must not pay twice, whichever addresses the question had.
        let is_same =
            |one: &AnnouncedRound| (one.round, one.prober) == (answered.round, answered.prober);
        if self.0.iter().any(is_same) {
            return;
        }
        if self.0.len() == MOST_ROUNDS {
            self.0.pop_front();
        }
        self.0.push_back(AnnouncedRound {
            round: answered.round,
            prober: answered.prober,
            from: to,
            to: from,
            counted: answered.arrived,
            sent: 0,
            until_ns: now_ns + WATCHED_NS,
        });
    }

    /// Returns the strays that are paid for now, at most this many.
    pub(super) fn take_paid(
        &mut self,
        now_ns: u64,
        most: usize,
        mut arrived: impl FnMut(IpAddr, u64) -> u32,
    ) -> Vec<ProbePacket> {
        self.0.retain(|one| now_ns < one.until_ns);
        let mut paid = Vec::new();
        for one in self.0.iter_mut().filter(|one| one.sent < MOST_STRAYS) {
            let now = arrived(one.prober, one.round);
            while one.counted < now && one.sent < MOST_STRAYS && paid.len() < most {
                paid.push(one.stray());
                one.counted += 1;
                one.sent += 1;
            }
        }
        paid
    }
}

impl AnnouncedRound {
    /// The next stray.
    fn stray(&self) -> ProbePacket {
        ProbePacket {
            probe: LeaseProbe {
                form: ProbeForm::Stray,
                number: (self.sent % u32::from(ProbeForm::STRAYS_BACK)) as u8,
                tos: 0,
                round: self.round,
            },
            source: self.from,
            dest: self.to,
            node: NodeId::default(),
            entries: 0,
            is_back: true,
        }
    }
}
