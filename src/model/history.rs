//! Queries to a collector's history, and their results.

use clap::ValueEnum;
use serde::Serialize;

use super::coverage::CoverageRow;
use super::{
    ConnectionFigures, ConnectionQuery, ConnectionSeries, CorrectedMean, DropFigures, DropQuery,
    DropSeries, EpisodeQuery, Extent, FlowKey, ForwardedFlow, HopQuery, LatencyResolution,
    LimitSeries, LossByHost, LossSplit, Measured, NodeId, PassageFigures, PathFigures, PathQuery,
    Record, SegmentFigures, SegmentOrder, TcpGrouping, TcpHops, TcpSums, ToldEpisode,
};

/// The time from `since_ns` to just before `until_ns`, ns since the Unix epoch. Results cover every roll-up period that
/// the span touches.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize)]
pub struct Span {
    pub since_ns: u64,
    pub until_ns: u64,
}

impl Span {
    /// All times that a history has.
    pub const EVER: Self = Self {
        since_ns: 0,
        until_ns: i64::MAX.cast_unsigned(),
    };
}

/// Figures of a subject: those of its reports, and those of all its packets if summaries came.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Figures {
    /// All reports of the subject.
    pub reports: u64,
    /// Packets sent, derived from the sequence numbers in the reports.
    pub packets: u64,
    pub lost: u64,
    /// Packets that arrived after later ones. `None` without flow summaries.
    pub reordered: Option<u64>,
    /// Figures over the reported latencies, which are not those of all packets. `None` if none was reported.
    pub latency: Option<LatencyFigures>,
    /// Figures of all packets, as the sinks counted them. `None` without summaries.
    pub measured: Option<MeasuredFigures>,
}

/// The least number of reported latencies for which quantiles are shown.
pub const LEAST_SAMPLES: u64 = 20;

/// Figures of all packets.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize)]
pub struct MeasuredFigures {
    /// Summaries that these figures are derived from.
    pub summaries: u64,
    /// Packets that arrived, duplicates among them.
    pub packets: u64,
    pub bytes: u64,
    /// Packets that never arrived.
    pub lost: u64,
    /// Packets that were declared lost and arrived later.
    pub recovered: u64,
    pub reordered: u64,
    pub duplicates: u64,
    pub latency: Option<LatencyFigures>,
    /// The mean without the difference of the two clocks; `None` if they were unknown.
    pub corrected: Option<CorrectedMean>,
    /// Slots of the coarsest histogram for each power of two: a quantile is at most one slot above the true one.
    pub steps: u8,
}

impl From<&Measured> for MeasuredFigures {
    fn from(sums: &Measured) -> Self {
        Self {
            summaries: sums.summaries,
            packets: sums.packets,
            bytes: sums.bytes,
            lost: sums.missing(),
            recovered: sums.recovered,
            reordered: sums.reordered,
            duplicates: sums.duplicates,
            latency: sums.latency.figures(),
            corrected: sums.corrected.mean(),
            steps: sums.latency.resolution().steps(),
        }
    }
}

impl MeasuredFigures {
    /// The latencies without the difference of the two clocks, if that was known for all packets: shifted by its mean.
    pub fn corrected_latency(&self) -> Option<LatencyFigures> {
        let (latency, corrected) = (self.latency?, self.corrected?);
        if corrected.packets != latency.samples {
            return None;
        }
        Some(latency.shifted_to(corrected.mean_ns))
    }
}

/// The figures that a person is shown: those of all packets, or else those of reports.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct ShownFigures {
    /// `None` if they are of all packets, or else the number of reported latencies.
    pub of_reports: Option<u64>,
    /// Packets that were sent.
    pub packets: u64,
    pub lost: u64,
    pub reordered: Option<u64>,
    /// Without the difference of the two clocks, if `corrected` has all packets.
    pub latency: Option<LatencyFigures>,
    /// The mean without that difference; `None` if the clocks were unknown.
    pub corrected: Option<CorrectedMean>,
    /// Bounds the error of quantiles of all packets; `None` for figures of reports.
    pub resolution: Option<LatencyResolution>,
}

impl Figures {
    pub fn shown(&self) -> ShownFigures {
        match &self.measured {
            Some(measured) => ShownFigures {
                of_reports: None,
                packets: measured
                    .packets
                    .saturating_sub(measured.duplicates)
                    .saturating_add(measured.lost),
                lost: measured.lost,
                reordered: Some(measured.reordered),
                latency: measured.corrected_latency().or(measured.latency),
                corrected: measured.corrected,
                resolution: LatencyResolution::from_steps(measured.steps),
            },
            None => ShownFigures {
                of_reports: Some(self.latency.map_or(0, |latency| latency.samples)),
                packets: self.packets,
                lost: self.lost,
                reordered: self.reordered,
                latency: self.latency,
                corrected: None,
                resolution: None,
            },
        }
    }
}

impl ShownFigures {
    /// True if the latencies have no difference of clocks in them.
    pub fn is_corrected(&self) -> bool {
        let samples = self.latency.map(|latency| latency.samples);
        self.corrected.map(|corrected| corrected.packets) == samples
    }

    /// The latencies, if they are enough for quantiles.
    pub fn quantiles(&self) -> Option<LatencyFigures> {
        let enough = self
            .of_reports
            .is_none_or(|reports| reports >= LEAST_SAMPLES);
        self.latency.filter(|_| enough)
    }
}

/// Latency figures. Quantiles are upper bounds of their histogram slots; `None` if they are among negative latencies
/// that share one slot.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize)]
pub struct LatencyFigures {
    pub samples: u64,
    pub min_ns: i64,
    pub mean_ns: i64,
    pub p50_ns: Option<i64>,
    pub p90_ns: Option<i64>,
    pub p99_ns: Option<i64>,
    pub max_ns: i64,
    /// p99 - p50
    pub jitter_ns: Option<i64>,
}

impl LatencyFigures {
    /// The same latencies if their mean were this one: without the difference of two clocks.
    pub fn shifted_to(self, mean_ns: i64) -> Self {
        let ahead_ns = self.mean_ns.saturating_sub(mean_ns);
        // No packet takes a negative time.
        let shifted = |ns: i64| ns.saturating_sub(ahead_ns).max(0);
        Self {
            samples: self.samples,
            min_ns: shifted(self.min_ns),
            mean_ns,
            p50_ns: self.p50_ns.map(shifted),
            p90_ns: self.p90_ns.map(shifted),
            p99_ns: self.p99_ns.map(shifted),
            max_ns: shifted(self.max_ns),
            jitter_ns: self.jitter_ns,
        }
    }
}

/// Figures for packets from one INT source to one INT sink.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PairFigures {
    pub source: NodeId,
    pub sink: NodeId,
    pub flows: u64,
    /// The time of the last report in the span, or the end of its period if only figures are left of it.
    pub last_ns: Option<u64>,
    /// The loss by the hosts that dropped the packets, if any host tells drops.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub loss_split: Option<LossSplit>,
    #[serde(flatten)]
    pub figures: Figures,
}

/// Figures for one flow.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FlowFigures {
    /// The flow's number in this store.
    pub id: i64,
    pub flow: FlowKey,
    pub source: Option<NodeId>,
    pub sink: Option<NodeId>,
    pub class: Option<String>,
    pub first_ns: u64,
    pub last_ns: u64,
    /// As of a pair; of one flow alone that is asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub loss_split: Option<LossSplit>,
    #[serde(flatten)]
    pub figures: Figures,
}

/// Figures for one class of traffic.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ClassFigures {
    pub class: String,
    #[serde(flatten)]
    pub figures: Figures,
}

/// The figure that flows are sorted by, largest first.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq, ValueEnum)]
pub enum FlowOrder {
    /// most lost packets first
    #[default]
    Loss,
    /// highest p99 latency first
    Latency,
    /// largest p99 - p50 first
    Jitter,
    /// most packets first
    Packets,
}

/// A query for flows.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct FlowQuery {
    pub source: Option<NodeId>,
    pub sink: Option<NodeId>,
    pub class: Option<String>,
    /// Words that must all appear in the flow's text, its class, or the names of its nodes.
    pub search: Option<String>,
    pub order: FlowOrder,
    pub limit: usize,
}

/// The reports that a query is about.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Subject {
    All,
    Pair { source: NodeId, sink: NodeId },
    Flow(i64),
    Class(String),
}

/// Figures over time, oldest first; periods without reports are left out.
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

/// A query for single reports, newest first.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct ReportQuery {
    pub subject: Subject,
    pub limit: usize,
}

/// Why a query failed.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct HistoryError(pub String);

/// A store that can be queried.
pub trait History: Send {
    fn extent(&mut self) -> Result<Extent, HistoryError>;
    /// All pairs that have reports in the span.
    fn pairs(&mut self, span: Span) -> Result<Vec<PairFigures>, HistoryError>;
    /// One pair; `None` if it has no reports in the span.
    fn pair(
        &mut self,
        source: NodeId,
        sink: NodeId,
        span: Span,
    ) -> Result<Option<PairFigures>, HistoryError>;
    fn flows(&mut self, query: &FlowQuery, span: Span) -> Result<Vec<FlowFigures>, HistoryError>;
    /// One flow, by its number; `None` if the store does not know it.
    fn flow(&mut self, id: i64, span: Span) -> Result<Option<FlowFigures>, HistoryError>;
    /// All classes that have reports in the span.
    fn classes(&mut self, span: Span) -> Result<Vec<ClassFigures>, HistoryError>;
    /// The coverage of each pair and class, most missed packets first. A store without any knows none.
    fn coverage(&mut self, _span: Span) -> Result<Vec<CoverageRow>, HistoryError> {
        Ok(Vec::new())
    }
    /// A series of at most about `points` points, if there are roll-ups of that resolution.
    fn series(
        &mut self,
        subject: &Subject,
        span: Span,
        points: usize,
    ) -> Result<Series, HistoryError>;
    fn reports(&mut self, query: &ReportQuery, span: Span) -> Result<Vec<Record>, HistoryError>;
    /// The paths of a pair or a flow over transit hops, those with most reports first.
    fn paths(&mut self, _query: PathQuery, _span: Span) -> Result<Vec<PathFigures>, HistoryError> {
        Ok(Vec::new())
    }
    /// Where the packets of a pair or a flow were lost; `None` if no host tells, or nothing was lost.
    fn loss(&mut self, _query: PathQuery, _span: Span) -> Result<Option<LossByHost>, HistoryError> {
        Ok(None)
    }

    /// The segments of all paths, largest first.
    fn segments(
        &mut self,
        _order: SegmentOrder,
        _span: Span,
        _limit: usize,
    ) -> Result<Vec<SegmentFigures>, HistoryError> {
        Ok(Vec::new())
    }

    /// What hosts dropped, most packets first. A store without drops knows none.
    fn drops(&mut self, _query: &DropQuery, _span: Span) -> Result<Vec<DropFigures>, HistoryError> {
        Ok(Vec::new())
    }

    /// Dropped packets over time, by reason.
    fn drop_series(&mut self, _span: Span, _points: usize) -> Result<DropSeries, HistoryError> {
        Ok(DropSeries::default())
    }

    /// The flows that hosts forwarded, with their times. A store without any knows none.
    fn hops(&mut self, _query: &HopQuery, _span: Span) -> Result<Vec<ForwardedFlow>, HistoryError> {
        Ok(Vec::new())
    }
    /// The times of all packets between interfaces of hosts, most packets first; none of a flow.
    fn passages(&mut self, _: &HopQuery, _: Span) -> Result<Vec<PassageFigures>, HistoryError> {
        Ok(Vec::new())
    }

    /// Episodes of hosts' queues. A store without any knows none.
    fn queues(
        &mut self,
        _query: &EpisodeQuery,
        _span: Span,
    ) -> Result<Vec<ToldEpisode>, HistoryError> {
        Ok(Vec::new())
    }

    /// Single TCP connections. A store without any knows none.
    fn connections(
        &mut self,
        _query: &ConnectionQuery,
        _span: Span,
    ) -> Result<Vec<ConnectionFigures>, HistoryError> {
        Ok(Vec::new())
    }

    /// The sums over TCP connections.
    fn tcp_sums(
        &mut self,
        _by: TcpGrouping,
        _node: Option<NodeId>,
        _span: Span,
    ) -> Result<Vec<TcpSums>, HistoryError> {
        Ok(Vec::new())
    }

    /// Which hops are the worst of TCP connections.
    fn tcp_hops(&mut self, _node: Option<NodeId>, _span: Span) -> Result<TcpHops, HistoryError> {
        Ok(TcpHops::default())
    }

    /// For how long each thing limited TCP connections, over time.
    fn limit_series(
        &mut self,
        _node: Option<NodeId>,
        _span: Span,
        _points: usize,
    ) -> Result<LimitSeries, HistoryError> {
        Ok(LimitSeries::default())
    }

    /// The states over time of the TCP connections whose segments are a flow.
    fn connection_series(
        &mut self,
        _flow: i64,
        _span: Span,
        _points: usize,
    ) -> Result<ConnectionSeries, HistoryError> {
        Ok(ConnectionSeries::default())
    }
}
