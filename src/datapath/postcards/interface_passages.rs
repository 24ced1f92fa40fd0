//! The distributions of times between interfaces: read, and kept for interfaces that are gone.

use std::collections::{BTreeMap, BTreeSet};
use std::io;

use crate::datapath::abi::{hop_end, hop_passage, hop_start, hop_times};
use crate::datapath::kernel::maps::Map;
use crate::model::{InterfacePassage, LatencyHistogram, PassageStart, PassageTimes};

/// Distributions by both interfaces and the start of times. An interface that is gone has the number 0.
type ByInterfaces = BTreeMap<(u32, u32, PassageStart), InterfacePassage>;

/// The distributions that the programs count, and those that they counted before.
pub struct Passages {
    times: Map<hop_passage, hop_times>,
    /// Sums of those that the kernel has no more.
    before: ByInterfaces,
    /// Interfaces that went since the last folding: a program that was running may still count a packet.
    just_gone: BTreeSet<u32>,
}

impl Passages {
    pub fn new(times: Map<hop_passage, hop_times>) -> Self {
        Self {
            times,
            before: ByInterfaces::new(),
            just_gone: BTreeSet::new(),
        }
    }

    pub fn note_gone(&mut self, ifindex: u32) {
        self.just_gone.insert(ifindex);
    }

    /// Makes room for others: adds up distributions whose interfaces went before the last call.
    pub fn fold(&mut self, is_here: impl Fn(u32) -> bool) -> io::Result<()> {
        let just_gone = std::mem::take(&mut self.just_gone);
        let keys: Vec<hop_passage> = self.times.keys().collect();
        for key in keys {
            let both = [key.in_ifindex, key.out_ifindex];
            let waits = both.iter().any(|one| just_gone.contains(one));
            if waits || both.iter().all(|one| is_here(*one)) {
                continue;
            }
            read_into(&mut self.before, &self.times, &key, &is_here)?;
            self.times.remove(&key)?;
        }
        Ok(())
    }

    /// All distributions, those with most packets first.
    pub fn read(&self, is_here: impl Fn(u32) -> bool) -> io::Result<Vec<InterfacePassage>> {
        let mut found = self.before.clone();
        let keys: Vec<hop_passage> = self.times.keys().collect();
        for key in keys {
            read_into(&mut found, &self.times, &key, &is_here)?;
        }
        let mut found: Vec<InterfacePassage> = found.into_values().collect();
        let packets = |one: &InterfacePassage| one.sent.0.samples().max(one.queued.0.samples());
        found.sort_by_key(|one| std::cmp::Reverse(packets(one)));
        Ok(found)
    }
}

/// Adds what all CPUs counted.
fn read_into(
    found: &mut ByInterfaces,
    times: &Map<hop_passage, hop_times>,
    key: &hop_passage,
    is_here: &impl Fn(u32) -> bool,
) -> io::Result<()> {
    let start = match key.start {
        start if start == hop_start::HOP_DEPARTED.0 => PassageStart::Sender,
        _ => PassageStart::Interface,
    };
    let [in_ifindex, out_ifindex] =
        [key.in_ifindex, key.out_ifindex].map(|one| if is_here(one) { one } else { 0 });
    let id = (in_ifindex, out_ifindex, start);
    let passage = found.entry(id).or_insert_with(|| InterfacePassage {
        in_ifindex,
        out_ifindex,
        in_interface: None,
        out_interface: None,
        start,
        sent: PassageTimes::default(),
        queued: PassageTimes::default(),
    });
    let sums = match key.end {
        end if end == hop_end::HOP_SENT.0 => &mut passage.sent,
        _ => &mut passage.queued,
    };
    for cpu in times.get_per_cpu(key)? {
        sums.0.merge(&histogram(&cpu));
    }
    Ok(())
}

/// The times that a CPU counted.
fn histogram(times: &hop_times) -> LatencyHistogram {
    let ends = (times.min_ns.into(), times.max_ns.into());
    LatencyHistogram::of_fine_slots(&times.count, ends, times.sum_ns.into())
}
