//! The header: this host, its attached programs, totals, and the worst problem.

use ratatui::style::Style;
use ratatui::text::{Line, Span};

use super::counters::{Section, rate};
use super::state::Watch;
use super::words::{self, maybe_rate};
use crate::model::{Attachment, Reason, ReasonSeverity, ReasonTopic, SinkStatus, SourceStatus};
use crate::views::digits::Grouped;
use crate::views::hosts::NODE_WIDTH;
use crate::views::shortened::{shortened, wrap};

/// Parts of a line, most important first: those that do not fit are left out.
struct Parts {
    spans: Vec<Span<'static>>,
    left: usize,
}

impl Parts {
    fn of(width: usize) -> Self {
        Self {
            spans: Vec::new(),
            left: width,
        }
    }

    fn add(&mut self, text: impl Into<String>, style: Style) {
        let mut text = text.into();
        if !self.spans.is_empty() {
            text.insert_str(0, "  ");
        }
        let span = Span::styled(text, style);
        if span.width() <= self.left {
            self.left -= span.width();
            self.spans.push(span);
        }
    }

    /// Adds a part at the right end.
    fn end(mut self, text: String, style: Style) -> Line<'static> {
        let span = Span::styled(text, style);
        if span.width() < self.left {
            let gap = self.left - span.width();
            self.spans.push(Span::raw(" ".repeat(gap)));
            self.spans.push(span);
        }
        Line::from(self.spans)
    }
}

fn attached(list: &[Attachment]) -> String {
    if list.is_empty() {
        return "attached nowhere".to_owned();
    }
    let each = list
        .iter()
        .map(|at| format!("{} {} {}", at.dev, at.hook, at.mode));
    each.collect::<Vec<_>>().join(", ")
}

/// The lines of the header.
pub fn lines(watch: &Watch, width: usize) -> Vec<Line<'static>> {
    let mut lines = vec![first(watch, width)];
    if let Some(status) = watch.status() {
        let sink = status.sink.as_ref();
        lines.extend(sink.map(|sink| of_sink(watch, sink, width)));
        let source = status.source.as_ref();
        lines.extend(source.map(|source| of_source(watch, source, width)));
    }
    lines.extend(worst(watch, width));
    lines
}

fn of_sink(watch: &Watch, sink: &SinkStatus, width: usize) -> Line<'static> {
    let look = watch.look;
    let mut parts = Parts::of(width);
    parts.add("sink", look.strong());
    parts.add(
        format!(
            "received {}/s",
            per_second(watch, Section::Sink, "received")
        ),
        Style::new(),
    );
    let lost = rate(&watch.counters, Section::Sink, "lost");
    let style = if lost.is_some_and(|lost| lost > 0.0) {
        look.bad()
    } else {
        Style::new()
    };
    parts.add(format!("lost {}/s", maybe_rate(lost)), style);
    match sink.daemon_pid {
        Some(pid) => parts.add(format!("daemon {pid}"), Style::new()),
        None => parts.add("NO DAEMON", look.bad()),
    }
    let flows = format!(
        "flows {} of {}",
        Grouped(sink.flows_total as u64),
        Grouped(sink.flows_max.into())
    );
    parts.add(flows, Style::new());
    if sink.flows.len() < sink.flows_total {
        let text = format!("{} seen", Grouped(sink.flows.len() as u64));
        parts.add(text, look.bad());
    }
    parts.add(attached(&sink.attachments), Style::new());
    parts.add(
        format!("leases {}", Grouped(sink.leases_granted as u64)),
        Style::new(),
    );
    Line::from(parts.spans)
}

fn of_source(watch: &Watch, source: &SourceStatus, width: usize) -> Line<'static> {
    let look = watch.look;
    let mut parts = Parts::of(width);
    parts.add("source", look.strong());
    parts.add(
        format!("tagged {}/s", per_second(watch, Section::Source, "tagged")),
        Style::new(),
    );
    let strip = source
        .peers
        .iter()
        .filter(|peer| ["granted", "idle"].contains(&peer.state));
    parts.add(
        format!("peers {}, {} strip", source.peers_total, strip.count()),
        Style::new(),
    );
    parts.add(
        format!(
            "flows {} of {}",
            Grouped(source.flows_total as u64),
            Grouped(source.flows_max.into())
        ),
        Style::new(),
    );
    parts.add(attached(&source.attachments), Style::new());
    Line::from(parts.spans)
}

/// A counter's packets in a second.
fn per_second(watch: &Watch, section: Section, name: &str) -> String {
    maybe_rate(rate(&watch.counters, section, name))
}

fn first(watch: &Watch, width: usize) -> Line<'static> {
    let look = watch.look;
    let mut parts = Parts::of(width);
    parts.add("hostint", look.head());
    let status = watch.status();
    if let Some(node) = status.and_then(|status| status.node_id) {
        let node = watch.flows.hosts().named_within(node, NODE_WIDTH);
        parts.add(format!("node {node}"), look.strong());
    }
    let pace = if watch.paused {
        "PAUSED".to_owned()
    } else {
        format!("every {} s", watch.interval.as_secs_f64())
    };
    let clock = status.and_then(|status| status.clock.as_ref());
    if let Some(clock) = clock {
        let (text, style) = if clock.synchronised {
            ("synchronised", Style::new())
        } else {
            ("NOT SYNCHRONISED", look.bad())
        };
        if parts.left > 32 + pace.len() {
            parts.add(format!("clock {} {text}", clock.source), style);
        } else {
            parts.add(format!("clock {text}"), style);
        }
    }
    let style = if watch.paused {
        look.chosen()
    } else {
        look.faint()
    };
    let time = words::time_of_day(watch.wall_ns());
    if watch.now.is_some() && parts.left > time.len() + pace.len() + 3 {
        parts.end(format!("{time}  {pace}"), style)
    } else {
        parts.end(pace, style)
    }
}

/// One line with the worst problem, if there is one.
fn worst(watch: &Watch, width: usize) -> Option<Line<'static>> {
    let look = watch.look;
    if let Some(trouble) = &watch.trouble {
        let text = shortened(&format!("! {trouble}"), width, watch.dots());
        return Some(Line::styled(text, look.bad()));
    }
    let why = &watch.status()?.why;
    let why: Vec<_> = why.iter().filter(|reason| !reason.is_over()).collect();
    let reason = why.iter().min_by_key(|reason| reason.severity)?;
    if reason.severity == ReasonSeverity::Note {
        return None;
    }
    let more = match why.len() - 1 {
        0 => String::new(),
        more => format!(" (+{more}: 4)"),
    };
    let room = width.saturating_sub(more.len() + 2);
    let text = sentence(reason);
    let text: String = if text.chars().count() > room {
        let kept = room.saturating_sub(1);
        text.chars().take(kept).collect::<String>() + watch.dots()
    } else {
        text
    };
    let style = match reason.severity {
        ReasonSeverity::Stopped | ReasonSeverity::Dropped => look.bad(),
        _ => look.head(),
    };
    Some(Line::from(vec![
        Span::styled(format!("! {text}"), style),
        Span::styled(more, look.faint()),
    ]))
}

fn sentence(reason: &Reason) -> String {
    let (count, since) = reason.number();
    let count = count.map_or_else(String::new, |count| format!("{} ", Grouped(count)));
    format!("{count}{}{since}: {}", reason.text, reason.advice)
}

/// All problems by topic, as whole sentences.
pub fn why(watch: &Watch, width: usize) -> Vec<Line<'static>> {
    let mut lines = Vec::new();
    let Some(status) = watch.status() else {
        return lines;
    };
    let mut topic = None;
    for reason in &status.why {
        if topic.replace(reason.topic) != Some(reason.topic) {
            let head = match reason.topic {
                ReasonTopic::Tagging => "why packets are not tagged",
                ReasonTopic::Pushing => "why packets are not given an entry by the transit hop",
                ReasonTopic::Stripping => "why packets are not stripped",
                ReasonTopic::Measuring => "why packets are not measured or reported",
            };
            lines.push(Line::styled(head, watch.look.strong()));
        }
        let style = match reason.severity {
            _ if reason.is_over() => watch.look.faint(),
            ReasonSeverity::Stopped | ReasonSeverity::Dropped => watch.look.bad(),
            ReasonSeverity::Missed => Style::new(),
            ReasonSeverity::Note => watch.look.faint(),
        };
        let wrapped = wrap(&sentence(reason), width.saturating_sub(4));
        for (number, part) in wrapped.iter().enumerate() {
            let indent = if number == 0 { "  " } else { "    " };
            lines.push(Line::styled(format!("{indent}{part}"), style));
        }
    }
    if lines.is_empty() {
        let all_well = "no counter shows packets that were not tagged, stripped or measured";
        lines.push(Line::styled(all_well, watch.look.faint()));
    }
    lines
}
