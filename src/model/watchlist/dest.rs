//! A destination of the watchlist.

use crate::model::Prefix;

/// Packets to this prefix are tagged.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub struct Dest {
    pub prefix: Prefix,
    /// The name, address or prefix that the user gave.
    pub name: String,
    /// Packets are tagged whether or not a sink answers.
    pub fixed: bool,
}
