//! Leases: what a source asks, what a sink answers, and what the source knows after it.

use std::net::{IpAddr, Ipv4Addr};

use serde::Serialize;

use super::{ClockState, Encapsulation, NodeId};

/// The addresses that packets of a lease go from and to.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct AddressPair {
    pub source: IpAddr,
    pub dest: IpAddr,
}

/// The key of lease messages; none set is all zeros.
#[derive(Clone, Copy, Default, Eq, PartialEq)]
pub struct LeaseKey(pub [u8; 16]);

impl std::fmt::Debug for LeaseKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("LeaseKey(secret)")
    }
}

/// A set of encapsulations.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Encapsulations(u8);

impl Encapsulations {
    fn bit(of: Encapsulation) -> u8 {
        match of {
            Encapsulation::OverTcpUdp => 1,
            Encapsulation::ExtensionUdp => 2,
            Encapsulation::VxlanGpe => 8,
        }
    }

    /// From the bits of a lease answer; others are left out.
    pub fn from_bits(bits: u8) -> Self {
        let known = Encapsulation::ALL
            .into_iter()
            .fold(0, |all, one| all | Self::bit(one));
        Self(bits & known)
    }

    pub fn bits(self) -> u8 {
        self.0
    }

    pub fn with(self, one: Encapsulation) -> Self {
        Self(self.0 | Self::bit(one))
    }

    pub fn contains(self, one: Encapsulation) -> bool {
        self.0 & Self::bit(one) != 0
    }

    /// Those of these that `others` lacks.
    pub fn iter_without(self, others: Self) -> impl Iterator<Item = Encapsulation> {
        Encapsulation::ALL
            .into_iter()
            .filter(move |one| self.contains(*one) && !others.contains(*one))
    }
}

/// The marks that tell tagged packets from others. DSCP at its place in the ToS byte.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Marks {
    pub tos_value: u8,
    pub tos_mask: u8,
    pub extension_port: u16,
}

/// A source's question: may packets from this address be tagged?
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct LeaseQuestion {
    pub nonce: u64,
    pub flow_source: IpAddr,
    /// Where the question itself is sent from. Not written, but part of the tag: NAT on the way spoils it.
    pub origin: IpAddr,
    /// The source's clock, since the Unix epoch.
    pub asked_ns: u64,
    pub source_node: NodeId,
}

/// A sink's answer: they are stripped here, in this form.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct LeaseAnswer {
    /// Tells two hosts apart that have one node id.
    pub instance: u64,
    pub node: NodeId,
    pub encapsulations: Encapsulations,
    pub marks: Marks,
    pub clock: ClockState,
    pub mtu: u16,
    pub tai_offset_s: i16,
    /// Major and minor version of hostint.
    pub software: (u8, u8),
    /// The sink's clock, since the Unix epoch.
    pub answered_ns: u64,
}

/// What came back.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct LeaseEcho {
    pub nonce: u64,
    pub asked_ns: u64,
    /// `None`: no sink wrote one.
    pub answer: Option<LeaseAnswer>,
}

/// Whether a source may tag, and why not.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum LeaseState {
    /// Not answered yet.
    #[default]
    Asking,
    Granted,
    /// Answers ceased, or never came.
    Silent,
    /// The host answers, but no sink stands before it.
    NoSink,
    /// The answer's tag is wrong: the keys differ, or somebody forges.
    Forged,
    /// The sink does not recognise an encapsulation that is sent.
    Encapsulation,
    /// Other DSCP mark or extension port.
    Mark,
    /// The sink has this host's node id.
    OwnNode,
    /// Another sink has this node id, too.
    Duplicate {
        addr: IpAddr,
    },
}

impl LeaseState {
    /// All states; `addr` is that of a sink with the same node id.
    pub fn all(addr: IpAddr) -> [Self; 9] {
        [
            Self::Asking,
            Self::Granted,
            Self::Silent,
            Self::NoSink,
            Self::Forged,
            Self::Encapsulation,
            Self::Mark,
            Self::OwnNode,
            Self::Duplicate { addr },
        ]
    }

    /// The names of all states.
    pub fn names() -> impl Iterator<Item = &'static str> {
        let all = Self::all(IpAddr::V4(Ipv4Addr::UNSPECIFIED));
        all.into_iter().map(Self::name)
    }

    /// Its name in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::Asking => "asking",
            Self::Granted => "granted",
            Self::Silent => "silent",
            Self::NoSink => "no_sink",
            Self::Forged => "forged",
            Self::Encapsulation => "encapsulation",
            Self::Mark => "mark",
            Self::OwnNode => "own_node",
            Self::Duplicate { .. } => "duplicate",
        }
    }
}

/// What a source knows of the sink before a destination. `*_ns` of this host are monotonic.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Lease {
    pub state: LeaseState,
    /// Packets are tagged until then.
    pub until_ns: u64,
    pub answered_ns: u64,
    /// The last answer.
    pub answer: Option<LeaseAnswer>,
    pub rtt_ns: u32,
    pub offset: Option<ClockOffset>,
}

/// How far another host's clock is ahead of ours.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize)]
pub struct ClockOffset {
    pub offset_ns: i64,
    /// Give or take: half of the round trip that it was measured in.
    pub error_ns: u64,
}
