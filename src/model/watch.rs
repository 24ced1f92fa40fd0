//! The watchlist: rules that say which packets a source tags.

use std::cmp::Reverse;
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::{Dest, Prefix, Transport};

/// The priority of a rule that names none.
pub const DEFAULT_PRIORITY: u16 = 100;

/// What becomes of packets that a rule is about.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum WatchAction {
    /// Never tagged; wins over watch at the same priority.
    Exclude,
    /// Tagged.
    #[default]
    Watch,
}

/// Addresses that a rule is about: as the user wrote them, and what that means now.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct Place {
    /// A name, an address or a prefix.
    pub text: String,
    /// Empty: a name that is not resolved (yet); nothing lies there.
    pub prefixes: Vec<Prefix>,
}

/// Ports from the first to the last.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(try_from = "String", into = "String")]
pub struct PortRange {
    first: u16,
    last: u16,
}

/// Why a text is no range of ports.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
pub enum BadPortRange {
    #[error("not a port or range of ports (write for instance 443 or 8000-8099)")]
    Syntax,
    #[error("the first port of the range is above the last")]
    Descending,
}

/// A rule. Of a list a packet needs to fit one entry; an empty list fits all packets.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
pub struct WatchRule {
    /// A name for the traffic, which reports and metrics carry.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub class: Option<String>,
    #[serde(default)]
    pub action: WatchAction,
    /// Of the rules that fit a packet, the one with the highest decides.
    pub priority: u16,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub from: Vec<Place>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub to: Vec<Place>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub protocols: Vec<Transport>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub from_ports: Vec<PortRange>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub to_ports: Vec<PortRange>,
    /// DSCP values, 0 to 63.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub dscp: Vec<u8>,
    /// Interfaces that packets leave by.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub devs: Vec<String>,
    /// Tagged whether a sink answers or not.
    #[serde(default, skip_serializing_if = "is_false", rename = "static")]
    pub fixed: bool,
    /// One flow in so many is watched; 0 and 1: all.
    #[serde(default, skip_serializing_if = "is_all")]
    pub one_flow_in: u32,
    /// One packet in so many is tagged; 0 and 1: all.
    #[serde(default, skip_serializing_if = "is_all")]
    pub one_packet_in: u32,
    /// Named in the config file, not by `hostint source add-dest`.
    #[serde(default, skip_serializing_if = "is_false")]
    pub from_file: bool,
}

#[allow(clippy::trivially_copy_pass_by_ref)] // serde calls it so
fn is_false(flag: &bool) -> bool {
    !*flag
}

#[allow(clippy::trivially_copy_pass_by_ref)] // serde calls it so
fn is_all(one_in: &u32) -> bool {
    *one_in <= 1
}

impl PortRange {
    /// # Errors
    /// If the first is above the last.
    pub fn new(first: u16, last: u16) -> Result<Self, BadPortRange> {
        if first > last {
            return Err(BadPortRange::Descending);
        }
        Ok(Self { first, last })
    }

    pub fn first(self) -> u16 {
        self.first
    }

    pub fn last(self) -> u16 {
        self.last
    }

    pub fn contains(self, port: u16) -> bool {
        (self.first..=self.last).contains(&port)
    }
}

impl FromStr for PortRange {
    type Err = BadPortRange;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let port = |text: &str| text.trim().parse().map_err(|_| BadPortRange::Syntax);
        match text.split_once('-') {
            Some((first, last)) => Self::new(port(first)?, port(last)?),
            None => port(text).and_then(|only| Self::new(only, only)),
        }
    }
}

impl TryFrom<String> for PortRange {
    type Error = BadPortRange;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse()
    }
}

impl From<PortRange> for String {
    fn from(range: PortRange) -> Self {
        range.to_string()
    }
}

impl fmt::Display for PortRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.first == self.last {
            return self.first.fmt(f);
        }
        write!(f, "{}-{}", self.first, self.last)
    }
}

impl WatchRule {
    /// Of the rules that fit a packet, the one with the least decides, and the first of those that have the same;
    /// `to_len`: how many bits of the packet's destination it names.
    pub fn rank(&self, to_len: u8) -> impl Ord + use<> {
        (
            Reverse(self.priority),
            self.action,
            Reverse(to_len),
            !self.fixed,
        )
    }

    /// A destination to watch, as `hostint source add-dest` adds it.
    pub fn of_dest(place: Place, fixed: bool) -> Self {
        Self {
            priority: DEFAULT_PRIORITY,
            to: vec![place],
            fixed,
            ..Self::default()
        }
    }

    /// The prefixes whose packets are watched, whatever else they are; none if the rule asks for more.
    pub fn dests(&self) -> impl Iterator<Item = Dest> {
        let simple = Self {
            class: self.class.clone(),
            priority: self.priority,
            to: self.to.clone(),
            fixed: self.fixed,
            from_file: self.from_file,
            ..Self::default()
        };
        let places = if *self == simple { &self.to[..] } else { &[] };
        places.iter().flat_map(|place| {
            place.prefixes.iter().map(|prefix| Dest {
                prefix: *prefix,
                name: place.text.clone(),
                fixed: self.fixed,
            })
        })
    }
}
