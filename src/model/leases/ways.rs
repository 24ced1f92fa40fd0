//! The ways of a pair of addresses: forms that flows may have, because probes of them passed the path.

use crate::model::interned_name::InternedName;
use crate::model::{Encapsulation, ProbeForm, Transport, TunnelObstacle};

/// A set of forms by protocol.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Ways(u32);

impl Ways {
    pub const NONE: Self = Self(0);
    /// Flows of both protocols.
    const IOAM: Self = Self(256);

    const NAMES: [(Self, InternedName); 10] = [
        (Self(1), "tcp over-tcp-udp"),
        (Self(2), "tcp extension-udp"),
        (Self(4), "tcp vxlan-gpe"),
        (Self(8), "udp over-tcp-udp"),
        (Self(16), "udp extension-udp"),
        (Self(32), "udp vxlan-gpe"),
        (Self(128), "udp int-md"),
        (Self::IOAM, "ioam"),
        (Self(512), "tcp options"),
        (Self(1024), "udp options"),
    ];

    pub fn from_bits(bits: u32) -> Self {
        Self(bits)
    }

    pub fn bits(self) -> u32 {
        self.0
    }

    /// The way of one protocol's flows in this encapsulation.
    pub fn of(transport: Transport, encapsulation: Encapsulation) -> Self {
        let first = match transport {
            Transport::Tcp => 1,
            Transport::Udp => 8,
        };
        Self(match encapsulation {
            Encapsulation::OverTcpUdp => first,
            Encapsulation::ExtensionUdp => first << 1,
            Encapsulation::VxlanGpe => first << 2,
            // TCP goes in int-md to static destinations only.
            Encapsulation::IntMd => match transport {
                Transport::Tcp => 0,
                Transport::Udp => 128,
            },
            Encapsulation::Ioam => Self::IOAM.0,
            Encapsulation::Options => match transport {
                Transport::Tcp => 512,
                Transport::Udp => 1024,
            },
        })
    }

    #[must_use]
    pub fn with(self, others: Self) -> Self {
        Self(self.0 | others.0)
    }

    pub fn contains(self, others: Self) -> bool {
        others.0 != 0 && self.0 & others.0 == others.0
    }

    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// True if some protocol's flows may have this encapsulation.
    pub fn has(self, encapsulation: Encapsulation) -> bool {
        let of = |transport| Self::of(transport, encapsulation);
        self.0 & (of(Transport::Tcp).0 | of(Transport::Udp).0) != 0
    }

    /// The names of the ways, for JSON.
    pub fn names(self) -> Vec<InternedName> {
        let named = Self::NAMES.iter().filter(|(way, _)| self.contains(*way));
        named.map(|(_, name)| *name).collect()
    }
}

/// A set of forms of probes.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct ProbeForms(u8);

impl ProbeForms {
    pub const NONE: Self = Self(0);

    pub fn from_bits(bits: u8) -> Self {
        Self(bits & 0x7f)
    }

    pub fn bits(self) -> u8 {
        self.0
    }

    #[must_use]
    pub fn with(self, form: ProbeForm) -> Self {
        Self(self.0 | 1 << form.number())
    }

    #[must_use]
    pub fn without(self, form: ProbeForm) -> Self {
        Self(self.0 & !(1 << form.number()))
    }

    pub fn contains(self, form: ProbeForm) -> bool {
        self.0 & 1 << form.number() != 0
    }

    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    pub fn iter(self) -> impl Iterator<Item = ProbeForm> {
        let all = ProbeForm::ALL.into_iter();
        all.filter(move |form| self.contains(*form))
    }

    /// The names of the forms, for JSON.
    pub fn names(self) -> Vec<InternedName> {
        self.iter().map(ProbeForm::name).collect()
    }
}

impl FromIterator<ProbeForm> for ProbeForms {
    fn from_iter<I: IntoIterator<Item = ProbeForm>>(forms: I) -> Self {
        forms.into_iter().fold(Self::NONE, Self::with)
    }
}

impl ProbeForm {
    /// The form's name in status: that of its encapsulation.
    pub fn name(self) -> InternedName {
        match self.encapsulation() {
            Some(encapsulation) => encapsulation.name(),
            None => "stray packets",
        }
    }

    /// The form whose probes stand for this encapsulation.
    pub fn of(encapsulation: Encapsulation) -> Self {
        match encapsulation {
            Encapsulation::OverTcpUdp => Self::OverUdp,
            Encapsulation::ExtensionUdp => Self::Extension,
            Encapsulation::VxlanGpe => Self::Gpe,
            Encapsulation::IntMd => Self::IntMd,
            Encapsulation::Ioam => Self::Ioam,
            Encapsulation::Options => Self::Options,
        }
    }
}

/// The source's knowledge about the path of a pair's tagged packets.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct PathProof {
    pub ways: Ways,
    /// Forms whose probes did not arrive, or not on every path.
    pub eaten: ProbeForms,
    /// Bits of the ToS byte that the path changes.
    pub tos_changed: u8,
    /// The longest packet, with INT, that passes the path in all of its ways; 0: no limit is known.
    pub longest: u16,
    /// Entries that the sink reads in a metadata stack, the source's included; 0: it reads no other than that one.
    pub stack: u8,
    /// The sink reads entries of transit hops without a queue, too.
    pub reads_items: bool,
    /// Superpackets of UDP in vxlan-gpe reach the sink segment by segment.
    pub udp_superpackets: bool,
    /// A daemon on the sink's host reads and echoes TCP option 114.
    pub option_114: bool,
    /// Until then the sink's counts show that tagged packets arrive.
    pub vouched_ns: u64,
    /// The end of the last round of probes; 0: none ended yet.
    pub proved_ns: u64,
    /// A form was given up because flows in it came to nothing; it is probed again later.
    pub distrusted: bool,
    /// Without a key, the sink tells this host nothing about packets of the pair's address, so nothing can be proved.
    pub untold: bool,
    /// The sink's budget has room for one flow in two to the power of this.
    pub asked_shift: u8,
    /// What keeps packets out of tunnels.
    pub obstacle: TunnelObstacle,
}

impl PathProof {
    /// True until the first round of probes ends.
    pub fn is_open(&self) -> bool {
        self.proved_ns == 0 && !self.untold
    }
}
