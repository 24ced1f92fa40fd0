//! A collector's history as text, JSON and CSV.

use std::fmt::Write;

use serde_json::{Value, json};

use super::coverage;
use super::history_drops::{self, DropsView, split_text};
use super::history_hops;
use super::history_queues;
use super::history_tcp::TcpView;
use super::hosts::KnownHosts;
use super::known_digits::{KnownDigits, certain};
use super::matrix;
use super::moment::moment;
use super::path;
use super::table::TextTable;
use super::text::{Grouped, TextLine};
use crate::model::coverage::CoverageRow;
use crate::model::{
    Arrival, ClassFigures, DropReasons, Extent, Figures, FlowFigures, ForwardedFlow, LossByHost,
    NodeId, PairFigures, PassageFigures, PathFigures, PathQuery, Record, Report, SegmentFigures,
    Series, ShownFigures, Span, ToldEpisode,
};

pub use super::matrix::Cell;

/// The schema of the JSON object.
pub const SCHEMA: &str = "hostint.history/1";

/// The schema of the JSON object of `history path`.
pub const PATH_SCHEMA: &str = "hostint.path/1";

/// A query's result.
pub enum View {
    Flows(Vec<FlowFigures>),
    Pairs {
        pairs: Vec<PairFigures>,
        cell: Cell,
        limit: usize,
    },
    Classes(Vec<ClassFigures>),
    Coverage(Vec<CoverageRow>),
    Flow {
        flow: Box<FlowFigures>,
        series: Series,
    },
    Series(Series),
    Reports {
        records: Vec<Record>,
        lines: Vec<String>,
    },
    /// The paths of a pair or of a flow, and where packets were lost.
    Paths(PathQuery, Vec<PathFigures>, Option<LossByHost>),
    Segments(Vec<SegmentFigures>),
    Info(Extent),
    Drops(DropsView),
    Hops(Vec<ForwardedFlow>, Vec<PassageFigures>),
    Queues(Vec<ToldEpisode>),
    Tcp(TcpView),
}

/// A report as the collector prints it.
pub fn report_line(report: &Report, arrival: Option<Arrival>, reasons: &DropReasons) -> String {
    TextLine::of(report, arrival, reasons).to_string()
}

/// The share of packets that were lost.
pub fn loss(figures: &ShownFigures) -> String {
    match (figures.lost, figures.packets) {
        (0, _) => "0".to_owned(),
        (lost, packets) => {
            let percent = 100.0 * lost as f64 / packets.max(lost) as f64;
            match percent {
                0.001.. => format!("{percent:.3}%"),
                _ => "<0.001%".to_owned(),
            }
        }
    }
}

const FIGURES: [&str; 8] = ["packets", "lost", "loss", "mean", "p50", "p99", "max", "of"];

/// The last line if not all figures are of packets.
const OF_REPORTS: &str = "rep.: of that many reported latencies, which favour slow packets, where no summaries came; \
                          fewer than 20 have no quantiles\n";

/// The last line if there are quantiles of packets.
const OF_PACKETS: &str = "+3.2%, +12.5%, x2: p50 and p99 are too high by that at most, twice the true ones where a \
                          sink has slots of powers of two\n";

/// The last line if some latencies have the difference of clocks in them.
const UNKNOWN_CLOCKS: &str =
    "?: with the difference of the two hosts' clocks, which is not known\n";

fn figures(figures: &Figures) -> [String; 8] {
    let shown = figures.shown();
    let doubt = if shown.is_corrected() { "" } else { "?" };
    let error_ns = shown.corrected.filter(|_| shown.is_corrected());
    let error_ns = error_ns.map_or(0, |of| of.error_ns);
    let latency = |ns: Option<i64>| {
        ns.map_or("-".to_owned(), |ns| {
            format!("{}{doubt}", certain(ns, error_ns))
        })
    };
    let (all, quantiles) = (shown.latency, shown.quantiles());
    let mean = shown.corrected.map(|corrected| {
        let KnownDigits { value, error } = KnownDigits::new(corrected.mean_ns, corrected.error_ns);
        format!("{value} ± {error}")
    });
    [
        Grouped(shown.packets).to_string(),
        Grouped(shown.lost).to_string(),
        loss(&shown),
        mean.unwrap_or_else(|| latency(all.map(|all| all.mean_ns))),
        latency(quantiles.and_then(|all| all.p50_ns)),
        latency(quantiles.and_then(|all| all.p99_ns)),
        latency(all.map(|all| all.max_ns)),
        match shown.of_reports {
            None => match shown.resolution.filter(|_| quantiles.is_some()) {
                Some(resolution) => format!("packets {}", resolution.error_text()),
                None => "packets".to_owned(),
            },
            Some(reports) => format!("{} rep.", Grouped(reports)),
        },
    ]
}

/// Writes a table of figures.
fn figures_table<'a, const N: usize>(
    names: &[&str; N],
    rows: impl IntoIterator<Item = ([String; N], &'a Figures)>,
    out: &mut String,
) {
    let mut table = TextTable::new(names, &FIGURES);
    for (name, row) in rows {
        table.row(name, figures(row));
    }
    out.push_str(&table.to_string());
}

/// `1 -> 2`, with the names of nodes that have one, and `?` for a node that is not known.
fn nodes(hosts: &KnownHosts, source: Option<NodeId>, sink: Option<NodeId>) -> String {
    format!("{} -> {}", hosts.named(source), hosts.named(sink))
}

fn series_text(series: &Series, out: &mut String) {
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
    figures_table(&["from"], rows, out);
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

fn flows_text(flows: &[FlowFigures], hosts: &KnownHosts, out: &mut String) {
    if flows.is_empty() {
        return;
    }
    let rows = flows.iter().map(|one| {
        let names = [
            one.id.to_string(),
            one.flow.to_string(),
            nodes(hosts, one.source, one.sink),
            one.class.clone().unwrap_or_default(),
        ];
        (names, &one.figures)
    });
    figures_table(&["id", "flow", "nodes", "class"], rows, out);
}

fn pairs_text(
    pairs: &[PairFigures],
    (cell, limit, width): (Cell, usize, usize),
    hosts: &KnownHosts,
    out: &mut String,
) {
    if pairs.is_empty() {
        return;
    }
    matrix::write(out, pairs, cell, width);
    out.push('\n');
    let rows = pairs.iter().take(limit).map(|one| {
        let names = [
            nodes(hosts, Some(one.source), Some(one.sink)),
            Grouped(one.flows).to_string(),
        ];
        (names, &one.figures)
    });
    figures_table(&["nodes", "flows"], rows, out);
    if pairs.len() > limit {
        let _ = writeln!(out, "and {} more (--limit)", pairs.len() - limit);
    }
    for one in pairs.iter().take(limit) {
        if let Some(split) = &one.loss_split {
            let nodes = nodes(hosts, Some(one.source), Some(one.sink));
            let _ = writeln!(out, "{nodes}: {}", split_text(split));
        }
    }
}

fn classes_text(classes: &[ClassFigures], out: &mut String) {
    if classes.is_empty() {
        return;
    }
    let rows = classes.iter();
    let rows = rows.map(|one| ([one.class.clone()], &one.figures));
    figures_table(&["class"], rows, out);
}

fn flow_text(flow: &FlowFigures, series: &Series, hosts: &KnownHosts, out: &mut String) {
    let _ = writeln!(out, "{}", flow.flow);
    let _ = write!(out, "node {}", nodes(hosts, flow.source, flow.sink));
    if let Some(class) = &flow.class {
        let _ = write!(out, ", class {class}");
    }
    let _ = writeln!(out, ", first report {} UTC", moment(flow.first_ns));
    let row = (["in all".to_owned()], &flow.figures);
    figures_table(&[""], [row], out);
    if let Some(split) = &flow.loss_split {
        let _ = writeln!(out, "{}", split_text(split));
    }
    series_text(series, out);
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

impl View {
    pub fn text(&self, span: Span, width: usize, hosts: &KnownHosts) -> String {
        let mut out = match self {
            // One line is one report.
            Self::Reports { .. } => String::new(),
            _ => hosts.line(moment),
        };
        match self {
            Self::Flows(flows) => {
                head(&counted(flows.len(), "flow", "flows"), span, &mut out);
                flows_text(flows, hosts, &mut out);
            }
            Self::Pairs { pairs, cell, limit } => {
                head(&counted(pairs.len(), "pair", "pairs"), span, &mut out);
                pairs_text(pairs, (*cell, *limit, width), hosts, &mut out);
            }
            Self::Classes(classes) => {
                head(&counted(classes.len(), "class", "classes"), span, &mut out);
                classes_text(classes, &mut out);
            }
            Self::Coverage(rows) => {
                head("coverage", span, &mut out);
                coverage::write(rows, hosts, &mut out);
            }
            Self::Flow { flow, series } => {
                head(&format!("flow {}", flow.id), span, &mut out);
                flow_text(flow, series, hosts, &mut out);
            }
            Self::Series(series) => series_text(series, &mut out),
            Self::Reports { lines, .. } => out.extend(lines.iter().map(|line| format!("{line}\n"))),
            Self::Paths(_, paths, loss) => {
                head(&counted(paths.len(), "path", "paths"), span, &mut out);
                path::paths((paths, loss.as_ref()), width, hosts, moment, &mut out);
            }
            Self::Segments(segments) => {
                head(
                    &counted(segments.len(), "segment", "segments"),
                    span,
                    &mut out,
                );
                path::segments(segments, hosts, &mut out);
            }
            Self::Info(extent) => extent_text(extent, &mut out),
            Self::Drops(view) => {
                head("drops", span, &mut out);
                history_drops::write(view, hosts, &mut out);
            }
            Self::Hops(flows, passages) => {
                head("flows through hosts", span, &mut out);
                history_hops::write((flows, passages), hosts, &mut out);
            }
            Self::Queues(episodes) => {
                head("episodes of queues", span, &mut out);
                history_queues::write(episodes, hosts, &mut out);
            }
            Self::Tcp(view) => {
                head("TCP connections", span, &mut out);
                view.write(hosts, &mut out);
            }
        }
        if self.figures().any(|figures| figures.measured.is_none()) {
            out.push_str(OF_REPORTS);
        }
        let of_packets =
            |shown: ShownFigures| shown.resolution.is_some() && shown.quantiles().is_some();
        if self.figures().any(|figures| of_packets(figures.shown())) {
            out.push_str(OF_PACKETS);
        }
        let unknown = |shown: ShownFigures| shown.latency.is_some() && !shown.is_corrected();
        if self.figures().any(|figures| unknown(figures.shown())) {
            out.push_str(UNKNOWN_CLOCKS);
        }
        out
    }

    /// The figures that the text shows.
    fn figures(&self) -> Box<dyn Iterator<Item = &Figures> + '_> {
        fn points(series: &Series) -> impl Iterator<Item = &Figures> {
            series.points.iter().map(|point| &point.figures)
        }
        match self {
            Self::Flows(flows) => Box::new(flows.iter().map(|flow| &flow.figures)),
            Self::Pairs { pairs, limit, .. } => {
                Box::new(pairs.iter().take(*limit).map(|pair| &pair.figures))
            }
            Self::Classes(classes) => Box::new(classes.iter().map(|class| &class.figures)),
            Self::Flow { flow, series } => {
                Box::new([&flow.figures].into_iter().chain(points(series)))
            }
            Self::Series(series) => Box::new(points(series)),
            Self::Coverage(_)
            | Self::Reports { .. }
            | Self::Paths(..)
            | Self::Segments(_)
            | Self::Info(_)
            | Self::Drops(_)
            | Self::Hops(..)
            | Self::Queues(_)
            | Self::Tcp(_) => Box::new(std::iter::empty()),
        }
    }

    pub fn json(&self, span: Span, hosts: &KnownHosts) -> String {
        let mut object = json!({"schema": SCHEMA, "span": span, "names": hosts.list()});
        if let Some(reporting) = &hosts.reporting {
            object["hosts"] = json!(reporting);
        }
        let parts = match self {
            Self::Flows(flows) => json!({ "flows": flows }),
            Self::Pairs { pairs, .. } => json!({ "pairs": pairs }),
            Self::Classes(classes) => json!({ "classes": classes }),
            Self::Coverage(rows) => json!({ "coverage": rows }),
            Self::Flow { flow, series } => json!({"flow": flow, "series": series}),
            Self::Series(series) => json!({ "series": series }),
            Self::Reports { records, .. } => json!({ "reports": records }),
            Self::Paths(query, paths, loss) => {
                json!({"schema": PATH_SCHEMA, "of": query, "paths": paths, "loss": loss})
            }
            Self::Segments(segments) => json!({ "segments": segments }),
            Self::Info(extent) => json!({ "info": extent }),
            Self::Drops(view) => json!({"drops": view.drops, "drop_series": view.series}),
            Self::Hops(flows, passages) => json!({ "hops": flows, "passages": passages }),
            Self::Queues(episodes) => json!({ "queues": episodes }),
            Self::Tcp(view) => view.json(),
        };
        if let (Value::Object(object), Value::Object(parts)) = (&mut object, parts) {
            object.extend(parts);
        }
        format!("{object}\n")
    }
}
