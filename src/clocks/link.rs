//! The quickest packets between two hosts, and how they bound the difference of the hosts' raw clocks.

use super::drift::Drift;
use super::interval::ClockInterval;

/// The same by the raw clocks of both.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct RawMinimum {
    pub sent: ClockInterval,
    pub arrived: ClockInterval,
}

impl RawMinimum {
    /// The receiver's raw clock is ahead of the sender's by this at most, for the packet took no negative time.
    pub fn most_ns(&self) -> i128 {
        self.arrived.high_ns - self.sent.low_ns
    }

    /// The likely value of that bound.
    pub fn latency_ns(&self) -> i128 {
        self.arrived.middle_ns() - self.sent.middle_ns()
    }
}

/// All that is known about two hosts, by their places in a list of hosts.
#[derive(Clone, Debug)]
pub struct ClockLink {
    pub from: usize,
    pub to: usize,
    /// Packets of `from` that arrived at `to`.
    pub forward: Vec<RawMinimum>,
    /// Packets of `to` that arrived at `from`.
    pub reverse: Vec<RawMinimum>,
    /// Both are network namespaces of one kernel: their raw clocks are one, whatever packets say.
    pub same_clock: bool,
}

/// The greatest distance of a time in one interval from a time in another.
pub(super) fn age_ns(now: ClockInterval, then: ClockInterval) -> i128 {
    let later = now.high_ns - then.low_ns;
    let earlier = then.high_ns - now.low_ns;
    later.max(earlier)
}

impl ClockLink {
    /// The bounds on the distance by which the raw clock of `to` is ahead of that of `from` when the latter shows this:
    /// the greatest, and the least. A direction without packets bounds nothing.
    pub fn bounds_at(&self, from_raw: ClockInterval, drift: Drift) -> (Option<i128>, Option<i128>) {
        if self.same_clock {
            return (Some(0), Some(0));
        }
        let aged = |minimum: &RawMinimum, then: ClockInterval| {
            minimum.most_ns() + drift.over(age_ns(from_raw, then))
        };
        // The sender's clock says when a forward packet bounded the difference, the receiver's when a reverse one did.
        let forward = self.forward.iter().map(|one| aged(one, one.sent));
        let reverse = self.reverse.iter().map(|one| -aged(one, one.arrived));
        (forward.min(), reverse.max())
    }

    /// True if the difference of both clocks is bounded from both sides.
    pub fn is_two_sided(&self) -> bool {
        self.same_clock || !(self.forward.is_empty() || self.reverse.is_empty())
    }

    /// True if a packet arrived before it was sent by one clock: then the hosts do not share one.
    pub fn refutes_one_clock(&self) -> bool {
        let packets = self.forward.iter().chain(&self.reverse);
        packets.map(RawMinimum::most_ns).any(|most| most < 0)
    }

    /// True if the packets of both directions prove that the clocks drifted apart by more than this: no difference fits
    /// those of one time and those of another. Slow packets prove nothing.
    pub fn drifts_beyond(&self, drift: Drift) -> bool {
        let forward = self.forward.iter().map(|one| (one.sent, one.most_ns(), 0));
        let reverse = self
            .reverse
            .iter()
            .map(|one| (one.arrived, one.most_ns(), 1));
        let mut packets: Vec<_> = forward.chain(reverse).collect();
        packets.sort_unstable_by_key(|(time, ..)| time.low_ns);
        let Some((first, ..)) = packets.first() else {
            return false;
        };
        let begin_ns = first.low_ns;
        let widest = packets.iter().map(|(time, ..)| time.width_ns()).max();
        let rounding_ns = 2 + drift.over(widest.unwrap_or(0));
        // By direction: the sum of the earlier packet's bound and its drift, as it would be at the beginning.
        let mut least: [Option<i128>; 2] = [None; 2];
        packets.iter().any(|&(time, most_ns, direction)| {
            let drifted_ns = drift.over(time.low_ns - begin_ns);
            let own = most_ns - drifted_ns;
            least[direction] = Some(least[direction].map_or(own, |least| least.min(own)));
            let until_ns = drift.over(time.high_ns - begin_ns);
            least[1 - direction].is_some_and(|other| other + most_ns + until_ns + rounding_ns < 0)
        })
    }

    /// The same link from its other end.
    pub fn turned(&self) -> Self {
        Self {
            from: self.to,
            to: self.from,
            forward: self.reverse.clone(),
            reverse: self.forward.clone(),
            same_clock: self.same_clock,
        }
    }
}
