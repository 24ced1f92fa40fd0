//! Classes of values that all rules treat alike: ports, DSCP and protocol, source addresses, interfaces.

use std::collections::{BTreeSet, HashMap};

use crate::datapath::abi::{watch_limit, watch_test};
use crate::model::{PortRange, Prefix, Transport, WatchRule};

const PORTS: usize = watch_limit::WATCH_PORTS.0 as usize;
const TRAFFIC: usize = watch_limit::WATCH_TRAFFIC.0 as usize;

/// The tests of a packet after its destination, in this order.
pub const TESTS: [watch_test; 5] = [
    watch_test::WATCH_BY_FROM,
    watch_test::WATCH_BY_TRAFFIC,
    watch_test::WATCH_BY_DEV,
    watch_test::WATCH_BY_TO_PORT,
    watch_test::WATCH_BY_FROM_PORT,
];

/// The classes of a test that match a rule; `None` if all values match.
type Fitting = Option<Vec<u32>>;

/// The classes that match each rule in each test, for packets of one IP version.
pub struct RuleClasses {
    /// By rule, then by test.
    rules: Vec<[Fitting; TESTS.len()]>,
    /// The prefixes of source addresses. A prefix's class is its index plus 1.
    pub from: Vec<Prefix>,
    to_ports: PortClasses,
    from_ports: PortClasses,
    traffic: TrafficClasses,
}

/// The first port of each class, ascending.
struct PortClasses(Vec<u16>);

impl PortClasses {
    fn new<'a>(ranges: impl Iterator<Item = &'a PortRange>) -> Self {
        let mut starts = BTreeSet::from([0]);
        for range in ranges {
            starts.insert(range.first());
            starts.extend(range.last().checked_add(1));
        }
        Self(starts.into_iter().collect())
    }

    fn class_of(&self, port: u16) -> u32 {
        self.0.partition_point(|start| *start <= port) as u32 - 1
    }

    fn fitting(&self, ranges: &[PortRange]) -> Fitting {
        if ranges.is_empty() {
            return None;
        }
        let mut classes = BTreeSet::new();
        for range in ranges {
            classes.extend(self.class_of(range.first())..=self.class_of(range.last()));
        }
        (classes.len() < self.0.len()).then(|| classes.into_iter().collect())
    }
}

/// The class of each DSCP value, first for UDP, then for TCP.
struct TrafficClasses(Vec<u32>);

fn fits_traffic(rule: &WatchRule, value: usize) -> bool {
    let transport = if value < TRAFFIC / 2 {
        Transport::Udp
    } else {
        Transport::Tcp
    };
    let dscp = (value % (TRAFFIC / 2)) as u8;
    (rule.protocols.is_empty() || rule.protocols.contains(&transport))
        && (rule.dscp.is_empty() || rule.dscp.contains(&dscp))
}

impl TrafficClasses {
    fn new(rules: &[WatchRule]) -> Self {
        let mut seen = BTreeSet::new();
        let different: Vec<&WatchRule> = rules
            .iter()
            .filter(|rule| seen.insert((&rule.protocols, &rule.dscp)))
            .collect();
        let mut classes = HashMap::new();
        let class_of = |value| {
            let fitting: Vec<bool> = different
                .iter()
                .map(|rule| fits_traffic(rule, value))
                .collect();
            let next = classes.len() as u32;
            *classes.entry(fitting).or_insert(next)
        };
        Self((0..TRAFFIC).map(class_of).collect())
    }

    fn fitting(&self, rule: &WatchRule) -> Fitting {
        let values: Vec<usize> = (0..TRAFFIC)
            .filter(|value| fits_traffic(rule, *value))
            .collect();
        let classes: BTreeSet<u32> = values.iter().map(|value| self.0[*value]).collect();
        (values.len() < TRAFFIC).then(|| classes.into_iter().collect())
    }
}

/// Iterates over the prefixes of a rule's addresses.
pub fn prefixes(places: &[crate::model::RuleHost]) -> impl Iterator<Item = Prefix> {
    places
        .iter()
        .flat_map(|place| place.prefixes.iter().copied())
}

/// Returns the classes of those prefixes in `all`, which is sorted, that lie within one of the rule's prefixes. An
/// address belongs to the class of its longest prefix.
fn fitting_places(all: &[Prefix], rule: &WatchRule, is_ipv4: bool) -> Fitting {
    if rule.from.is_empty() {
        return None;
    }
    let mut classes = BTreeSet::new();
    for prefix in prefixes(&rule.from).filter(|prefix| prefix.addr().is_ipv4() == is_ipv4) {
        if prefix.is_empty() {
            return None;
        }
        let first = all.partition_point(|other| *other < prefix);
        let within = all[first..]
            .iter()
            .take_while(|other| prefix.covers(**other));
        classes.extend((first..).zip(within).map(|(index, _)| index as u32 + 1));
    }
    Some(classes.into_iter().collect())
}

impl RuleClasses {
    /// Sorts values into classes. `index_of` returns an interface's index, if the interface exists.
    pub fn new(
        rules: &[WatchRule],
        is_ipv4: bool,
        index_of: &impl Fn(&str) -> Option<u32>,
    ) -> Self {
        let from: BTreeSet<Prefix> = rules
            .iter()
            .flat_map(|rule| prefixes(&rule.from))
            .filter(|prefix| prefix.addr().is_ipv4() == is_ipv4)
            .collect();
        let from: Vec<Prefix> = from.into_iter().collect();
        let to_ports = PortClasses::new(rules.iter().flat_map(|rule| &rule.to_ports));
        let from_ports = PortClasses::new(rules.iter().flat_map(|rule| &rule.from_ports));
        let traffic = TrafficClasses::new(rules);
        let asked = |rule: &WatchRule| {
            let devs: BTreeSet<u32> = rule.devs.iter().filter_map(|dev| index_of(dev)).collect();
            [
                fitting_places(&from, rule, is_ipv4),
                traffic.fitting(rule),
                (!rule.devs.is_empty()).then(|| devs.into_iter().collect()),
                to_ports.fitting(&rule.to_ports),
                from_ports.fitting(&rule.from_ports),
            ]
        };
        Self {
            rules: rules.iter().map(asked).collect(),
            from,
            to_ports,
            from_ports,
            traffic,
        }
    }

    /// Returns the classes that match this rule in a test, given by its place in [`TESTS`]; `None` if all match.
    pub fn fitting(&self, rule: usize, test: usize) -> Option<&[u32]> {
        self.rules[rule][test].as_deref()
    }

    /// Returns the number of tests up to the last one that this rule needs.
    pub fn tests_end(&self, rule: usize) -> usize {
        self.rules[rule]
            .iter()
            .rposition(Option::is_some)
            .map_or(0, |last| last + 1)
    }

    /// Returns the kernel half's table of classes: by port, then by protocol and DSCP.
    pub fn table(&self) -> Vec<u32> {
        (0..PORTS)
            .map(|port| {
                let port = port as u16;
                self.to_ports.class_of(port) | self.from_ports.class_of(port) << 16
            })
            .chain(self.traffic.0.iter().copied())
            .collect()
    }
}
