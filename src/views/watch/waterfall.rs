//! The way of a flow's packets: the paths of its pair over transit hops, each as a waterfall.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Span};

use super::appearance::Appearance;
use super::area::put;
use super::paths::{SentPaths, ShownPath, ShownSpan};
use super::plot;
use super::state::Watch;
use super::words;
use crate::model::NodeId;
use crate::views::hosts::KnownHosts;
use crate::views::path::{of_what, sentences};
use crate::views::shortened::{shortened, wrap};
use crate::views::waterfall::{Strokes, WaterfallRow, rows};

/// The narrowest drawing. A terminal with less room for it has none.
const LEAST_BAR: usize = 8;
/// The widest drawing.
const MOST_BAR: usize = 60;
/// The width of a segment's kind.
const KIND: usize = 7;

/// The figures of a row; those that a narrow terminal keeps longest come first.
const FIGURES: [Figure; 5] = [
    Figure {
        name: "p99",
        place: 3,
        of: |row| &row.p99,
    },
    Figure {
        name: "p50",
        place: 2,
        of: |row| &row.p50,
    },
    Figure {
        name: "lost",
        place: 0,
        of: |row| &row.lost,
    },
    Figure {
        name: "mean",
        place: 1,
        of: |row| &row.mean,
    },
    Figure {
        name: "share",
        place: 4,
        of: |row| &row.share,
    },
];

/// A column of figures.
#[derive(Clone, Copy)]
struct Figure {
    name: &'static str,
    /// The order from left to right.
    place: usize,
    of: fn(&WaterfallRow) -> &String,
}

fn strokes(look: Appearance) -> Strokes {
    let either = |unicode, ascii| if look.unicode { unicode } else { ascii };
    Strokes {
        usual: either('█', '#'),
        slow: either('─', '='),
        error: Some(either('░', ':')),
        unknown: Some(either('╌', '.')),
        unseen: Some(either('┄', '.')),
    }
}

/// The columns that fit beside kind and ends, with their widths, and the width of the drawing.
fn columns(rows: &[WaterfallRow], ends: usize, width: usize) -> (Vec<(Figure, usize)>, usize) {
    let mut left = width.saturating_sub(KIND + ends + 1);
    let mut chosen = Vec::new();
    for figure in FIGURES {
        let cells = rows.iter().map(|row| (figure.of)(row).chars().count());
        let widest = cells.max().unwrap_or(0);
        // A column without any values is left out.
        let wide = widest.max(figure.name.len());
        if widest > 0 && wide < left {
            left -= wide + 1;
            chosen.push((figure, wide));
        }
    }
    chosen.sort_by_key(|(figure, _)| figure.place);
    let bar = if left < LEAST_BAR {
        0
    } else {
        left.min(MOST_BAR)
    };
    (chosen, bar)
}

/// The rows of a path, in characters that the terminal has.
fn drawn(look: Appearance, path: &ShownPath, hosts: &KnownHosts, bar: usize) -> Vec<WaterfallRow> {
    let rows = rows(&path.figures, hosts, bar.max(1), strokes(look)).into_iter();
    let plain = |row: WaterfallRow| WaterfallRow {
        mean: row.mean.replace('±', look.either("±", "+-")),
        ..row
    };
    rows.map(plain).collect()
}

fn span_text(span: ShownSpan) -> String {
    match span {
        ShownSpan::Last(span) => {
            let ns = u64::try_from(span.as_nanos()).unwrap_or(u64::MAX);
            format!("of the last {}", words::span(ns))
        }
        ShownSpan::Whole => "since its first packet".to_owned(),
    }
}

/// The lines of a path.
fn lines(
    look: Appearance,
    path: &ShownPath,
    hosts: &KnownHosts,
    width: usize,
) -> Vec<Line<'static>> {
    let figures = &path.figures;
    let nodes = figures.path.nodes().map(|node| hosts.named(Some(node)));
    let nodes = nodes.collect::<Vec<_>>().join(" > ");
    let of = format!("{} {}", of_what(&figures.whole), span_text(path.span));
    let mut lines = vec![Line::from(vec![
        Span::styled(shortened(&nodes, width, look.either("…", "~")), look.head()),
        Span::styled(format!("  {of}"), look.faint()),
    ])];
    lines.push(marks(look, path, width));
    let unbarred = drawn(look, path, hosts, 0);
    let longest = unbarred.iter().map(|row| row.ends.chars().count()).max();
    let ends = longest.unwrap_or(0).min(width / 2);
    let (shown, bar) = columns(&unbarred, ends, width);
    let mut title = format!("{:<KIND$}{:<ends$} ", "", "segment");
    for (figure, wide) in &shown {
        title += &format!("{:>wide$} ", figure.name);
    }
    lines.push(Line::styled(title, look.strong()));
    for row in drawn(look, path, hosts, bar) {
        let style = match row.loses {
            true => look.bad(),
            false => Style::new(),
        };
        let name = shortened(&row.ends, ends, look.either("…", "~"));
        let mut spans = vec![
            Span::styled(format!("{:<KIND$}", row.kind), look.faint()),
            Span::raw(format!("{name:<ends$} ")),
        ];
        for (figure, wide) in &shown {
            let cell = (figure.of)(&row);
            let cell = format!("{cell:>wide$} ");
            spans.push(match figure.name {
                "lost" => Span::styled(cell, style),
                _ => Span::raw(cell),
            });
        }
        if bar > 0 {
            spans.push(Span::styled(row.bar, look.bar()));
        }
        lines.push(Line::from(spans));
    }
    let mut said = String::new();
    sentences(figures, hosts, &mut said);
    for sentence in said.lines() {
        let wrapped = wrap(sentence, width);
        lines.extend(wrapped.into_iter().map(Line::raw));
    }
    lines
}

/// True if some segments of a path have packets, and no time.
fn has_unknown_wires(path: &ShownPath) -> bool {
    let mut times = path.figures.segments.iter().map(|one| &one.times);
    times.any(|times| times.samples() > 0 && times.latency.is_none() && times.corrected.is_none())
}

/// Says in the last line that fits how many more there are.
fn cut(look: Appearance, lines: &mut Vec<Line<'static>>, height: usize) {
    let all = lines.len();
    if all <= height {
        return;
    }
    let shown = height.saturating_sub(1);
    lines.truncate(shown);
    let dots = look.either("…", "...");
    let text = format!(
        "{dots} {} more lines: make the terminal higher",
        all - shown
    );
    lines.push(Line::styled(text, look.faint()));
}

/// The packets of the path in one interval after the other: where a path ends and another begins, the way changed.
fn marks(look: Appearance, path: &ShownPath, width: usize) -> Line<'static> {
    const LABEL: &str = "packets ";
    let room = width.saturating_sub(LABEL.len());
    let from = path.marks.len().saturating_sub(room);
    let shown = path.marks.get(from..).unwrap_or_default();
    let most = shown.iter().flatten().copied().fold(0.0, f64::max);
    let plot = plot::standing(look, shown, most, 1).concat();
    Line::from(vec![
        Span::styled(LABEL, look.faint()),
        Span::styled(plot, look.bar()),
    ])
}

impl Watch {
    /// The paths of the chosen flow's pair: those of the history if it was asked, else those that this host knows.
    fn ways(&self, source: NodeId) -> (Vec<ShownPath>, Option<&SentPaths>) {
        let told = self.now.as_ref().and_then(|now| now.told.as_ref());
        let told = told.filter(|told| told.source == source);
        match told.map(SentPaths::shown).filter(|shown| !shown.is_empty()) {
            Some(shown) => (shown, told),
            None => (self.paths.shown(source), told),
        }
    }

    /// Draws the paths of packets from a node below each other.
    pub(super) fn draw_way(&self, source: NodeId, buffer: &mut Buffer, area: Rect) {
        let width = area.width as usize;
        let look = self.look;
        let (paths, told) = self.ways(source);
        let mut all: Vec<Line<'static>> = Vec::new();
        if let Some(trouble) = told.and_then(|told| told.trouble.as_deref()) {
            let wrapped = wrap(&format!("! {trouble}"), width);
            all.extend(
                wrapped
                    .into_iter()
                    .map(|line| Line::styled(line, look.bad())),
            );
        }
        let hosts = told.map_or(self.flows.hosts(), |told| &told.hosts);
        for path in &paths {
            if !all.is_empty() {
                all.push(Line::default());
            }
            all.extend(lines(look, path, hosts, width));
        }
        if paths.is_empty() {
            let none = "no packets of this pair came over transit hops (hostint source --max-hops)";
            all.extend(
                (wrap(none, width).into_iter()).map(|line| Line::styled(line, look.faint())),
            );
        }
        if told.is_none() && paths.iter().any(has_unknown_wires) {
            let text = "?: between two clocks; a collector's history knows their difference (hostint status --watch --store FILE)";
            all.extend(
                (wrap(text, width).into_iter()).map(|line| Line::styled(line, look.faint())),
            );
        }
        cut(look, &mut all, area.height.into());
        for (row, line) in all.iter().enumerate() {
            put(buffer, area, row, line);
        }
    }
}
