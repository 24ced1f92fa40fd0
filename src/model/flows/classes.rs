//! The class of traffic that a flow belongs to, by the rules of the watchlist.

use std::collections::HashMap;
use std::net::IpAddr;

use crate::model::{FlowKey, RuleHost, SeededHash, WatchAction, WatchRule};

/// The classifier remembers the classes of this many flows.
const REMEMBERED: usize = 65_536;

/// The rules of a watchlist that names classes; empty if no rule names one.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Classes(Vec<WatchRule>);

/// The number by which the kernel half knows a class, never 0: a hash of its name, so that it is the same in every list.
pub fn class_number(name: &str) -> u32 {
    const OFFSET: u32 = 0x811c_9dc5;
    const PRIME: u32 = 0x0100_0193;
    let step = |hash: u32, byte| (hash ^ u32::from(byte)).wrapping_mul(PRIME);
    name.bytes().fold(OFFSET, step).max(1)
}

/// Finds classes, and remembers those of the flows that it has seen.
#[derive(Clone, Debug, Default)]
pub struct Classifier {
    classes: Classes,
    known: HashMap<FlowKey, Option<usize>, SeededHash>,
}

/// The length of the longest of these prefixes that has the address. An empty list matches every address.
fn longest(places: &[RuleHost], addr: IpAddr) -> Option<u8> {
    if places.is_empty() {
        return Some(0);
    }
    let prefixes = places.iter().flat_map(|place| &place.prefixes);
    let own = prefixes.filter(|prefix| prefix.contains(addr));
    own.map(|prefix| prefix.len()).max()
}

/// If the rule matches the flow, the length of the destination prefix that it names. DSCP and interface are ignored,
/// because a flow does not show them.
fn fits(rule: &WatchRule, flow: &FlowKey) -> Option<u8> {
    let mut protocols = rule.protocols.iter().map(|transport| transport.protocol());
    let mut from_ports = rule.from_ports.iter();
    let mut to_ports = rule.to_ports.iter();
    let fits = (rule.protocols.is_empty() || protocols.any(|one| one == flow.protocol))
        && (rule.from_ports.is_empty() || from_ports.any(|ports| ports.contains(flow.sport)))
        && (rule.to_ports.is_empty() || to_ports.any(|ports| ports.contains(flow.dport)))
        && longest(&rule.from, flow.src).is_some();
    longest(&rule.to, flow.dst).filter(|_| fits)
}

impl Classes {
    /// Keeps no rules unless one of them names a class.
    pub fn new(rules: &[WatchRule]) -> Self {
        if rules.iter().any(|rule| rule.class.is_some()) {
            Self(rules.to_vec())
        } else {
            Self::default()
        }
    }

    /// The classes that rules name, repeated as often as rules repeat them.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.iter().filter_map(|rule| rule.class.as_deref())
    }

    /// The class of the rule that decides about the flow.
    pub fn class_of(&self, flow: &FlowKey) -> Option<&str> {
        self.named(self.deciding(flow)?)
    }

    fn named(&self, number: usize) -> Option<&str> {
        let watching = |rule: &&WatchRule| rule.action == WatchAction::Watch;
        let rule = self.0.get(number).filter(watching)?;
        rule.class.as_deref()
    }

    fn deciding(&self, flow: &FlowKey) -> Option<usize> {
        let fitting = self
            .0
            .iter()
            .enumerate()
            .filter_map(|(number, rule)| Some((number, rule, fits(rule, flow)?)));
        let (number, ..) = fitting.min_by_key(|(_, rule, len)| rule.rank(*len))?;
        Some(number)
    }
}

impl Classifier {
    pub fn new(classes: Classes) -> Self {
        Self {
            classes,
            known: HashMap::default(),
        }
    }

    /// Like [`Classes::class_of`], but remembers the answer.
    pub fn class_of(&mut self, flow: Option<FlowKey>) -> Option<&str> {
        let flow = flow.filter(|_| !self.classes.0.is_empty())?;
        if self.known.len() >= REMEMBERED {
            self.known.clear();
        }
        let classes = &self.classes;
        let number = *self
            .known
            .entry(flow)
            .or_insert_with(|| classes.deciding(&flow));
        classes.named(number?)
    }
}
