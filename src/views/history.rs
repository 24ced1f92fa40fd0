//! A collector's history as text, JSON and CSV.

use std::fmt::Write;

use serde_json::{Value, json};

use super::coverage;
use super::digits::Grouped;
use super::figures::{
    OF_REPORTS, UNKNOWN_CLOCKS, bounds_text, figures_table, of_all_text, precision,
};
use super::history_drops::{self, split_text};
use super::history_passages;
use super::history_queues;
use super::history_tcp;
use super::history_verdict::{self, VERDICT_SCHEMA};
use super::hosts::KnownHosts;
use super::matrix;
use super::moment::moment;
use super::path;
use super::shortened::wrap;
use super::table::TextWidth;
use super::text::TextLine;
use super::why;
use crate::model::{
    Answer, ClassFigures, Extent, Figures, FlowFigures, MatrixFigure, NodeId, PairFigures, PodsOf,
    Record, Series, ShownFigures, Span,
};

/// The schema of the JSON object.
pub const SCHEMA: &str = "hostint.history/1";

/// The schema of the JSON object of `history path`.
pub const PATH_SCHEMA: &str = "hostint.path/1";

/// An answer, as people and programs read it.
pub struct View<'a>(pub &'a Answer);

/// The line of a report that the collector would print.
fn line(record: &Record) -> Option<String> {
    let report = record.report().ok()?;
    let reasons = record.reported_reason().unwrap_or_default();
    let line = TextLine::of(&report, record.arrival(), &reasons);
    Some(format!("{line}\n"))
}

/// `1 -> 2`, with the names of nodes that have one, and `?` for a node that is not known.
fn nodes(hosts: &KnownHosts, source: Option<NodeId>, sink: Option<NodeId>) -> String {
    format!("{} -> {}", hosts.named(source), hosts.named(sink))
}

/// The column that says since when no report came of rows that are old.
const OLD: &str = "no report since";

fn old_since(hosts: &KnownHosts, sink: Option<NodeId>, last_ns: Option<u64>) -> String {
    let since = hosts.old_since(sink, last_ns);
    since.map(moment).unwrap_or_default()
}

fn series_text(series: &Series, width: TextWidth, out: &mut String) {
    if series.points.is_empty() {
        out.push_str("no reports in this time\n");
        return;
    }
    let period = std::time::Duration::from_nanos(series.period_ns);
    let _ = writeln!(
        out,
        "every {} from (UTC)",
        humantime::format_duration(period)
    );
    let rows = series.points.iter();
    let rows = rows.map(|point| ([moment(point.begin_ns)], &point.figures));
    figures_table(&["from"], rows, width, out);
}

/// The first line: a title and its span.
fn head(what: &str, span: Span, out: &mut String) {
    let (since, until) = (moment(span.since_ns), moment(span.until_ns));
    let _ = writeln!(out, "{what} from {since} to {until} UTC");
}

/// `1 flow`, `2 flows`.
fn counted(count: usize, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}

fn flows_text(flows: &[FlowFigures], hosts: &KnownHosts, width: TextWidth, out: &mut String) {
    if flows.is_empty() {
        return;
    }
    let rows = flows.iter().map(|one| {
        let names = [
            one.id.to_string(),
            one.flow.to_string(),
            nodes(hosts, one.source, one.sink),
            one.class.clone().unwrap_or_default(),
            one.pods.text(PodsOf::Pod).unwrap_or_default(),
            old_since(hosts, one.sink, Some(one.last_ns)),
        ];
        (names, &one.figures)
    });
    let names = ["id", "flow", "nodes", "class", "pods", OLD];
    figures_table(&names, rows, width, out);
}

fn pairs_text(
    pairs: &[PairFigures],
    (shown, limit, width): (MatrixFigure, usize, TextWidth),
    hosts: &KnownHosts,
    out: &mut String,
) {
    if pairs.is_empty() {
        return;
    }
    matrix::write(out, pairs, shown, (hosts, width.columns));
    out.push('\n');
    let rows = pairs.iter().take(limit).map(|one| {
        let names = [
            nodes(hosts, Some(one.source), Some(one.sink)),
            Grouped(one.flows).to_string(),
            old_since(hosts, Some(one.sink), one.last_ns),
        ];
        (names, &one.figures)
    });
    figures_table(&["nodes", "flows", OLD], rows, width, out);
    if pairs.len() > limit {
        let _ = writeln!(out, "and {} more (--limit)", pairs.len() - limit);
    }
    for one in pairs.iter().take(limit) {
        let nodes = || nodes(hosts, Some(one.source), Some(one.sink));
        if let Some(split) = &one.loss_split {
            let _ = writeln!(out, "{}: {}", nodes(), split_text(split));
        }
        if let Some(of_all) = &one.loss_of_all {
            let _ = writeln!(out, "{}: {}", nodes(), of_all_text(of_all));
        }
    }
}

fn classes_text(classes: &[ClassFigures], width: TextWidth, out: &mut String) {
    if classes.is_empty() {
        return;
    }
    let rows = classes.iter();
    let rows = rows.map(|one| ([one.class.clone()], &one.figures));
    figures_table(&["class"], rows, width, out);
    for one in classes {
        if let Some(of_all) = &one.loss_of_all {
            let _ = writeln!(out, "{}: {}", one.class, of_all_text(of_all));
        }
    }
}

fn flow_text(
    flow: &FlowFigures,
    series: &Series,
    (hosts, width): (&KnownHosts, TextWidth),
    out: &mut String,
) {
    let _ = writeln!(out, "{}", flow.flow);
    let _ = write!(out, "node {}", nodes(hosts, flow.source, flow.sink));
    if let Some(class) = &flow.class {
        let _ = write!(out, ", class {class}");
    }
    if let Some(pods) = flow.pods.text(PodsOf::Pod) {
        let _ = write!(out, ", pods {pods}");
    }
    let _ = write!(out, ", first report {} UTC", moment(flow.first_ns));
    let since = hosts.old_since(flow.sink, Some(flow.last_ns));
    let since = since.map(|since| format!(", none since {} UTC", moment(since)));
    let _ = writeln!(out, "{}", since.unwrap_or_default());
    let row = (["in all".to_owned()], &flow.figures);
    figures_table(&[""], [row], width, out);
    if let Some(bounds) = bounds_text(&flow.figures) {
        let _ = writeln!(out, "{bounds}");
    }
    if let Some(split) = &flow.loss_split {
        let _ = writeln!(out, "{}", split_text(split));
    }
    series_text(series, width, out);
}

fn extent_text(extent: &Extent, out: &mut String) {
    let _ = writeln!(
        out,
        "{} single reports, {} flows, {:.1} MiB",
        Grouped(extent.reports),
        Grouped(extent.flows),
        extent.bytes as f64 / f64::from(1 << 20)
    );
    if extent.last_ns > 0 {
        let (first, last) = (moment(extent.first_ns), moment(extent.last_ns));
        let _ = writeln!(out, "from {first} to {last} UTC");
    }
    if extent.rolled_up_only > 0 {
        let _ = writeln!(
            out,
            "{} more reports are only in the figures, the last at {} UTC: they came too fast to be stored singly",
            Grouped(extent.rolled_up_only),
            moment(extent.rolled_up_only_ns)
        );
    }
}

/// A sentence on lines that fit into a terminal; none of nothing.
fn wrapped(text: &str, width: TextWidth) -> String {
    let lines = wrap(text, width.columns).into_iter();
    let lines = lines.filter(|line| !line.is_empty());
    lines.map(|line| line + "\n").collect()
}

/// What is said of hosts above an answer.
fn hosts_line(answer: &Answer, width: TextWidth, hosts: &KnownHosts) -> String {
    match answer {
        // One line is one report.
        Answer::Reports { .. } => String::new(),
        _ if width.folds => wrapped(hosts.line(moment).trim_end(), width),
        _ => hosts.line(moment),
    }
}

/// What hosts tell beside INT: their drops, hops, queues and connections.
fn of_hosts(answer: &Answer, span: Span, hosts: &KnownHosts, out: &mut String) {
    match answer {
        Answer::Drops { by, drops, .. } => {
            head("drops", span, out);
            history_drops::write(*by, drops, hosts, out);
        }
        Answer::Hops {
            hops: flows,
            passages,
        } => {
            head("flows through hosts", span, out);
            history_passages::write((flows, passages), hosts, out);
        }
        Answer::Queues { queues: episodes } => {
            head("episodes of queues", span, out);
            history_queues::write(episodes, hosts, out);
        }
        answer => {
            head("TCP connections", span, out);
            history_tcp::write(answer, hosts, out);
        }
    }
}

impl View<'_> {
    pub fn text(&self, span: Span, width: impl Into<TextWidth>, hosts: &KnownHosts) -> String {
        let width = width.into();
        let mut out = hosts_line(self.0, width, hosts);
        match self.0 {
            Answer::Flows { flows } => {
                head(&counted(flows.len(), "flow", "flows"), span, &mut out);
                flows_text(flows, hosts, width, &mut out);
            }
            Answer::Pairs {
                pairs,
                shown,
                limit,
            } => {
                head(&counted(pairs.len(), "pair", "pairs"), span, &mut out);
                pairs_text(pairs, (*shown, *limit, width), hosts, &mut out);
            }
            Answer::Classes { classes } => {
                head(&counted(classes.len(), "class", "classes"), span, &mut out);
                classes_text(classes, width, &mut out);
            }
            answer @ Answer::Verdict { .. } => {
                history_verdict::write(answer, span, width, &mut out);
            }
            Answer::Why { why } => why::write(why, span, hosts, &mut out),
            Answer::Coverage {
                coverage: rows,
                covered,
            } => {
                head("coverage", *covered, &mut out);
                coverage::write(rows, hosts, width, &mut out);
            }
            Answer::Flow { flow, series } => {
                head(&format!("flow {}", flow.id), span, &mut out);
                flow_text(flow, series, (hosts, width), &mut out);
            }
            Answer::Series { series } => series_text(series, width, &mut out),
            Answer::Reports { reports } => out.extend(reports.iter().filter_map(line)),
            Answer::Paths { paths, loss, .. } => {
                head(&counted(paths.len(), "path", "paths"), span, &mut out);
                path::paths(
                    (paths, loss.as_ref()),
                    width.columns,
                    hosts,
                    moment,
                    &mut out,
                );
            }
            Answer::Segments { segments } => {
                let what = counted(segments.len(), "segment", "segments");
                head(&what, span, &mut out);
                path::segments(segments, hosts, &mut out);
            }
            Answer::Extent { info } => extent_text(info, &mut out),
            answer => of_hosts(answer, span, hosts, &mut out),
        }
        self.notes(width, &mut out);
        out
    }

    /// What readers of the figures must know.
    fn notes(&self, width: TextWidth, out: &mut String) {
        let mut note = |text: &str| match width.folds {
            true => out.push_str(&wrapped(text, width)),
            false => out.extend([text, "\n"]),
        };
        if self.figures().any(|figures| figures.measured.is_none()) {
            note(OF_REPORTS);
        }
        let of_packets = |shown: ShownFigures| shown.quantiles().and(shown.resolution);
        let shown = self.figures().map(Figures::shown);
        if let Some(coarsest) = shown.filter_map(of_packets).min() {
            note(precision(coarsest));
        }
        let unknown = |shown: ShownFigures| shown.latency.is_some() && !shown.is_corrected();
        if self.figures().any(|figures| unknown(figures.shown())) {
            note(UNKNOWN_CLOCKS);
        }
    }

    /// The figures that the text shows.
    fn figures(&self) -> Box<dyn Iterator<Item = &Figures> + '_> {
        fn points(series: &Series) -> impl Iterator<Item = &Figures> {
            series.points.iter().map(|point| &point.figures)
        }
        match self.0 {
            Answer::Flows { flows } => Box::new(flows.iter().map(|flow| &flow.figures)),
            Answer::Pairs { pairs, limit, .. } => {
                Box::new(pairs.iter().take(*limit).map(|pair| &pair.figures))
            }
            Answer::Classes { classes } => Box::new(classes.iter().map(|class| &class.figures)),
            Answer::Flow { flow, series } => {
                Box::new([&flow.figures].into_iter().chain(points(series)))
            }
            Answer::Series { series } => Box::new(points(series)),
            _ => Box::new(std::iter::empty()),
        }
    }

    pub fn json(&self, span: Span, hosts: &KnownHosts) -> String {
        let mut object = json!({"schema": SCHEMA, "span": span, "names": hosts.list(), "interfaces": hosts.interface_list()});
        if let Some(reporting) = &hosts.reporting {
            object["hosts"] = json!(reporting);
        }
        match self.0 {
            Answer::Paths { .. } => object["schema"] = json!(PATH_SCHEMA),
            Answer::Verdict { .. } => object["schema"] = json!(VERDICT_SCHEMA),
            _ => {}
        }
        let parts = json!(self.0);
        if let (Value::Object(object), Value::Object(parts)) = (&mut object, parts) {
            object.extend(parts);
        }
        format!("{object}\n")
    }
}
