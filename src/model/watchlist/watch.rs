//! The watchlist: rules that select the packets a source tags.

use std::cmp::Reverse;
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::model::{Dest, Prefix, Transport};

/// The priority of a rule that sets none.
pub const DEFAULT_PRIORITY: u16 = 100;

/// The action on packets that a rule matches.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum WatchAction {
    /// Never tagged; wins over watch at the same priority.
    Exclude,
    /// Tagged.
    #[default]
    Watch,
}

/// What a rule is for.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum WatchPurpose {
    /// Packets that a source tags.
    Int,
    /// Packets that are timed through the host.
    Postcards,
    /// Connections whose state is reported.
    Tcp,
}

impl WatchPurpose {
    /// All purposes, by their names in the config file.
    pub const EACH: [(&str, Self); 3] = [
        ("int", Self::Int),
        ("postcards", Self::Postcards),
        ("tcp", Self::Tcp),
    ];
}

/// Addresses that a rule matches: the text the user wrote, and its current meaning.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct RuleHost {
    /// A name, an address or a prefix.
    pub text: String,
    /// Empty if the name is not resolved (yet); then the rule matches nothing.
    pub prefixes: Vec<Prefix>,
}

/// Ports from `first` to `last`, both included.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(try_from = "String", into = "String")]
pub struct PortRange {
    first: u16,
    last: u16,
}

/// Why a text is not a range of ports.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
pub enum BadPortRange {
    #[error("not a port or range of ports (write for instance 443 or 8000-8099)")]
    Syntax,
    #[error("the first port of the range is above the last")]
    Descending,
}

/// A rule. A packet must match one entry of each list; an empty list matches all packets.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
pub struct WatchRule {
    /// A name for the traffic, which reports and metrics carry.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub class: Option<String>,
    #[serde(default)]
    pub action: WatchAction,
    /// Of the rules that match a packet, the one with the highest priority decides.
    pub priority: u16,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub from: Vec<RuleHost>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub to: Vec<RuleHost>,
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
    /// Packets are tagged whether or not a sink answers.
    #[serde(default, skip_serializing_if = "is_false", rename = "static")]
    pub fixed: bool,
    /// One in this many flows is watched; 0 and 1 mean all.
    #[serde(default, skip_serializing_if = "is_all")]
    pub one_flow_in: u32,
    /// One in this many packets is tagged; 0 and 1 mean all.
    #[serde(default, skip_serializing_if = "is_all")]
    pub one_packet_in: u32,
    /// Flows are tagged whatever the budget.
    #[serde(default, skip_serializing_if = "is_false")]
    pub always: bool,
    /// The rule comes from the config file, not from `hostint source add-dest`.
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
    /// If the first port is above the last.
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
    /// The rule's rank: of the rules that match a packet, the one with the lowest rank decides, and of equal ranks the
    /// first rule. `to_len` is the length of the destination prefix that matched.
    pub fn rank(&self, to_len: u8) -> impl Ord + use<> {
        (
            Reverse(self.priority),
            self.action,
            Reverse(to_len),
            !self.fixed,
        )
    }

    /// A destination to watch, as `hostint source add-dest` adds it.
    pub fn of_dest(place: RuleHost, fixed: bool) -> Self {
        Self {
            priority: DEFAULT_PRIORITY,
            to: vec![place],
            fixed,
            ..Self::default()
        }
    }

    /// The prefixes whose packets are all watched; none if the rule has further conditions.
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
