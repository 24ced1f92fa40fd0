//! The probes of all pairs: rounds begin, and probes leave, as the budget allows.

use std::collections::VecDeque;

use slab::Slab;

use super::budget::Budget;
use super::pace::strays_every_ns;
use super::peer::LeasePeer;
use super::verdict::{OwnTagging, Tagging};
use crate::model::{
    AddressPair, Encapsulation, LeaseKey, LeaseProbe, LeaseState, ProbeForm, ProbeForms,
};
use crate::wire::lease::probe_packet::ProbePacket;

/// Bytes of a short probe with all its headers, over IPv6, and of a long one.
const SHORT_BYTES: u64 = 180;
const LONG_BYTES: u64 = 1600;
/// Long probes of a form in a round.
const LONG_PROBES: u64 = 4;

/// The most waiting rounds that are looked at in one turn.
const LOOKED_AT: usize = 64;

/// A probe to be sent.
#[derive(Clone, Copy, Debug)]
pub struct OutgoingProbe {
    pub packet: ProbePacket,
    /// The port that the sink takes as the extension port.
    pub extension_port: u16,
    /// It is as long as the path allows, and at most this long; 0: it is short.
    pub longest: u16,
    pub key: LeaseKey,
}

/// The rounds that wait to begin, and those whose probes are to be sent.
#[derive(Default)]
pub(super) struct Probing {
    waiting: VecDeque<usize>,
    sending: VecDeque<usize>,
    /// The pairs whose rounds have not ended.
    open: Vec<usize>,
    budget: Budget,
}

/// Bytes of all probes of these forms.
fn bytes_of(forms: ProbeForms) -> u64 {
    let of = |form| match form {
        ProbeForm::Stray => u64::from(form.probes()) * SHORT_BYTES,
        _ => u64::from(form.probes()) * SHORT_BYTES + LONG_PROBES * LONG_BYTES,
    };
    forms.iter().map(of).sum()
}

impl Probing {
    /// Lets the pair at this place begin a round when it is its turn.
    pub(super) fn want(&mut self, place: usize) {
        if !self.waiting.contains(&place) {
            self.waiting.push_back(place);
        }
    }

    /// Lets the probes that the pair at this place has queued leave.
    pub(super) fn send(&mut self, place: usize) {
        if !self.sending.contains(&place) {
            self.sending.push_back(place);
        }
    }

    pub(super) fn forget(&mut self, place: usize) {
        self.waiting.retain(|at| *at != place);
        self.sending.retain(|at| *at != place);
        self.open.retain(|at| *at != place);
    }

    /// True if probes are to be sent, or a round waits to begin.
    pub(super) fn is_busy(&self) -> bool {
        !self.waiting.is_empty() || !self.sending.is_empty()
    }

    /// True while the rounds of some pairs have not ended.
    pub(super) fn has_open(&self) -> bool {
        !self.open.is_empty()
    }

    /// Begins the next round that may begin now. Returns its place: its sink is to be told of it.
    pub(super) fn begin(
        &mut self,
        peers: &mut Slab<LeasePeer>,
        ours: &OwnTagging,
        random: &mut dyn FnMut() -> u64,
        now_ns: u64,
    ) -> Option<usize> {
        self.end_rounds(peers);
        let every_ns = strays_every_ns(peers.len());
        let mut at = 0;
        while at < LOOKED_AT {
            let place = *self.waiting.get(at)?;
            let forms = match peers.get(place) {
                Some(peer) if peer.lease.state == LeaseState::Granted => {
                    peer.proof.due(ours, every_ns, now_ns)
                }
                _ => ProbeForms::NONE,
            };
            if !forms.is_empty() && self.is_sink_busy(peers, place) {
                at += 1;
                continue;
            }
            if !forms.is_empty() && !self.budget.take(bytes_of(forms), now_ns) {
                return None;
            }
            self.waiting.remove(at);
            if let Some(peer) = peers.get_mut(place).filter(|_| !forms.is_empty()) {
                peer.proof.begin(random() | 1, forms, now_ns);
                self.open.push(place);
                return Some(place);
            }
        }
        None
    }

    /// Forgets the rounds that have ended. A peer that went silent takes part in none.
    fn end_rounds(&mut self, peers: &mut Slab<LeasePeer>) {
        self.open.retain(|place| {
            let Some(peer) = peers.get_mut(*place) else {
                return false;
            };
            if peer.lease.state != LeaseState::Granted {
                peer.proof.break_off();
            }
            peer.proof.is_open()
        });
    }

    /// True if a round of the same two hosts is open: a sink notes the probes of one round for each source address,
    /// and may be in front of many destinations.
    fn is_sink_busy(&self, peers: &Slab<LeasePeer>, place: usize) -> bool {
        let hosts = |place: usize| {
            let peer = peers.get(place)?;
            Some((peer.pair.source, peer.proof.sink()?))
        };
        let wanted = hosts(place);
        self.open.iter().any(|open| hosts(*open) == wanted)
    }

    /// Returns the next probe that may leave now, and its place; true if it is the last one for now.
    pub(super) fn next(
        &mut self,
        peers: &mut Slab<LeasePeer>,
        ours: &OwnTagging,
        key: LeaseKey,
        now_ns: u64,
    ) -> Option<(usize, OutgoingProbe, bool)> {
        loop {
            let place = *self.sending.front()?;
            let queued = peers
                .get_mut(place)
                .and_then(|peer| Some((peer.proof.next_probe()?, peer)));
            let Some((next, peer)) = queued else {
                self.sending.pop_front();
                continue;
            };
            let bytes = match next.longest {
                0 => SHORT_BYTES,
                _ => LONG_BYTES,
            };
            // The first sending was paid for when the round began.
            if peer.proof.is_sent_again() && !self.budget.take(bytes, now_ns) {
                return None;
            }
            let sent = sent_with(ours, next.form);
            let probe = OutgoingProbe {
                packet: ProbePacket {
                    probe: LeaseProbe {
                        form: next.form,
                        number: next.number,
                        tos: match next.form {
                            ProbeForm::OverUdp => sent.marks.tos_value,
                            ProbeForm::IntMd => sent.int_tos_value,
                            _ => 0,
                        },
                        round: peer.proof.round_id(),
                    },
                    source: peer.pair.source,
                    dest: peer.pair.dest,
                    node: ours.node,
                    entries: entries(ours),
                    is_back: false,
                },
                extension_port: sent.marks.extension_port,
                longest: next.longest,
                key,
            };
            let last = peer.proof.sent(now_ns, peer.lease.rtt_ns.into());
            return Some((place, probe, last));
        }
    }
}

/// The entries for which data in ioam has room at the most.
fn entries(ours: &OwnTagging) -> u8 {
    let mut all = ours.tagging.iter();
    all.find(|sent| sent.explicit == Some(Encapsulation::Ioam))
        .map_or(0, |sent| sent.max_hops)
}

/// The tagging of data in this form.
fn sent_with(ours: &OwnTagging, form: ProbeForm) -> Tagging {
    let mut all = ours.tagging.iter();
    let chosen = all.find(|sent| sent.explicit.is_some() && sent.explicit == form.encapsulation());
    let sent = chosen.or(ours.tagging.first());
    sent.copied().unwrap_or_default()
}

impl OutgoingProbe {
    /// The addresses of the pair whose path it probes.
    pub fn pair(&self) -> AddressPair {
        AddressPair {
            source: self.packet.source,
            dest: self.packet.dest,
        }
    }
}
