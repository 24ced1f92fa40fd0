//! Strays in the reverse direction: the host of a sink shows a source whether what it answers outside of a tunnel arrives.
//!
//! A firewall that saw a question only inside of a tunnel takes the answer for one that no host asked for, and may drop it. A
//! router that translates addresses in one direction would translate it. Probes from the source's side do not show that. So
//! the sink's host sends packets of no conversation: segments in the middle of a connection, answers to SYNs, datagrams.
//!
//! A question has its answer already, of the same length, and its source address may be another host's. So each stray is
//! paid for by a probe of the round that arrived: it is as long at least, and nothing else answers it. A round that is
//! forgotten and announced again is paid for anew, so a table that strangers fill costs only strays that are not sent.

use std::net::IpAddr;

use super::keeper::LeaseKeeper;
use super::probing::OutgoingProbe;
use super::update::LeaseUpdate;
use crate::wire::lease::probe::{self, BACK_MAGIC};
use crate::wire::lease::reverse;

impl LeaseKeeper {
    /// Notes the round that a question names, if this host's sink answered it. The question went from `from` to `to`.
    pub fn note_question(&mut self, question: &[u8], from: IpAddr, to: IpAddr, now_ns: u64) {
        if let Some(answered) = reverse::answered_round(question, self.key) {
            self.announced.note(&answered, from, to, now_ns);
        }
    }

    /// True while rounds are watched that may pay for strays.
    pub fn watches_rounds(&self) -> bool {
        !self.announced.is_empty()
    }

    /// Returns the strays that are paid for now, at most this many. `arrived` tells how many probes of a round from an address
    /// this host's sink has noted.
    pub fn strays_back(
        &mut self,
        now_ns: u64,
        most: usize,
        arrived: impl FnMut(IpAddr, u64) -> u32,
    ) -> Vec<OutgoingProbe> {
        let key = self.key;
        let paid = self.announced.take_paid(now_ns, most, arrived).into_iter();
        let outgoing = |packet| OutgoingProbe {
            packet,
            extension_port: 0,
            longest: 0,
            key,
        };
        paid.map(outgoing).collect()
    }

    /// True while strays from sinks' hosts may arrive.
    pub fn awaits_strays(&self, now_ns: u64) -> bool {
        self.probing.has_open() || now_ns < self.strays_until_ns
    }

    /// Takes a stray that a sink's host sent back, and that arrived from this address. Returns an update if it opens tunnels.
    pub fn take_stray(&mut self, payload: &[u8], from: IpAddr) -> Option<LeaseUpdate> {
        let round = probe::round_of_stray(payload)?;
        let mut peers = self.peers.iter_mut().map(|(_, peer)| peer);
        let peer = peers.find(|peer| peer.proof.back.is_last_round(round))?;
        let dest = peer.pair.dest;
        let stray = probe::decode(payload, BACK_MAGIC, (dest, peer.origin), self.key).ok()?;
        peer.proof.note_back(stray.number, from != dest);
        let before = peer.lease.proof.ways;
        peer.lease.proof = peer.proof.known(&self.ours);
        let update = LeaseUpdate {
            pair: peer.pair,
            lease: peer.lease,
            changed: true,
            silent: false,
            exchange: None,
        };
        (update.lease.proof.ways != before).then_some(update)
    }
}
