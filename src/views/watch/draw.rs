//! The screen: header, tabs, the chosen view, and the keys.

use ratatui::Frame;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Span};

use super::appearance::Appearance;
use super::area::{paint, put, split};
use super::counters::Counter;
use super::state::Watch;
use super::tab::Tab;
use super::words::maybe_rate;
use super::{detail, header, peers};
use crate::views::digits::Grouped;
use crate::views::shortened::shortened;

/// The height from which a flow's detail leaves room for the table of flows.
const HIGH: u16 = 40;

/// The width from which the meaning of counters is shown whole.
const WHOLE: u16 = 120;

impl Watch {
    pub fn draw(&mut self, frame: &mut Frame<'_>) {
        let area = frame.area();
        if area.width < 20 || area.height < 4 {
            put(
                frame.buffer_mut(),
                area,
                0,
                &Line::raw("too small a terminal"),
            );
            return;
        }
        let head = header::lines(self, area.width as usize);
        let (top, rest) = split(area, head.len());
        let (tabs, rest) = split(rest, 1);
        let (body, foot) = split(rest, (rest.height as usize).saturating_sub(1));
        let buffer = frame.buffer_mut();
        for (row, line) in head.iter().enumerate() {
            put(buffer, top, row, line);
        }
        put(buffer, tabs, 0, &self.tabs(area.width as usize));
        paint(buffer, tabs, 0, Style::new());
        put(buffer, foot, 0, &self.foot(area.width as usize));
        if self.help {
            self.help(buffer, body);
        } else {
            self.body(buffer, body);
        }
    }

    fn tabs(&self, width: usize) -> Line<'static> {
        let source = self.status().and_then(|status| status.source.as_ref());
        let why = self.status().map_or(0, |status| status.why.len());
        let mut spans = Vec::new();
        for (number, tab) in self.tabs_shown() {
            let title = match tab {
                Tab::Flows => format!("Flows {}", Grouped(self.flows.len() as u64)),
                Tab::Counters => "Counters".to_owned(),
                Tab::Peers => format!(
                    "Peers {}",
                    Grouped(source.map_or(0, |source| source.peers_total) as u64)
                ),
                Tab::Why => format!("Why {why}"),
                Tab::Drops => "Drops".to_owned(),
                Tab::Hops => "Hops".to_owned(),
                Tab::Queues => "Queues".to_owned(),
            };
            let style = if tab == self.tab && !self.help {
                self.look.strong().patch(self.look.chosen())
            } else {
                Style::new()
            };
            spans.push(Span::styled(format!(" {number} {title} "), style));
        }
        let used: usize = spans.iter().map(Span::width).sum();
        if !self.typing && !self.filters[self.tab as usize].is_empty() {
            let room = width.saturating_sub(used + 3);
            let text = shortened(
                &self.filters[self.tab as usize].text,
                room.saturating_sub(1),
                self.dots(),
            );
            spans.push(Span::raw("  "));
            spans.push(Span::styled(format!("/{text}"), self.look.head()));
        }
        Line::from(spans)
    }

    fn foot(&self, width: usize) -> Line<'static> {
        if self.typing {
            return Line::from(vec![
                Span::styled(
                    format!("/{}", self.filters[self.tab as usize].text),
                    self.look.head(),
                ),
                Span::styled(" ", self.look.chosen()),
                Span::styled("  Enter keeps the filter, Esc clears it", self.look.faint()),
            ]);
        }
        let keys: &[(&str, &str)] = match (self.help, self.tab, self.detail) {
            (true, ..) => &[("any key", "back"), ("q", "quit")],
            (_, Tab::Flows, true) => &[
                ("q", "quit"),
                ("?", "help"),
                ("Esc", "back"),
                (self.look.either("↑↓", "Up/Down"), "flow"),
                ("w", if self.way { "figures" } else { "way" }),
                ("p", "pause"),
                ("+/-", "interval"),
            ],
            (_, Tab::Flows, false) => &[
                ("q", "quit"),
                ("?", "help"),
                ("Enter", "detail"),
                ("/", "filter"),
                ("s", "sort"),
                ("r", "reverse"),
                ("p", "pause"),
                ("+/-", "interval"),
                ("Tab", "next"),
            ],
            _ => &[
                ("q", "quit"),
                ("?", "help"),
                ("/", "filter"),
                ("p", "pause"),
                ("+/-", "interval"),
                ("Tab", "next"),
            ],
        };
        let mut spans = Vec::new();
        let mut used = 0;
        for (key, does) in keys {
            let length = key.chars().count() + does.len() + 3;
            if used + length > width {
                break;
            }
            used += length;
            spans.push(Span::styled((*key).to_owned(), self.look.strong()));
            spans.push(Span::styled(format!(" {does}  "), self.look.faint()));
        }
        Line::from(spans)
    }

    pub(super) fn dots(&self) -> &'static str {
        self.look.either("…", "~")
    }

    fn body(&mut self, buffer: &mut Buffer, area: Rect) {
        let runs = self
            .status()
            .is_some_and(|status| status.sink.is_some() || status.source.is_some())
            || self.tabs_shown().count() > 4;
        if !runs {
            let text = match (self.now.is_some(), &self.trouble) {
                (_, Some(_)) => "",
                (true, None) => "hostint does not run on this host (network namespace)",
                (false, None) => "reading",
            };
            let waits = if self.now.is_some() {
                "waiting for a sink or a source"
            } else {
                ""
            };
            let middle = (area.height as usize).saturating_sub(2) / 2;
            let centred = |text: &str| format!("{text:^width$}", width = area.width as usize);
            put(buffer, area, middle, &Line::raw(centred(text)));
            let waits = Line::styled(centred(waits), self.look.faint());
            put(buffer, area, middle + 1, &waits);
            return;
        }
        match self.tab {
            // The way of packets has many lines.
            Tab::Flows if self.detail && !self.way && area.height >= HIGH => {
                let (table, below) = split(area, area.height as usize / 3);
                self.table(buffer, table);
                detail::draw(self, buffer, below);
            }
            Tab::Flows if self.detail => {
                self.flows.cursor.fit(self.flows.len(), 1);
                detail::draw(self, buffer, area);
            }
            Tab::Flows => self.table(buffer, area),
            Tab::Counters => self.counters(buffer, area),
            Tab::Peers => peers::draw(self, buffer, area),
            Tab::Why => self.why(buffer, area),
            Tab::Drops | Tab::Hops | Tab::Queues => self.draw_postcards(buffer, area),
        }
    }

    fn counters(&mut self, buffer: &mut Buffer, area: Rect) {
        let rows = self.counters_shown().len();
        let (head, mut list) = split(area, 1);
        // If texts are cut off, the chosen counter's text gets a line of its own.
        let cut = area.width < WHOLE && list.height > 2;
        let below = if cut {
            let parts = split(list, list.height as usize - 1);
            list = parts.0;
            Some(parts.1)
        } else {
            None
        };
        self.counters_cursor.fit(rows, list.height as usize);
        let at = self.counters_cursor.at;
        if let (Some(below), Some(one)) = (below, self.counters_shown().get(at)) {
            put(buffer, below, 0, &Line::styled(one.text, self.look.faint()));
        }
        let title = format!(
            "{:<7}{:<20}{:>9} {:>17}  {}",
            "of", "counter", "/s", "in all", "means"
        );
        put(buffer, head, 0, &Line::styled(title, self.look.strong()));
        let shown = self.counters_cursor.shown(rows);
        for (line, one) in self.counters_shown()[shown.clone()].iter().enumerate() {
            put(buffer, list, line, &counter(self.look, one));
            if shown.start + line == self.counters_cursor.at {
                paint(buffer, list, line, self.look.chosen());
            }
        }
    }

    fn why(&mut self, buffer: &mut Buffer, area: Rect) {
        let lines = header::why(self, area.width as usize);
        self.why_rows = lines.len();
        self.why_cursor.fit(lines.len(), area.height as usize);
        for (row, line) in lines[self.why_cursor.shown(lines.len())].iter().enumerate() {
            put(buffer, area, row, line);
        }
    }

    fn help(&self, buffer: &mut Buffer, area: Rect) {
        for (row, (keys, does)) in HELP.iter().enumerate() {
            let line = Line::from(vec![
                Span::styled(format!("  {keys:<19}"), self.look.strong()),
                Span::raw(*does),
            ]);
            put(buffer, area, row, &line);
        }
    }
}

/// The keys, as hostint-status(8) lists them. The screen of 15 lines has room for ten.
const HELP: [(&str, &str); 12] = [
    ("arrows, PgUp, PgDn", "choose a flow; Home: the first"),
    ("Enter, Esc", "show its histogram and history; go back"),
    ("w", "show its way over hops, by segment"),
    ("s or >, S or <, r", "sort: next, previous column; reverse"),
    ("/", "show rows with these words; Esc: all"),
    ("p or space", "pause and resume"),
    ("+, -", "refresh less often, or more often"),
    (
        "Tab, 1 to 7",
        "flows, counters, peers, troubles; drops, hops, queues",
    ),
    ("Ctrl-L, Ctrl-Z", "redraw, suspend"),
    ("q, Ctrl-C", "quit"),
    ("", ""),
    ("", "loss, p50 and p99 cover the last interval"),
];

fn counter(look: Appearance, one: &Counter) -> Line<'static> {
    let style = if one.count == 0 {
        look.faint()
    } else {
        Style::new()
    };
    let moving = if one.rate.is_some_and(|rate| rate > 0.0) {
        look.strong()
    } else {
        style
    };
    Line::from(vec![
        Span::styled(format!("{:<7}{:<20}", one.section.name(), one.name), style),
        Span::styled(format!("{:>9}", maybe_rate(one.rate)), moving),
        Span::styled(
            format!(" {:>17}  {}", Grouped(one.count).to_string(), one.text),
            style,
        ),
    ])
}
