//! Capabilities: what a host may send, or what its sink can read, as lease messages of version 2 name it.

use super::{Encapsulation, Encapsulations};

/// A set of capabilities. Bits that this version does not know are kept and mean nothing.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Capabilities(u32);

impl Capabilities {
    fn bit(of: Encapsulation) -> u32 {
        match of {
            Encapsulation::OverTcpUdp => 1,
            Encapsulation::ExtensionUdp => 2,
            Encapsulation::VxlanGpe => 4,
        }
    }

    pub fn from_bits(bits: u32) -> Self {
        Self(bits)
    }

    pub fn bits(self) -> u32 {
        self.0
    }

    /// The encapsulations of this set.
    pub fn encapsulations(self) -> Encapsulations {
        Encapsulation::ALL
            .into_iter()
            .filter(|one| self.0 & Self::bit(*one) != 0)
            .fold(Encapsulations::default(), Encapsulations::with)
    }
}

impl From<Encapsulations> for Capabilities {
    fn from(encapsulations: Encapsulations) -> Self {
        let named = Encapsulation::ALL
            .into_iter()
            .filter(|one| encapsulations.contains(*one));
        Self(named.fold(0, |bits, one| bits | Self::bit(one)))
    }
}
