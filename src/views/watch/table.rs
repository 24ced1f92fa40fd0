//! The table of flows on the screen.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Span};

use super::area::{paint, put, split};
use super::columns::FlowColumn;
use super::snapshot::flows_of;
use super::state::Watch;
use crate::views::shortened::shortened;

impl Watch {
    pub(super) fn table(&mut self, buffer: &mut Buffer, area: Rect) {
        let (head, list) = split(area, 1);
        self.flows
            .cursor
            .fit(self.flows.len(), list.height as usize);
        let Some(now) = &self.now else {
            return;
        };
        let flows = flows_of(&now.status);
        let shown = self.flows.cursor.shown(self.flows.len());
        let rows: Vec<_> = shown
            .clone()
            .filter_map(|row| self.flows.row(row, flows, now.wall_ns))
            .collect();
        let longest = rows.iter().map(|row| row.flow.flow.to_string().len()).max();
        let columns = columns(self.flows.sort, longest.unwrap_or(0), area.width as usize);
        put(buffer, head, 0, &self.titles(&columns));
        for (line, row) in rows.iter().enumerate() {
            let lossy = row
                .rates
                .and_then(|rates| rates.loss)
                .is_some_and(|loss| loss > 0.0);
            let cells = columns.iter().map(|(column, width)| {
                let cell = shortened(&column.cell(row), *width, self.dots());
                let style = match column {
                    FlowColumn::LossNow if lossy => self.look.bad(),
                    _ => Style::new(),
                };
                Span::styled(aligned(&cell, *width, column.is_text()), style)
            });
            put(buffer, list, line, &Line::from_iter(cells));
            if shown.start + line == self.flows.cursor.at {
                paint(buffer, list, line, self.look.chosen());
            }
        }
        if rows.is_empty() {
            let text = match (flows.is_empty(), now.status.sink.is_some()) {
                (false, _) => "no flow has all words of the filter (Esc shows all again)",
                (true, true) => "no flow has arrived yet",
                (true, false) => "no sink here: flows are measured where they arrive",
            };
            put(buffer, list, 1, &Line::styled(text, self.look.faint()));
        }
        self.flows.watch(shown, flows);
    }

    fn titles(&self, columns: &[(FlowColumn, usize)]) -> Line<'static> {
        let descends = self.flows.sort.descends() != self.flows.reversed;
        let mark = match descends {
            true => self.look.either("▾", "v"),
            false => self.look.either("▴", "^"),
        };
        Line::from_iter(columns.iter().map(|(column, width)| {
            let sorts = *column == self.flows.sort;
            let title = if sorts {
                format!("{mark}{}", column.title())
            } else {
                column.title().to_owned()
            };
            let style = if sorts {
                self.look.head()
            } else {
                self.look.strong()
            };
            Span::styled(aligned(&title, *width, column.is_text()), style)
        }))
    }
}

/// Text in its column, with a space before every column but the first.
fn aligned(text: &str, width: usize, is_text: bool) -> String {
    if is_text {
        format!("{text:<width$} ")
    } else {
        format!("{text:>width$} ")
    }
}

/// The columns that fit, from left to right, with their widths.
fn columns(sort: FlowColumn, longest: usize, width: usize) -> Vec<(FlowColumn, usize)> {
    let mut chosen = vec![FlowColumn::Flow];
    let cost = |column: FlowColumn| column.width() + 1;
    // Long flows lose their middle before the second figure is left out.
    let mut flow = longest.max(FlowColumn::Flow.width());
    let figures: usize = FlowColumn::BY_IMPORTANCE
        .iter()
        .take(4)
        .map(|one| cost(*one))
        .sum();
    flow = flow.min(
        width
            .saturating_sub(figures + 1)
            .max(FlowColumn::Flow.width()),
    );
    let mut left = width.saturating_sub(flow + 1);
    let first = (sort != FlowColumn::Flow).then_some(sort);
    for column in first.into_iter().chain(FlowColumn::BY_IMPORTANCE) {
        // The space after the last column is not needed.
        if !chosen.contains(&column) && cost(column) <= left + 1 {
            left = (left + 1).saturating_sub(cost(column) + 1);
            chosen.push(column);
        }
    }
    // The flow gets the remaining width.
    flow = longest.clamp(flow, flow + left);
    let ordered = FlowColumn::ALL
        .into_iter()
        .filter(|one| chosen.contains(one));
    ordered
        .map(|one| {
            (
                one,
                if one == FlowColumn::Flow {
                    flow
                } else {
                    one.width()
                },
            )
        })
        .collect()
}
