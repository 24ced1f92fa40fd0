//! An IPv4 prefix of destinations.

use std::fmt;
use std::net::Ipv4Addr;
use std::str::FromStr;

/// Addresses that begin with the same bits.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Prefix {
    addr: Ipv4Addr,
    len: u8,
}

/// Why a text is no prefix.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
pub enum BadPrefix {
    #[error("not an IPv4 address or prefix")]
    Syntax,
    #[error("prefix length above 32")]
    Length,
    #[error("the address has bits beyond the prefix length")]
    HostBits,
}

impl Prefix {
    /// # Errors
    /// If the length is above 32 or the address has bits beyond it.
    pub fn new(addr: Ipv4Addr, len: u8) -> Result<Self, BadPrefix> {
        if len > 32 {
            return Err(BadPrefix::Length);
        }
        let mask = u32::MAX.checked_shl(32 - u32::from(len)).unwrap_or(0);
        if addr.to_bits() & !mask != 0 {
            return Err(BadPrefix::HostBits);
        }
        Ok(Self { addr, len })
    }

    /// One address.
    pub fn host(addr: Ipv4Addr) -> Self {
        Self { addr, len: 32 }
    }

    pub fn addr(self) -> Ipv4Addr {
        self.addr
    }

    /// How many bits count.
    pub fn len(self) -> u8 {
        self.len
    }

    /// True for the prefix of all addresses.
    pub fn is_empty(self) -> bool {
        self.len == 0
    }
}

impl FromStr for Prefix {
    type Err = BadPrefix;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (addr, len) = match text.split_once('/') {
            Some((addr, len)) => (addr, len.parse().map_err(|_| BadPrefix::Syntax)?),
            None => (text, 32),
        };
        Self::new(addr.parse().map_err(|_| BadPrefix::Syntax)?, len)
    }
}

impl fmt::Display for Prefix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.len == 32 {
            return self.addr.fmt(f);
        }
        write!(f, "{}/{}", self.addr, self.len)
    }
}
