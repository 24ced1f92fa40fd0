//! Reverse probes: the host of a sink shows which address its packets arrive from, and a source looks.
//!
//! A router that translates addresses in one direction does so to packets that begin a conversation. It sees no beginning
//! of one in a tunnel, so it would translate what its other end sends outside of the tunnel. Probes from the source's side
//! do not show that.
//!
//! A question has its answer already, of the same length, and its source address may be another host's. So each reverse
//! probe is paid for by a probe of the round that arrived since the last one: it is as long at least, and nothing else
//! answers it. A round that is forgotten and announced again is paid for anew, so a table that strangers fill costs only
//! reverse probes that are not sent.

use std::collections::VecDeque;
use std::net::IpAddr;

use super::keeper::LeaseKeeper;
use super::replies::LeaseUpdate;
use crate::wire::lease::reverse::{self, AnsweredRound, REVERSE_LEN};

/// Most rounds that are watched at once.
const MOST_ROUNDS: usize = 256;
/// A round is watched for this time.
const WATCHED_NS: u64 = 2_000_000_000;
/// Most reverse probes in a round: any of them tells all.
const MOST_PROBES: u8 = 3;

/// A reverse probe to be sent.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct OutgoingReverseProbe {
    pub from: IpAddr,
    pub to: IpAddr,
    pub message: [u8; REVERSE_LEN],
}

struct AnnouncedRound {
    round: u64,
    prober: IpAddr,
    from: IpAddr,
    to: IpAddr,
    /// The number of probes that had arrived when the round was announced, or when a reverse probe was paid for.
    counted: u32,
    sent: u8,
    until_ns: u64,
}

/// Rounds that sources announced to this host's sink, oldest first.
#[derive(Default)]
pub(super) struct AnnouncedRounds(VecDeque<AnnouncedRound>);

impl AnnouncedRounds {
    fn note(&mut self, answered: &AnsweredRound, from: IpAddr, to: IpAddr, now_ns: u64) {
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

    /// Returns the rounds of which further probes arrived, with the addresses of their reverse probes.
    fn take_paid(
        &mut self,
        now_ns: u64,
        mut arrived: impl FnMut(IpAddr, u64) -> u32,
    ) -> Vec<(u64, IpAddr, IpAddr)> {
        self.0.retain(|one| now_ns < one.until_ns);
        let mut paid = Vec::new();
        for one in self.0.iter_mut().filter(|one| one.sent < MOST_PROBES) {
            let now = arrived(one.prober, one.round);
            if now > one.counted {
                one.counted = now;
                one.sent += 1;
                paid.push((one.round, one.from, one.to));
            }
        }
        paid
    }
}

impl LeaseKeeper {
    /// Notes the round that a question names, if this host's sink answered it. The question went from `from` to `to`.
    pub fn note_question(&mut self, question: &[u8], from: IpAddr, to: IpAddr, now_ns: u64) {
        if let Some(answered) = reverse::answered_round(question, self.key) {
            self.announced.note(&answered, from, to, now_ns);
        }
    }

    /// True while rounds are watched that may pay for reverse probes.
    pub fn watches_rounds(&self) -> bool {
        !self.announced.0.is_empty()
    }

    /// Returns the reverse probes that are paid for now. `arrived` tells how many probes of a round from an address this
    /// host's sink has noted.
    pub fn reverse_probes(
        &mut self,
        now_ns: u64,
        arrived: impl FnMut(IpAddr, u64) -> u32,
    ) -> Vec<OutgoingReverseProbe> {
        let key = self.key;
        let paid = self.announced.take_paid(now_ns, arrived);
        let probe = |(round, from, to)| OutgoingReverseProbe {
            from,
            to,
            message: reverse::encode(round, from, to, key),
        };
        paid.into_iter().map(probe).collect()
    }

    /// Takes a reverse probe that arrived from this address. Returns an update if it opens or closes forms. A probe that
    /// does not arrive proves nothing: not every sink is on the host that it is in front of.
    pub fn take_reverse_probe(&mut self, payload: &[u8], from: IpAddr) -> Option<LeaseUpdate> {
        let round = reverse::decode_round(payload).ok()?;
        let mut peers = self.peers.iter_mut().map(|(_, peer)| peer);
        let peer = peers.find(|peer| peer.proof.reverse.is_last_round(round))?;
        let dest = peer.pair.dest;
        if !reverse::was_sent_with(payload, dest, peer.origin, self.key) {
            return None;
        }
        peer.proof.note_reverse(from != dest);
        let before = peer.lease.proof.ways;
        peer.lease.proof = peer.proof.known(&self.ours);
        let update = LeaseUpdate {
            pair: peer.pair,
            lease: peer.lease,
            changed: true,
            vouched: None,
            silent: false,
            exchange: None,
        };
        (update.lease.proof.ways != before).then_some(update)
    }
}
