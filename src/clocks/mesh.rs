//! Bounds between all hosts: what is known of two links is known of the way along both.

use std::collections::VecDeque;

use super::drift::Drift;
use super::interval::ClockInterval;
use super::link::ClockLink;

/// Hosts whose bounds contradict each other: a stamp between two that follow each other is false, or a crystal drifts
/// more than is allowed for. The last is followed by the first.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct FalseStamps {
    pub hosts: Vec<usize>,
}

/// The hosts, and the links between them.
pub struct Mesh<'a> {
    pub hosts: usize,
    pub links: &'a [ClockLink],
    pub drift: Drift,
}

/// The greatest distance by which each host's raw clock is ahead of each other's, at one moment.
#[derive(Clone, Debug)]
pub struct Bounds {
    hosts: usize,
    /// By row and column: the host in the column is ahead of the one in the row by this at most.
    most_ns: Vec<Option<i128>>,
    /// The moment by each host's raw clock.
    moments: Vec<Option<ClockInterval>>,
}

impl Mesh<'_> {
    /// The moment when the raw clock of the host `first` shows `raw_ns`, by each host's raw clock. `None`: no links in
    /// both directions lead there.
    fn moments(&self, first: usize, raw_ns: i128) -> Vec<Option<ClockInterval>> {
        let mut moments = vec![None; self.hosts];
        let mut next = VecDeque::new();
        if let Some(moment) = moments.get_mut(first) {
            *moment = Some(ClockInterval::exactly(raw_ns));
            next.push_back(first);
        }
        while let Some(host) = next.pop_front() {
            let Some(moment) = moments[host] else {
                continue;
            };
            for (other, ahead) in self.neighbours(host, moment) {
                if let Some(place @ None) = moments.get_mut(other) {
                    *place = Some(moment.plus(ahead));
                    next.push_back(other);
                }
            }
        }
        moments
    }

    /// The hosts at the other ends of a host's links, and the interval by which each is ahead of it.
    fn neighbours(&self, host: usize, moment: ClockInterval) -> Vec<(usize, ClockInterval)> {
        let bounded = |link: &ClockLink| match link.bounds_at(moment, self.drift) {
            (Some(high), Some(low)) => Some(ClockInterval::new(low.min(high), high.max(low))),
            _ => None,
        };
        let ahead = |link: &ClockLink| {
            if link.from == host {
                Some((link.to, bounded(link)?))
            } else if link.to == host {
                let turned = link.turned();
                Some((turned.to, bounded(&turned)?))
            } else {
                None
            }
        };
        self.links.iter().filter_map(ahead).collect()
    }

    /// Bounds all differences at the moment when the raw clock of the host `first` shows `raw_ns`.
    pub fn bounds(&self, first: usize, raw_ns: i128) -> Result<Bounds, FalseStamps> {
        let moments = self.moments(first, raw_ns);
        let mut paths = Paths::new(self.hosts);
        for link in self.links {
            let Some(Some(moment)) = moments.get(link.from) else {
                continue;
            };
            let (most, least) = link.bounds_at(*moment, self.drift);
            paths.bound(link.from, link.to, most);
            paths.bound(link.to, link.from, least.map(|least| -least));
        }
        paths.close()?;
        Ok(Bounds {
            hosts: self.hosts,
            most_ns: paths.most_ns,
            moments,
        })
    }
}

impl Bounds {
    /// The distance by which the raw clock of the host `to` is ahead of that of `from`; `None` if a side is unbounded.
    pub fn ahead(&self, from: usize, to: usize) -> Option<ClockInterval> {
        let most = |from: usize, to: usize| *self.most_ns.get(from * self.hosts + to)?;
        Some(ClockInterval::new(-most(to, from)?, most(from, to)?))
    }

    /// The moment that the bounds are of, by this host's raw clock.
    pub fn moment(&self, host: usize) -> Option<ClockInterval> {
        *self.moments.get(host)?
    }
}

/// Shortest paths between all hosts, by the algorithm of Floyd and Warshall.
struct Paths {
    hosts: usize,
    most_ns: Vec<Option<i128>>,
    /// The first host of the path from the row's host to the column's.
    next: Vec<usize>,
}

impl Paths {
    fn new(hosts: usize) -> Self {
        let mut paths = Self {
            hosts,
            most_ns: vec![None; hosts * hosts],
            next: vec![0; hosts * hosts],
        };
        for host in 0..hosts {
            paths.bound(host, host, Some(0));
        }
        paths
    }

    fn bound(&mut self, from: usize, to: usize, most_ns: Option<i128>) {
        let at = from * self.hosts + to;
        if let (Some(new), Some(old)) = (most_ns, self.most_ns.get_mut(at))
            && old.is_none_or(|old| new < old)
        {
            *old = Some(new);
            self.next[at] = to;
        }
    }

    /// Lowers each bound to the sum along the shortest path.
    fn close(&mut self) -> Result<(), FalseStamps> {
        for through in 0..self.hosts {
            for from in 0..self.hosts {
                let Some(first_ns) = self.most_ns[from * self.hosts + through] else {
                    continue;
                };
                for to in 0..self.hosts {
                    let Some(then_ns) = self.most_ns[through * self.hosts + to] else {
                        continue;
                    };
                    let at = from * self.hosts + to;
                    if self.most_ns[at].is_none_or(|old| first_ns + then_ns < old) {
                        self.most_ns[at] = Some(first_ns + then_ns);
                        self.next[at] = self.next[from * self.hosts + through];
                    }
                }
                // A path from a host to itself is negative: no times fit all stamps on it.
                if self.most_ns[from * self.hosts + from].is_some_and(|sum| sum < 0) {
                    return Err(self.cycle(from));
                }
            }
        }
        Ok(())
    }

    fn cycle(&self, from: usize) -> FalseStamps {
        let mut hosts = vec![from];
        let mut at = self.next[from * self.hosts + from];
        while at != from && hosts.len() < self.hosts {
            hosts.push(at);
            at = self.next[at * self.hosts + from];
        }
        FalseStamps { hosts }
    }
}
