//! Which interfaces are stacked on others: a VLAN on its card, a bridge or bond on its ports.

use std::collections::HashMap;

use super::links::HostLinks;

/// The most interfaces on one another that are looked through.
const MOST: u32 = 8;

/// The interfaces of this host, each with those that it is stacked on.
pub struct Stacks(HashMap<u32, Vec<u32>>);

impl Stacks {
    pub fn of(links: &HostLinks) -> Self {
        let mut below: HashMap<u32, Vec<u32>> = HashMap::new();
        for link in links.here() {
            if let Some(lower) = link.lower {
                below.entry(link.index).or_default().push(lower);
            }
            if let Some(master) = link.master {
                below.entry(master).or_default().push(link.index);
            }
        }
        Self(below)
    }

    /// True if an interface below this one is one of those.
    pub fn is_on(&self, index: u32, those: &impl Fn(u32) -> bool) -> bool {
        self.looks(index, those, MOST)
    }

    fn looks(&self, index: u32, those: &impl Fn(u32) -> bool, most: u32) -> bool {
        let below = self.0.get(&index).filter(|_| most > 0);
        below
            .into_iter()
            .flatten()
            .any(|lower| those(*lower) || self.looks(*lower, those, most - 1))
    }
}
