//! The lines of an area of the screen.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::Line;

/// Writes one line of an area, counted from its top; writes nothing below its end.
pub fn put(buffer: &mut Buffer, area: Rect, row: usize, line: &Line<'_>) {
    if row < area.height as usize {
        buffer.set_line(area.x, area.y + row as u16, line, area.width);
    }
}

/// Gives a whole line a style.
pub fn paint(buffer: &mut Buffer, area: Rect, row: usize, style: Style) {
    if row < area.height as usize {
        buffer.set_style(Rect::new(area.x, area.y + row as u16, area.width, 1), style);
    }
}

/// The first `rows` lines of an area, and the rest.
pub fn split(area: Rect, rows: usize) -> (Rect, Rect) {
    let rows = (rows as u16).min(area.height);
    (
        Rect {
            height: rows,
            ..area
        },
        Rect {
            y: area.y + rows,
            height: area.height - rows,
            ..area
        },
    )
}
