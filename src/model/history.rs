//! What can be asked of a collector's history, and what it answers.

use serde::Serialize;

use super::{FlowKey, NodeId, Record};

/// From `since_ns` to before `until_ns`, ns since the Unix epoch. Answers are about whole roll-up periods that the
/// span touches.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize)]
pub struct Span {
    pub since_ns: u64,
    pub until_ns: u64,
}

/// What reports told about some packets.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Figures {
    /// Reports that these figures come from.
    pub reports: u64,
    /// Packets sent, by the sequence numbers that the reports show.
    pub packets: u64,
    pub lost: u64,
    /// Packets that arrived after later ones. `None` if no summary of a flow told: sinks send them if asked to.
    pub reordered: Option<u64>,
    /// Of the latencies reported: news, not all packets. `None` if none was.
    pub latency: Option<LatencyFigures>,
}

/// Quantiles are upper bounds of their histogram slots.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize)]
pub struct LatencyFigures {
    pub samples: u64,
    pub min_ns: i64,
    pub mean_ns: i64,
    pub p50_ns: i64,
    pub p90_ns: i64,
    pub p99_ns: i64,
    pub max_ns: i64,
    /// p99 - p50
    pub jitter_ns: i64,
}

/// Figures from an INT source to an INT sink.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PairFigures {
    pub source: NodeId,
    pub sink: NodeId,
    pub flows: u64,
    #[serde(flatten)]
    pub figures: Figures,
}

/// Figures of one flow.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FlowFigures {
    /// Names the flow in this store.
    pub id: i64,
    pub flow: FlowKey,
    pub source: Option<NodeId>,
    pub sink: Option<NodeId>,
    pub class: Option<String>,
    pub first_ns: u64,
    pub last_ns: u64,
    #[serde(flatten)]
    pub figures: Figures,
}

/// Figures of a class of traffic.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ClassFigures {
    pub class: String,
    #[serde(flatten)]
    pub figures: Figures,
}

/// What flows are sorted by, the largest first.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum FlowOrder {
    #[default]
    Loss,
    /// p99
    Latency,
    Jitter,
    Packets,
}

/// Which flows.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct FlowQuery {
    pub source: Option<NodeId>,
    pub sink: Option<NodeId>,
    pub class: Option<String>,
    /// Words that the flow, as text, or its class contain, all of them.
    pub search: Option<String>,
    pub order: FlowOrder,
    pub limit: usize,
}

/// Whose time series.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Subject {
    All,
    Pair { source: NodeId, sink: NodeId },
    Flow(i64),
    Class(String),
}

/// Figures by time, oldest first; periods without reports are left out.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Series {
    pub period_ns: u64,
    pub points: Vec<Point>,
}

/// One period of a series.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Point {
    pub begin_ns: u64,
    #[serde(flatten)]
    pub figures: Figures,
}

/// Which single reports, newest first.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct ReportQuery {
    pub subject: Subject,
    pub limit: usize,
}

/// How much a store holds.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq, Serialize)]
pub struct Extent {
    /// Times of the oldest and the newest report, 0 without any.
    pub first_ns: u64,
    pub last_ns: u64,
    /// Single ones.
    pub reports: u64,
    pub flows: u64,
    pub bytes: u64,
    /// Reports that are in the figures only, because there was no time to write them by themselves,
    pub rolled_up_only: u64,
    /// and the time of the last of them, about; 0 without any.
    pub rolled_up_only_ns: u64,
}

/// Why a question has no answer.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct HistoryError(pub String);

/// A store that can be asked.
pub trait History: Send {
    fn extent(&mut self) -> Result<Extent, HistoryError>;
    /// All pairs with reports in the span.
    fn pairs(&mut self, span: Span) -> Result<Vec<PairFigures>, HistoryError>;
    /// One pair; `None` without reports in the span.
    fn pair(
        &mut self,
        source: NodeId,
        sink: NodeId,
        span: Span,
    ) -> Result<Option<PairFigures>, HistoryError>;
    fn flows(&mut self, query: &FlowQuery, span: Span) -> Result<Vec<FlowFigures>, HistoryError>;
    /// One flow, by its id; `None` if the store does not know it.
    fn flow(&mut self, id: i64, span: Span) -> Result<Option<FlowFigures>, HistoryError>;
    /// All classes with reports in the span.
    fn classes(&mut self, span: Span) -> Result<Vec<ClassFigures>, HistoryError>;
    /// At most about `points` of them, if the roll-ups are fine enough.
    fn series(
        &mut self,
        subject: &Subject,
        span: Span,
        points: usize,
    ) -> Result<Series, HistoryError>;
    fn reports(&mut self, query: &ReportQuery, span: Span) -> Result<Vec<Record>, HistoryError>;
}
