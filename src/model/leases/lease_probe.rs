//! Probes of a lease's path: packets of hostint's own, in each form that data can have.

use crate::model::Encapsulation;

/// The form of a probe.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum ProbeForm {
    /// INT over UDP, with the mark.
    OverUdp,
    /// INT after an extra UDP header.
    Extension,
    /// INT in VXLAN-GPE, with an inner UDP packet.
    Gpe,
    /// A plain packet of no conversation: it passes where conversations survive that go in a tunnel in part.
    Stray,
    /// INT-MD over UDP, with the mark of INT-MD.
    IntMd,
    /// IOAM in hop-by-hop options, and UDP.
    Ioam,
    /// A datagram with an option of UDP.
    Options,
}

impl ProbeForm {
    /// Probes of one form in a round: their ports meet all of 8 paths with a probability of 99.9 %.
    pub const PROBES: u8 = 72;
    /// Probes of [`Self::Stray`] in a round: whether a firewall drops them does not depend on their ports.
    const STRAYS: u8 = 24;
    /// Strays that a sink's host sends back have the first of these numbers: of each kind, one with ACK, one with SYN and
    /// ACK, and a datagram, there are as many.
    pub const STRAYS_BACK: u8 = 12;

    /// All forms, each at the place of its number in messages.
    pub const ALL: [Self; 7] = [
        Self::OverUdp,
        Self::Extension,
        Self::Gpe,
        Self::Stray,
        Self::IntMd,
        Self::Ioam,
        Self::Options,
    ];

    /// Forms with a place of their own in answers. Arrivals of [`Self::Ioam`] and [`Self::Options`] have that of
    /// [`Self::OverUdp`]: no round has probes of two of them.
    pub const PLACES: usize = 5;

    /// The form's number in messages, and its place in [`Self::ALL`].
    pub fn number(self) -> u8 {
        match self {
            Self::OverUdp => 0,
            Self::Extension => 1,
            Self::Gpe => 2,
            Self::Stray => 3,
            Self::IntMd => 4,
            Self::Ioam => 5,
            Self::Options => 6,
        }
    }

    pub fn from_number(number: u8) -> Option<Self> {
        let mut all = Self::ALL.into_iter();
        all.find(|form| form.number() == number)
    }

    /// The place of its arrivals in answers.
    pub fn place(self) -> usize {
        match self {
            Self::Ioam | Self::Options => Self::OverUdp.place(),
            form => usize::from(form.number()),
        }
    }

    /// Number of probes of this form in a round.
    pub fn probes(self) -> u8 {
        match self {
            Self::Stray => Self::STRAYS,
            _ => Self::PROBES,
        }
    }

    /// The encapsulation that probes of this form stand for.
    pub fn encapsulation(self) -> Option<Encapsulation> {
        match self {
            Self::OverUdp => Some(Encapsulation::OverTcpUdp),
            Self::Extension => Some(Encapsulation::ExtensionUdp),
            Self::Gpe => Some(Encapsulation::VxlanGpe),
            Self::IntMd => Some(Encapsulation::IntMd),
            Self::Stray => None,
            Self::Ioam => Some(Encapsulation::Ioam),
            Self::Options => Some(Encapsulation::Options),
        }
    }
}

/// The payload of a probe.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct LeaseProbe {
    pub form: ProbeForm,
    /// The probe's number in its round, which its source port repeats.
    pub number: u8,
    /// ToS byte, or traffic class, of the outermost IP header as it is sent.
    pub tos: u8,
    pub round: u64,
}
