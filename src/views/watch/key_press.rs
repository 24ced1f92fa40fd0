//! The keys that are known.

/// A key, independent of the terminal.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum KeyPress {
    Up,
    Down,
    PageUp,
    PageDown,
    Home,
    End,
    Enter,
    Escape,
    Backspace,
    Tab,
    BackTab,
    Char(char),
}
