//! One question after the other for each pair of addresses, and the lease that its answers make.

use std::collections::{BTreeSet, HashMap, VecDeque};
use std::net::IpAddr;

use slab::Slab;

use super::nodes::Nodes;
use super::offsets::Offsets;
use super::verdict::{Ours, judge};
use crate::model::{AddressPair, Lease, LeaseEcho, LeaseKey, LeaseQuestion, LeaseState};
use crate::wire::lease::{self, LeaseError, MESSAGE_LEN};

/// A lease ends so long after the question whose answer granted it: within a second of the sink's end.
const LEASE_NS: u64 = 950_000_000;
/// A sink that grants a lease is asked again so long after the question, sooner if it answers slowly.
const RENEW_NS: u64 = 700_000_000;
/// Of very many sinks each, which leaves less time to ask again.
const RENEW_MANY_NS: u64 = 800_000_000;
const RENEW_AT_ONCE_NS: u64 = 200_000_000;
/// Then, until it answers, again and again: a way that loses half of all packets is the very one to be measured.
const AGAIN_NS: u64 = 20_000_000;
/// What is not urgent is asked at whole multiples of this, so that it goes out together: a question among a hundred
/// finds everything in the CPU's caches, and costs half of one that goes alone.
const TOGETHER_NS: u64 = 100_000_000;
/// One that grants none is asked so often, and one on a way that lost questions of late, for so many renewals.
const ASK_NS: u64 = 400_000_000;
const EARLY_RENEWALS: u32 = 32;
/// Hosts that do not answer, and that no user named, are asked ever less often.
const ASK_AT_LEAST_NS: u64 = 25_600_000_000;
/// So many leases are kept ready; beyond, sinks that no packet goes to are asked so often, and at once when one does.
const READY: usize = 256;
const IDLE_NS: u64 = 5_000_000_000;
/// Without an answer for so long a sink is silent.
const SILENT_NS: u64 = 1_000_000_000;

/// A question to be sent.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Asked {
    pub to: IpAddr,
    pub message: [u8; MESSAGE_LEN],
}

/// What an answer made of a lease.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Taken {
    pub pair: AddressPair,
    pub lease: Lease,
    /// Its state is another than before.
    pub changed: bool,
}

/// When an answer came in.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Received {
    pub monotonic_ns: u64,
    pub realtime_ns: u64,
}

/// The time nearest to this one that others are asked at, too.
fn together(due_ns: u64) -> u64 {
    (due_ns + TOGETHER_NS / 2) / TOGETHER_NS * TOGETHER_NS
}

/// All that is known of a pair. Each answer finds it by its place, without a look at addresses.
struct Peer {
    pair: AddressPair,
    /// The last look at what is wanted that found it.
    look: u64,
    /// The user named the destination: it is asked whether it answers or not.
    named: bool,
    /// No packet went there of late.
    idle: bool,
    /// The address that questions leave from.
    origin: IpAddr,
    /// Unanswered questions, oldest first: nonces, and when they were asked.
    out: VecDeque<(u64, u64)>,
    next_ns: u64,
    interval_ns: u64,
    /// Before that no answer was to be expected.
    listening_since_ns: u64,
    /// Of any answer, a forged one too.
    heard_ns: u64,
    /// Renewals that are asked for early, because questions or answers were lost of late.
    early: u32,
    offsets: Offsets,
    lease: Lease,
}

/// All leases of a host, and the questions that are out.
pub struct Keeper {
    key: LeaseKey,
    ours: Ours,
    peers: Slab<Peer>,
    places: HashMap<AddressPair, usize>,
    /// When who is asked next.
    due: BTreeSet<(u64, usize)>,
    look: u64,
    /// Who was asked, by the nonce of an unanswered question.
    out: HashMap<u64, usize>,
    nodes: Nodes,
    random: Box<dyn FnMut() -> u64>,
}

impl Keeper {
    /// `random` gives nonces that nobody can guess.
    pub fn new(key: LeaseKey, ours: Ours, random: impl FnMut() -> u64 + 'static) -> Self {
        Self {
            key,
            ours,
            peers: Slab::new(),
            places: HashMap::new(),
            due: BTreeSet::new(),
            look: 0,
            out: HashMap::new(),
            nodes: Nodes::default(),
            random: Box::new(random),
        }
    }

    /// What is sent changed: answers are judged by it from now on.
    pub fn set_ours(&mut self, ours: Ours) {
        self.ours = ours;
    }

    pub fn len(&self) -> usize {
        self.peers.len()
    }

    pub fn is_empty(&self) -> bool {
        self.peers.is_empty()
    }

    fn peer_mut(&mut self, pair: &AddressPair) -> Option<(usize, &mut Peer)> {
        let place = *self.places.get(pair)?;
        Some((place, self.peers.get_mut(place)?))
    }

    /// Then, instead of when it was due.
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
        let place = self.peers.insert(Peer {
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
            offsets: Offsets::default(),
            lease: Lease::default(),
        });
        self.places.insert(pair, place);
        self.due.insert((now_ns, place));
    }

    /// Questions about this pair leave this host from another address than its packets.
    pub fn set_origin(&mut self, pair: &AddressPair, origin: IpAddr) {
        if let Some((_, peer)) = self.peer_mut(pair) {
            peer.origin = origin;
        }
    }

    /// Whether packets go there.
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

    /// Asks no more; the lease ends by itself.
    pub fn forget(&mut self, pair: &AddressPair) {
        let place = self.places.remove(pair);
        if let Some((place, peer)) = place.and_then(|at| Some((at, self.peers.try_remove(at)?))) {
            self.due.remove(&(peer.next_ns, place));
            for (nonce, _) in &peer.out {
                self.out.remove(nonce);
            }
        }
    }

    /// Forgets the pairs that nobody wanted since the last call, and tells which.
    pub fn forget_unwanted(&mut self) -> Vec<AddressPair> {
        let peers = self.peers.iter();
        let unwanted = peers.filter(|(_, peer)| peer.look != self.look);
        let pairs: Vec<AddressPair> = unwanted.map(|(_, peer)| peer.pair).collect();
        for pair in &pairs {
            self.forget(pair);
        }
        self.look += 1;
        pairs
    }

    /// Asks nobody any more.
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

    /// Questions are out, or due.
    pub fn is_busy(&self, now_ns: u64) -> bool {
        let due = self.due.first().is_some_and(|(when, _)| *when <= now_ns);
        due || !self.out.is_empty()
    }

    /// The next question that is due, if there is one. Asking may show that a sink is silent.
    pub fn next_due(&mut self, now_ns: u64, realtime_ns: u64) -> Option<(AddressPair, Asked)> {
        let (_, place) = *self.due.first().filter(|(when, _)| *when <= now_ns)?;
        self.due.pop_first();
        let nonce = (self.random)();
        let peer = self.peers.get_mut(place)?;
        // An answer that comes later grants nothing any more.
        while let Some((oldest, asked_ns)) = peer.out.front()
            && now_ns.saturating_sub(*asked_ns) >= LEASE_NS
        {
            self.out.remove(oldest);
            peer.out.pop_front();
        }
        self.out.insert(nonce, place);
        peer.out.push_back((nonce, now_ns));
        let heard_ns = peer.heard_ns.max(peer.listening_since_ns);
        if now_ns.saturating_sub(heard_ns) >= SILENT_NS {
            peer.lease.state = LeaseState::Silent;
        }
        peer.interval_ns = match peer.lease.state {
            // The answer puts the next question off.
            LeaseState::Granted => AGAIN_NS
                .max(u64::from(peer.lease.rtt_ns) * 3 / 2)
                .min(ASK_NS),
            LeaseState::Silent if !peer.named => {
                (peer.interval_ns * 2).clamp(ASK_NS, ASK_AT_LEAST_NS)
            }
            _ => ASK_NS,
        };
        peer.next_ns = match now_ns + peer.interval_ns {
            again_ns if peer.lease.state == LeaseState::Granted => again_ns,
            due_ns => together(due_ns),
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
        Some((
            pair,
            Asked {
                to: pair.dest,
                message,
            },
        ))
    }

    /// An echo reply. `None`: it answers no question of ours.
    pub fn take(&mut self, payload: &[u8], at: Received) -> Option<Taken> {
        let (nonce, echo) = match lease::decode_echo(payload, self.key) {
            Ok(echo) => (echo.nonce, Ok(echo)),
            Err(LeaseError::Forged { nonce }) => (nonce, Err(LeaseState::Forged)),
            Err(LeaseError::Version(_) | LeaseError::Format(_)) => return None,
        };
        let place = *self.out.get(&nonce)?;
        let known = self.peers.len();
        let peer = self.peers.get_mut(place)?;
        let pair = peer.pair;
        let asked_at_ns = peer.out.iter().find(|(asked, _)| *asked == nonce)?.1;
        let state = match echo {
            Err(state) => state,
            Ok(echo) => match echo.answer {
                None => LeaseState::NoSink,
                Some(answer) => {
                    let now_ns = at.monotonic_ns;
                    judge(&self.ours, &mut self.nodes, &answer, pair.dest, now_ns)
                }
            },
        };
        let changed = peer.lease.state != state;
        if let Ok(LeaseEcho {
            answer: Some(answer),
            asked_ns,
            ..
        }) = echo
        {
            let stamps = (asked_ns, answer.answered_ns, at.realtime_ns);
            peer.lease.offset = peer.offsets.note(stamps).or(peer.lease.offset);
        }
        peer.heard_ns = at.monotonic_ns;
        // A forger must not be able to use up the question that the sink will answer.
        if state == LeaseState::Forged {
            peer.lease.state = state;
            let lease = peer.lease;
            return Some(Taken {
                pair,
                lease,
                changed,
            });
        }
        peer.early = match peer.out.front() {
            Some((oldest, _)) if *oldest != nonce && peer.lease.state == LeaseState::Granted => {
                EARLY_RENEWALS
            }
            _ => peer.early.saturating_sub(1),
        };
        // Older questions are answered by this one; newer ones stay open.
        while let Some((answered, _)) = peer.out.pop_front() {
            self.out.remove(&answered);
            if answered == nonce {
                break;
            }
        }
        let newest_ns = peer
            .out
            .back()
            .map_or(asked_at_ns, |(_, asked_ns)| *asked_ns);
        self.due.remove(&(peer.next_ns, place));
        let rtt_ns = at.monotonic_ns.saturating_sub(asked_at_ns);
        let ready = known <= READY;
        let wait_ns = match state {
            LeaseState::Granted if peer.idle && !ready => IDLE_NS,
            LeaseState::Granted if peer.early > 0 => {
                ASK_NS.saturating_sub(2 * rtt_ns).max(RENEW_AT_ONCE_NS)
            }
            LeaseState::Granted => {
                let wait_ns = if ready { RENEW_NS } else { RENEW_MANY_NS };
                wait_ns.saturating_sub(4 * rtt_ns).max(RENEW_AT_ONCE_NS)
            }
            _ => ASK_NS,
        };
        // Sinks that come to be known at once are not asked at once ever after.
        let ended = wait_ns != IDLE_NS && peer.lease.until_ns <= at.monotonic_ns;
        let begins = state == LeaseState::Granted && (changed || ended);
        let earlier_ns = match begins {
            true => nonce % (wait_ns / TOGETHER_NS) * TOGETHER_NS,
            false => 0,
        };
        peer.next_ns = together(newest_ns + wait_ns - earlier_ns).max(at.monotonic_ns);
        if wait_ns == IDLE_NS {
            peer.listening_since_ns = peer.next_ns;
        }
        self.due.insert((peer.next_ns, place));
        peer.lease.answered_ns = at.monotonic_ns;
        peer.lease.answer = echo.ok().and_then(|echo| echo.answer);
        peer.lease.rtt_ns = u32::try_from(rtt_ns).unwrap_or(u32::MAX);
        peer.lease.state = state;
        peer.lease.until_ns = match state {
            LeaseState::Granted => asked_at_ns + LEASE_NS,
            _ => 0,
        };
        let lease = peer.lease;
        Some(Taken {
            pair,
            lease,
            changed,
        })
    }
}
