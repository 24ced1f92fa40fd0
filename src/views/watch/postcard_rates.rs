//! The drops, hops and queues that a host counts, and their rates.

use super::tab::Tab;
use crate::model::{HostStatus, PostcardsStatus};
use crate::views::status_postcards::PostcardsPart;

/// The packets of a part since its counts began.
fn packets(status: &PostcardsStatus, part: PostcardsPart) -> Option<u64> {
    match part {
        PostcardsPart::Drops => status.drops.as_ref().map(|drops| drops.totals.seen),
        PostcardsPart::Hops => status.hops.as_ref().map(|hops| hops.totals.timed()),
        PostcardsPart::Queues => {
            let queues = status.queues.as_ref()?.totals.queues.iter();
            Some(queues.map(|one| one.packets_over).sum())
        }
    }
}

/// The part that a tab shows.
pub fn part_of(tab: Tab) -> Option<PostcardsPart> {
    match tab {
        Tab::Drops => Some(PostcardsPart::Drops),
        Tab::Hops => Some(PostcardsPart::Hops),
        Tab::Queues => Some(PostcardsPart::Queues),
        Tab::Flows | Tab::Counters | Tab::Peers | Tab::Why => None,
    }
}

/// True if the host has what the tab shows. The other tabs are always there.
pub fn is_there(status: Option<&HostStatus>, tab: Tab) -> bool {
    let Some(part) = part_of(tab) else {
        return true;
    };
    let postcards = status.and_then(|status| status.postcards.as_ref());
    postcards.is_some_and(|postcards| packets(postcards, part).is_some())
}

/// The packets of each part in a second, since the refresh before.
#[derive(Debug, Default)]
pub struct PostcardRates([Option<f64>; 3]);

impl PostcardRates {
    pub fn between(before: Option<&HostStatus>, now: &HostStatus, seconds: Option<f64>) -> Self {
        let postcards = [before, Some(now)].map(|one| one?.postcards.as_ref());
        Self(PostcardsPart::ALL.map(|part| {
            let [before, now] = postcards.map(|one| packets(one?, part));
            let seconds = seconds.filter(|seconds| *seconds > 0.0)?;
            // A smaller count means that the daemon began anew.
            now?.checked_sub(before?).map(|more| more as f64 / seconds)
        }))
    }

    /// The rate of a part, if two refreshes counted it.
    pub fn of(&self, part: PostcardsPart) -> Option<f64> {
        self.0[part as usize]
    }
}
