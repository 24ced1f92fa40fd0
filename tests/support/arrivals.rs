//! Orders in which a flow's numbers may arrive behind a path that loses, repeats and reorders packets.

use super::random::Random;

/// What a path does to a flow; delays are in packets sent meanwhile.
#[derive(Clone, Copy, Debug)]
pub struct Path {
    /// Probability that a loss begins at a packet.
    pub loss: f64,
    /// Packets lost at once, at most.
    pub burst: usize,
    pub duplication: f64,
    pub reordering: f64,
    /// Longest delay of a reordered packet or a duplicate.
    pub delay: usize,
}

impl Path {
    pub const PERFECT: Path = Path {
        loss: 0.0,
        burst: 1,
        duplication: 0.0,
        reordering: 0.0,
        delay: 1,
    };

    /// `count` numbers from `from` on, in the order in which they arrive. The first and the last one arrive in place:
    /// what is lost before or after any packet arrived is no receiver's to know.
    pub fn arrivals(&self, random: &mut Random, from: u64, count: usize) -> Vec<u64> {
        let mut arriving = Vec::with_capacity(count);
        let mut losing = 0;
        for i in 0..count {
            let number = from + i as u64;
            // A slot for each packet in time, and one behind it for those that come late.
            let slot = 2 * i;
            let last = i + 1 == count;
            if i == 0 || last {
                arriving.push((if last { usize::MAX } else { slot }, number));
                continue;
            }
            if losing == 0 && random.chance(self.loss) {
                losing = 1 + random.below(self.burst);
            }
            if losing > 0 {
                losing -= 1;
                continue;
            }
            let mut late = |probability| match random.chance(probability) {
                true => slot + 2 * (1 + random.below(self.delay)) + 1,
                false => slot,
            };
            let arrives = late(self.reordering);
            let again = late(self.duplication);
            arriving.push((arrives, number));
            if again != slot {
                arriving.push((again.max(arrives), number));
            }
        }
        arriving.sort_by_key(|(slot, _)| *slot);
        arriving.into_iter().map(|(_, number)| number).collect()
    }
}
