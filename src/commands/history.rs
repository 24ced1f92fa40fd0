//! `hostint history`: asks the history that a collector keeps.

use std::io::{self, IsTerminal};
use std::time::SystemTime;

use anyhow::{Result, anyhow};
use ratatui::crossterm::terminal;

use super::output::print;
use crate::cli::{
    ConnectionsArgs, ConnectionsBy, DropsBy, FlowsArgs, HistoryArgs, HistoryCommand, HistoryOrder,
    HopsArgs, MatrixFigure, NodeArg, QueuesArgs, SubjectArgs, exit,
};
use crate::daemon::collect::stored_reports::decoder;
use crate::host::advice::Usage;
use crate::host::history::place_to_read;
use crate::model::coverage::covered;
use crate::model::{
    ConnectionQuery, DropQuery, DropReasons, EpisodeQuery, FlowOrder, FlowQuery, History, HopQuery,
    HostSeen, HostsReporting, NodeId, PairFigures, PathQuery, Record, ReportQuery, Span, Subject,
};
use crate::os::{clock, log};
use crate::store::{HOSTS_LAG_NS, HistoryReader, StoreError, called};
use crate::views::history::{self, Cell, View};
use crate::views::history_drops::DropsView;
use crate::views::history_tcp::TcpView;
use crate::views::hosts::KnownHosts;
use crate::views::table::TextWidth;

/// The approximate number of points in time of drops, and of what limits connections.
const POINTS: usize = 60;

/// The number of columns to write in where there is no terminal.
const COLUMNS: usize = 120;

pub fn run(command: &HistoryCommand) -> Result<u8> {
    let args = args_of(command);
    let span = span(args)?;
    let place = place_to_read(args.store.as_deref());
    let decoder = decoder(DropReasons::usual());
    let mut reader = match HistoryReader::open(&place, decoder) {
        Ok(reader) => reader,
        Err(err @ StoreError::Absent(_)) => {
            log::error(format_args!(
                "{err} (hostint collect keeps one; try --store FILE)"
            ));
            return Ok(exit::NOTHING);
        }
        Err(err) => return Err(err.into()),
    };
    let seen = reader.hosts()?;
    let Some(view) = ask(&mut reader, command, span, &seen)? else {
        log::error(format_args!("no such flow in {}", place.display()));
        return Ok(exit::NOTHING);
    };
    let hosts = KnownHosts::new(&seen, reporting(&seen, span));
    let text = if args.json {
        view.json(span, &hosts)
    } else if args.csv {
        view.csv(&hosts)
            .map_err(|err| anyhow!("cannot write CSV: {err}"))?
    } else {
        let width = width();
        let hosts = match width.folds {
            true => hosts.cut_to(width.columns),
            false => hosts,
        };
        view.text(span, width, &hosts)
    };
    print(&text)?;
    Ok(exit::OK)
}

/// How many hosts report, if the question is about the present.
fn reporting(seen: &[HostSeen], span: Span) -> Option<HostsReporting> {
    let now_ns = clock::realtime_ns();
    let present = now_ns.saturating_sub(span.until_ns) < HOSTS_LAG_NS;
    present.then(|| HostsReporting::at(seen, now_ns, HOSTS_LAG_NS))
}

/// The ID of a node that is called so.
fn node_of(arg: Option<&NodeArg>, seen: &[HostSeen]) -> Result<Option<NodeId>> {
    let name = match arg {
        None => return Ok(None),
        Some(NodeArg::Id(node)) => return Ok(Some(*node)),
        Some(NodeArg::Name(name)) => name,
    };
    let nodes = Vec::from_iter(called(seen, name));
    match nodes[..] {
        [node] => Ok(Some(node)),
        [] => Err(Usage(format!(
            "no node is called {name} in this history (try its id; hostint history flows shows both)"
        ))
        .into()),
        _ => Err(Usage(format!(
            "{} nodes are called {name} (try the id of one; hostint history flows shows them)",
            nodes.len()
        ))
        .into()),
    }
}

fn args_of(command: &HistoryCommand) -> &HistoryArgs {
    match command {
        HistoryCommand::Flows(args) => &args.history,
        HistoryCommand::Hops(args) => &args.history,
        HistoryCommand::Queues(args) => &args.history,
        HistoryCommand::Tcp(args) => &args.history,
        HistoryCommand::Pairs { history, .. }
        | HistoryCommand::Classes { history }
        | HistoryCommand::Coverage { history }
        | HistoryCommand::Flow { history, .. }
        | HistoryCommand::Series { history, .. }
        | HistoryCommand::Reports { history, .. }
        | HistoryCommand::Path { history, .. }
        | HistoryCommand::Segments { history, .. }
        | HistoryCommand::Drops { history, .. }
        | HistoryCommand::Info { history } => history,
    }
}

fn span(args: &HistoryArgs) -> Result<Span> {
    let now = SystemTime::now();
    let span = Span {
        since_ns: args.since.ns(now),
        until_ns: args.until.ns(now),
    };
    if span.since_ns >= span.until_ns {
        let said = "--since is not before --until".to_owned();
        return Err(Usage(said).into());
    }
    Ok(span)
}

/// The columns to write in: what COLUMNS says, else those of the terminal, else [`COLUMNS`].
fn width() -> TextWidth {
    let folds = io::stdout().is_terminal();
    let told = std::env::var("COLUMNS").ok();
    let told = told.and_then(|text| text.parse().ok());
    let of_terminal = || folds.then(terminal::size)?.ok();
    let columns = told.or_else(|| of_terminal().map(|(columns, _)| usize::from(columns)));
    TextWidth {
        columns: columns.filter(|columns| *columns > 0).unwrap_or(COLUMNS),
        folds,
    }
}

/// Asks, and returns `None` if there is no such flow.
fn ask(
    history: &mut HistoryReader,
    command: &HistoryCommand,
    span: Span,
    seen: &[HostSeen],
) -> Result<Option<View>> {
    Ok(Some(match command {
        HistoryCommand::Flows(args) => {
            let query = flows_asked(args, seen)?;
            View::Flows(history.flows(&query, span)?)
        }
        HistoryCommand::Pairs {
            show, sort, limit, ..
        } => {
            let mut pairs = history.pairs(span)?;
            sort_pairs(&mut pairs, *sort);
            View::Pairs {
                pairs,
                cell: cell_of(*show),
                limit: *limit,
            }
        }
        HistoryCommand::Classes { .. } => View::Classes(history.classes(span)?),
        HistoryCommand::Coverage { .. } => coverage(history, span)?,
        HistoryCommand::Flow { id, points, .. } => {
            let Some(flow) = history.flow(*id, span)? else {
                return Ok(None);
            };
            let series = history.series(&Subject::Flow(*id), span, *points)?;
            View::Flow {
                flow: Box::new(flow),
                series,
            }
        }
        HistoryCommand::Series {
            subject, points, ..
        } => View::Series(history.series(&subject_of(subject, seen)?, span, *points)?),
        HistoryCommand::Reports { subject, limit, .. } => {
            let (subject, limit) = (subject_of(subject, seen)?, *limit);
            let records = history.reports(&ReportQuery { subject, limit }, span)?;
            let lines = records.iter().filter_map(line).collect();
            View::Reports { records, lines }
        }
        HistoryCommand::Path { from, to, flow, .. } => {
            let query = paths_asked([from.as_ref(), to.as_ref()], *flow, seen)?;
            return paths(history, query, span);
        }
        HistoryCommand::Segments { sort, limit, .. } => {
            View::Segments(history.segments((*sort).into(), span, *limit)?)
        }
        HistoryCommand::Drops {
            by, node, limit, ..
        } => drops(history, (*by, node.as_ref(), *limit), span, seen)?,
        HistoryCommand::Hops(args) => return hops(history, args, span, seen),
        HistoryCommand::Queues(args) => queues(history, args, span, seen)?,
        HistoryCommand::Tcp(args) => return connections(history, args, span, seen),
        HistoryCommand::Info { .. } => View::Info(history.extent()?),
    }))
}

/// Asks for coverage, which is kept for longer periods than a span may have.
fn coverage(history: &mut HistoryReader, span: Span) -> Result<View> {
    let covered = covered(span, clock::realtime_ns());
    Ok(View::Coverage(history.coverage(span)?, covered))
}

fn cell_of(figure: MatrixFigure) -> Cell {
    match figure {
        MatrixFigure::P50 => Cell::P50,
        MatrixFigure::P99 => Cell::P99,
        MatrixFigure::Jitter => Cell::Jitter,
        MatrixFigure::Loss => Cell::Loss,
    }
}

fn drops(
    history: &mut HistoryReader,
    (by, node, limit): (DropsBy, Option<&NodeArg>, usize),
    span: Span,
    seen: &[HostSeen],
) -> Result<View> {
    let by = by.into();
    let node = node_of(node, seen)?;
    let query = DropQuery { by, node, limit };
    Ok(View::Drops(DropsView {
        by,
        drops: history.drops(&query, span)?,
        series: history.drop_series(span, POINTS)?,
    }))
}

/// Asks for flows through hosts, and returns `None` for a flow that the store does not know.
fn hops(
    history: &mut HistoryReader,
    args: &HopsArgs,
    span: Span,
    seen: &[HostSeen],
) -> Result<Option<View>> {
    if is_unknown(history, args.flow, span)? {
        return Ok(None);
    }
    let query = HopQuery {
        node: node_of(args.node.as_ref(), seen)?,
        flow: args.flow,
        order: args.sort.into(),
        limit: args.limit,
    };
    let flows = history.hops(&query, span)?;
    Ok(Some(View::Hops(flows, history.passages(&query, span)?)))
}

fn queues(
    history: &mut HistoryReader,
    args: &QueuesArgs,
    span: Span,
    seen: &[HostSeen],
) -> Result<View> {
    let query = EpisodeQuery {
        node: node_of(args.node.as_ref(), seen)?,
        order: args.sort.into(),
        limit: args.limit,
    };
    Ok(View::Queues(history.queues(&query, span)?))
}

/// Asks for connections, and returns `None` if they are those of a flow that the store does not know.
fn connections(
    history: &mut HistoryReader,
    args: &ConnectionsArgs,
    span: Span,
    seen: &[HostSeen],
) -> Result<Option<View>> {
    if is_unknown(history, args.flow, span)? {
        return Ok(None);
    }
    let node = node_of(args.node.as_ref(), seen)?;
    Ok(Some(View::Tcp(match args.by.into() {
        Some(by) => TcpView::Sums {
            by,
            sums: {
                let mut sums = history.tcp_sums(by, node, span)?;
                sums.truncate(args.limit);
                sums
            },
            series: history.limit_series(node, span, POINTS)?,
        },
        None if args.by == ConnectionsBy::Hop => {
            let mut hops = history.tcp_hops(node, span)?;
            hops.hops.truncate(args.limit);
            TcpView::Hops(hops)
        }
        None => {
            let query = ConnectionQuery {
                node,
                limited: args.limited.map(Into::into),
                flow: args.flow,
                order: args.sort.into(),
                limit: args.limit,
            };
            TcpView::Connections(history.connections(&query, span)?)
        }
    })))
}

/// True if a flow is asked for that the store does not know.
fn is_unknown(history: &mut HistoryReader, flow: Option<i64>, span: Span) -> Result<bool> {
    match flow {
        Some(id) => Ok(history.flow(id, span)?.is_none()),
        None => Ok(false),
    }
}

/// Asks for paths, and returns `None` if they are those of a flow that the store does not know.
fn paths(history: &mut HistoryReader, query: PathQuery, span: Span) -> Result<Option<View>> {
    if let PathQuery::Flow(id) = query
        && is_unknown(history, Some(id), span)?
    {
        return Ok(None);
    }
    let paths = history.paths(query, span)?;
    // One screen has one span: that of the paths.
    let since_ns = paths.iter().map(|path| path.first_ns).min();
    let until_ns = paths.iter().map(|path| path.until_ns).max();
    let span = Span {
        since_ns: span.since_ns.max(since_ns.unwrap_or(0)),
        until_ns: span.until_ns.min(until_ns.unwrap_or(u64::MAX)),
    };
    let loss = match span.since_ns < span.until_ns {
        true => history.loss(query, span)?,
        false => None,
    };
    Ok(Some(View::Paths(query, paths, loss)))
}

fn paths_asked(
    [from, to]: [Option<&NodeArg>; 2],
    flow: Option<i64>,
    seen: &[HostSeen],
) -> Result<PathQuery> {
    let pair = node_of(from, seen)?.zip(node_of(to, seen)?);
    match (pair, flow) {
        (Some((source, sink)), _) => Ok(PathQuery::Pair { source, sink }),
        (None, Some(id)) => Ok(PathQuery::Flow(id)),
        (None, None) => {
            let said = "a path has two ends (try --from NODE --to NODE, or --flow ID)";
            Err(Usage(said.to_owned()).into())
        }
    }
}

fn flows_asked(args: &FlowsArgs, seen: &[HostSeen]) -> Result<FlowQuery> {
    Ok(FlowQuery {
        source: node_of(args.source.as_ref(), seen)?,
        sink: node_of(args.sink.as_ref(), seen)?,
        class: args.class.clone(),
        search: args.search.clone(),
        order: args.sort.into(),
        limit: args.limit,
    })
}

fn subject_of(args: &SubjectArgs, seen: &[HostSeen]) -> Result<Subject> {
    let source = node_of(args.source.as_ref(), seen)?;
    let pair = source.zip(node_of(args.sink.as_ref(), seen)?);
    Ok(match (pair, &args.class, args.flow) {
        (Some((source, sink)), ..) => Subject::Pair { source, sink },
        (_, Some(class), _) => Subject::Class(class.clone()),
        (.., Some(id)) => Subject::Flow(id),
        _ => Subject::All,
    })
}

fn sort_pairs(pairs: &mut [PairFigures], order: HistoryOrder) {
    let rank = |ns: Option<i64>| ns.map_or(i128::MIN, i128::from);
    pairs.sort_by_key(|pair| {
        let shown = pair.figures.shown();
        std::cmp::Reverse(match order.into() {
            FlowOrder::Loss => i128::from(shown.lost),
            FlowOrder::Packets => i128::from(shown.packets),
            FlowOrder::Latency => rank(shown.latency.and_then(|one| one.p99_ns)),
            FlowOrder::Jitter => rank(shown.latency.and_then(|one| one.jitter_ns)),
        })
    });
}

/// The line that the collector would print.
fn line(record: &Record) -> Option<String> {
    let report = record.report().ok()?;
    let reasons = record.told_reason().unwrap_or_default();
    let arrival = record.arrival();
    Some(history::report_line(&report, arrival, &reasons))
}
