//! The answer of a history to a question, with the names of its parts in JSON.

use serde::Serialize;

use crate::model::coverage::CoverageRow;
use crate::model::{
    ClassFigures, ConnectionFigures, ConnectionSeries, DropFigures, DropGrouping, DropSeries,
    Extent, FlowFigures, ForwardedFlow, LimitSeries, LossByHost, MatrixFigure, NetworkEvent,
    NetworkVerdict, PairAnswer, PairFigures, PassageFigures, PastVerdict, PathFigures, PathQuery,
    Record, ReportedEpisode, SegmentFigures, Series, Span, TcpGrouping, TcpHops, TcpSums,
};

/// An answer. What JSON leaves out is how people read it.
#[derive(Clone, Debug, Serialize)]
#[serde(untagged)]
pub enum Answer {
    Extent {
        info: Extent,
    },
    Pairs {
        pairs: Vec<PairFigures>,
        /// The figure in a matrix.
        #[serde(skip)]
        shown: MatrixFigure,
        /// The number of pairs to list.
        #[serde(skip)]
        limit: usize,
    },
    Verdict {
        /// The last one.
        verdict: Option<Box<NetworkVerdict>>,
        past: Vec<PastVerdict>,
        events: Vec<NetworkEvent>,
    },
    Why {
        why: Box<PairAnswer>,
    },
    Classes {
        classes: Vec<ClassFigures>,
    },
    Coverage {
        coverage: Vec<CoverageRow>,
        /// The span that the sums are of.
        covered: Span,
    },
    Flows {
        flows: Vec<FlowFigures>,
    },
    Flow {
        flow: Box<FlowFigures>,
        series: Series,
    },
    Series {
        series: Series,
    },
    Reports {
        reports: Vec<Record>,
    },
    Paths {
        of: PathQuery,
        paths: Vec<PathFigures>,
        /// Where packets were lost.
        loss: Option<LossByHost>,
    },
    Segments {
        segments: Vec<SegmentFigures>,
    },
    Drops {
        #[serde(skip)]
        by: DropGrouping,
        drops: Vec<DropFigures>,
        drop_series: DropSeries,
    },
    Hops {
        hops: Vec<ForwardedFlow>,
        passages: Vec<PassageFigures>,
    },
    Queues {
        queues: Vec<ReportedEpisode>,
    },
    Connections {
        connections: Vec<ConnectionFigures>,
    },
    TcpSums {
        #[serde(skip)]
        by: TcpGrouping,
        tcp_sums: Vec<TcpSums>,
        limit_series: LimitSeries,
    },
    TcpHops {
        tcp_hops: TcpHops,
    },
    Tcp {
        connections: Vec<ConnectionFigures>,
        sums: Vec<TcpSums>,
        series: LimitSeries,
        hops: TcpHops,
    },
    FlowTcp {
        connections: Vec<ConnectionFigures>,
        states: ConnectionSeries,
    },
}
