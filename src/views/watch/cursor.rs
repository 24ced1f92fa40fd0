//! A position in a list that is longer than the screen.

use super::key_press::KeyPress;

/// The chosen row, and the rows that are shown.
#[derive(Clone, Copy, Debug, Default)]
pub struct ListCursor {
    pub at: usize,
    pub top: usize,
    /// Number of rows that fit the screen.
    pub page: usize,
}

impl ListCursor {
    /// Moves as a key demands; false if the key does not move the cursor.
    pub fn press(&mut self, key: KeyPress, rows: usize) -> bool {
        let page = self.page.max(1);
        self.at = match key {
            KeyPress::Up | KeyPress::Char('k') => self.at.saturating_sub(1),
            KeyPress::Down | KeyPress::Char('j') => self.at + 1,
            KeyPress::PageUp => self.at.saturating_sub(page),
            KeyPress::PageDown => self.at + page,
            KeyPress::Home | KeyPress::Char('g') => 0,
            KeyPress::End | KeyPress::Char('G') => usize::MAX,
            _ => return false,
        }
        .min(rows.saturating_sub(1));
        true
    }

    /// Keeps the chosen row visible on a screen with room for `page` rows.
    pub fn fit(&mut self, rows: usize, page: usize) {
        self.page = page;
        self.at = self.at.min(rows.saturating_sub(1));
        let lowest = (self.at + 1).saturating_sub(page.max(1));
        self.top = self
            .top
            .clamp(lowest, self.at)
            .min(rows.saturating_sub(page).max(lowest));
    }

    /// The rows that are shown.
    pub fn shown(&self, rows: usize) -> std::ops::Range<usize> {
        self.top.min(rows)..(self.top + self.page).min(rows)
    }
}
