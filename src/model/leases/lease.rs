//! Leases: a source's question, a sink's answer, and the state that follows from it at the source.

use std::net::{IpAddr, Ipv4Addr};

use crate::model::{ClockState, Encapsulation, NodeId, PathProof};

/// The addresses that packets of a lease go from and to.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct AddressPair {
    pub source: IpAddr,
    pub dest: IpAddr,
}

/// The key of lease messages; all zeros if there is none.
#[derive(Clone, Copy, Default, Eq, PartialEq)]
pub struct LeaseKey(pub [u8; 16]);

impl std::fmt::Debug for LeaseKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("LeaseKey(secret)")
    }
}

/// A set of encapsulations.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Encapsulations(u16);

impl Encapsulations {
    fn bit(of: Encapsulation) -> u16 {
        match of {
            Encapsulation::OverTcpUdp => 1,
            Encapsulation::ExtensionUdp => 2,
            Encapsulation::VxlanGpe => 8,
            Encapsulation::IntMd => 256,
            Encapsulation::Ioam => 512,
            Encapsulation::Options => 1024,
        }
    }

    /// The set that the kernel keeps as these bits.
    pub fn from_bits(bits: u16) -> Self {
        Self(bits)
    }

    pub fn bits(self) -> u16 {
        self.0
    }

    pub fn with(self, one: Encapsulation) -> Self {
        Self(self.0 | Self::bit(one))
    }

    pub fn contains(self, one: Encapsulation) -> bool {
        self.0 & Self::bit(one) != 0
    }

    /// The encapsulations of this set that the other lacks.
    pub fn iter_without(self, others: Self) -> impl Iterator<Item = Encapsulation> {
        Encapsulation::ALL
            .into_iter()
            .filter(move |one| self.contains(*one) && !others.contains(*one))
    }
}

/// The marks that distinguish tagged packets from others. DSCP values are those of the whole ToS byte.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Marks {
    pub tos_value: u8,
    pub tos_mask: u8,
    pub extension_port: u16,
}

/// What is kept of a sink's answer: this host's packets are stripped, in these forms.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct LeaseAnswer {
    /// Distinguishes two hosts that share a node id.
    pub instance: u64,
    pub node: NodeId,
    pub encapsulations: Encapsulations,
    pub marks: Marks,
    pub clock: ClockState,
    pub mtu: u16,
    pub tai_offset_s: i16,
    /// Major and minor version of hostint.
    pub software: (u8, u8),
    /// The sink's clock when it answered, since the Unix epoch.
    pub answered_ns: u64,
}

/// Whether a source may tag, or why it may not.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum LeaseState {
    /// No answer yet.
    #[default]
    Asking,
    Granted,
    /// Answers stopped, or never came.
    Silent,
    /// The host answers, but there is no sink in front of it.
    NoSink,
    /// The answer's tag is wrong: the keys differ, or the answer is forged.
    Forged,
    /// The sink does not recognise an encapsulation that the source uses.
    Encapsulation,
    /// The sink expects another DSCP mark or extension port.
    Mark,
    /// The sink uses this host's node id.
    OwnNode,
    /// Another sink uses this node id too.
    Duplicate {
        addr: IpAddr,
    },
    /// Tagged packets reach the sink's host where no sink strips them.
    Astray,
}

impl LeaseState {
    /// All states; `addr` is the address of a sink with the same node id.
    pub fn all(addr: IpAddr) -> [Self; 10] {
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
            Self::Astray,
        ]
    }

    /// The names of all states.
    pub fn names() -> impl Iterator<Item = &'static str> {
        let all = Self::all(IpAddr::V4(Ipv4Addr::UNSPECIFIED));
        all.into_iter().map(Self::name)
    }

    /// The state's name in JSON.
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
            Self::Astray => "astray",
        }
    }
}

/// The source's knowledge about the sink in front of a destination. Times of this host are monotonic.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Lease {
    pub state: LeaseState,
    /// Packets are tagged until this time.
    pub until_ns: u64,
    pub answered_ns: u64,
    /// The last answer.
    pub answer: Option<LeaseAnswer>,
    pub rtt_ns: u32,
    pub clock: Option<SinkClock>,
    pub proof: PathProof,
}

/// The kernel's counts of a lease. Only the kernel half changes them.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct LeaseCounts {
    /// Packets tagged, in the order of `Encapsulation::COUNTED`.
    pub tagged: [u64; 3],
    /// Flows that went untagged because their tagged packets came to nothing.
    pub fallen: u64,
    /// A bit for each short turn in which a packet was tagged that the sink would have counted at once.
    pub unseen_turns: u32,
}

/// A sink's clock against this host's raw clock (CLOCK_MONOTONIC_RAW) when its newest answer was received.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct SinkClock {
    pub raw_ns: u64,
    /// The distance by which it was ahead, as it is estimated.
    pub ahead_ns: i64,
    /// The true distance is less than that by this at most.
    pub less_ns: u64,
    /// The true distance is more than that by this at most.
    pub more_ns: u64,
    /// The two clocks drift apart by this at most, in ppb.
    pub drift_ppb: u32,
}
