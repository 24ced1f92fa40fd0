//! Paths over transit hops as a waterfall of text: a row for each segment, where it begins and how long it takes.

use std::fmt::Write;

use super::digits::{Grouped, Nanoseconds};
use super::history_drops::split_text;
use super::hosts::KnownHosts;
use super::table::TextTable;
use super::waterfall::{self, Strokes, ends, figures, has_losses};
use crate::model::{LossByHost, PathFigures, SegmentFigures, SegmentKind, SegmentTimes};

/// The drawing in text.
const STROKES: Strokes = Strokes {
    usual: '█',
    slow: '─',
    error: None,
    unknown: None,
    unseen: Some('┄'),
};

/// The widest and the narrowest drawing of a waterfall, in columns.
const MOST_COLUMNS: usize = 48;
const LEAST_COLUMNS: usize = 12;
/// The columns of the figures beside it.
const FIGURES_COLUMNS: usize = 84;

/// The last line of waterfalls.
const LEGEND: &str = "█ p50 (mean of fewer than 20 packets), ─ to p99; ?: two clocks whose difference is not known; share: of the mean.\n";

/// A line for queues.
const OF_QUEUES: &str =
    "queue: a part of the wire above it; of all packets from the source through this queue.\n";

/// A line for what is in the hosts at both ends.
const OF_HOSTS: &str = "In the hosts at the ends, and no part of the path: buffer, until TCP sends what the application wrote; stack, from TCP to the \
                        source's stamp; read, from the sink until the application reads; answer, from a request that it read to its answer.\n";

/// A line for losses.
const OF_LOSSES: &str = "lost: of all packets of the pair, by the counts of the hosts on both ends; of a wire, with its queue; ?: not all of them report.\n";

/// A line for figures that are not of all packets.
const OF_REPORTS: &str = "Figures of reports favour slow packets; the others are of all packets.\n";
const ALL_OF_REPORTS: &str = "All figures are of reports, which favour slow packets.\n";

const CANNOT_TELL: &str = "not in a hop that knows its time; links, queues of hosts and drifting clocks cannot be told apart";
const NO_PATHS: &str = "no report names a transit hop in this time (hops push their entries if sources allow it: hostint source --max-hops)\n";

/// Says what figures are of, if some of them are not of all packets.
fn reports_note<'a>(times: impl Iterator<Item = &'a SegmentTimes>) -> &'static str {
    let (mut of_all, mut of_reports) = (false, false);
    for times in times.filter(|times| times.samples() > 0) {
        of_all |= times.packets.is_some();
        of_reports |= times.packets.is_none();
    }
    match (of_all, of_reports) {
        (_, false) => "",
        (false, true) => ALL_OF_REPORTS,
        (true, true) => OF_REPORTS,
    }
}

/// `all 1,234 packets`, or `60 reports`
pub(super) fn of_what(times: &SegmentTimes) -> String {
    let number = Grouped(times.samples());
    match (times.packets, times.samples()) {
        (Some(_), 1) => "1 packet".to_owned(),
        (Some(_), _) => format!("all {number} packets"),
        (None, 1) => "1 report".to_owned(),
        (None, _) => format!("{number} reports"),
    }
}

/// What a narrow terminal goes without. A drawing of no columns is left out.
#[derive(Clone, Copy)]
struct ShownColumns {
    drawing: usize,
    mean: bool,
    share: bool,
}

fn table(path: &PathFigures, shown: ShownColumns, hosts: &KnownHosts) -> String {
    let figure_names = ["lost", "mean", "p50", "p99", "share", " "];
    let mut table = TextTable::new(&["segment", ""], &figure_names);
    let ShownColumns {
        drawing,
        mean,
        share,
    } = shown;
    for row in waterfall::rows(path, hosts, drawing.max(1), STROKES) {
        let if_shown = |shown: bool, cell: String| if shown { cell } else { String::new() };
        // The drawing is aligned left.
        let bar = if_shown(drawing > 0, format!("{:<drawing$}", row.bar));
        let names = [row.kind.to_owned(), row.ends];
        let mean = if_shown(mean, row.mean);
        let share = if_shown(share, row.share);
        table.row(names, [row.lost, mean, row.p50, row.p99, share, bar]);
    }
    table.to_string()
}

fn path_text(path: &PathFigures, width: usize, hosts: &KnownHosts, out: &mut String) {
    let drawing = width
        .saturating_sub(FIGURES_COLUMNS)
        .clamp(LEAST_COLUMNS, MOST_COLUMNS);
    let of = |drawing, (mean, share)| {
        let shown = ShownColumns {
            drawing,
            mean,
            share,
        };
        table(path, shown, hosts)
    };
    let widest = |text: &str| text.lines().map(|line| line.chars().count()).max();
    let figures = [(true, true), (true, false), (false, false)];
    let room_beside = |figures| {
        // Two blanks stand between.
        let taken = widest(&of(0, figures)).unwrap_or(0) + 2;
        width.saturating_sub(taken)
    };
    let with_drawing = figures.into_iter().find_map(|figures| {
        let room = room_beside(figures).min(drawing);
        (room >= LEAST_COLUMNS).then(|| of(room, figures))
    });
    let without = || {
        let all = figures.into_iter().map(|figures| of(0, figures));
        all.reduce(|text, fewer| {
            if widest(&text) <= Some(width) {
                text
            } else {
                fewer
            }
        })
    };
    let text = with_drawing.or_else(without).unwrap_or_default();
    out.push_str(&text);
    sentences(path, hosts, out);
}

/// Says what the rows of a path do not: what unknown segments take together, and where time and packets were lost.
pub(super) fn sentences(path: &PathFigures, hosts: &KnownHosts, out: &mut String) {
    if let Some(unknown_ns) = path.unknown_mean_ns {
        let _ = writeln!(
            out,
            "segments marked ? take {} in all (mean): what the whole way takes longer than the others",
            Nanoseconds(unknown_ns)
        );
    }
    for node in path.path.repeated_nodes() {
        let _ = writeln!(
            out,
            "node {} is on this path more than once: packets pass it again, as in a forwarding loop, or two hosts have \
             one node id",
            hosts.named(Some(node))
        );
    }
    if !path.lacking.is_empty() {
        let hops = path.lacking.iter().map(|node| hosts.named(Some(*node)));
        let hops: Vec<String> = hops.collect();
        let _ = writeln!(
            out,
            "another path of this pair differs in {} alone, which reported nothing of these packets; hostint status there says why (too_long, no_budget, postcard_lost)",
            hops.join(" and ")
        );
    }
    tail_text(path, hosts, out);
    depth_text(path, hosts, out);
    lost_text(path, hosts, out);
}

/// Says which segments lost how many packets.
fn lost_text(path: &PathFigures, hosts: &KnownHosts, out: &mut String) {
    let Some(whole) = path.whole.loss else { return };
    if whole.lost == 0 {
        let of = if path.of_flow { " of this pair" } else { "" };
        let _ = writeln!(out, "no packet of {}{of} was lost", Grouped(whole.packets));
        return;
    }
    let at = path.lost_at();
    let of = match path.of_flow {
        true => "of all flows of this pair ",
        false => "",
    };
    let _ = write!(
        out,
        "{} of {} packets {of}were lost:",
        Grouped(whole.lost),
        Grouped(whole.packets)
    );
    let mut separator = " ";
    for (one, lost) in &at {
        let place = match one.segment.kind {
            SegmentKind::Queue => format!("the queue of {}", ends(hosts, &one.segment)),
            kind => format!("{} {}", kind.name(), ends(hosts, &one.segment)),
        };
        let _ = write!(out, "{separator}{} in {place}", Grouped(*lost));
        separator = "; ";
    }
    let known: u64 = at.iter().map(|(_, lost)| lost).sum();
    if let Some(rest @ 1..) = whole.lost.checked_sub(known) {
        let _ = write!(out, "{separator}{} where it is not known", Grouped(rest));
    } else if path.of_flow && at.len() == 1 {
        out.push_str("; any of this flow, too");
    }
    out.push('\n');
}

/// Says where the slowest packets lost their time, or that it cannot be reported.
fn tail_text(path: &PathFigures, hosts: &KnownHosts, out: &mut String) {
    let Some(tail) = &path.tail else {
        return spread_text(path, hosts, out);
    };
    let _ = write!(
        out,
        "the slowest {} of {} reports took {} more than the median: ",
        tail.slowest,
        tail.of_reports,
        Nanoseconds(tail.excess_ns)
    );
    let _ = match (path.responsible(), path.responsible_queue()) {
        (Some((segment, share)), _) => writeln!(
            out,
            "{:.0}% of it in {} {}",
            100.0 * share,
            segment.segment.kind.name(),
            ends(hosts, &segment.segment)
        ),
        (None, Some((queue, varies_ns))) => writeln!(
            out,
            "the queue of {} can explain it: its waits vary by {} (p99 less p50)",
            ends(hosts, &queue.segment),
            Nanoseconds(varies_ns)
        ),
        (None, None) => writeln!(out, "{CANNOT_TELL}"),
    };
}

/// Says the same by the distributions of all packets, which know less: not which part the slowest packets were slow in.
fn spread_text(path: &PathFigures, hosts: &KnownHosts, out: &mut String) {
    let Some((excess_ns, parts)) = path.spread() else {
        return;
    };
    let _ = write!(
        out,
        "the 99th percentile of {} is {} above the median: ",
        of_what(&path.whole),
        Nanoseconds(excess_ns)
    );
    let places = parts.iter().map(|(part, _)| match part.segment.kind {
        SegmentKind::Queue => format!("the queue of {}", ends(hosts, &part.segment)),
        kind => format!("{} {}", kind.name(), ends(hosts, &part.segment)),
    });
    let places: Vec<String> = places.collect();
    let varies = parts.iter().map(|(_, ns)| Nanoseconds(*ns).to_string());
    let varies: Vec<String> = varies.collect();
    let _ = match places.len() {
        0 => writeln!(out, "{CANNOT_TELL}"),
        many => writeln!(
            out,
            "{} can explain it: {} times vary by {} (p99 less p50)",
            places.join(" or "),
            if many == 1 { "its" } else { "their" },
            varies.join(" and ")
        ),
    };
}

/// Says which queues packets met at hops.
fn depth_text(path: &PathFigures, hosts: &KnownHosts, out: &mut String) {
    let known: Vec<_> = (path.segments.iter())
        .filter_map(|one| Some((one.segment, one.queue_depth?)))
        .collect();
    let Some(reports) = known.iter().map(|(_, depth)| depth.reports).max() else {
        return;
    };
    let _ = write!(
        out,
        "queues that packets met at hops, by the newest {} reports: ",
        Grouped(reports)
    );
    let filled = known.iter().filter(|(_, depth)| depth.most > 0);
    let each: Vec<String> = filled
        .map(|(segment, depth)| {
            let unit = if depth.in_bytes { " bytes" } else { "" };
            let most = Grouped(depth.most.into());
            format!(
                "{} {:.1}{unit} (mean), {most}{unit} at most",
                hosts.port(segment.to),
                depth.mean
            )
        })
        .collect();
    if each.is_empty() {
        out.push_str("empty\n");
        return;
    }
    out.push_str(&each.join("; "));
    if known.iter().any(|(_, depth)| !depth.in_bytes) {
        out.push_str(" (hostint's hops count packets)");
    }
    out.push('\n');
}

/// Says where packets of the pair or the flow were lost, as far as hosts report.
fn loss_text(loss: &LossByHost, hosts: &KnownHosts, out: &mut String) {
    let _ = write!(out, "\n{}", split_text(&loss.split));
    for (i, at) in loss.at.iter().enumerate() {
        let begin = if i == 0 { "; dropped" } else { "," };
        let node = hosts.named(Some(at.node));
        let _ = write!(out, "{begin} by {node} {}", Grouped(at.segments));
    }
    out.push('\n');
}

/// Writes the waterfalls of paths, and where packets were lost.
pub fn paths(
    (paths, loss): (&[PathFigures], Option<&LossByHost>),
    width: usize,
    hosts: &KnownHosts,
    moment: impl Fn(u64) -> String,
    out: &mut String,
) {
    if paths.is_empty() {
        out.push_str(NO_PATHS);
        return;
    }
    for path in paths {
        let nodes = path.path.nodes();
        let nodes: Vec<String> = nodes.map(|node| hosts.named(Some(node))).collect();
        let _ = writeln!(
            out,
            "\n{}  path {}, {}, {} to {} UTC",
            nodes.join(" -> "),
            path.path.hash_text(),
            of_what(&path.whole),
            moment(path.first_ns),
            moment(path.until_ns)
        );
        path_text(path, width, hosts, out);
    }
    if let Some(loss) = loss {
        loss_text(loss, hosts, out);
    }
    out.push('\n');
    out.push_str(LEGEND);
    if paths.iter().any(|path| !path.queues.is_empty()) {
        out.push_str(OF_QUEUES);
    }
    if paths.iter().any(|path| !path.host_segments.is_empty()) {
        out.push_str(OF_HOSTS);
    }
    if paths.iter().any(has_losses) {
        out.push_str(OF_LOSSES);
    }
    let segments = paths.iter().flat_map(|path| &path.segments);
    let wholes = paths.iter().map(|path| &path.whole);
    let times = wholes.chain(segments.map(|segment| &segment.times));
    out.push_str(reports_note(times));
}

/// Writes a list of segments.
pub fn segments(segments: &[SegmentFigures], hosts: &KnownHosts, out: &mut String) {
    if segments.is_empty() {
        out.push_str(NO_PATHS);
        return;
    }
    let figure_names = ["packets", "reports", "lost", "mean", "p50", "p99", "share"];
    let mut table = TextTable::new(&["segment", ""], &figure_names);
    for one in segments {
        let names = [
            one.segment.kind.name().to_owned(),
            ends(hosts, &one.segment),
        ];
        let [mean, p50, p99, share] = figures(&one.times, one.share);
        let reports = Grouped(one.times.reports).to_string();
        let packets = one
            .times
            .packets
            .map_or_else(|| "-".to_owned(), |packets| Grouped(packets).to_string());
        let loss = one.times.loss;
        let lost = loss.map_or_else(String::new, |loss| Grouped(loss.lost).to_string());
        table.row(names, [packets, reports, lost, mean, p50, p99, share]);
    }
    let _ = write!(out, "{table}");
    out.push_str(
        "share: of the mean of the paths that the segment is a part of; ?: two clocks whose difference is not known.\n",
    );
    out.push_str(reports_note(segments.iter().map(|one| &one.times)));
}
