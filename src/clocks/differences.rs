//! The differences of the clocks that stamp packets, between all hosts that tell what they know about them.

use std::collections::{HashMap, HashSet};

use super::drift::Drift;
use super::estimates::estimates;
use super::groups::{follow_each_other, groups, select};
use super::hosts::HostClocks;
use super::interval::ClockInterval;
use super::link::{ClockLink, age_ns};
use super::mesh::{Bounds, Mesh};
use super::stated_error::Likely;

/// The differences are computed for a moment this long ago: reports that wait for readings are about as old.
const LAG_NS: u64 = 1_200_000_000;
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
/// Half of the time in which stamps of 32 bits wrap: no latency is longer.
const SLOWEST_NS: i128 = 1 << 31;
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
    /// A latency is known less exactly by what clocks drift meanwhile.
    pub meanwhile: Drift,
}

impl ClockDifference {
    /// The same for a packet that took this time at most.
    pub fn for_latency(self, latency_ns: i128) -> Self {
        Self {
            bound: self.bound.widened(self.meanwhile.over(latency_ns)),
            ..self
        }
    }
}

/// A host's raw clock, as it is estimated: the distance by which it is ahead of the first host's, and its rate.
#[derive(Clone, Copy, Debug)]
struct Member {
    raw_ns: i128,
    rate_ppb: f64,
}

/// Hosts that are linked with each other.
#[derive(Clone, Debug)]
struct Linked {
    bounds: Bounds,
    members: Vec<Option<Member>>,
    error_ns: i128,
}

/// The distance by which a raw clock was ahead of another one.
#[derive(Clone, Copy, Debug)]
struct RawDifference {
    bound: ClockInterval,
    estimate_ns: i128,
    error_ns: i128,
    is_one_clock: bool,
}

impl Default for RawDifference {
    /// That of a clock and itself.
    fn default() -> Self {
        Self {
            bound: ClockInterval::exactly(0),
            estimate_ns: 0,
            error_ns: 0,
            is_one_clock: true,
        }
    }
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
        let first = *hosts.first()?;
        let heard_ago_ns = clocks.heard_ago_ns(first, now_ns)?;
        let newest_ns = clocks.clock(first)?.newest(1).next()?.raw_ns;
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
        let member = |place: usize| {
            let raw_ns = (*now.ahead_ns.get(place)?)?;
            let before_ns = (*then.ahead_ns.get(place)?)?;
            let most = f64::from(drift.ppb());
            let drifted = (raw_ns - before_ns) as f64 / RATE_NS as f64 * 1e9;
            let rate_ppb = drifted.clamp(-most, most);
            Some(Member { raw_ns, rate_ppb })
        };
        Some(Linked {
            members: (0..hosts.len()).map(member).collect(),
            error_ns: now.error_ns,
            bounds,
        })
    }

    /// The distance by which the raw clock of `to` was ahead of that of `from` when the former showed this.
    fn raw_ahead(&self, from: u32, to: u32, to_raw: ClockInterval) -> Option<RawDifference> {
        if from == to {
            return Some(RawDifference::default());
        }
        if self.adrift.contains(&(from.min(to), from.max(to))) {
            return None;
        }
        let (mesh, from, to) = self.find(from, to)?;
        let linked = self.meshes.get(mesh)?;
        let member = |place: usize| *linked.members.get(place)?;
        let (source, sink) = (member(from)?, member(to)?);
        let moment = linked.bounds.moment(to)?;
        let apart_ns = age_ns(to_raw, moment);
        if apart_ns > FAR_NS {
            return None;
        }
        let bound = linked.bounds.ahead(from, to)?;
        // Packets never tell the difference of two clocks so exactly. It is one clock.
        if bound == ClockInterval::exactly(0) {
            return Some(RawDifference::default());
        }
        let later_ns = to_raw.middle_ns() - moment.middle_ns();
        let drifted_ns = (sink.rate_ppb - source.rate_ppb) * later_ns as f64 / 1e9;
        Some(RawDifference {
            bound: bound.widened(Drift::CRYSTALS.over(apart_ns)),
            estimate_ns: sink.raw_ns - source.raw_ns + drifted_ns as i128,
            error_ns: linked.error_ns + Drift::of_ppb(WALK_PPB).over(later_ns),
            is_one_clock: false,
        })
    }

    /// The distance by which the clock of `to` was ahead when it stamped the arrival of a packet from `from`, which
    /// took this according to the stamps, less whole 2^32 ns. Both hosts have reported readings since. `None`: unknown,
    /// or one of the clocks was set about then.
    pub fn of_packet(
        &self,
        clocks: &HostClocks,
        (from, to): (u32, u32),
        arrived_ns: i128,
        stamped_ns: i64,
    ) -> Option<ClockDifference> {
        let (source, sink) = (clocks.clock(from)?, clocks.clock(to)?);
        let arrived = sink.raw_of(arrived_ns)?;
        let raw = self.raw_ahead(from, to, arrived)?;
        let arrived_there = arrived.minus(raw.bound);
        // It was sent before the newest reading.
        let high_ns = arrived_there.high_ns.min(source.newest_raw_ns()?);
        let since = |latency_ns| ClockInterval::new(arrived_there.low_ns - latency_ns, high_ns);
        // Stamps do not show whether it was sent before a step or after.
        if !source.is_steady(since(SLOWEST_NS)) {
            return None;
        }
        let sink_ahead = ClockInterval::exactly(arrived_ns).minus(arrived);
        let ahead = |source_ahead: ClockInterval| raw.bound.plus(sink_ahead).minus(source_ahead);
        let likely = ahead(source.ahead_within(since(0))?);
        let wraps = |ns: i128| (ns + SLOWEST_NS).rem_euclid(2 * SLOWEST_NS) - SLOWEST_NS;
        let most_ns = wraps(i128::from(stamped_ns) - likely.middle_ns()) + likely.width_ns();
        // The source's clock may have been slewed since it sent the packet: by less than a quarter.
        let most_ns = (most_ns + most_ns / 4).clamp(0, SLOWEST_NS);
        let source_ahead = source.ahead_within(since(most_ns))?;
        let found = self.stamped(clocks, (from, to), &raw, (source_ahead, sink_ahead))?;
        Some(found.for_latency(most_ns))
    }

    /// The distance by which the clock of `to` was ahead in a time by the clock of `by`, which ended before the newest
    /// readings of the three. `None`: unknown, or one of the clocks was set.
    pub fn during(
        &self,
        clocks: &HostClocks,
        (from, to): (u32, u32),
        by: u32,
        time: ClockInterval,
    ) -> Option<ClockDifference> {
        let clock = clocks.clock(by)?;
        let newest = clock.newest(1).next()?;
        let end = match newest.clock_ns <= time.high_ns {
            true => ClockInterval::exactly(newest.raw_ns),
            false => clock.raw_of(time.high_ns)?,
        };
        let time = clock.raw_of(time.low_ns)?.hull(end);
        if !clock.is_steady(time) {
            return None;
        }
        let within = |host| {
            let raw = time.minus(self.raw_ahead(host, by, time)?.bound);
            let clock = clocks.clock(host)?;
            let raw = ClockInterval::new(raw.low_ns, raw.high_ns.min(clock.newest_raw_ns()?));
            Some((raw, clock.ahead_within(raw)?))
        };
        let ((_, source_ahead), (to_raw, sink_ahead)) = (within(from)?, within(to)?);
        let raw = self.raw_ahead(from, to, to_raw)?;
        self.stamped(clocks, (from, to), &raw, (source_ahead, sink_ahead))
    }

    /// The difference of two clocks of which it is known how far each is ahead of its raw clock.
    fn stamped(
        &self,
        clocks: &HostClocks,
        (from, to): (u32, u32),
        raw: &RawDifference,
        (source, sink): (ClockInterval, ClockInterval),
    ) -> Option<ClockDifference> {
        let said = [from, to].map(|host| clocks.said(host));
        if raw.is_one_clock && said.iter().all(|host| host.stamps_by_kernel) {
            let steered_ppb = clocks.clock(to)?.most_steered_ppb() + CORRECTION_PPB;
            return Some(ClockDifference {
                estimate_ns: 0,
                error_ns: 0,
                bound: ClockInterval::exactly(0),
                meanwhile: Drift::CRYSTAL.steered(u32::try_from(steered_ppb).ok()?),
            });
        }
        let bound = raw.bound.plus(sink).minus(source);
        let estimate_ns = bound.clip(raw.estimate_ns + sink.middle_ns() - source.middle_ns());
        let most_ns = (bound.high_ns - estimate_ns).max(estimate_ns - bound.low_ns);
        let mut likely = Likely {
            estimate_ns,
            error_ns: raw.error_ns.min(most_ns),
        };
        if let [Some(one), Some(other)] = said.map(|host| host.error_ns) {
            likely = likely.believing(i128::from(one) + i128::from(other), bound);
        }
        Some(ClockDifference {
            estimate_ns: likely.estimate_ns,
            error_ns: likely.error_ns,
            bound,
            meanwhile: Drift::CRYSTAL,
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
