//! The verdict on an answer: it grants a lease if the sink recognises this host's tagging and has a node id of its own.

use std::net::IpAddr;

use super::nodes::NodeHolders;
use crate::model::{
    Encapsulation, Encapsulations, FullAnswer, LeaseAnswer, LeaseState, Marks, NodeId,
};

/// The tagging of one interface's packets.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Tagging {
    /// The encapsulations that packets may go in.
    pub encapsulations: Encapsulations,
    pub marks: Marks,
    /// The encapsulation that the user chose; without one, the source takes one that passes the path.
    pub explicit: Option<Encapsulation>,
    /// Transit hops for which there is room.
    pub max_hops: u8,
    /// The ToS byte that marks int-md packets; 0: there are none.
    pub int_tos_value: u8,
    /// Packets with that mark are in INT-MX.
    pub is_mx: bool,
}

/// This host's node id, and the tagging of its interfaces.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct OwnTagging {
    pub node: NodeId,
    pub tagging: Vec<Tagging>,
}

/// Judges an answer. Where the user chose no encapsulation, one that the sink recognises is enough.
pub(super) fn judge(
    ours: &OwnTagging,
    nodes: &mut NodeHolders,
    answer: &FullAnswer,
    addr: IpAddr,
    now_ns: u64,
) -> LeaseState {
    if answer.witness.astray {
        return LeaseState::Astray;
    }
    let answer = answer.summary();
    let refused = judge_node(ours, nodes, &answer, addr, now_ns).or_else(|| {
        let mut sent = ours.tagging.iter();
        sent.find_map(|sent| match sent.explicit {
            Some(Encapsulation::Ioam) | None => judge_choice(sent, &answer),
            Some(_) => judge_tagging(sent, sent.encapsulations, &answer),
        })
    });
    refused.unwrap_or(LeaseState::Granted)
}

/// Returns the reason why the sink's node id is not its own.
pub(super) fn judge_node(
    ours: &OwnTagging,
    nodes: &mut NodeHolders,
    answer: &LeaseAnswer,
    addr: IpAddr,
    now_ns: u64,
) -> Option<LeaseState> {
    if answer.node == ours.node {
        return Some(LeaseState::OwnNode);
    }
    let claimed = nodes.claim(answer.node, answer.instance, addr, now_ns);
    claimed.err().map(|addr| LeaseState::Duplicate { addr })
}

/// Returns the reason why the sink does not recognise packets in all of these encapsulations.
fn judge_tagging(
    sent: &Tagging,
    encapsulations: Encapsulations,
    answer: &LeaseAnswer,
) -> Option<LeaseState> {
    let has = |one| encapsulations.contains(one);
    let mut unknown = encapsulations.iter_without(answer.encapsulations);
    if unknown.next().is_some() {
        return Some(LeaseState::Encapsulation);
    }
    let (mine, theirs) = (&sent.marks, &answer.marks);
    let same_mark = (mine.tos_value, mine.tos_mask) == (theirs.tos_value, theirs.tos_mask);
    let same_port = mine.extension_port == theirs.extension_port;
    let differs = has(Encapsulation::OverTcpUdp) && !same_mark
        || has(Encapsulation::ExtensionUdp) && !same_port;
    differs.then_some(LeaseState::Mark)
}

/// Returns the reason why the sink recognises neither of the encapsulations that are chosen by themselves.
fn judge_choice(sent: &Tagging, answer: &LeaseAnswer) -> Option<LeaseState> {
    let only = |one| Encapsulations::default().with(one);
    let refused = judge_tagging(sent, only(Encapsulation::VxlanGpe), answer);
    refused.and_then(|_| judge_tagging(sent, only(Encapsulation::ExtensionUdp), answer))
}
