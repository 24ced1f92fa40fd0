//! The drops, hops and queues of a host, as its postcards tell them.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::Line;

use super::area::put;
use super::postcard_rates::part_of;
use super::state::Watch;
use super::words::rate;
use crate::views::status_postcards::{PartText, PostcardsPart};

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
        if let Some(now) = self.postcard_rates.of(part)
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
