//! Questions to a history about TCP connections.

use crate::model::{
    Answer, AnswerTimes, ConnectionQuery, History, HistoryError, NodeId, SegmentOrder, Span,
    TcpGrouping, TcpSums,
};

/// A question about connections in a span of time.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum TcpQuestion {
    Connections(ConnectionQuery),
    /// The sums of connections, and what limited them over time.
    Sums {
        by: TcpGrouping,
        node: Option<NodeId>,
        limit: usize,
        points: usize,
    },
    /// The worst hops of connections.
    Hops {
        node: Option<NodeId>,
        limit: usize,
    },
    /// All of these; of one flow, its connections and their states over time.
    Whole {
        query: ConnectionQuery,
        by: TcpGrouping,
        points: usize,
    },
}

impl TcpQuestion {
    /// The most rows or points of its answer.
    pub(in crate::model) fn rows(&self) -> usize {
        match self {
            Self::Connections(query) => query.limit,
            Self::Sums { limit, points, .. } => *limit.max(points),
            Self::Hops { limit, .. } => *limit,
            Self::Whole { query, points, .. } => query.limit.max(*points),
        }
    }

    pub(in crate::model) fn ask(
        &self,
        history: &mut dyn History,
        span: Span,
    ) -> Result<Answer, HistoryError> {
        Ok(match self {
            Self::Connections(query) => Answer::Connections {
                connections: history.connections(query, span)?,
            },
            Self::Sums {
                by,
                node,
                limit,
                points,
            } => {
                let mut tcp_sums = sums(history, (*by, *node), span)?;
                tcp_sums.truncate(*limit);
                Answer::TcpSums {
                    by: *by,
                    tcp_sums,
                    limit_series: history.limit_series(*node, span, *points)?,
                }
            }
            Self::Hops { node, limit } => {
                let mut tcp_hops = history.tcp_hops(*node, span)?;
                tcp_hops.hops.truncate(*limit);
                Answer::TcpHops { tcp_hops }
            }
            Self::Whole { query, by, points } => {
                let connections = history.connections(query, span)?;
                match query.flow {
                    Some(flow) => Answer::FlowTcp {
                        connections,
                        states: history.connection_series(flow, span, *points)?,
                    },
                    None => Answer::Tcp {
                        connections,
                        sums: sums(history, (*by, query.node), span)?,
                        series: history.limit_series(query.node, span, *points)?,
                        hops: history.tcp_hops(query.node, span)?,
                    },
                }
            }
        })
    }
}

/// The sums over connections; of hosts with the times of their applications' answers.
fn sums(
    history: &mut dyn History,
    (by, node): (TcpGrouping, Option<NodeId>),
    span: Span,
) -> Result<Vec<TcpSums>, HistoryError> {
    let mut sums = history.tcp_sums(by, node, span)?;
    if by == TcpGrouping::Host {
        let segments = history.segments(SegmentOrder::default(), span, usize::MAX)?;
        for one in &mut sums {
            one.answers = one.node.and_then(|node| AnswerTimes::of(node, &segments));
        }
    }
    Ok(sums)
}
