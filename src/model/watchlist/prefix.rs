//! A prefix of destinations, IPv4 or IPv6.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// Addresses of one family that begin with the same bits.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Hash, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(try_from = "String", into = "String")]
pub struct Prefix {
    addr: IpAddr,
    len: u8,
}

/// Why a text is not a prefix.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
pub enum BadPrefix {
    #[error("not an IPv4 or IPv6 address or prefix")]
    Syntax,
    #[error("prefix length above 32 (IPv4) or 128 (IPv6)")]
    Length,
    #[error("the address has bits beyond the prefix length")]
    HostBits,
}

/// Number of bits in an address.
fn bits_of(addr: IpAddr) -> u8 {
    match addr {
        IpAddr::V4(_) => 32,
        IpAddr::V6(_) => 128,
    }
}

/// Whether any bit after the first `len` is set.
fn has_bits_beyond(addr: IpAddr, len: u8) -> bool {
    let len = u32::from(len);
    match addr {
        IpAddr::V4(v4) => v4.to_bits().checked_shl(len).unwrap_or(0) != 0,
        IpAddr::V6(v6) => v6.to_bits().checked_shl(len).unwrap_or(0) != 0,
    }
}

impl Prefix {
    /// # Errors
    /// If the length is above that of the address, or the address has bits beyond it.
    pub fn new(addr: impl Into<IpAddr>, len: u8) -> Result<Self, BadPrefix> {
        let addr = addr.into();
        if len > bits_of(addr) {
            return Err(BadPrefix::Length);
        }
        if has_bits_beyond(addr, len) {
            return Err(BadPrefix::HostBits);
        }
        Ok(Self { addr, len })
    }

    /// The prefix of a single address.
    pub fn host(addr: impl Into<IpAddr>) -> Self {
        let addr = addr.into();
        Self {
            addr,
            len: bits_of(addr),
        }
    }

    pub fn addr(self) -> IpAddr {
        self.addr
    }

    /// The prefix's only address, if it has only one.
    pub fn single(self) -> Option<IpAddr> {
        (self.len == bits_of(self.addr)).then_some(self.addr)
    }

    /// Number of leading bits that addresses share.
    pub fn len(self) -> u8 {
        self.len
    }

    /// The prefix of all addresses of this family.
    pub fn whole(self) -> Self {
        self.cut(0)
    }

    /// The prefix of this address with this length, but never longer than the prefix itself.
    pub fn cut(self, len: u8) -> Self {
        let len = len.min(self.len);
        let addr = match self.addr {
            IpAddr::V4(v4) => {
                let kept = u32::MAX.checked_shl(32 - u32::from(len)).unwrap_or(0);
                Ipv4Addr::from_bits(v4.to_bits() & kept).into()
            }
            IpAddr::V6(v6) => {
                let kept = u128::MAX.checked_shl(128 - u32::from(len)).unwrap_or(0);
                Ipv6Addr::from_bits(v6.to_bits() & kept).into()
            }
        };
        Self { addr, len }
    }

    /// Whether the prefix includes all addresses of the other.
    pub fn covers(self, other: Self) -> bool {
        self.len <= other.len && self.contains(other.addr)
    }

    pub fn contains(self, addr: IpAddr) -> bool {
        let differing = match (self.addr, addr) {
            (IpAddr::V4(own), IpAddr::V4(other)) => {
                u128::from(own.to_bits() ^ other.to_bits()) << 96
            }
            (IpAddr::V6(own), IpAddr::V6(other)) => own.to_bits() ^ other.to_bits(),
            _ => return false,
        };
        differing.leading_zeros() >= u32::from(self.len)
    }

    /// Returns what all of its addresses are, if no packet to them is ever tagged.
    pub fn why_untagged(self) -> Option<&'static str> {
        let (bits, is_broadcast) = match self.addr {
            IpAddr::V4(v4) => ([4, 8, 32], v4.is_broadcast()),
            IpAddr::V6(_) => ([8, 128, 128], false),
        };
        let [group, loopback, single] = bits.map(|bits| self.len >= bits);
        if self.addr.is_multicast() && group || is_broadcast {
            Some("a group or broadcast address, whose packets are not tagged")
        } else if self.addr.is_loopback() && loopback {
            Some("a loopback address, which is this host itself")
        } else if self.addr.is_unspecified() && single {
            Some("the address of no host")
        } else {
            None
        }
    }

    /// The prefix of IPv4 addresses that is written in IPv6, as in `::ffff:192.0.2.1`: packets have the address itself.
    fn without_mapping(self) -> Self {
        let mapped = match self.addr {
            IpAddr::V6(v6) => v6.to_ipv4_mapped(),
            IpAddr::V4(_) => None,
        };
        match (mapped, self.len.checked_sub(96)) {
            (Some(v4), Some(len)) => Self {
                addr: v4.into(),
                len,
            },
            _ => self,
        }
    }

    /// True for the prefix of all addresses of a family.
    pub fn is_empty(self) -> bool {
        self.len == 0
    }
}

impl FromStr for Prefix {
    type Err = BadPrefix;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let address = |text: &str| text.parse::<IpAddr>().map_err(|_| BadPrefix::Syntax);
        let prefix = match text.split_once('/') {
            Some((addr, len)) => {
                Self::new(address(addr)?, len.parse().map_err(|_| BadPrefix::Syntax)?)?
            }
            None => Self::host(address(text)?),
        };
        Ok(prefix.without_mapping())
    }
}

impl TryFrom<String> for Prefix {
    type Error = BadPrefix;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse()
    }
}

impl From<Prefix> for String {
    fn from(prefix: Prefix) -> Self {
        prefix.to_string()
    }
}

impl fmt::Display for Prefix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.len == bits_of(self.addr) {
            return self.addr.fmt(f);
        }
        write!(f, "{}/{}", self.addr, self.len)
    }
}
