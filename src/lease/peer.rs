//! One pair of addresses: its lease, its unanswered questions, and the times at which questions are due.

use std::collections::VecDeque;
use std::net::IpAddr;

use super::pace::{IDLE_NS, RENEW_MANY_NS, RENEW_USED_NS, RenewalPace};
use super::proof::Proof;
use super::questions::Asked;
use super::renewals::Renewals;
use super::sink_clock::SinkAnswers;
use super::update::{AnswerTime, Times};
use crate::model::{AddressPair, Lease, LeaseAnswer, LeaseState};

/// A lease ends this time after the question whose answer granted it: within a second of the sink's end.
pub(super) const LEASE_NS: u64 = 950_000_000;
/// A sink that grants a lease is asked again this time after the question, sooner if it answers slowly.
const RENEW_NS: u64 = 700_000_000;
/// The least time before the next question.
const RENEW_AT_ONCE_NS: u64 = 200_000_000;
/// A renewal is repeated after this time until the sink answers: a path that loses half of all packets is one to be
/// measured.
const AGAIN_NS: u64 = 20_000_000;
/// A sink that grants no lease is asked after this time, and so is one on a path that lost questions recently.
pub(super) const ASK_NS: u64 = 400_000_000;
/// After each loss this many more renewals are early, up to [`MOST_EARLY`].
const EARLY_RENEWALS: u32 = 4;
const MOST_EARLY: u32 = 32;
/// Hosts that do not answer and that no user named are asked ever less often, but at least after this time.
const ASK_AT_LEAST_NS: u64 = 25_600_000_000;
/// A sink that has not answered for this time is silent.
const SILENT_NS: u64 = 1_000_000_000;

/// The state of one pair of addresses.
pub(super) struct LeasePeer {
    pub(super) pair: AddressPair,
    /// The number of the last look at wanted pairs that found this one.
    pub(super) look: u64,
    /// The user named the destination: it is asked even if it does not answer.
    pub(super) named: bool,
    /// No packet went there recently.
    pub(super) idle: bool,
    /// The address that questions are sent from.
    pub(super) origin: IpAddr,
    /// Unanswered questions, oldest first.
    pub(super) out: VecDeque<Asked>,
    /// The time of the next question.
    pub(super) next_ns: u64,
    interval_ns: u64,
    /// No answer was to be expected before this time.
    pub(super) listening_since_ns: u64,
    /// The time of the last answer, even a forged one.
    pub(super) heard_ns: u64,
    /// The number of renewals that are asked early, because questions or answers were lost recently.
    early: u32,
    pub(super) sink_clock: SinkAnswers,
    pub(super) renewals: Renewals,
    pub(super) proof: Proof,
    pub(super) lease: Lease,
}

impl LeasePeer {
    pub(super) fn new(pair: AddressPair, named: bool, look: u64, now_ns: u64) -> Self {
        Self {
            pair,
            look,
            named,
            idle: false,
            origin: pair.source,
            out: VecDeque::new(),
            next_ns: now_ns,
            interval_ns: ASK_NS,
            listening_since_ns: now_ns,
            heard_ns: 0,
            early: 0,
            sink_clock: SinkAnswers::default(),
            renewals: Renewals::default(),
            proof: Proof::new(&pair),
            lease: Lease::default(),
        }
    }

    /// Changes the state if the sink has been silent for too long.
    pub(super) fn note_silence(&mut self, now_ns: u64) {
        let heard_ns = self.heard_ns.max(self.listening_since_ns);
        if now_ns.saturating_sub(heard_ns) >= SILENT_NS {
            self.lease.state = LeaseState::Silent;
        }
    }

    /// Returns how long to wait for an answer to a question that is asked now before the next question.
    pub(super) fn wait_for_answer_ns(&mut self) -> u64 {
        self.interval_ns = match self.lease.state {
            LeaseState::Granted => AGAIN_NS
                .max(u64::from(self.lease.rtt_ns) * 3 / 2)
                .min(ASK_NS),
            LeaseState::Silent if !self.named => {
                (self.interval_ns * 2).clamp(ASK_NS, ASK_AT_LEAST_NS)
            }
            _ => ASK_NS,
        };
        self.interval_ns
    }

    /// Returns how long after the newest question to ask the next one, given an answer that arrived now.
    pub(super) fn wait_after_answer_ns(
        &self,
        state: LeaseState,
        (rtt_ns, now_ns): (u64, u64),
        pace: RenewalPace,
    ) -> u64 {
        let RenewalPace { ready, busy_ns } = pace;
        let wait_ns = match state {
            LeaseState::Granted if self.idle && !ready => return IDLE_NS,
            LeaseState::Granted if ready && self.proof.is_used(now_ns) => RENEW_USED_NS,
            LeaseState::Granted if !ready && self.proof.is_busy(now_ns) => busy_ns,
            LeaseState::Granted if self.early > 0 => ASK_NS.saturating_sub(2 * rtt_ns),
            LeaseState::Granted if ready => RENEW_NS.saturating_sub(4 * rtt_ns),
            LeaseState::Granted => RENEW_MANY_NS.saturating_sub(4 * rtt_ns),
            _ => return ASK_NS,
        };
        wait_ns.max(RENEW_AT_ONCE_NS)
    }

    /// True if a short question would not do now.
    pub(super) fn needs_full(&self) -> bool {
        self.lease.state != LeaseState::Granted
            || self.origin != self.pair.source
            || self.proof.is_open()
    }

    /// The time of the next question that does not wait for a renewal.
    pub(super) fn urgent_ns(&self, now_ns: u64) -> Option<u64> {
        self.proof.ask_ns(now_ns)
    }

    /// Takes the time when the sink answered, by its clock.
    pub(super) fn note_clock(&mut self, asked: &Asked, answered_ns: u64, at: AnswerTime) {
        self.lease.clock = self.sink_clock.note(asked, answered_ns, at);
    }

    /// Makes the next renewals early if an older question than the answered one is unanswered.
    pub(super) fn note_loss(&mut self, answered: &Asked) {
        let oldest = self.out.front();
        let lost = oldest.is_some_and(|oldest| oldest.nonce != answered.nonce);
        self.early = if lost && self.lease.state == LeaseState::Granted {
            (self.early + EARLY_RENEWALS).min(MOST_EARLY)
        } else {
            self.early.saturating_sub(1)
        };
    }

    /// Makes the lease the one that an answer granted, or ends it.
    pub(super) fn set_lease(
        &mut self,
        state: LeaseState,
        answer: Option<LeaseAnswer>,
        answered: Times,
    ) {
        let rtt_ns = answered.rtt_ns();
        self.lease.answered_ns = answered.answered_ns;
        self.lease.answer = answer;
        self.lease.rtt_ns = u32::try_from(rtt_ns).unwrap_or(u32::MAX);
        self.lease.state = state;
        self.lease.until_ns = match state {
            LeaseState::Granted => answered.asked_ns + LEASE_NS,
            _ => 0,
        };
    }
}
