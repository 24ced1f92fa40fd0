//! Hosts that are linked with each other.

use std::collections::HashMap;

use super::link::ClockLink;

/// True if the link's hosts follow each other on the way around.
pub(super) fn follow_each_other(cycle: &[usize], link: &ClockLink) -> bool {
    let next = cycle.iter().cycle().skip(1);
    cycle
        .iter()
        .zip(next)
        .any(|(one, other)| [(*one, *other), (*other, *one)].contains(&(link.from, link.to)))
}

/// The hosts that links in both directions connect, in groups of at least two.
pub(super) fn groups(hosts: usize, links: &[ClockLink]) -> Vec<Vec<usize>> {
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
pub(super) fn select(
    group: &[usize],
    links: &[ClockLink],
    hosts: &[u32],
) -> (Vec<ClockLink>, Vec<u32>) {
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
