//! The meaning of a reply for the lease of its pair.

use super::nodes::NodeHolders;
use super::peer::LeasePeer;
use super::questions::{Asked, Reply};
use super::update::AnswerTime;
use super::verdict::{OwnTagging, judge, judge_node};
use crate::model::{FullAnswer, LeaseAnswer, LeaseState, LeaseWitness, PathProof};

/// The meaning of a reply.
pub(super) enum Meaning {
    /// A reply to another question decides.
    Nothing,
    /// The tag is wrong.
    Forged,
    Lease(NewLease),
}

/// A lease as a reply makes it.
pub(super) struct NewLease {
    pub(super) state: LeaseState,
    pub(super) answer: Option<LeaseAnswer>,
    pub(super) proof: PathProof,
}

/// This host, by which answers are judged.
pub(super) struct Judge<'a> {
    pub(super) ours: &'a OwnTagging,
    pub(super) nodes: &'a mut NodeHolders,
    pub(super) at: AnswerTime,
}

impl Judge<'_> {
    pub(super) fn hear(&mut self, peer: &mut LeasePeer, asked: &Asked, reply: &Reply) -> Meaning {
        match reply {
            Reply::Forged { .. } => Meaning::Forged,
            Reply::Full(echo) => match &echo.answer {
                Some(answer) => self.full(peer, asked, answer),
                None => unanswered(peer),
            },
            Reply::Short(echo) => match &echo.answer {
                Some(counts) => self.short(peer, asked, counts),
                None => unanswered(peer),
            },
        }
    }

    fn full(&mut self, peer: &mut LeasePeer, asked: &Asked, answer: &FullAnswer) -> Meaning {
        let now_ns = self.at.monotonic_ns;
        peer.renewals
            .note_full(answer.witness.digest, asked.nonce, now_ns);
        peer.sink_clock.set_steering(answer.clock_steering);
        peer.note_clock(asked, answer.witness.answered_ns, self.at);
        let state = judge(self.ours, self.nodes, answer, peer.pair.dest, now_ns);
        if state == LeaseState::Granted {
            let times = (asked.asked_ns, now_ns);
            peer.proof.note_answer(answer, asked.round, times);
        } else {
            peer.proof.break_off();
        }
        Meaning::Lease(NewLease {
            state,
            answer: Some(answer.summary()),
            proof: peer.proof.known(self.ours),
        })
    }

    fn short(&mut self, peer: &mut LeasePeer, asked: &Asked, counts: &LeaseWitness) -> Meaning {
        if !peer.renewals.note_short(counts.digest) && !counts.astray {
            return Meaning::Nothing;
        }
        peer.note_clock(asked, counts.answered_ns, self.at);
        let now_ns = self.at.monotonic_ns;
        // The host keeps its node id by short answers, too.
        let full = peer.lease.answer.as_ref();
        let refused =
            full.and_then(|full| judge_node(self.ours, self.nodes, full, peer.pair.dest, now_ns));
        let state = match refused {
            _ if counts.astray => LeaseState::Astray,
            Some(refused) => refused,
            None => LeaseState::Granted,
        };
        if state == LeaseState::Granted {
            peer.proof.note_counts(counts, asked.asked_ns, now_ns);
        } else {
            peer.proof.break_off();
        }
        Meaning::Lease(NewLease {
            state,
            answer: peer.lease.answer,
            proof: peer.proof.known(self.ours),
        })
    }
}

/// The host returned the question as it was.
fn unanswered(peer: &mut LeasePeer) -> Meaning {
    peer.renewals.ask_full();
    peer.proof.break_off();
    Meaning::Lease(NewLease {
        state: LeaseState::NoSink,
        answer: None,
        proof: peer.lease.proof,
    })
}
