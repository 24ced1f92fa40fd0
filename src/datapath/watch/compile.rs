//! The compiler of rules: they become nodes and edges, and a packet passes one node for each value that is tested.

use std::collections::{BTreeMap, HashMap};

use super::classes::{RuleClasses, TESTS, prefixes};
use super::places::{PlaceTable, WatchPlace};
use crate::datapath::abi::{watch_flag, watch_limit, watch_node, watch_role, watch_test};
use crate::model::{Prefix, WatchAction, WatchRule, class_number};

/// The most steps of work on one list of rules. Rules that combine in too many ways need more.
const MOST_WORK: usize = 20_000_000;
const MOST_NODES: usize = watch_limit::WATCH_NODES.0 as usize;
const MOST_EDGES: usize = watch_limit::WATCH_EDGES.0 as usize;
const MOST_PLACES: usize = watch_limit::WATCH_PREFIXES.0 as usize;
const TABLES: usize = watch_limit::WATCH_TABLES.0 as usize;

/// Why rules cannot be compiled.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
pub enum TooComplex {
    #[error(
        "the rules need {0} prefixes, including those that lead to longer ones: {MOST_PLACES} are possible"
    )]
    Places(usize),
    #[error(
        "the rules combine in too many ways (try to ask for source addresses or ports in fewer rules of high \
         priority, or give single destinations the higher priority)"
    )]
    Ways,
}

/// A watchlist in the form that the kernel half walks through.
#[derive(Clone, Debug, Default)]
pub struct CompiledWatchlist {
    /// IPv4 destinations, IPv6 destinations, IPv4 sources, IPv6 sources.
    pub tables: [PlaceTable; TABLES],
    /// Packets are judged at these nodes. The first one is not used.
    pub nodes: Vec<watch_node>,
    /// Each edge is a node, a value and the next node.
    pub edges: Vec<(u32, u32, u32)>,
    /// The classes by port, then by protocol and DSCP; empty if no rule tests them.
    pub classes: Vec<u32>,
}

/// A rule's number, with one of its destinations.
#[derive(Clone, Copy)]
struct Atom {
    rule: usize,
    to: Prefix,
}

/// Values, with the nodes that they lead to.
type Branches = Vec<(u32, u32)>;

struct Compiler<'a> {
    rules: &'a [WatchRule],
    classes: RuleClasses,
    /// Sorted by rank: the atom that overrules the others comes first.
    atoms: Vec<Atom>,
    to: Vec<WatchPlace>,
    out: CompiledWatchlist,
    /// Finished nodes, by their first test and the atoms that are left.
    built: HashMap<(usize, Vec<u32>), u32>,
    /// Finished nodes, by test, node for other values, and branches.
    nodes: HashMap<(usize, u32, Branches), u32>,
    /// By flags, sample and number of the class.
    verdicts: HashMap<(u32, u32, u32, u32), u32>,
    work: usize,
}

/// Compiles rules. `index_of` returns an interface's index, if the interface exists.
///
/// # Errors
/// The rules need more room or work than the limits allow.
pub fn compile(
    rules: &[WatchRule],
    index_of: impl Fn(&str) -> Option<u32>,
) -> Result<CompiledWatchlist, TooComplex> {
    let mut out = CompiledWatchlist {
        nodes: vec![watch_node::default()],
        ..CompiledWatchlist::default()
    };
    for any in [
        Prefix::host(std::net::Ipv4Addr::UNSPECIFIED),
        Prefix::host(std::net::Ipv6Addr::UNSPECIFIED),
    ] {
        let is_ipv4 = any.addr().is_ipv4();
        let classes = RuleClasses::new(rules, is_ipv4, &index_of);
        let mut compiler = Compiler {
            to: Vec::new(),
            rules,
            atoms: atoms(rules, any.whole()),
            classes,
            out,
            built: HashMap::new(),
            nodes: HashMap::new(),
            verdicts: HashMap::new(),
            work: 0,
        };
        let from = compiler.compile()?;
        let version = usize::from(!is_ipv4);
        let to = PlaceTable::new(&compiler.to);
        out = compiler.out;
        out.tables[watch_role::WATCH_TO.0 as usize + version] = to;
        out.tables[watch_role::WATCH_FROM.0 as usize + version] = PlaceTable::new(&from);
    }
    let places = out.tables.iter().map(|table| table.entries.len()).sum();
    if places > MOST_PLACES {
        return Err(TooComplex::Places(places));
    }
    Ok(out)
}

fn atoms(rules: &[WatchRule], any: Prefix) -> Vec<Atom> {
    let of_family = |prefix: &Prefix| prefix.addr().is_ipv4() == any.addr().is_ipv4();
    let mut atoms = Vec::new();
    for (rule, asked) in rules.iter().enumerate() {
        if !asked.from.is_empty() && !prefixes(&asked.from).any(|prefix| of_family(&prefix)) {
            continue;
        }
        if asked.to.is_empty() {
            atoms.push(Atom { rule, to: any });
        }
        atoms.extend(
            prefixes(&asked.to)
                .filter(of_family)
                .map(|to| Atom { rule, to }),
        );
    }
    // The sort is stable: rules of equal rank keep their order.
    atoms.sort_by_key(|atom| rules[atom.rule].rank(atom.to.len()));
    atoms
}

/// Merges two ascending lists.
fn merge(a: &[u32], b: &[u32]) -> Vec<u32> {
    let mut merged = Vec::with_capacity(a.len() + b.len());
    merged.extend_from_slice(a);
    merged.extend_from_slice(b);
    merged.sort_unstable();
    merged
}

impl Compiler<'_> {
    /// Fills in all but the places of sources. Returns those if any rule tests them.
    fn compile(&mut self) -> Result<Vec<WatchPlace>, TooComplex> {
        let mut by_prefix: BTreeMap<Prefix, Vec<u32>> = BTreeMap::new();
        for (number, atom) in self.atoms.iter().enumerate() {
            by_prefix.entry(atom.to).or_default().push(number as u32);
        }
        let nodes_before = self.out.nodes.len();
        // Prefixes around the present one, each with its atoms, which longer prefixes inherit, and its place.
        let mut around: Vec<(Prefix, Vec<u32>, WatchPlace)> = Vec::new();
        for (prefix, own) in by_prefix {
            while around
                .last()
                .is_some_and(|(outer, ..)| !outer.covers(prefix))
            {
                around.pop();
            }
            let inherited = around.last().map_or(&[][..], |(_, set, _)| set);
            let set = self.cut(&merge(inherited, &own), 0).to_vec();
            self.do_work(set.len())?;
            let number = self.build(&set, 0)?;
            let place = WatchPlace {
                prefix,
                number,
                flags: self.flags_of(&set, number),
            };
            let same = around.last().is_some_and(|(.., outer)| {
                (outer.number, outer.flags) == (place.number, place.flags)
            });
            if !same {
                self.to.push(place);
            }
            around.push((prefix, set, place));
        }
        let tests = |test: watch_test| {
            let nodes = &self.out.nodes[nodes_before..];
            nodes.iter().any(|node| u32::from(node.test) == test.0)
        };
        if tests(watch_test::WATCH_BY_TRAFFIC)
            || tests(watch_test::WATCH_BY_TO_PORT)
            || tests(watch_test::WATCH_BY_FROM_PORT)
        {
            self.out.classes = self.classes.table();
        }
        if !tests(watch_test::WATCH_BY_FROM) {
            return Ok(Vec::new());
        }
        Ok((1..)
            .zip(&self.classes.from)
            .map(|(number, prefix)| WatchPlace {
                prefix: *prefix,
                number,
                flags: 0,
            })
            .collect())
    }

    fn do_work(&mut self, steps: usize) -> Result<(), TooComplex> {
        self.work += steps;
        let fits = self.out.nodes.len() < MOST_NODES && self.out.edges.len() <= MOST_EDGES;
        if self.work > MOST_WORK || !fits {
            return Err(TooComplex::Ways);
        }
        Ok(())
    }

    /// Cuts off the atoms behind the first one that needs no further test: they are never reached.
    fn cut<'a>(&self, set: &'a [u32], test: usize) -> &'a [u32] {
        let asks_nothing =
            |atom: &u32| self.classes.tests_end(self.atoms[*atom as usize].rule) <= test;
        let end = set
            .iter()
            .position(asks_nothing)
            .map_or(set.len(), |last| last + 1);
        &set[..end]
    }

    /// Returns the node that judges packets by these atoms, from this test on.
    fn build(&mut self, set: &[u32], test: usize) -> Result<u32, TooComplex> {
        let set = self.cut(set, test);
        let asked = |test: &usize| {
            set.iter()
                .map(|atom| self.atoms[*atom as usize].rule)
                .any(|rule| self.classes.fitting(rule, *test).is_some())
        };
        let Some(test) = (test..TESTS.len()).find(asked) else {
            return self.verdict(set.first().copied());
        };
        if let Some(node) = self.built.get(&(test, set.to_vec())) {
            return Ok(*node);
        }
        let mut by_class: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
        let mut any = Vec::new();
        for atom in set {
            match self.classes.fitting(self.atoms[*atom as usize].rule, test) {
                None => any.push(*atom),
                Some(classes) => {
                    self.work += classes.len();
                    for class in classes {
                        by_class.entry(*class).or_default().push(*atom);
                    }
                }
            }
        }
        let other = self.build(&any, test + 1)?;
        let mut next = Vec::new();
        for (class, own) in by_class {
            self.do_work(own.len() + any.len())?;
            let node = self.build(&merge(&own, &any), test + 1)?;
            if node != other {
                next.push((class, node));
            }
        }
        let node = self.branch(test, other, next);
        self.do_work(0)?;
        self.built.insert((test, set.to_vec()), node);
        Ok(node)
    }

    /// Returns the node with this test and these branches. Equal nodes are made once.
    fn branch(&mut self, test: usize, other: u32, next: Branches) -> u32 {
        if next.is_empty() {
            return other;
        }
        let key = (test, other, next);
        if let Some(node) = self.nodes.get(&key) {
            return *node;
        }
        let node = self.add(watch_node {
            test: TESTS[test].0 as u16,
            other,
            ..watch_node::default()
        });
        let edges = key.2.iter().map(|(class, to)| (node, *class, *to));
        self.out.edges.extend(edges);
        self.nodes.insert(key, node);
        node
    }

    fn add(&mut self, node: watch_node) -> u32 {
        self.out.nodes.push(node);
        self.out.nodes.len() as u32 - 1
    }

    fn verdict(&mut self, atom: Option<u32>) -> Result<u32, TooComplex> {
        let rule = atom.map(|atom| &self.rules[self.atoms[atom as usize].rule]);
        let (one_flow_in, one_packet_in) =
            rule.map_or((0, 0), |rule| (rule.one_flow_in, rule.one_packet_in));
        let flags = match rule {
            None => 0,
            Some(rule) if rule.action == WatchAction::Exclude => watch_flag::WATCH_EXCLUDE.0,
            Some(rule) if rule.fixed => watch_flag::WATCH_TAG.0 | watch_flag::WATCH_STATIC.0,
            Some(_) => watch_flag::WATCH_TAG.0,
        };
        let always = rule.is_some_and(|rule| rule.always && rule.action == WatchAction::Watch);
        let flags = match always {
            true => flags | watch_flag::WATCH_ALWAYS.0,
            false => flags,
        };
        let class = rule.filter(|rule| rule.action == WatchAction::Watch);
        let class = class.and_then(|rule| rule.class.as_deref());
        let class = class.map_or(0, class_number);
        let key = (flags, one_flow_in, one_packet_in, class);
        if let Some(node) = self.verdicts.get(&key) {
            return Ok(*node);
        }
        self.do_work(1)?;
        let node = self.add(watch_node {
            test: watch_test::WATCH_VERDICT.0 as u16,
            other: class,
            flags: flags as u16,
            one_flow_in,
            one_packet_in,
        });
        self.verdicts.insert(key, node);
        Ok(node)
    }

    /// Returns the flags of a destination with these atoms: whether packets may be tagged, and whether that is decided
    /// already.
    fn flags_of(&self, set: &[u32], number: u32) -> u32 {
        let mut flags = 0;
        let tags =
            |atom: &u32| self.rules[self.atoms[*atom as usize].rule].action == WatchAction::Watch;
        if set.iter().any(tags) {
            flags |= watch_flag::WATCH_MAY.0;
        }
        let is_static =
            |atom: &u32| tags(atom) && self.rules[self.atoms[*atom as usize].rule].fixed;
        let node = self.out.nodes[number as usize];
        if u32::from(node.test) == watch_test::WATCH_VERDICT.0
            && node.one_flow_in <= 1
            && node.one_packet_in <= 1
        {
            flags |= watch_flag::WATCH_DECIDED.0 | u32::from(node.flags);
        } else if set.iter().any(is_static) {
            flags |= watch_flag::WATCH_STATIC.0;
        }
        flags
    }
}
