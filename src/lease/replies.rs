//! Replies: each becomes a lease, or ends one, and plans the next question.

use super::answers::{Judge, Meaning, NewLease};
use super::keeper::LeaseKeeper;
use super::pace::{IDLE_NS, RenewalPace, TOGETHER_NS, strays_every_ns, together};
use super::questions::{Asked, QuestionKind, Reply};
use super::update::{AnswerTime, LeaseUpdate, Times};
use crate::model::{Lease, LeaseState};

impl LeaseKeeper {
    /// Takes an echo reply. Returns `None` if it answers no unanswered question, or decides nothing.
    pub fn take(&mut self, payload: &[u8], at: AnswerTime) -> Option<LeaseUpdate> {
        let reply = Reply::read(payload, self.key)?;
        let place = *self.out.get(&reply.nonce())?;
        let peer = self.peers.get_mut(place)?;
        let is_asked = |asked: &&Asked| asked.nonce == reply.nonce() && reply.answers(asked.kind);
        let asked = *peer.out.iter().find(is_asked)?;
        let before = peer.lease;
        let mut judge = Judge {
            ours: &self.ours,
            nodes: &mut self.nodes,
            at,
        };
        match judge.hear(peer, &asked, &reply) {
            Meaning::Nothing => {
                self.leave(place, &asked, at.monotonic_ns);
                return None;
            }
            // A forger must not use up the question that the sink is going to answer.
            Meaning::Forged => {
                peer.heard_ns = at.monotonic_ns;
                peer.lease.state = LeaseState::Forged;
            }
            Meaning::Lease(new) => {
                peer.heard_ns = at.monotonic_ns;
                peer.lease.proof = new.proof;
                self.grant(place, &asked, &new, at.monotonic_ns);
            }
        }
        let peer = self.peers.get(place)?;
        Some(LeaseUpdate {
            pair: peer.pair,
            lease: peer.lease,
            changed: is_changed(&before, &peer.lease),
            silent: peer.proof.is_silent(at.monotonic_ns),
            exchange: peer.sink_clock.newest(),
        })
    }

    /// Closes a question whose answer decides nothing.
    fn leave(&mut self, place: usize, asked: &Asked, now_ns: u64) {
        self.out.remove(&asked.nonce);
        if let Some(peer) = self.peers.get_mut(place) {
            peer.out.retain(|one| one.nonce != asked.nonce);
        }
        // The sink has more to say than a short answer has room for.
        if asked.kind == QuestionKind::Short {
            self.ask_by(place, now_ns);
        }
    }

    /// Closes the answered question, plans the next one, and changes the lease to this state.
    fn grant(&mut self, place: usize, asked: &Asked, new: &NewLease, now_ns: u64) {
        let Some(peer) = self.peers.get_mut(place) else {
            return;
        };
        peer.note_loss(asked);
        // The answer counts for older questions too; newer ones stay unanswered.
        while let Some(answered) = peer.out.pop_front() {
            self.out.remove(&answered.nonce);
            if answered.nonce == asked.nonce {
                break;
            }
        }
        self.schedule(place, asked, new.state, now_ns);
        let every_ns = strays_every_ns(self.peers.len());
        let Some(peer) = self.peers.get_mut(place) else {
            return;
        };
        let times = Times {
            asked_ns: asked.asked_ns,
            answered_ns: now_ns,
        };
        peer.set_lease(new.state, new.answer, times);
        if new.state != LeaseState::Granted {
            return;
        }
        if peer.proof.next_probe().is_some() {
            self.probing.send(place);
        } else if !peer.proof.due(&self.ours, every_ns, now_ns).is_empty() {
            self.probing.want(place);
        }
    }

    /// Plans the next question after an answer.
    fn schedule(&mut self, place: usize, asked: &Asked, state: LeaseState, now_ns: u64) {
        let pace = RenewalPace::of(self.peers.len(), self.busy_ns);
        let Some(peer) = self.peers.get_mut(place) else {
            return;
        };
        let newest_ns = peer
            .out
            .back()
            .map_or(asked.asked_ns, |newest| newest.asked_ns);
        let rtt_ns = now_ns.saturating_sub(asked.asked_ns);
        let wait_ns = peer.wait_after_answer_ns(state, (rtt_ns, now_ns), pace);
        let ended = wait_ns != IDLE_NS && peer.lease.until_ns <= now_ns;
        let begins = state == LeaseState::Granted && (peer.lease.state != state || ended);
        // Leases that begin together are not renewed together for ever.
        let earlier_ns = if begins {
            asked.nonce % (wait_ns / TOGETHER_NS) * TOGETHER_NS
        } else {
            0
        };
        let next_ns = together(newest_ns + wait_ns - earlier_ns).max(now_ns);
        if wait_ns == IDLE_NS {
            peer.listening_since_ns = next_ns;
        }
        let urgent_ns = peer.urgent_ns(now_ns).unwrap_or(next_ns);
        self.ask_at(place, next_ns.min(urgent_ns));
    }
}

/// True if users are to be told.
fn is_changed(before: &Lease, now: &Lease) -> bool {
    let of = |lease: &Lease| (lease.state, lease.proof.ways, lease.proof.eaten);
    of(before) != of(now)
}
