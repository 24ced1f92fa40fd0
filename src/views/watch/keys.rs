//! Keys and their effects.

use std::time::Duration;

use super::state::{Tab, Watch};

/// A key, independent of the terminal.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Key {
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

/// An action besides drawing.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Act {
    Nothing,
    /// The pace changed or the pause ended: refresh now.
    Look,
    Quit,
}

/// The intervals that + and - step through, in ms.
const INTERVALS_MS: [u64; 9] = [100, 200, 500, 1000, 2000, 5000, 10_000, 30_000, 60_000];

impl Watch {
    pub fn press(&mut self, key: Key) -> Act {
        self.pressed = true;
        if self.typing {
            self.type_filter(key);
            return Act::Nothing;
        }
        if self.help {
            self.help = false;
            return if key == Key::Char('q') {
                Act::Quit
            } else {
                Act::Nothing
            };
        }
        match key {
            Key::Char('q') => return Act::Quit,
            Key::Char('?' | 'h') => self.help = true,
            Key::Char('/') => self.typing = true,
            Key::Char(' ' | 'p') => {
                self.paused = !self.paused;
                if !self.paused {
                    return Act::Look;
                }
            }
            Key::Char('+' | '=') => return self.change_interval(true),
            Key::Char('-') => return self.change_interval(false),
            Key::Tab => self.show(self.tab.neighbour(1)),
            Key::BackTab => self.show(self.tab.neighbour(Tab::ALL.len() - 1)),
            Key::Char(digit @ '1'..='4') => {
                let index = digit as usize - '1' as usize;
                if let Some(tab) = Tab::ALL.get(index) {
                    self.show(*tab);
                }
            }
            Key::Escape => {
                if self.detail {
                    self.detail = false;
                } else {
                    self.filter().clear();
                    self.arrange();
                }
            }
            _ => self.press_in_tab(key),
        }
        Act::Nothing
    }

    fn type_filter(&mut self, key: Key) {
        match key {
            Key::Enter | Key::Down | Key::Up => self.typing = false,
            Key::Escape => {
                self.typing = false;
                self.filter().clear();
            }
            Key::Backspace => self.filter().pop(),
            Key::Char(char) => self.filter().push(char),
            _ => return,
        }
        self.arrange();
    }

    fn change_interval(&mut self, longer: bool) -> Act {
        let now = self.interval.as_millis();
        let mut steps = INTERVALS_MS.iter().copied();
        let next = if longer {
            steps.find(|step| u128::from(*step) > now)
        } else {
            steps.rfind(|step| u128::from(*step) < now)
        };
        if let Some(next) = next {
            self.interval = Duration::from_millis(next);
        }
        if self.paused { Act::Nothing } else { Act::Look }
    }

    fn press_in_tab(&mut self, key: Key) {
        match self.tab {
            Tab::Flows => self.press_in_flows(key),
            Tab::Counters => {
                let rows = self.counters_shown().len();
                self.counters_cursor.press(key, rows);
            }
            Tab::Peers => {
                let rows = self.peers_shown().len();
                self.peers_cursor.press(key, rows);
            }
            Tab::Why => {
                let rows = self.why_rows;
                self.why_cursor.press(key, rows);
            }
        }
    }

    fn press_in_flows(&mut self, key: Key) {
        match key {
            Key::Char('s' | '>' | '.') => self.sort_by_neighbour(1),
            Key::Char('S' | '<' | ',') => {
                self.sort_by_neighbour(super::Column::ALL.len() - 1);
            }
            Key::Char('r') => {
                self.flows.reversed = !self.flows.reversed;
                self.arrange();
            }
            Key::Enter => {
                self.detail = !self.detail && self.flows.len() > 0;
                if self.detail {
                    self.choose();
                }
            }
            _ => self.move_in_flows(key),
        }
    }

    fn sort_by_neighbour(&mut self, by: usize) {
        let all = super::Column::ALL;
        let at = all.iter().position(|one| *one == self.flows.sort);
        self.flows.sort = all[(at.unwrap_or(0) + by) % all.len()];
        self.flows.reversed = false;
        self.arrange();
    }
}
