//! The appearance that the terminal allows: colours, and characters beyond ASCII.

use ratatui::style::{Color, Modifier, Style};

/// A style that keeps the terminal's own foreground and background, with a few accents readable on light and dark.
#[derive(Clone, Copy, Debug)]
pub struct Appearance {
    pub colour: bool,
    pub unicode: bool,
}

impl Appearance {
    fn accent(self, colour: Color, otherwise: Modifier) -> Style {
        if self.colour {
            Style::new().fg(colour)
        } else {
            Style::new().add_modifier(otherwise)
        }
    }

    pub fn head(self) -> Style {
        self.accent(Color::Cyan, Modifier::empty())
            .add_modifier(Modifier::BOLD)
    }

    /// Marks loss and failures.
    pub fn bad(self) -> Style {
        self.accent(Color::Red, Modifier::BOLD)
    }

    pub fn good(self) -> Style {
        self.accent(Color::Green, Modifier::empty())
    }

    pub fn bar(self) -> Style {
        self.accent(Color::Cyan, Modifier::empty())
    }

    pub fn strong(self) -> Style {
        Style::new().add_modifier(Modifier::BOLD)
    }

    pub fn faint(self) -> Style {
        Style::new().add_modifier(Modifier::DIM)
    }

    pub fn chosen(self) -> Style {
        Style::new().add_modifier(Modifier::REVERSED)
    }

    /// One of two spellings.
    pub fn either(self, unicode: &'static str, ascii: &'static str) -> &'static str {
        if self.unicode { unicode } else { ascii }
    }
}
