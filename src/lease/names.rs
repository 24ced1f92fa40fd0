//! Names: beside its lease, a source tells its sink's host its name, and learns that host's name.
//!
//! ```text
//! source:  full answer ─► name, with a receipt of the answer ─►  sink's host
//!                                    name of the sink's host ◄─  if it gave that answer
//! ```
//!
//! A ping is answered anyway, so a name beside its echo would let strangers send twice as much to a forged address as they
//! spend. Therefore a name is answered once for each receipt of a lease answer, which went to that address and holds numbers
//! that cannot be guessed. A name is a label: nothing is decided by it.

use std::collections::HashMap;
use std::net::IpAddr;

use super::keeper::LeaseKeeper;
use crate::model::{AddressPair, LeaseKey, NodeId};
use crate::wire::lease::message::{self, FULL_LEN, LeaseEcho};
use crate::wire::lease::name::{self, NAME_LEN, NameMessage, NameReceipt};

/// A sink's host that answered with its name is told this host's name again after this time.
const AGAIN_NS: u64 = 600_000_000_000;
/// One that did not answer is told again after this time, then after twice as long, and so on: it may be one that knows no
/// names.
const FIRST_RETRY_NS: u64 = 20_000_000_000;
/// A receipt is good for this time.
const RECEIPT_NS: u64 = 5_000_000_000;
/// The most sinks, receipts, and names that wait to be taken.
const MOST: usize = 4_096;

/// This host as it tells itself.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct OwnName {
    pub node: NodeId,
    pub instance: u64,
    /// Empty: it tells no name.
    pub name: String,
}

/// What another host told of itself.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct HeardName {
    pub address: IpAddr,
    pub node: NodeId,
    pub instance: u64,
    /// Empty: it tells no name.
    pub name: String,
}

/// A ping with a name, to be sent.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct OutgoingName {
    pub from: IpAddr,
    pub to: IpAddr,
    pub message: [u8; NAME_LEN],
}

/// The names that this host tells, and those that it was told.
#[derive(Default)]
pub struct NameExchange {
    /// Nothing is told before it is known.
    own: Option<OwnName>,
    /// What this host told the hosts of its sinks.
    sent: HashMap<IpAddr, SentName>,
    /// The newest answer that this host's sink gave to each source, until when it counts.
    receipts: HashMap<IpAddr, (NameReceipt, u64)>,
    heard: Vec<HeardName>,
}

#[derive(Clone, Copy)]
struct SentName {
    receipt: NameReceipt,
    is_answered: bool,
    next_ns: u64,
    retry_ns: u64,
}

impl NameExchange {
    /// Sets what this host tells. A change is told with the next full answers.
    pub fn set_own(&mut self, own: OwnName) {
        if self.own.as_ref() != Some(&own) {
            self.sent.clear();
            self.own = Some(own);
        }
    }

    /// Returns what was told since the last call.
    pub fn take_heard(&mut self) -> Vec<HeardName> {
        std::mem::take(&mut self.heard)
    }

    /// Takes a lease answer that granted a lease for this pair. Returns what its sink's host is to be told, if that is due.
    pub fn note_answer(
        &mut self,
        keeper: &LeaseKeeper,
        payload: &[u8],
        pair: &AddressPair,
        now_ns: u64,
    ) -> Option<OutgoingName> {
        let to = pair.dest;
        let before = self.sent.get(&to).copied();
        if payload.len() != FULL_LEN || before.is_some_and(|sent| now_ns < sent.next_ns) {
            return None;
        }
        let own = self.own.clone()?;
        let from = keeper.origin(pair)?;
        let (receipt, has_daemon) = read_answer(payload, keeper.key)?;
        if !has_daemon || before.is_none() && !self.has_room(now_ns) {
            return None;
        }
        let retry_ns = before.map_or(FIRST_RETRY_NS, |sent| match sent.is_answered {
            true => FIRST_RETRY_NS,
            false => (2 * sent.retry_ns).min(AGAIN_NS),
        });
        let sending = SentName {
            receipt,
            is_answered: false,
            next_ns: now_ns + retry_ns,
            retry_ns,
        };
        self.sent.insert(to, sending);
        Some(outgoing(own, receipt, false, (from, to), keeper.key))
    }

    /// Notes a full question that this host's sink answered, which went from `from` to this host.
    pub fn note_question(
        &mut self,
        keeper: &LeaseKeeper,
        question: &[u8],
        from: IpAddr,
        now_ns: u64,
    ) {
        let Some((receipt, _)) = read_answer(question, keeper.key) else {
            return;
        };
        if self.receipts.len() >= MOST && !self.receipts.contains_key(&from) {
            self.receipts.retain(|_, (_, until_ns)| now_ns < *until_ns);
            if self.receipts.len() >= MOST {
                return;
            }
        }
        self.receipts.insert(from, (receipt, now_ns + RECEIPT_NS));
    }

    /// Takes a name that came from `from` to this host. Returns the answer, if it is to be answered.
    pub fn take(
        &mut self,
        keeper: &LeaseKeeper,
        payload: &[u8],
        (from, to): (IpAddr, IpAddr),
        now_ns: u64,
    ) -> Option<OutgoingName> {
        let message = name::decode(payload, from, to, keeper.key).ok()?;
        let receipt = message.receipt;
        if message.is_answer {
            let sent = self.sent.get_mut(&from)?;
            if sent.is_answered || sent.receipt != receipt {
                return None;
            }
            sent.is_answered = true;
            sent.next_ns = now_ns + AGAIN_NS;
            self.hear(from, message);
            return None;
        }
        let own = self.own.clone()?;
        let (known, until_ns) = *self.receipts.get(&from)?;
        if known != receipt || now_ns >= until_ns {
            return None;
        }
        self.receipts.remove(&from);
        self.hear(from, message);
        Some(outgoing(own, receipt, true, (to, from), keeper.key))
    }

    fn hear(&mut self, address: IpAddr, message: NameMessage) {
        if self.heard.len() < MOST {
            self.heard.push(HeardName {
                address,
                node: message.node,
                instance: message.instance,
                name: message.name,
            });
        }
    }

    /// Forgets the sinks that were not told for long, if there are very many. Returns whether one more has room.
    fn has_room(&mut self, now_ns: u64) -> bool {
        if self.sent.len() >= MOST {
            self.sent.retain(|_, sent| now_ns < sent.next_ns);
        }
        self.sent.len() < MOST
    }
}

fn outgoing(
    own: OwnName,
    receipt: NameReceipt,
    is_answer: bool,
    (from, to): (IpAddr, IpAddr),
    key: LeaseKey,
) -> OutgoingName {
    let message = NameMessage {
        receipt,
        instance: own.instance,
        node: own.node,
        is_answer,
        name: own.name,
    };
    OutgoingName {
        from,
        to,
        message: name::encode(&message, from, to, key),
    }
}

impl LeaseKeeper {
    /// The address that questions about this pair are sent from.
    pub(super) fn origin(&self, pair: &AddressPair) -> Option<IpAddr> {
        let place = *self.places.get(pair)?;
        self.peers.get(place).map(|peer| peer.origin)
    }
}

/// The receipt of a full answer with the key's tag, and whether a daemon runs on the host of the sink that gave it.
fn read_answer(payload: &[u8], key: LeaseKey) -> Option<(NameReceipt, bool)> {
    if payload.len() != FULL_LEN {
        return None;
    }
    let Ok(LeaseEcho::Full(echo)) = message::decode_echo(payload, key) else {
        return None;
    };
    let answer = echo.answer?;
    let receipt = NameReceipt {
        nonce: echo.nonce,
        answered_ns: answer.witness.answered_ns,
    };
    Some((receipt, answer.capabilities.strays()))
}
