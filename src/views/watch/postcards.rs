//! The drops, hops and queues of a host, as its postcards tell them.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::Line;

use super::draw::put;
use super::state::{Tab, Watch};
use super::words::rate;
use crate::model::{HostStatus, PostcardsStatus};
use crate::views::status_postcards::{PartText, PostcardsPart};

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
fn part_of(tab: Tab) -> Option<PostcardsPart> {
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
}

impl Watch {
    /// The lines of the tab, without those that the filter leaves out.
    pub(super) fn postcards_shown(&self) -> Vec<String> {
        let postcards = self.status().and_then(|status| status.postcards.as_ref());
        let (Some(status), Some(part)) = (postcards, part_of(self.tab)) else {
            return Vec::new();
        };
        let text = PartText {
            status,
            part,
            all: true,
        };
        let filter = &self.filters[self.tab as usize];
        let mut lines: Vec<String> = text.to_string().lines().map(str::to_owned).collect();
        lines.retain(|line| filter.is_empty() || filter.fits(&line.to_lowercase()));
        if let Some(now) = self.postcard_rates.0[part as usize]
            && filter.is_empty()
        {
            let words = match part {
                PostcardsPart::Drops => "dropped",
                PostcardsPart::Hops => "timed",
                PostcardsPart::Queues => "over a trigger",
            };
            lines.insert(0, format!("  now {} packets/s {words}", rate(now)));
        }
        lines
    }

    pub(super) fn draw_postcards(&mut self, buffer: &mut Buffer, area: Rect) {
        let lines = self.postcards_shown();
        self.postcards_cursor.fit(lines.len(), area.height as usize);
        for (row, line) in lines[self.postcards_cursor.shown(lines.len())]
            .iter()
            .enumerate()
        {
            put(buffer, area, row, &Line::raw(line.as_str()));
        }
    }
}
