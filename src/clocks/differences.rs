//! The differences of the clocks that stamp packets, between all hosts that tell what they know about them.

use std::collections::{HashMap, HashSet};

use super::drift::Drift;
use super::estimates::estimates;
use super::hosts::HostClocks;
use super::interval::ClockInterval;
use super::link::ClockLink;
use super::mesh::{Bounds, Mesh};
use super::stated_error::Likely;

/// The differences are computed for a moment this long ago, when all hosts have told of it.
const LAG_NS: u64 = 2_000_000_000;
/// The rate between two clocks is that of the estimates over this time.
const RATE_NS: i128 = 5_000_000_000;
/// A difference is not known for times that lie further from that moment.
const FAR_NS: i128 = 20_000_000_000;
/// The most hosts whose links are taken together. Of a greater mesh each link stands alone.
const MOST_TOGETHER: usize = 128;
/// Contradictions that are looked for in a mesh at a time.
const MOST_FALSE: usize = 8;
/// A time daemon changes a clock's rate a little at any time.
const CORRECTION_PPB: u64 = 1_000;
/// The rate of a crystal walks: an estimate is off by this much more for each second of extrapolation.
const WALK_PPB: u32 = 300;

/// The distance by which a clock was ahead of another one.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct ClockDifference {
    pub estimate_ns: i128,
    /// The error of most estimates is no greater.
    pub error_ns: i128,
    /// The true distance lies in it.
    pub bound: ClockInterval,
}

/// A host's clock at the moment of its mesh.
#[derive(Clone, Debug)]
struct Member {
    clock_ns: i128,
    /// The distance by which its clock is ahead of its raw clock.
    own: ClockInterval,
    /// The distance by which its raw clock is ahead of the first host's, as it is estimated, and its rate.
    raw_ns: i128,
    rate_ppb: f64,
    most_steered_ppb: u64,
    stamps_by_kernel: bool,
    stated_error_ns: Option<u32>,
}

/// Hosts that are linked with each other.
#[derive(Clone, Debug)]
struct Linked {
    bounds: Bounds,
    members: Vec<Option<Member>>,
    error_ns: i128,
}

/// All differences at one moment.
#[derive(Clone, Debug, Default)]
pub struct ClockDifferences {
    meshes: Vec<Linked>,
    /// The mesh of a host, and its place there.
    places: HashMap<u32, (usize, usize)>,
    /// The same for two hosts whose link stands alone.
    pairs: HashMap<(u32, u32), usize>,
    /// Two hosts whose packets prove that a crystal is worse than data sheets say, the lower number first.
    adrift: HashSet<(u32, u32)>,
    /// Hosts whose stamps contradict each other, or whose crystals drift more than any should.
    pub false_stamps: Vec<Vec<u32>>,
}

impl ClockDifferences {
    /// Computes the differences of what was settled.
    pub fn compute(clocks: &HostClocks, now_ns: u64) -> Self {
        let (hosts, links) = clocks.links();
        let mut all = Self::default();
        for group in groups(hosts.len(), &links) {
            let (inside, numbers) = select(&group, &links, &hosts);
            if group.len() <= MOST_TOGETHER {
                all.add(clocks, &numbers, inside, now_ns, |all, mesh| {
                    for (place, host) in numbers.iter().enumerate() {
                        all.places.insert(*host, (mesh, place));
                    }
                });
                continue;
            }
            for link in inside {
                let pair = [numbers[link.from], numbers[link.to]];
                let alone = ClockLink {
                    from: 0,
                    to: 1,
                    ..link
                };
                all.add(clocks, &pair, vec![alone], now_ns, |all, mesh| {
                    all.pairs.insert((pair[0], pair[1]), mesh);
                });
            }
        }
        all
    }

    fn add(
        &mut self,
        clocks: &HostClocks,
        hosts: &[u32],
        links: Vec<ClockLink>,
        now_ns: u64,
        place: impl FnOnce(&mut Self, usize),
    ) {
        if let Some(linked) = self.solve(clocks, hosts, links, now_ns) {
            self.meshes.push(linked);
            place(self, self.meshes.len() - 1);
        }
    }

    fn solve(
        &mut self,
        clocks: &HostClocks,
        hosts: &[u32],
        mut links: Vec<ClockLink>,
        now_ns: u64,
    ) -> Option<Linked> {
        let (first, heard_ago_ns) = clocks.clock(*hosts.first()?, now_ns)?;
        let newest_ns = first.newest(1).next()?.raw_ns;
        let raw_ns = newest_ns - i128::from(LAG_NS.saturating_sub(heard_ago_ns));
        links.retain(|link| {
            let is_adrift = link.drifts_beyond(Drift::SPECIFIED);
            if is_adrift {
                let (one, other) = (hosts[link.from], hosts[link.to]);
                self.adrift.insert((one.min(other), one.max(other)));
                self.false_stamps.push(vec![one, other]);
            }
            !is_adrift
        });
        let drift = Drift::CRYSTALS;
        let mut found = None;
        for _ in 0..MOST_FALSE {
            let mesh = Mesh {
                hosts: hosts.len(),
                links: &links,
                drift,
            };
            match (mesh.bounds(0, raw_ns), mesh.bounds(0, raw_ns - RATE_NS)) {
                (Ok(now), Ok(before)) => {
                    found = Some((now, before));
                    break;
                }
                (Err(cycle), _) | (_, Err(cycle)) => {
                    let numbers = cycle.hosts.iter().map(|host| hosts[*host]);
                    self.false_stamps.push(numbers.collect());
                    links.retain(|link| !follow_each_other(&cycle.hosts, link));
                }
            }
        }
        let (bounds, before) = found?;
        let now = estimates(&links, &bounds, 0, hosts.len(), drift);
        let then = estimates(&links, &before, 0, hosts.len(), drift);
        let member = |(place, host): (usize, &u32)| {
            let (clock, _) = clocks.clock(*host, now_ns)?;
            let said = clocks.said(*host);
            let moment = bounds.moment(place)?;
            let own = clock.ahead_within(moment)?;
            let raw_ns = (*now.ahead_ns.get(place)?)?;
            let before_ns = (*then.ahead_ns.get(place)?)?;
            let (slower, faster) = clock.newest(1).next()?.steered_ppb;
            let most = f64::from(drift.ppb());
            let drifted = (raw_ns - before_ns) as f64 / RATE_NS as f64 * 1e9;
            let drifted = drifted.clamp(-most, most);
            Some(Member {
                clock_ns: moment.plus(own).middle_ns(),
                own,
                raw_ns,
                rate_ppb: drifted + (slower + faster) as f64 / 2.0,
                most_steered_ppb: clock.most_steered_ppb() + CORRECTION_PPB,
                stamps_by_kernel: said.stamps_by_kernel,
                stated_error_ns: said.error_ns,
            })
        };
        Some(Linked {
            members: hosts.iter().enumerate().map(member).collect(),
            error_ns: now.error_ns,
            bounds,
        })
    }

    /// The distance by which the clock of `to` was ahead of that of `from` when it showed `at_ns`; `None`: unknown.
    pub fn ahead(&self, from: u32, to: u32, at_ns: i128) -> Option<ClockDifference> {
        if self.adrift.contains(&(from.min(to), from.max(to))) {
            return None;
        }
        let (mesh, from, to) = self.find(from, to)?;
        let linked = self.meshes.get(mesh)?;
        let member = |place: usize| linked.members.get(place)?.as_ref();
        let (source, sink) = (member(from)?, member(to)?);
        let apart_ns = at_ns - sink.clock_ns;
        if apart_ns.abs() > FAR_NS {
            return None;
        }
        let bound = linked.bounds.ahead(from, to)?;
        // Packets never tell the difference of two clocks so exactly. It is one clock.
        let one_clock = bound == ClockInterval::exactly(0);
        if one_clock && source.stamps_by_kernel && sink.stamps_by_kernel {
            return Some(ClockDifference {
                estimate_ns: 0,
                error_ns: 0,
                bound,
            });
        }
        let steered_ppb = u32::try_from(source.most_steered_ppb + sink.most_steered_ppb).ok()?;
        let drift = match one_clock {
            true => Drift::of_ppb(steered_ppb),
            false => Drift::steered(steered_ppb),
        };
        let bound = bound.plus(sink.own).minus(source.own);
        let bound = bound.widened(drift.over(apart_ns));
        let drifted_ns = (sink.rate_ppb - source.rate_ppb) * apart_ns as f64 / 1e9;
        let likely = sink.raw_ns - source.raw_ns + sink.own.middle_ns() - source.own.middle_ns();
        let estimate_ns = bound.clip(likely + drifted_ns as i128);
        let walked_ns = Drift::of_ppb(WALK_PPB).over(apart_ns);
        let most_ns = (bound.high_ns - estimate_ns).max(estimate_ns - bound.low_ns);
        let mut likely = Likely {
            estimate_ns,
            error_ns: (linked.error_ns + walked_ns).min(most_ns),
        };
        if let (Some(one), Some(other)) = (source.stated_error_ns, sink.stated_error_ns) {
            likely = likely.believing(i128::from(one) + i128::from(other), bound);
        }
        Some(ClockDifference {
            estimate_ns: likely.estimate_ns,
            error_ns: likely.error_ns,
            bound,
        })
    }

    /// The mesh of two hosts, and their places in it.
    fn find(&self, from: u32, to: u32) -> Option<(usize, usize, usize)> {
        let together = match (self.places.get(&from), self.places.get(&to)) {
            (Some((mesh, source)), Some((other, sink))) if mesh == other => {
                Some((*mesh, *source, *sink))
            }
            _ => None,
        };
        let alone = || self.pairs.get(&(from, to)).map(|mesh| (*mesh, 0, 1));
        let turned = || self.pairs.get(&(to, from)).map(|mesh| (*mesh, 1, 0));
        together.or_else(alone).or_else(turned)
    }

    /// The number of hosts whose clocks are known.
    pub fn known_hosts(&self) -> usize {
        let paired = self.pairs.keys().flat_map(|(one, other)| [one, other]);
        let hosts: HashSet<u32> = self.places.keys().chain(paired).copied().collect();
        hosts.len()
    }
}

/// True if the link's hosts follow each other on the way around.
fn follow_each_other(cycle: &[usize], link: &ClockLink) -> bool {
    let next = cycle.iter().cycle().skip(1);
    cycle
        .iter()
        .zip(next)
        .any(|(one, other)| [(*one, *other), (*other, *one)].contains(&(link.from, link.to)))
}

/// The hosts that links in both directions connect, in groups of at least two.
fn groups(hosts: usize, links: &[ClockLink]) -> Vec<Vec<usize>> {
    let mut group: Vec<usize> = (0..hosts).collect();
    fn root(group: &mut [usize], mut host: usize) -> usize {
        while group[host] != host {
            group[host] = group[group[host]];
            host = group[host];
        }
        host
    }
    for link in links {
        if link.is_two_sided() {
            let (from, to) = (root(&mut group, link.from), root(&mut group, link.to));
            group[from.max(to)] = from.min(to);
        }
    }
    let mut members: HashMap<usize, Vec<usize>> = HashMap::new();
    for host in 0..hosts {
        let root = root(&mut group, host);
        members.entry(root).or_default().push(host);
    }
    let mut found: Vec<_> = members.into_values().collect();
    found.retain(|members| members.len() > 1);
    found.sort();
    found
}

/// The links within a group by places in it, and the numbers of its hosts.
fn select(group: &[usize], links: &[ClockLink], hosts: &[u32]) -> (Vec<ClockLink>, Vec<u32>) {
    let place = |host: usize| group.binary_search(&host).ok();
    let inside = |link: &ClockLink| {
        Some(ClockLink {
            from: place(link.from)?,
            to: place(link.to)?,
            ..link.clone()
        })
    };
    let numbers = group.iter().map(|host| hosts[*host]).collect();
    (links.iter().filter_map(inside).collect(), numbers)
}
