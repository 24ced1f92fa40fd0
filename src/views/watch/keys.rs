//! The effects of keys.

use std::time::Duration;

use super::columns::FlowColumn;
use super::key_press::KeyPress;
use super::state::Watch;
use super::tab::Tab;

/// An action besides drawing.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Act {
    Nothing,
    /// The pace changed or the pause ended: refresh now.
    Refresh,
    Quit,
}

/// The intervals that + and - step through, in ms.
const INTERVALS_MS: [u64; 9] = [100, 200, 500, 1000, 2000, 5000, 10_000, 30_000, 60_000];

impl Watch {
    pub fn press(&mut self, key: KeyPress) -> Act {
        self.pressed = true;
        if self.typing {
            self.type_filter(key);
            return Act::Nothing;
        }
        if self.help {
            self.help = false;
            return if key == KeyPress::Char('q') {
                Act::Quit
            } else {
                Act::Nothing
            };
        }
        match key {
            KeyPress::Char('q') => return Act::Quit,
            KeyPress::Char('?' | 'h') => self.help = true,
            KeyPress::Char('/') => self.typing = true,
            KeyPress::Char(' ' | 'p') => {
                self.paused = !self.paused;
                if !self.paused {
                    return Act::Refresh;
                }
            }
            KeyPress::Char('+' | '=') => return self.change_interval(true),
            KeyPress::Char('-') => return self.change_interval(false),
            KeyPress::Tab => self.show_neighbour(true),
            KeyPress::BackTab => self.show_neighbour(false),
            KeyPress::Char(digit @ '1'..='7') => {
                let number = digit as usize - '0' as usize;
                let found = self.tabs_shown().find(|(one, _)| *one == number);
                if let Some((_, tab)) = found {
                    self.show(tab);
                }
            }
            KeyPress::Escape => {
                if self.detail {
                    self.detail = false;
                } else {
                    self.filter().clear();
                    self.arrange();
                }
            }
            _ => return self.press_in_tab(key),
        }
        Act::Nothing
    }

    fn type_filter(&mut self, key: KeyPress) {
        match key {
            KeyPress::Enter | KeyPress::Down | KeyPress::Up => self.typing = false,
            KeyPress::Escape => {
                self.typing = false;
                self.filter().clear();
            }
            KeyPress::Backspace => self.filter().pop(),
            KeyPress::Char(char) => self.filter().push(char),
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
        if self.paused {
            Act::Nothing
        } else {
            Act::Refresh
        }
    }

    fn press_in_tab(&mut self, key: KeyPress) -> Act {
        match self.tab {
            Tab::Flows => return self.press_in_flows(key),
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
            Tab::Drops | Tab::Hops | Tab::Queues => {
                let rows = self.postcards_shown().len();
                self.postcards_cursor.press(key, rows);
            }
        }
        Act::Nothing
    }

    fn press_in_flows(&mut self, key: KeyPress) -> Act {
        match key {
            KeyPress::Char('s' | '>' | '.') => self.sort_by_neighbour(1),
            KeyPress::Char('S' | '<' | ',') => {
                self.sort_by_neighbour(FlowColumn::ALL.len() - 1);
            }
            KeyPress::Char('r') => {
                self.flows.reversed = !self.flows.reversed;
                self.arrange();
            }
            KeyPress::Enter => {
                self.detail = !self.detail && self.flows.len() > 0;
                self.way = false;
                if self.detail {
                    self.choose();
                }
            }
            KeyPress::Char('w') if self.flows.len() > 0 => {
                self.way = !(self.detail && self.way);
                self.detail = true;
                self.choose();
                return if self.way { Act::Refresh } else { Act::Nothing };
            }
            _ => self.move_in_flows(key),
        }
        Act::Nothing
    }

    fn sort_by_neighbour(&mut self, by: usize) {
        let all = FlowColumn::ALL;
        let at = all.iter().position(|one| *one == self.flows.sort);
        self.flows.sort = all[(at.unwrap_or(0) + by) % all.len()];
        self.flows.reversed = false;
        self.arrange();
    }
}
