//! A path as rows, one for each segment: what is known of it, and where its times begin and end beside the others.

use super::digits::{Grouped, Nanoseconds};
use super::hosts::KnownHosts;
use super::known_digits::with_error;
use crate::model::{
    LEAST_SAMPLES, LatencyFigures, PathFigures, Segment, SegmentFigures, SegmentKind, SegmentTimes,
};

/// The characters of a drawing.
#[derive(Clone, Copy, Debug)]
pub struct Strokes {
    /// To the usual time of a segment, and on to its 99th percentile.
    pub usual: char,
    pub slow: char,
    /// For the error of the mean that clocks leave, and for a segment whose time is not known; `None` draws nothing.
    pub error: Option<char>,
    pub unknown: Option<char>,
    /// For routers that pushed no entry.
    pub unseen: Option<char>,
}

/// A row of a waterfall. A text without content is not known, and does not matter.
#[derive(Clone, Debug, Default)]
pub struct WaterfallRow {
    pub kind: &'static str,
    pub ends: String,
    pub lost: String,
    /// Packets are known to be lost there.
    pub loses: bool,
    pub mean: String,
    pub p50: String,
    pub p99: String,
    pub share: String,
    pub bar: String,
}

impl WaterfallRow {
    /// A row without a bar. `knows_losses`: something is known of losses on the path.
    fn of(
        kind: &'static str,
        ends: String,
        (times, share): (&SegmentTimes, Option<f64>),
        knows_losses: bool,
    ) -> Self {
        let lost = match times.loss {
            Some(loss) => Grouped(loss.lost).to_string(),
            None if knows_losses => "?".to_owned(),
            None => String::new(),
        };
        let [mean, p50, p99, share] = figures(times, share);
        Self {
            kind,
            ends,
            lost,
            loses: times.loss.is_some_and(|loss| loss.lost > 0),
            mean,
            p50,
            p99,
            share,
            bar: String::new(),
        }
    }
}

/// `leaf (28673) eth0 -> eth1` for a hop.
pub(super) fn ends(hosts: &KnownHosts, segment: &Segment) -> String {
    match segment.kind {
        SegmentKind::Hop => hosts.ports(segment.from, segment.to),
        SegmentKind::Queue | SegmentKind::Read | SegmentKind::Answer => hosts.port(segment.from),
        SegmentKind::Buffer | SegmentKind::Stack => hosts.port(segment.to),
        SegmentKind::Wire | SegmentKind::Guest => {
            format!("{} -> {}", hosts.port(segment.from), hosts.port(segment.to))
        }
    }
}

/// The figures of a segment: mean with its error, p50, p99, share.
pub(super) fn figures(times: &SegmentTimes, share: Option<f64>) -> [String; 4] {
    let unknown = || if times.samples() > 0 { "?" } else { "-" }.to_owned();
    let mean = match (times.corrected, times.latency) {
        (Some(corrected), _) => with_error(corrected.mean_ns, corrected.error_ns),
        (None, Some(latency)) => Nanoseconds(latency.mean_ns).to_string(),
        (None, None) => unknown(),
    };
    let quantile = |of: fn(LatencyFigures) -> Option<i64>| match times.latency {
        Some(latency) => match of(latency).filter(|_| latency.samples >= LEAST_SAMPLES) {
            // A segment between two clocks is reported without their difference.
            Some(ns) if times.corrected.is_some() => Nanoseconds(ns.max(0)).to_string(),
            Some(ns) => Nanoseconds(ns).to_string(),
            None => "-".to_owned(),
        },
        None => unknown(),
    };
    [
        mean,
        quantile(|latency| latency.p50_ns),
        quantile(|latency| latency.p99_ns),
        share.map_or_else(unknown, |share| format!("{:.0}%", 100.0 * share)),
    ]
}

/// Where a segment is drawn, in ns from the begin of the path.
#[derive(Clone, Copy)]
struct BarSpan {
    begin: i64,
    usual: i64,
    slow: i64,
    /// The end of what the error of the mean leaves possible.
    error: i64,
}

/// The usual time of a segment and its 99th percentile, for drawing.
fn drawn(times: &SegmentTimes) -> Option<(i64, i64)> {
    let latency = times.latency?;
    let enough = latency.samples >= LEAST_SAMPLES;
    let quantiles = latency.p50_ns.zip(latency.p99_ns).filter(|_| enough);
    let (usual, slow) = quantiles.unwrap_or((latency.mean_ns, latency.mean_ns));
    Some((usual.max(0), slow.max(0)))
}

/// The bars of a path's segments, one above the other, each beginning where the one before usually ends.
fn bars(path: &PathFigures, columns: usize, strokes: Strokes) -> Vec<String> {
    let mut begin = 0;
    let mut span = |times: &SegmentTimes| {
        let (usual, slow) = drawn(times)?;
        let error = times.corrected.filter(|_| strokes.error.is_some());
        let error = error.map_or(0, |corrected| {
            i64::try_from(corrected.error_ns).unwrap_or(i64::MAX)
        });
        let from = begin;
        begin += usual;
        Some(BarSpan {
            begin: from,
            usual: begin,
            slow: from + slow,
            error: begin.saturating_add(error),
        })
    };
    let spans: Vec<_> = (path.segments.iter())
        .map(|segment| span(&segment.times))
        .collect();
    let ends = spans.iter().flatten().map(|span| span.slow.max(span.error));
    let last = ends.max().unwrap_or(0);
    let column = |ns: i64| match last {
        ..=0 => 0,
        _ => (ns as f64 / last as f64 * columns as f64).round() as usize,
    };
    let bar = |span: &Option<BarSpan>| {
        let Some(span) = span else {
            let unknown = strokes.unknown.map(String::from);
            return unknown.unwrap_or_default().repeat(columns);
        };
        if last <= 0 {
            return String::new();
        }
        let from = column(span.begin).min(columns - 1);
        // Each known time is seen.
        let usual = column(span.usual).max(from + 1);
        let error = strokes.error.filter(|_| span.error > span.usual);
        let of_error = column(span.error);
        let behind = (usual..column(span.slow).max(of_error)).map(|at| match error {
            Some(error) if at < of_error => error,
            _ => strokes.slow,
        });
        let block = std::iter::repeat_n(strokes.usual, usual - from);
        let before = std::iter::repeat_n(' ', from);
        before.chain(block).chain(behind).collect()
    };
    spans.iter().map(bar).collect()
}

/// True if something is known of losses by segment.
pub(super) fn has_losses(path: &PathFigures) -> bool {
    let segments = path.segments.iter().chain(&path.queues);
    let mut times = std::iter::once(&path.whole).chain(segments.map(|one| &one.times));
    times.any(|times| times.loss.is_some())
}

/// `2 routers without INT`
fn unseen_text(routers: u8) -> String {
    let plural = if routers == 1 { "" } else { "s" };
    format!("{routers} router{plural} without INT")
}

/// The rows of a path: each segment, below a wire its queue and the routers on it that pushed no entry, the whole, and what
/// is in the hosts at its ends in front and behind. `columns` is the width of the drawing.
pub fn rows(
    path: &PathFigures,
    hosts: &KnownHosts,
    columns: usize,
    strokes: Strokes,
) -> Vec<WaterfallRow> {
    let knows_losses = has_losses(path);
    let row = |kind, ends, times: &SegmentTimes, share| {
        WaterfallRow::of(kind, ends, (times, share), knows_losses)
    };
    let of = |one: &SegmentFigures| {
        let ends = ends(hosts, &one.segment);
        let row = row(one.segment.kind.name(), ends, &one.times, one.share);
        match one.segment.kind {
            // They are no part of the path: neither of its mean, nor of what is lost on it.
            SegmentKind::Buffer | SegmentKind::Stack | SegmentKind::Read | SegmentKind::Answer => {
                WaterfallRow {
                    lost: String::new(),
                    share: String::new(),
                    ..row
                }
            }
            _ => row,
        }
    };
    let at_end = |kind: SegmentKind| {
        let reported = path.host_segments.iter();
        reported
            .filter(move |one| one.segment.kind == kind)
            .map(&of)
    };
    let in_front = [SegmentKind::Buffer, SegmentKind::Stack];
    let mut rows: Vec<WaterfallRow> = in_front.into_iter().flat_map(at_end).collect();
    for (segment, bar) in path.segments.iter().zip(bars(path, columns, strokes)) {
        rows.push(WaterfallRow { bar, ..of(segment) });
        let is_behind = |queue: &&SegmentFigures| {
            segment.segment.kind.begins_with_queue() && queue.segment.from == segment.segment.from
        };
        rows.extend(path.queues.iter().filter(is_behind).map(&of));
        if let Some(routers) = segment.unseen_hops.filter(|routers| *routers > 0) {
            let dash = strokes.unseen;
            rows.push(WaterfallRow {
                kind: "router",
                ends: unseen_text(routers),
                bar: dash.map_or_else(String::new, |dash| dash.to_string().repeat(columns)),
                ..WaterfallRow::default()
            });
        }
    }
    let behind = [SegmentKind::Read, SegmentKind::Answer];
    rows.extend(behind.into_iter().flat_map(at_end));
    rows.push(WaterfallRow {
        share: String::new(),
        ..row("in all", String::new(), &path.whole, None)
    });
    rows
}
