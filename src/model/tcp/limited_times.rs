//! For how long each thing limited a connection's sender.

use std::collections::BTreeMap;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::model::Limit;

/// Times in microseconds, in the order of [`Limit::ALL`].
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct LimitedTimes([u64; Limit::ALL.len()]);

impl LimitedTimes {
    /// Numbers of other hosts may be anything, so sums end at the greatest one.
    pub fn add(&mut self, limit: Limit, us: u64) {
        let time = &mut self.0[limit as usize];
        *time = time.saturating_add(us);
    }

    /// The times since `before`, which is an earlier state of the same times.
    #[must_use]
    pub fn since(&self, before: &Self) -> Self {
        let mut since = Self::default();
        for limit in Limit::ALL {
            since.add(limit, self.of(limit).saturating_sub(before.of(limit)));
        }
        since
    }

    pub fn of(&self, limit: Limit) -> u64 {
        self.0[limit as usize]
    }

    /// What limited the sender for at least half of the time.
    pub fn most(&self) -> Limit {
        let all: u128 = self.0.iter().map(|us| u128::from(*us)).sum();
        let mut limits = Limit::ALL.into_iter();
        let most = limits.find(|limit| all > 0 && u128::from(self.of(*limit)) * 2 >= all);
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

impl<'de> Deserialize<'de> for LimitedTimes {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut times = Self::default();
        for (name, us) in BTreeMap::<String, u64>::deserialize(deserializer)? {
            times.add(Limit::of_name(&name), us);
        }
        Ok(times)
    }
}
