//! Lease messages: a full question and a short one, and their answers.

use std::net::IpAddr;

use crate::model::{
    Capabilities, ClockState, ClockSteering, LeaseAnswer, Marks, NodeId, ProbeForm,
};

/// A source's full question.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct FullQuestion {
    pub nonce: u64,
    pub flow_source: IpAddr,
    /// The address that the question itself is sent from; it is part of the authentication tag.
    pub origin: IpAddr,
    /// The source's clock when it asked, since the Unix epoch.
    pub asked_ns: u64,
    pub source_node: NodeId,
    /// What the source may send.
    pub capabilities: Capabilities,
    /// The round of the source's probes; 0: none.
    pub round: u64,
}

/// A source's short question: it renews a lease while nothing has changed.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct ShortQuestion {
    pub nonce: u64,
    /// The source address of the packets to be tagged, which the question has to be sent from.
    pub origin: IpAddr,
}

/// What every answer tells: the second witness, beside the question's echo, that tagged packets arrive.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct LeaseWitness {
    /// Tagged packets reach the sink's host where no sink strips them: there is no lease.
    pub astray: bool,
    /// The counts are withheld: there is no key, and the question came from another address than the
    /// packets do.
    pub untold: bool,
    /// The sink's budget has room for one flow in two to the power of this.
    pub asked_shift: u8,
    /// It changes with any answer that a short message has no room for.
    pub digest: u32,
    /// Packets that the sink stripped since the grant began, in the order of `Encapsulation::COUNTED`. They wrap.
    pub stripped: [u32; 3],
    /// Sequence numbers declared lost since the grant began, less those that arrived later. They wrap.
    pub lost: u32,
    /// The sink's clock when it answered, since the Unix epoch.
    pub answered_ns: u64,
}

/// A sink's answer to a full question.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct FullAnswer {
    pub witness: LeaseWitness,
    /// Distinguishes two hosts that share a node id.
    pub instance: u64,
    pub node: NodeId,
    /// What the sink can read.
    pub capabilities: Capabilities,
    pub marks: Marks,
    pub clock: ClockState,
    pub clock_steering: ClockSteering,
    pub mtu: u16,
    pub tai_offset_s: i16,
    /// Major and minor version of hostint.
    pub software: (u8, u8),
    /// Bit n: probe n of the round arrived; by the place of the form.
    pub arrived: [u128; ProbeForm::PLACES],
    /// Bits of the ToS byte that the path changed in some probe of the round, by the place of the form.
    pub tos_changed: [u8; ProbeForm::PLACES],
}

impl FullAnswer {
    /// The part of the answer that is kept.
    pub fn summary(&self) -> LeaseAnswer {
        LeaseAnswer {
            instance: self.instance,
            node: self.node,
            encapsulations: self.capabilities.encapsulations(),
            marks: self.marks,
            clock: self.clock,
            mtu: self.mtu,
            tai_offset_s: self.tai_offset_s,
            software: self.software,
            answered_ns: self.witness.answered_ns,
        }
    }
}

/// An echo reply to a full question.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct FullEcho {
    pub nonce: u64,
    pub asked_ns: u64,
    /// `None` if no sink wrote an answer into the message.
    pub answer: Option<FullAnswer>,
}

/// An echo reply to a short question.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct ShortEcho {
    pub nonce: u64,
    /// `None` if no sink wrote an answer into the message.
    pub answer: Option<LeaseWitness>,
}
