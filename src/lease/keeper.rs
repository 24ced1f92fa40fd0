//! The keeper of leases: it asks one question after the other for each pair of addresses, and makes leases of the
//! answers.

use std::collections::{BTreeSet, HashMap};
use std::net::IpAddr;

use slab::Slab;

use super::nodes::NodeHolders;
use super::peer::{ASK_NS, IDLE_NS, LEASE_NS, LeasePeer, READY, Times};
use super::verdict::{OwnTagging, judge};
use crate::model::{AddressPair, Lease, LeaseEcho, LeaseKey, LeaseQuestion, LeaseState};
use crate::wire::lease::LeaseError;
use crate::wire::lease::v1::{self as lease, MESSAGE_LEN};

/// Questions that are not urgent are asked at whole multiples of this time, so that many are sent together: one among a
/// hundred finds everything in the CPU's caches, and costs half of one that is sent alone.
const TOGETHER_NS: u64 = 100_000_000;

/// A question to be sent.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct OutgoingQuestion {
    pub to: IpAddr,
    pub message: [u8; MESSAGE_LEN],
}

/// A lease after an answer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LeaseUpdate {
    pub pair: AddressPair,
    pub lease: Lease,
    /// The answer changed the lease's state.
    pub changed: bool,
}

/// The time at which an answer was received.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct AnswerTime {
    pub monotonic_ns: u64,
    pub realtime_ns: u64,
}

/// An answer, and the question that it belongs to.
struct Matched {
    place: usize,
    nonce: u64,
    asked_ns: u64,
    /// The state if the answer is forged.
    echo: Result<LeaseEcho, LeaseState>,
}

/// Returns the multiple of [`TOGETHER_NS`] that is nearest to a time.
fn together(due_ns: u64) -> u64 {
    (due_ns + TOGETHER_NS / 2) / TOGETHER_NS * TOGETHER_NS
}

/// All leases of a host, and its unanswered questions.
pub struct LeaseKeeper {
    key: LeaseKey,
    ours: OwnTagging,
    /// An answer finds its pair by the place in here, without a search for addresses.
    peers: Slab<LeasePeer>,
    places: HashMap<AddressPair, usize>,
    /// The times of the next questions, each with its pair's place.
    due: BTreeSet<(u64, usize)>,
    look: u64,
    /// The place of the pair that was asked, by the nonce of each unanswered question.
    out: HashMap<u64, usize>,
    nodes: NodeHolders,
    random: Box<dyn FnMut() -> u64>,
}

impl LeaseKeeper {
    /// `random` returns nonces that cannot be guessed.
    pub fn new(key: LeaseKey, ours: OwnTagging, random: impl FnMut() -> u64 + 'static) -> Self {
        Self {
            key,
            ours,
            peers: Slab::new(),
            places: HashMap::new(),
            due: BTreeSet::new(),
            look: 0,
            out: HashMap::new(),
            nodes: NodeHolders::default(),
            random: Box::new(random),
        }
    }

    /// Changes this host's tagging, by which the next answers are judged.
    pub fn set_ours(&mut self, ours: OwnTagging) {
        self.ours = ours;
    }

    pub fn len(&self) -> usize {
        self.peers.len()
    }

    pub fn is_empty(&self) -> bool {
        self.peers.is_empty()
    }

    fn peer_mut(&mut self, pair: &AddressPair) -> Option<(usize, &mut LeasePeer)> {
        let place = *self.places.get(pair)?;
        Some((place, self.peers.get_mut(place)?))
    }

    /// Moves the next question about a pair to this time.
    fn ask_at(&mut self, place: usize, when_ns: u64) {
        if let Some(peer) = self.peers.get_mut(place) {
            self.due.remove(&(peer.next_ns, place));
            peer.next_ns = when_ns;
            self.due.insert((when_ns, place));
        }
    }

    /// Keeps a lease for this pair from now on.
    pub fn want(&mut self, pair: AddressPair, named: bool, now_ns: u64) {
        let look = self.look;
        if let Some((place, peer)) = self.peer_mut(&pair) {
            let sooner = named && !peer.named && peer.next_ns > now_ns + ASK_NS;
            peer.named = named;
            peer.look = look;
            if sooner {
                self.ask_at(place, now_ns);
            }
            return;
        }
        let place = self.peers.insert(LeasePeer::new(pair, named, look, now_ns));
        self.places.insert(pair, place);
        self.due.insert((now_ns, place));
    }

    /// Sets the address that questions about this pair are sent from, if it is not the packets' source address.
    pub fn set_origin(&mut self, pair: &AddressPair, origin: IpAddr) {
        if let Some((_, peer)) = self.peer_mut(pair) {
            peer.origin = origin;
        }
    }

    /// Sets whether packets go to this pair's destination.
    pub fn set_idle(&mut self, pair: &AddressPair, idle: bool, now_ns: u64) {
        let Some((place, peer)) = self.peer_mut(pair) else {
            return;
        };
        let wakes = peer.idle && !idle;
        peer.idle = idle;
        if wakes && peer.lease.state == LeaseState::Granted && peer.lease.until_ns <= now_ns {
            peer.listening_since_ns = now_ns;
            self.ask_at(place, now_ns);
        }
    }

    /// Asks no more questions about a pair. Its lease ends by itself.
    pub fn forget(&mut self, pair: &AddressPair) {
        let place = self.places.remove(pair);
        if let Some((place, peer)) = place.and_then(|at| Some((at, self.peers.try_remove(at)?))) {
            self.due.remove(&(peer.next_ns, place));
            for (nonce, _) in &peer.out {
                self.out.remove(nonce);
            }
        }
    }

    /// Forgets the pairs that were not wanted since the last call, and returns them.
    pub fn forget_unwanted(&mut self) -> Vec<AddressPair> {
        let unwanted: Vec<AddressPair> = self
            .peers
            .iter()
            .filter(|(_, peer)| peer.look != self.look)
            .map(|(_, peer)| peer.pair)
            .collect();
        for pair in &unwanted {
            self.forget(pair);
        }
        self.look += 1;
        unwanted
    }

    /// Forgets all pairs and all questions.
    pub fn clear(&mut self) {
        self.peers.clear();
        self.places.clear();
        self.due.clear();
        self.out.clear();
    }

    /// The pairs that leases are kept for.
    pub fn pairs(&self) -> impl Iterator<Item = &AddressPair> {
        self.places.keys()
    }

    pub fn lease(&self, pair: &AddressPair) -> Option<&Lease> {
        let place = *self.places.get(pair)?;
        self.peers.get(place).map(|peer| &peer.lease)
    }

    /// True if a question is unanswered or due.
    pub fn is_busy(&self, now_ns: u64) -> bool {
        let due = self.due.first().is_some_and(|(when, _)| *when <= now_ns);
        due || !self.out.is_empty()
    }

    /// Returns the next question that is due, if there is one. Asking may show that a sink is silent.
    pub fn next_due(
        &mut self,
        now_ns: u64,
        realtime_ns: u64,
    ) -> Option<(AddressPair, OutgoingQuestion)> {
        let (_, place) = *self.due.first().filter(|(when, _)| *when <= now_ns)?;
        self.due.pop_first();
        let nonce = (self.random)();
        let peer = self.peers.get_mut(place)?;
        // An answer to a question that old grants nothing any more.
        while let Some((oldest, asked_ns)) = peer.out.front()
            && now_ns.saturating_sub(*asked_ns) >= LEASE_NS
        {
            self.out.remove(oldest);
            peer.out.pop_front();
        }
        self.out.insert(nonce, place);
        peer.out.push_back((nonce, now_ns));
        peer.note_silence(now_ns);
        // An answer moves the next question to a later time.
        let again_ns = now_ns + peer.wait_for_answer_ns();
        peer.next_ns = match peer.lease.state {
            LeaseState::Granted => again_ns,
            _ => together(again_ns),
        };
        self.due.insert((peer.next_ns, place));
        let pair = peer.pair;
        let question = LeaseQuestion {
            nonce,
            flow_source: pair.source,
            origin: peer.origin,
            asked_ns: realtime_ns,
            source_node: self.ours.node,
        };
        let message = lease::encode_question(&question, pair.dest, self.key);
        let to = pair.dest;
        Some((pair, OutgoingQuestion { to, message }))
    }

    /// Takes an echo reply. Returns `None` if it answers no unanswered question.
    pub fn take(&mut self, payload: &[u8], at: AnswerTime) -> Option<LeaseUpdate> {
        let matched = self.matched(payload)?;
        let place = matched.place;
        let state = self.judged(&matched, at.monotonic_ns)?;
        let peer = self.peers.get_mut(place)?;
        let changed = peer.lease.state != state;
        if let Ok(echo) = &matched.echo {
            peer.note_clock(echo, at.realtime_ns);
        }
        peer.heard_ns = at.monotonic_ns;
        if state == LeaseState::Forged {
            // A forger must not use up the question that the sink is going to answer.
            peer.lease.state = state;
        } else {
            self.grant(&matched, state, at.monotonic_ns);
        }
        let peer = self.peers.get(place)?;
        Some(LeaseUpdate {
            pair: peer.pair,
            lease: peer.lease,
            changed,
        })
    }

    /// Finds the unanswered question that an echo reply belongs to.
    fn matched(&self, payload: &[u8]) -> Option<Matched> {
        let (nonce, echo) = match lease::decode_echo(payload, self.key) {
            Ok(echo) => (echo.nonce, Ok(echo)),
            Err(LeaseError::Forged { nonce }) => (nonce, Err(LeaseState::Forged)),
            Err(LeaseError::Version(_) | LeaseError::Format(_)) => return None,
        };
        let place = *self.out.get(&nonce)?;
        let mut questions = self.peers.get(place)?.out.iter();
        let (_, asked_ns) = *questions.find(|(asked, _)| *asked == nonce)?;
        Some(Matched {
            place,
            nonce,
            asked_ns,
            echo,
        })
    }

    /// Returns the state of a lease after this answer.
    fn judged(&mut self, matched: &Matched, now_ns: u64) -> Option<LeaseState> {
        let sink = self.peers.get(matched.place)?.pair.dest;
        Some(match matched.echo {
            Err(state) => state,
            Ok(LeaseEcho { answer: None, .. }) => LeaseState::NoSink,
            Ok(LeaseEcho {
                answer: Some(answer),
                ..
            }) => judge(&self.ours, &mut self.nodes, &answer, sink, now_ns),
        })
    }

    /// Closes the answered question, plans the next one, and changes the lease to this state.
    fn grant(&mut self, matched: &Matched, state: LeaseState, now_ns: u64) {
        let Some(peer) = self.peers.get_mut(matched.place) else {
            return;
        };
        peer.note_loss(matched.nonce);
        // The answer counts for older questions too; newer ones stay unanswered.
        while let Some((answered, _)) = peer.out.pop_front() {
            self.out.remove(&answered);
            if answered == matched.nonce {
                break;
            }
        }
        self.schedule(matched, state, now_ns);
        if let Some(peer) = self.peers.get_mut(matched.place) {
            let times = Times {
                asked_ns: matched.asked_ns,
                answered_ns: now_ns,
            };
            peer.set_lease(state, matched.echo.ok(), times);
        }
    }

    /// Plans the next question after an answer.
    fn schedule(&mut self, matched: &Matched, state: LeaseState, now_ns: u64) {
        let ready = self.peers.len() <= READY;
        let Some(peer) = self.peers.get_mut(matched.place) else {
            return;
        };
        let newest_ns = peer
            .out
            .back()
            .map_or(matched.asked_ns, |(_, asked_ns)| *asked_ns);
        let rtt_ns = now_ns.saturating_sub(matched.asked_ns);
        let wait_ns = peer.wait_after_answer_ns(state, rtt_ns, ready);
        let ended = wait_ns != IDLE_NS && peer.lease.until_ns <= now_ns;
        let begins = state == LeaseState::Granted && (peer.lease.state != state || ended);
        // Leases that begin together are not renewed together for ever.
        let earlier_ns = if begins {
            matched.nonce % (wait_ns / TOGETHER_NS) * TOGETHER_NS
        } else {
            0
        };
        let next_ns = together(newest_ns + wait_ns - earlier_ns).max(now_ns);
        if wait_ns == IDLE_NS {
            peer.listening_since_ns = next_ns;
        }
        self.ask_at(matched.place, next_ns);
    }
}
