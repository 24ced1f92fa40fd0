//! The keeper of leases: it asks one question after the other for each pair of addresses, and makes leases of the
//! answers.

use std::collections::{BTreeSet, HashMap};
use std::net::IpAddr;

use slab::Slab;

use super::announced::{AnnouncedRounds, STRAYS_NS};
use super::nodes::NodeHolders;
use super::pace::{RENEW_MANY_NS, RenewalPace, together};
use super::peer::{ASK_NS, LEASE_NS, LeasePeer};
use super::probing::{OutgoingProbe, Probing};
use super::questions::{Asked, AskingTime, QuestionKind};
use super::update::LeaseUpdate;
use super::verdict::OwnTagging;
use crate::model::{AddressPair, Lease, LeaseCounts, LeaseKey, LeaseState, PathProof};

/// A question to be sent.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct OutgoingQuestion {
    pub to: IpAddr,
    pub message: Vec<u8>,
}

/// The place of a pair in the keeper, until the pair is forgotten: a search for addresses takes longer.
#[derive(Clone, Copy, Debug)]
pub struct PairPlace(usize);

/// All leases of a host, and its unanswered questions.
pub struct LeaseKeeper {
    pub(super) key: LeaseKey,
    pub(super) ours: OwnTagging,
    /// An answer finds its pair by the place in here, without a search for addresses.
    pub(super) peers: Slab<LeasePeer>,
    pub(super) places: HashMap<AddressPair, usize>,
    /// The times of the next questions, each with its pair's place.
    pub(super) due: BTreeSet<(u64, usize)>,
    pub(super) look: u64,
    /// The time between renewals of leases with many packets.
    pub(super) busy_ns: u64,
    /// The place of the pair that was asked, by the nonce of each unanswered question.
    pub(super) out: HashMap<u64, usize>,
    pub(super) nodes: NodeHolders,
    pub(super) probing: Probing,
    pub(super) announced: AnnouncedRounds,
    /// Strays from sinks' hosts are awaited until then, and while a round is open.
    pub(super) strays_until_ns: u64,
    pub(super) random: Box<dyn FnMut() -> u64>,
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
            busy_ns: RENEW_MANY_NS,
            out: HashMap::new(),
            nodes: NodeHolders::default(),
            probing: Probing::default(),
            announced: AnnouncedRounds::default(),
            strays_until_ns: 0,
            random: Box::new(random),
        }
    }

    /// Changes this host's tagging, by which the next answers are judged.
    pub fn set_ours(&mut self, ours: OwnTagging) {
        if self.ours.tagging != ours.tagging {
            for (_, peer) in &mut self.peers {
                peer.proof.note_config(&self.ours, &ours);
            }
        }
        // Short questions do not name it.
        if self.ours.node != ours.node {
            for (_, peer) in &mut self.peers {
                peer.renewals.ask_full();
            }
        }
        self.ours = ours;
    }

    fn peer_mut(&mut self, pair: &AddressPair) -> Option<(usize, &mut LeasePeer)> {
        let place = *self.places.get(pair)?;
        Some((place, self.peers.get_mut(place)?))
    }

    /// Moves the next question about a pair to this time.
    pub(super) fn ask_at(&mut self, place: usize, when_ns: u64) {
        if let Some(peer) = self.peers.get_mut(place) {
            self.due.remove(&(peer.next_ns, place));
            peer.next_ns = when_ns;
            self.due.insert((when_ns, place));
        }
    }

    /// Moves the next question about a pair to this time, if it is due later.
    pub(super) fn ask_by(&mut self, place: usize, when_ns: u64) {
        if self
            .peers
            .get(place)
            .is_some_and(|peer| peer.next_ns > when_ns)
        {
            self.ask_at(place, when_ns);
        }
    }

    /// Keeps a lease for this pair from now on. Returns its place, and its state if a lease was kept before.
    pub fn want(
        &mut self,
        pair: AddressPair,
        named: bool,
        now_ns: u64,
    ) -> (PairPlace, Option<LeaseState>) {
        let look = self.look;
        if let Some((place, peer)) = self.peer_mut(&pair) {
            let sooner = named && !peer.named && peer.next_ns > now_ns + ASK_NS;
            peer.named = named;
            peer.look = look;
            let state = peer.lease.state;
            if sooner {
                self.ask_at(place, now_ns);
            }
            return (PairPlace(place), Some(state));
        }
        let place = self.peers.insert(LeasePeer::new(pair, named, look, now_ns));
        self.places.insert(pair, place);
        self.due.insert((now_ns, place));
        (PairPlace(place), None)
    }

    /// Goes on with what an earlier daemon learned of this pair's path.
    pub fn adopt(&mut self, pair: &AddressPair, known: &PathProof) {
        if let Some((_, peer)) = self.peer_mut(pair) {
            peer.proof.adopt(known);
            peer.lease.proof = *known;
        }
    }

    /// Sets the address that questions about this pair are sent from, if it is not the packets' source address.
    pub fn set_origin(&mut self, pair: &AddressPair, origin: IpAddr) {
        if let Some((_, peer)) = self.peer_mut(pair) {
            peer.origin = origin;
        }
    }

    /// Sets whether packets go to a pair's destination.
    pub fn set_idle(&mut self, PairPlace(place): PairPlace, idle: bool, now_ns: u64) {
        let Some(peer) = self.peers.get_mut(place) else {
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
            for asked in &peer.out {
                self.out.remove(&asked.nonce);
            }
            self.probing.forget(place);
        }
    }

    /// Forgets the pairs that were not wanted since the last call, and returns them.
    pub fn forget_unwanted(&mut self, now_ns: u64) -> Vec<AddressPair> {
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
        let pairs = self.peers.iter().map(|(_, peer)| peer);
        let loads = pairs.map(|peer| (peer.proof.is_busy(now_ns), peer.idle));
        self.busy_ns = RenewalPace::busy_ns(loads);
        unwanted
    }

    /// Forgets all pairs and all questions.
    pub fn clear(&mut self) {
        self.peers.clear();
        self.places.clear();
        self.due.clear();
        self.out.clear();
        self.probing = Probing::default();
    }

    /// The pairs that leases are kept for.
    pub fn pairs(&self) -> impl Iterator<Item = &AddressPair> {
        self.places.keys()
    }

    pub fn lease(&self, pair: &AddressPair) -> Option<&Lease> {
        let place = *self.places.get(pair)?;
        self.peers.get(place).map(|peer| &peer.lease)
    }

    /// The time of the next question.
    pub fn next_ns(&self) -> Option<u64> {
        self.due.first().map(|(when, _)| *when)
    }

    /// Returns the next question that is due, if there is one. Asking may show that a sink is silent.
    pub fn next_due(
        &mut self,
        now_ns: u64,
        at: AskingTime,
    ) -> Option<(AddressPair, OutgoingQuestion)> {
        self.begin_rounds(now_ns);
        let (_, place) = *self.due.first().filter(|(when, _)| *when <= now_ns)?;
        self.due.pop_first();
        let peer = self.peers.get_mut(place)?;
        // An answer to a question that old grants nothing any more.
        while let Some(oldest) = peer.out.front()
            && now_ns.saturating_sub(oldest.asked_ns) >= LEASE_NS
        {
            self.out.remove(&oldest.nonce);
            peer.out.pop_front();
        }
        peer.note_silence(now_ns);
        let kind = peer.renewals.kind(peer.needs_full(), now_ns);
        // An answer moves the next question to a later time.
        let again_ns = now_ns + peer.wait_for_answer_ns();
        peer.next_ns = match peer.lease.state {
            LeaseState::Granted => again_ns,
            _ => together(again_ns),
        };
        self.due.insert((peer.next_ns, place));
        self.ask(place, kind, now_ns, at)
    }

    fn ask(
        &mut self,
        place: usize,
        kind: QuestionKind,
        now_ns: u64,
        at: AskingTime,
    ) -> Option<(AddressPair, OutgoingQuestion)> {
        let nonce = (self.random)();
        let peer = self.peers.get_mut(place)?;
        let asked = Asked {
            nonce,
            kind,
            asked_ns: now_ns,
            at,
            round: peer.proof.round_id(),
        };
        let message = asked.encode(&peer.pair, peer.origin, &self.ours, self.key);
        peer.out.push_back(asked);
        self.out.insert(nonce, place);
        let to = peer.pair.dest;
        Some((peer.pair, OutgoingQuestion { to, message }))
    }

    /// Begins the rounds of probes that may begin now: their sinks are told first.
    fn begin_rounds(&mut self, now_ns: u64) {
        let Self {
            probing,
            peers,
            ours,
            random,
            ..
        } = self;
        let begin = || probing.begin(peers, ours, random, now_ns);
        let begun: Vec<usize> = std::iter::from_fn(begin).collect();
        if !begun.is_empty() {
            self.strays_until_ns = now_ns + STRAYS_NS;
        }
        for place in begun {
            self.ask_at(place, now_ns);
        }
    }

    /// Returns the next probe to be sent now, if there is one.
    pub fn next_probe(&mut self, now_ns: u64) -> Option<OutgoingProbe> {
        let Self {
            probing,
            peers,
            ours,
            key,
            ..
        } = self;
        let (place, probe, last) = probing.next(peers, ours, *key, now_ns)?;
        if last && let Some(ask_ns) = self.peers.get(place)?.urgent_ns(now_ns) {
            self.ask_by(place, ask_ns);
        }
        Some(probe)
    }

    /// Notes the length of the packet that a long probe was sent in. Without it, no limit is known.
    pub fn note_length(&mut self, probe: &OutgoingProbe, len: u16) {
        if let Some((_, peer)) = self.peer_mut(&probe.pair()) {
            peer.proof.note_length(probe.packet.probe.form, len);
        }
    }

    /// Takes the kernel's counts of a pair. Returns the lease if it changed.
    pub fn note_counts(
        &mut self,
        PairPlace(place): PairPlace,
        counts: &LeaseCounts,
        now_ns: u64,
    ) -> Option<LeaseUpdate> {
        let peer = self.peers.get_mut(place)?;
        let before = peer.lease.proof;
        if peer.lease.state != LeaseState::Granted {
            return None;
        }
        let was_busy = peer.proof.is_busy(now_ns);
        let ask = peer.proof.note_kernel(counts, before.ways, now_ns);
        if !was_busy && peer.proof.is_busy(now_ns) {
            self.ask_by(place, now_ns + self.busy_ns);
        }
        if !ask {
            return None;
        }
        let peer = self.peers.get_mut(place)?;
        peer.lease.proof = peer.proof.known(&self.ours);
        let update = LeaseUpdate {
            pair: peer.pair,
            lease: peer.lease,
            changed: true,
            silent: false,
            exchange: None,
        };
        self.ask_by(place, now_ns);
        (update.lease.proof.ways != before.ways).then_some(update)
    }

    /// True while probes are to be sent, or a round waits to begin.
    pub fn is_probing(&self) -> bool {
        self.probing.is_busy()
    }

    /// The routes of these pairs changed: their paths are proved again, a minute after their last proof at the earliest.
    pub fn doubt_paths(&mut self, concerns: impl Fn(&AddressPair) -> bool, now_ns: u64) {
        let concerned = self.peers.iter_mut().map(|(_, peer)| peer);
        for peer in concerned.filter(|peer| concerns(&peer.pair)) {
            peer.proof.doubt(now_ns);
        }
    }
}
