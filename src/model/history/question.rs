//! Questions to a history, asked by `hostint history` and by the page alike.

use crate::model::coverage::covered;
use crate::model::{
    Answer, DropQuery, EpisodeQuery, FlowOrder, FlowQuery, History, HistoryError, MatrixFigure,
    NodeId, PairAnswer, PairFigures, PassageQuery, PathQuery, PodsOf, ReportQuery, SegmentOrder,
    Span, Subject, TcpQuestion,
};

/// A question about a span of time.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Question {
    /// The extent of the history, whatever the span is.
    Extent,
    /// The pairs from and to these nodes, in this order, and how many of them people see.
    Pairs {
        source: Option<NodeId>,
        sink: Option<NodeId>,
        order: Option<FlowOrder>,
        shown: MatrixFigure,
        limit: usize,
    },
    Classes {
        /// By the names of pods, and not by the classes of rules.
        by: Option<PodsOf>,
    },
    /// What was said of the network.
    Verdict,
    /// Why a pair is as it is.
    Why {
        source: NodeId,
        sink: NodeId,
    },
    /// The same of the flow with most loss whose text has all these words.
    WhyFlow(String),
    /// What was measured of the traffic, as is known now.
    Coverage {
        now_ns: u64,
    },
    Flows(FlowQuery),
    /// One flow, if the history knows it.
    FlowAlone(i64),
    /// One flow, and its figures over time.
    Flow {
        id: i64,
        points: usize,
    },
    Series {
        subject: Subject,
        points: usize,
    },
    Reports(ReportQuery),
    Paths {
        of: PathQuery,
        /// The hash of the only path that is asked for.
        hash: Option<String>,
        /// The loss is that of the time in which these paths were seen, and not of the whole span.
        while_seen: bool,
    },
    Segments {
        order: SegmentOrder,
        limit: usize,
    },
    Drops {
        query: DropQuery,
        points: usize,
    },
    Hops(PassageQuery),
    Queues(EpisodeQuery),
    Tcp(TcpQuestion),
}

fn flow(
    id: i64,
    points: usize,
    history: &mut dyn History,
    span: Span,
) -> Result<Option<Answer>, HistoryError> {
    let Some(flow) = history.flow(id, span)? else {
        return Ok(None);
    };
    Ok(Some(Answer::Flow {
        flow: Box::new(flow),
        series: history.series(&Subject::Flow(id), span, points)?,
    }))
}

fn drops(
    query: &DropQuery,
    points: usize,
    history: &mut dyn History,
    span: Span,
) -> Result<Answer, HistoryError> {
    Ok(Answer::Drops {
        by: query.by,
        drops: history.drops(query, span)?,
        drop_series: history.drop_series(span, points)?,
    })
}

fn classes(
    by: Option<PodsOf>,
    history: &mut dyn History,
    span: Span,
) -> Result<Answer, HistoryError> {
    let classes = match by {
        Some(by) => history.classes_by(by, span)?,
        None => history.classes(span)?,
    };
    Ok(Answer::Classes { classes })
}

fn hops(
    query: &PassageQuery,
    history: &mut dyn History,
    span: Span,
) -> Result<Answer, HistoryError> {
    Ok(Answer::Hops {
        hops: history.hops(query, span)?,
        passages: history.passages(query, span)?,
    })
}

fn verdict(history: &mut dyn History, span: Span) -> Result<Answer, HistoryError> {
    Ok(Answer::Verdict {
        verdict: history.verdict(span)?.map(Box::new),
        past: history.past_verdicts(span)?,
        events: history.events(span)?,
    })
}

fn why(answer: PairAnswer) -> Answer {
    let why = Box::new(answer);
    Answer::Why { why }
}

impl Question {
    /// Asks a history. `None`: it does not know the flow.
    ///
    /// # Errors
    /// If the history cannot be read.
    pub fn ask(
        &self,
        history: &mut dyn History,
        span: Span,
    ) -> Result<Option<Answer>, HistoryError> {
        Ok(Some(match self {
            Self::Extent => Answer::Extent {
                info: history.extent()?,
            },
            Self::Pairs {
                source,
                sink,
                order,
                shown,
                limit,
            } => Answer::Pairs {
                pairs: pairs((*source, *sink), *order, history, span)?,
                shown: *shown,
                limit: *limit,
            },
            Self::Classes { by } => classes(*by, history, span)?,
            Self::Verdict => verdict(history, span)?,
            Self::Why { source, sink } => why(PairAnswer::ask((*source, *sink), history, span)?),
            Self::WhyFlow(words) => return Ok(PairAnswer::of_flow(words, history, span)?.map(why)),
            // It is kept for longer periods than a span may have.
            Self::Coverage { now_ns } => Answer::Coverage {
                coverage: history.coverage(span)?,
                covered: covered(span, *now_ns),
            },
            Self::Flows(query) => Answer::Flows {
                flows: history.flows(query, span)?,
            },
            Self::FlowAlone(id) => Answer::Flows {
                flows: history.flow(*id, span)?.into_iter().collect(),
            },
            Self::Flow { id, points } => return flow(*id, *points, history, span),
            Self::Series { subject, points } => Answer::Series {
                series: history.series(subject, span, *points)?,
            },
            Self::Reports(query) => Answer::Reports {
                reports: history.reports(query, span)?,
            },
            Self::Paths {
                of,
                hash,
                while_seen,
            } => paths(*of, hash.as_deref(), *while_seen, history, span)?,
            Self::Segments { order, limit } => Answer::Segments {
                segments: history.segments(*order, span, *limit)?,
            },
            Self::Drops { query, points } => drops(query, *points, history, span)?,
            Self::Hops(query) => hops(query, history, span)?,
            Self::Queues(query) => Answer::Queues {
                queues: history.queues(query, span)?,
            },
            Self::Tcp(question) => question.ask(history, span)?,
        }))
    }

    /// The most rows or points of its answer, if it names their number.
    pub fn rows(&self) -> usize {
        match self {
            Self::Flows(query) => query.limit,
            Self::Reports(query) => query.limit,
            Self::Flow { points, .. } | Self::Series { points, .. } => *points,
            Self::Segments { limit, .. } => *limit,
            Self::Drops { query, points } => query.limit.max(*points),
            Self::Hops(query) => query.limit,
            Self::Queues(query) => query.limit,
            Self::Tcp(question) => question.rows(),
            _ => 0,
        }
    }

    /// The flow that has to be known, or there is no answer.
    pub fn flow(&self) -> Option<i64> {
        match self {
            Self::Paths { of, .. } => match of {
                PathQuery::Flow(id) => Some(*id),
                PathQuery::Pair { .. } => None,
            },
            Self::Hops(query) => query.flow,
            Self::Tcp(TcpQuestion::Connections(query)) => query.flow,
            _ => None,
        }
    }
}

/// The pairs from and to these nodes.
fn pairs(
    ends: (Option<NodeId>, Option<NodeId>),
    order: Option<FlowOrder>,
    history: &mut dyn History,
    span: Span,
) -> Result<Vec<PairFigures>, HistoryError> {
    if let (Some(source), Some(sink)) = ends {
        return Ok(history.pair(source, sink, span)?.into_iter().collect());
    }
    let mut pairs = history.pairs(span)?;
    pairs.retain(|pair| {
        ends.0.is_none_or(|source| source == pair.source)
            && ends.1.is_none_or(|sink| sink == pair.sink)
    });
    if let Some(order) = order {
        pairs.sort_by_key(|pair| std::cmp::Reverse(rank(pair, order)));
    }
    Ok(pairs)
}

fn rank(pair: &PairFigures, order: FlowOrder) -> i128 {
    let shown = pair.figures.shown();
    let known = |ns: Option<i64>| ns.map_or(i128::MIN, i128::from);
    match order {
        FlowOrder::Loss => i128::from(shown.lost),
        FlowOrder::Packets => i128::from(shown.packets),
        FlowOrder::Latency => known(shown.latency.and_then(|one| one.p99_ns)),
        FlowOrder::Jitter => known(shown.latency.and_then(|one| one.jitter_ns)),
    }
}

fn paths(
    of: PathQuery,
    hash: Option<&str>,
    while_seen: bool,
    history: &mut dyn History,
    span: Span,
) -> Result<Answer, HistoryError> {
    let mut paths = history.paths(of, span)?;
    if let Some(hash) = hash {
        paths.retain(|path| path.path.hash_text() == hash);
    }
    let mut seen = span;
    if while_seen {
        let first_ns = paths.iter().map(|path| path.first_ns).min();
        let until_ns = paths.iter().map(|path| path.until_ns).max();
        seen.since_ns = span.since_ns.max(first_ns.unwrap_or(0));
        seen.until_ns = span.until_ns.min(until_ns.unwrap_or(u64::MAX));
    }
    let loss = match seen.since_ns < seen.until_ns {
        true => history.loss(of, seen)?,
        false => None,
    };
    Ok(Answer::Paths { of, paths, loss })
}
