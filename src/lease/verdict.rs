//! The verdict on an answer: it grants a lease if the sink recognises this host's tagging and has a node id of its own.

use std::net::IpAddr;

use super::nodes::NodeHolders;
use crate::model::{Encapsulation, Encapsulations, LeaseAnswer, LeaseState, Marks, NodeId};

/// The tagging of one interface's packets.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Tagging {
    pub encapsulations: Encapsulations,
    pub marks: Marks,
}

/// This host's node id, and the tagging of its interfaces.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct OwnTagging {
    pub node: NodeId,
    pub tagging: Vec<Tagging>,
}

pub(super) fn judge(
    ours: &OwnTagging,
    nodes: &mut NodeHolders,
    answer: &LeaseAnswer,
    addr: IpAddr,
    now_ns: u64,
) -> LeaseState {
    if answer.node == ours.node {
        return LeaseState::OwnNode;
    }
    if let Err(addr) = nodes.claim(answer.node, answer.instance, addr, now_ns) {
        return LeaseState::Duplicate { addr };
    }
    for sent in &ours.tagging {
        let has = |one| sent.encapsulations.contains(one);
        if sent
            .encapsulations
            .iter_without(answer.encapsulations)
            .next()
            .is_some()
        {
            return LeaseState::Encapsulation;
        }
        let (mine, theirs) = (&sent.marks, &answer.marks);
        let same_mark = (mine.tos_value, mine.tos_mask) == (theirs.tos_value, theirs.tos_mask);
        let same_port = mine.extension_port == theirs.extension_port;
        if has(Encapsulation::OverTcpUdp) && !same_mark
            || has(Encapsulation::ExtensionUdp) && !same_port
        {
            return LeaseState::Mark;
        }
    }
    LeaseState::Granted
}
