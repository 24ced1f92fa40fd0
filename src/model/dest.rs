//! A destination of the watchlist.

use super::Prefix;

/// Packets to it are tagged.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub struct Dest {
    pub prefix: Prefix,
    /// As the user gave it.
    pub name: String,
    /// Tagged whether a sink answers or not.
    pub fixed: bool,
}
