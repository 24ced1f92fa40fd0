//! For how long each thing limited a connection's sender.

use serde::{Serialize, Serializer};

use super::Limit;

/// Times in microseconds, in the order of [`Limit::ALL`].
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct LimitedTimes([u64; Limit::ALL.len()]);

impl LimitedTimes {
    pub fn add(&mut self, limit: Limit, us: u64) {
        self.0[limit as usize] += us;
    }

    pub fn of(&self, limit: Limit) -> u64 {
        self.0[limit as usize]
    }

    /// What limited the sender for at least half of the time.
    pub fn most(&self) -> Limit {
        let all: u64 = self.0.iter().sum();
        let mut limits = Limit::ALL.into_iter();
        let most = limits.find(|limit| all > 0 && self.of(*limit) * 2 >= all);
        most.unwrap_or_default()
    }

    pub fn is_empty(&self) -> bool {
        self.0.iter().all(|us| *us == 0)
    }
}

/// Serialized as a map from each limit's name to its time, without those that took none.
impl Serialize for LimitedTimes {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let times = Limit::ALL.into_iter().map(|limit| (limit, self.of(limit)));
        let times = times.filter(|(_, us)| *us > 0);
        serializer.collect_map(times.map(|(limit, us)| (limit.name().replace('-', "_"), us)))
    }
}
