//! The detail of one flow: its figures, the histogram of its latencies, and its recent history.

use std::collections::VecDeque;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};

use super::appearance::Appearance;
use super::area::{put, split};
use super::columns::FlowLine;
use super::histogram::{SlotCount, counts_of, quantile, upper_ns};
use super::history::FlowHistory;
use super::plot;
use super::rates::Rates;
use super::snapshot::flows_of;
use super::state::Watch;
use super::words::{self, maybe_percent, maybe_rate, percent, rate};
use crate::model::{FlowStatus, HostStatus};
use crate::views::digits::{Grouped, Nanoseconds};
use crate::views::known_digits::KnownDigits;
use crate::views::shortened::wrap;

/// The width of a fact with its name.
const FACT: usize = 26;
/// The lines of facts above the way of packets, which is longer than a low terminal.
const FACTS_ABOVE_WAY: usize = 2;
/// The width from which histogram and history stand side by side.
const WIDE: u16 = 110;

pub fn draw(watch: &mut Watch, buffer: &mut Buffer, area: Rect) {
    let Some(now) = &watch.now else {
        return;
    };
    let at = watch.flows.cursor.at;
    let Some(row) = watch.flows.row(at, flows_of(&now.status), now.wall_ns) else {
        put(buffer, area, 0, &Line::raw("this flow is gone"));
        return;
    };
    let look = watch.look;
    let width = area.width as usize;
    let corrected = corrected(&row, &now.status);
    let mut top: Vec<Line<'_>> = wrap(&row.flow.flow.to_string(), width)
        .into_iter()
        .map(|line| Line::styled(line, look.head()))
        .collect();
    let most = match watch.way {
        true => FACTS_ABOVE_WAY,
        false => area.height as usize / 3,
    };
    top.extend(fact_lines(look, facts(&row, corrected), width, most));
    let (above, rest) = split(area, top.len());
    for (line, text) in top.iter().enumerate() {
        put(buffer, above, line, text);
    }
    let flow = row.flow;
    if watch.way {
        watch.draw_way(flow.source_node, buffer, rest);
        watch.flows.watch(at..at + 1, flows_of(&now.status));
        return;
    }
    let none = FlowHistory::default();
    let history = watch.flows.history(&flow.flow).unwrap_or(&none);
    if area.width >= WIDE {
        let half = rest.width / 2;
        let left = Rect {
            width: half - 2,
            ..rest
        };
        let right = Rect {
            x: rest.x + half,
            width: rest.width - half,
            ..rest
        };
        histogram(look, buffer, left, flow, history.window.as_deref());
        plots(look, buffer, right, history);
    } else {
        // Three figures over time take at least one line each.
        let upper = rest.height - (rest.height / 2).min(3).max(rest.height / 3);
        let used = histogram(
            look,
            buffer,
            split(rest, upper.into()).0,
            flow,
            history.window.as_deref(),
        );
        plots(look, buffer, split(rest, used).1, history);
    }
    watch.flows.watch(at..at + 1, flows_of(&now.status));
}

/// How fast two clocks drift apart at most that time daemons steer as fast as the kernel allows, in ppm.
const DRIFT_PPM: u64 = 1_200;

/// The last latency without the difference of the clocks, if this host asks the sender's for its time.
fn corrected(row: &FlowLine<'_>, status: &HostStatus) -> Option<String> {
    let flow = row.flow;
    let mut peers = status.source.iter().flat_map(|source| &source.peers);
    let sender =
        peers.find(|peer| peer.node == Some(flow.source_node) && peer.clock_offset_ns.is_some())?;
    let latency_ns = i64::from(flow.latency_last_ns).saturating_add(sender.clock_offset_ns?);
    let drifted_ns = row.idle_ns().saturating_mul(DRIFT_PPM) / 1_000_000;
    let error_ns = sender.clock_error_ns?.saturating_add(drifted_ns);
    // No packet takes a negative time.
    let latency_ns = match latency_ns.saturating_add_unsigned(error_ns) {
        0.. => latency_ns.max(0),
        _ => latency_ns,
    };
    let KnownDigits { value, error } = KnownDigits::new(latency_ns, error_ns);
    Some(format!("{value} +- {error}"))
}

/// What is known of a flow. The most important facts come first: a low terminal shows only those.
fn facts(row: &FlowLine<'_>, corrected: Option<String>) -> [(&'static str, String); 27] {
    let flow = row.flow;
    let ns = |ns: i64| row.latency(ns);
    let max_ns = i64::from(flow.latency_max_ns);
    let counts = counts_of(flow);
    let life = |known: Option<i64>, thousandths| {
        row.maybe_latency(known.or_else(|| quantile(&counts, thousandths, max_ns)))
    };
    let lately = |figure: fn(&Rates) -> Option<i64>| row.maybe_latency(row.rates.and_then(figure));
    [
        (
            "packets/s",
            maybe_rate(row.rates.map(|rates| rates.packets_s)),
        ),
        (
            "loss",
            maybe_percent(row.rates.and_then(|rates| rates.loss)),
        ),
        ("p50 now <", lately(|rates| rates.p50_ns)),
        ("p99 now <", lately(|rates| rates.p99_ns)),
        ("received", Grouped(flow.packets).to_string()),
        ("lost", Grouped(flow.lost).to_string()),
        ("loss in all", maybe_percent(row.loss())),
        ("mean", ns(flow.latency_mean_ns)),
        ("p50 <", life(flow.latency_p50_ns, 500)),
        ("p99 <", life(flow.latency_p99_ns, 990)),
        ("min", ns(flow.latency_min_ns.into())),
        ("max", ns(max_ns)),
        ("last", ns(flow.latency_last_ns.into())),
        ("corrected", corrected.unwrap_or_default()),
        (
            "from node",
            row.hosts
                .named_within(flow.source_node, FACT - "from node ".len() - 2),
        ),
        ("", flow.encapsulation.to_owned()),
        ("idle", words::span(row.idle_ns())),
        ("missing", Grouped(flow.missing).to_string()),
        ("reordered", Grouped(flow.reordered).to_string()),
        ("duplicates", Grouped(flow.duplicates).to_string()),
        ("late", Grouped(flow.late).to_string()),
        ("restarts", Grouped(flow.restarts.into()).to_string()),
        ("bucket", flow.bucket.to_string()),
        ("bytes", Grouped(flow.bytes).to_string()),
        (
            "age",
            words::span(row.wall_ns.saturating_sub(flow.first_ns)),
        ),
        ("source port", flow.source_port.to_string()),
        ("sink port", flow.sink_port.to_string()),
    ]
}

/// The known facts in columns, on as many lines as there are at most.
fn fact_lines(
    look: Appearance,
    facts: [(&'static str, String); 27],
    width: usize,
    most: usize,
) -> Vec<Line<'static>> {
    let columns = (width / FACT).max(1);
    let known: Vec<_> = (facts.into_iter())
        .filter(|(_, value)| !value.is_empty())
        .collect();
    known
        .chunks(columns)
        .take(most.max(2))
        .map(|chunk| {
            Line::from_iter(chunk.iter().flat_map(|(name, value)| {
                let room = (FACT - 2).saturating_sub(name.len() + usize::from(!name.is_empty()));
                let space = if name.is_empty() { "" } else { " " };
                [
                    Span::styled(format!("{name}{space}"), look.faint()),
                    Span::raw(format!("{value:<room$}  ")),
                ]
            }))
        })
        .collect()
}

/// A bar of the histogram: one slot, or several adjacent ones.
#[derive(Clone, Copy)]
struct Bar {
    first: usize,
    last: usize,
    life: u64,
    lately: u64,
}

impl Bar {
    fn with(self, other: Self) -> Self {
        Self {
            first: self.first.min(other.first),
            last: self.last.max(other.last),
            life: self.life + other.life,
            lately: self.lately + other.lately,
        }
    }

    /// The label. The last bar covers everything from its lower bound on if it has several slots.
    fn label(self, is_last: bool) -> String {
        match (self.last, is_last && self.first < self.last) {
            (0, _) => "0 or less".to_owned(),
            (_, true) => format!("> {}", Nanoseconds(upper_ns(self.first.saturating_sub(1)))),
            (last, false) => format!("< {}", Nanoseconds(upper_ns(last))),
        }
    }
}

/// The slots that hold packets. If there are too many, the rarer end is merged.
fn bars(flow: &FlowStatus, window: Option<&[SlotCount]>, most: usize) -> Vec<Bar> {
    let lately = |slot: usize| {
        let mut counts = window.unwrap_or_default().iter();
        let found = counts.find(|(slot_ns, _)| *slot_ns == upper_ns(slot));
        found.map_or(0, |(_, count)| u64::from(*count))
    };
    let mut bars: VecDeque<Bar> = (0..flow.histogram.len())
        .map(|slot| Bar {
            first: slot,
            last: slot,
            life: flow.histogram.get(slot).map_or(0, |one| u64::from(*one)),
            lately: lately(slot),
        })
        .collect();
    let is_empty = |bar: Option<&Bar>| bar.is_some_and(|bar| bar.life + bar.lately == 0);
    while is_empty(bars.front()) {
        bars.pop_front();
    }
    while is_empty(bars.back()) {
        bars.pop_back();
    }
    while bars.len() > most.max(2) {
        let rarer_first = bars.front().map(|bar| bar.life) <= bars.back().map(|bar| bar.life);
        let ends = if rarer_first {
            [bars.pop_front(), bars.pop_front()]
        } else {
            [bars.pop_back(), bars.pop_back()]
        };
        if let [Some(one), Some(other)] = ends {
            if rarer_first {
                bars.push_front(one.with(other));
            } else {
                bars.push_back(one.with(other));
            }
        }
    }
    bars.into()
}

/// Draws the histogram; returns the number of lines it took.
fn histogram(
    look: Appearance,
    buffer: &mut Buffer,
    area: Rect,
    flow: &FlowStatus,
    window: Option<&[SlotCount]>,
) -> usize {
    let bars = bars(flow, window, (area.height as usize).saturating_sub(1));
    let all: u64 = bars.iter().map(|bar| bar.life).sum();
    let lately: u64 = bars.iter().map(|bar| bar.lately).sum();
    let most = bars.iter().map(|bar| bar.life).max().unwrap_or(0);
    let most_lately = bars.iter().map(|bar| bar.lately).max().unwrap_or(0);
    // The width left for two bars, after the label and two shares.
    let room = (area.width as usize).saturating_sub(28);
    let (wide, narrow) = (room * 2 / 3, room / 3);
    let title = format!(
        "{:>10} {:<wide$} {:>7} {:<narrow$}",
        "latency", "all packets", "", "last interval"
    );
    put(buffer, area, 0, &Line::styled(title, look.strong()));
    let share = |part: u64, all: u64| part as f64 / (all.max(1)) as f64;
    for (row, bar) in bars.iter().enumerate() {
        let long = plot::lying(look, share(bar.life, most), wide);
        let short = plot::lying(look, share(bar.lately, most_lately), narrow);
        let line = Line::from(vec![
            Span::raw(format!("{:>10} ", bar.label(row + 1 == bars.len()))),
            Span::styled(padded(&long, wide), look.bar()),
            Span::raw(format!(" {:>7} ", percent(share(bar.life, all)))),
            Span::styled(padded(&short, narrow), look.bar()),
            Span::raw(format!(" {:>7}", percent(share(bar.lately, lately)))),
        ]);
        put(buffer, area, row + 1, &line);
    }
    (bars.len() + 1).min(area.height.into())
}

fn padded(text: &str, width: usize) -> String {
    format!("{text:<width$}")
}

/// A figure over time.
struct Plot {
    name: &'static str,
    figure: fn(&Rates) -> Option<f64>,
    say: fn(f64) -> String,
}

const PLOTS: [Plot; 4] = [
    Plot {
        name: "p99",
        figure: |rates| rates.p99_ns.map(|ns| ns as f64),
        say: |ns| Nanoseconds(ns as i64).to_string(),
    },
    Plot {
        name: "loss",
        figure: |rates| rates.loss,
        say: percent,
    },
    Plot {
        name: "pkt/s",
        figure: |rates| Some(rates.packets_s),
        say: rate,
    },
    Plot {
        name: "p50",
        figure: |rates| rates.p50_ns.map(|ns| ns as f64),
        say: |ns| Nanoseconds(ns as i64).to_string(),
    },
];

/// Draws the flow's recent figures, the latest at the right.
fn plots(look: Appearance, buffer: &mut Buffer, area: Rect, history: &FlowHistory) {
    const LABEL: usize = 19;
    let height = area.height as usize;
    let shown = PLOTS.len().min(height);
    if shown == 0 {
        return;
    }
    let room = (area.width as usize).saturating_sub(LABEL);
    let each = (height / shown).min(6);
    for (number, one) in PLOTS.iter().take(shown).enumerate() {
        let figures = history.last(room, one.figure);
        let most = figures.iter().flatten().copied().fold(0.0, f64::max);
        let lines = plot::standing(look, &figures, most, each.saturating_sub(1).max(1));
        let known = figures.iter().any(Option::is_some);
        let scale = if known {
            (one.say)(most)
        } else {
            String::new()
        };
        for (row, line) in lines.iter().enumerate() {
            let label = if row == 0 {
                format!("{:<6}{scale:>12} ", one.name)
            } else {
                " ".repeat(LABEL)
            };
            let line = Line::from(vec![
                Span::styled(label, look.strong()),
                Span::styled(line.clone(), look.bar()),
            ]);
            put(buffer, area, number * each + row, &line);
        }
    }
    if history.len() == 0 {
        let text = "history begins with the next refresh";
        put(buffer, area, height - 1, &Line::styled(text, look.faint()));
    }
}
