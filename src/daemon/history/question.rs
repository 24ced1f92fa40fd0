//! The question that a command line asks; nodes may be called by the names that a history has.

use anyhow::Result;

use crate::cli::{
    ConnectionsArgs, ConnectionsBy, FlowsArgs, HistoryCommand, HopsArgs, NodeArg, QueuesArgs,
    SubjectArgs,
};
use crate::host::advice::Usage;
use crate::model::{
    ConnectionQuery, DropGrouping, DropQuery, EpisodeQuery, FlowQuery, HostSeen, NodeId,
    PassageQuery, PathQuery, Question, ReportQuery, Subject, TcpGrouping, TcpQuestion,
};
use crate::os::clock;
use crate::store::called;

/// The approximate number of points in time of drops, and of what limits connections.
const POINTS: usize = 60;

/// What is asked, of a history that has seen these hosts.
pub fn of(command: &HistoryCommand, seen: &[HostSeen]) -> Result<Question> {
    let node = |node: &Option<NodeArg>| node_of(node.as_ref(), seen);
    Ok(match command {
        HistoryCommand::Flows(args) => Question::Flows(flows(args, seen)?),
        HistoryCommand::Pairs {
            source,
            sink,
            show,
            sort,
            limit,
            ..
        } => Question::Pairs {
            source: node(source)?,
            sink: node(sink)?,
            order: Some(*sort),
            shown: *show,
            limit: *limit,
        },
        HistoryCommand::Verdict { .. } | HistoryCommand::Accept(_) => Question::Verdict,
        HistoryCommand::Why { from, to, flow, .. } => why((from, to), flow, seen)?,
        HistoryCommand::Classes { by, .. } => Question::Classes { by: *by },
        HistoryCommand::Coverage { .. } => Question::Coverage {
            now_ns: clock::realtime_ns(),
        },
        HistoryCommand::Flow { id, points, .. } => Question::Flow {
            id: *id,
            points: *points,
        },
        HistoryCommand::Series {
            subject, points, ..
        } => Question::Series {
            subject: subject_of(subject, seen)?,
            points: *points,
        },
        HistoryCommand::Reports { subject, limit, .. } => Question::Reports(ReportQuery {
            subject: subject_of(subject, seen)?,
            limit: *limit,
        }),
        HistoryCommand::Path { from, to, flow, .. } => Question::Paths {
            of: paths(node(from)?.zip(node(to)?), *flow)?,
            hash: None,
            // One screen has one span: that of the paths.
            while_seen: true,
        },
        HistoryCommand::Segments { sort, limit, .. } => Question::Segments {
            order: *sort,
            limit: *limit,
        },
        HistoryCommand::Drops {
            by,
            node: of,
            limit,
            ..
        } => drops(*by, node(of)?, *limit),
        HistoryCommand::Hops(args) => Question::Hops(hops(args, node(&args.node)?)),
        HistoryCommand::Queues(args) => Question::Queues(queues(args, node(&args.node)?)),
        HistoryCommand::Tcp(args) => Question::Tcp(tcp(args, node(&args.node)?)),
        HistoryCommand::Info { .. } => Question::Extent,
    })
}

/// The most names that are offered in place of one that is not known.
const MOST_NAMES: usize = 3;

/// A node that this history has seen.
fn known_node(arg: &NodeArg, seen: &[HostSeen]) -> Result<NodeId> {
    let (node, text) = match arg {
        NodeArg::Id(node) => (
            seen.iter().find(|one| one.node == Some(*node)),
            node.to_string(),
        ),
        NodeArg::Name(name) => {
            let is_one = |one: &&HostSeen| one.name.as_deref() == Some(name);
            // Two nodes of one name are refused as everywhere.
            if seen.iter().any(|one| is_one(&one))
                && let Some(node) = node_of(Some(arg), seen)?
            {
                return Ok(node);
            }
            (None, name.clone())
        }
    };
    if let Some(node) = node.and_then(|one| one.node) {
        return Ok(node);
    }
    let mut names: Vec<&str> = seen.iter().filter_map(|one| one.name.as_deref()).collect();
    names.sort_by(|a, b| strsim::jaro(b, &text).total_cmp(&strsim::jaro(a, &text)));
    names.dedup();
    names.truncate(MOST_NAMES);
    let nearest = match names.is_empty() {
        true => "hostint history pairs shows them".to_owned(),
        false => format!("the nearest names are {}", names.join(", ")),
    };
    Err(Usage(format!("no node {text} in this history ({nearest})")).into())
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

fn why(
    ends: (&Option<NodeArg>, &Option<NodeArg>),
    flow: &Option<String>,
    seen: &[HostSeen],
) -> Result<Question> {
    Ok(match ends {
        (Some(from), Some(to)) => Question::Why {
            source: known_node(from, seen)?,
            sink: known_node(to, seen)?,
        },
        _ => Question::WhyFlow(flow.clone().unwrap_or_default()),
    })
}

fn drops(by: DropGrouping, node: Option<NodeId>, limit: usize) -> Question {
    Question::Drops {
        query: DropQuery { by, node, limit },
        points: POINTS,
    }
}

fn hops(args: &HopsArgs, node: Option<NodeId>) -> PassageQuery {
    PassageQuery {
        node,
        flow: args.flow,
        order: args.sort,
        limit: args.limit,
    }
}

fn queues(args: &QueuesArgs, node: Option<NodeId>) -> EpisodeQuery {
    EpisodeQuery {
        node,
        order: args.sort,
        limit: args.limit,
    }
}

fn tcp(args: &ConnectionsArgs, node: Option<NodeId>) -> TcpQuestion {
    let limit = args.limit;
    let sums = |by| TcpQuestion::Sums {
        by,
        node,
        limit,
        points: POINTS,
    };
    match args.by {
        ConnectionsBy::Limit => sums(TcpGrouping::Limit),
        ConnectionsBy::Pair => sums(TcpGrouping::Pair),
        ConnectionsBy::Host => sums(TcpGrouping::Host),
        ConnectionsBy::Hop => TcpQuestion::Hops { node, limit },
        ConnectionsBy::Connection => TcpQuestion::Connections(ConnectionQuery {
            node,
            limited: args.limited,
            flow: args.flow,
            order: args.sort,
            limit,
        }),
    }
}

fn paths(pair: Option<(NodeId, NodeId)>, flow: Option<i64>) -> Result<PathQuery> {
    match (pair, flow) {
        (Some((source, sink)), _) => Ok(PathQuery::Pair { source, sink }),
        (None, Some(id)) => Ok(PathQuery::Flow(id)),
        (None, None) => {
            let said = "a path has two ends (try --from NODE --to NODE, or --flow ID)";
            Err(Usage(said.to_owned()).into())
        }
    }
}

fn flows(args: &FlowsArgs, seen: &[HostSeen]) -> Result<FlowQuery> {
    Ok(FlowQuery {
        source: node_of(args.source.as_ref(), seen)?,
        sink: node_of(args.sink.as_ref(), seen)?,
        class: args.class.clone(),
        search: args.search.clone(),
        order: args.sort,
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
