//! What answers questions: the history that a collector keeps.

use crate::model::coverage::CoverageRow;
use crate::model::{
    ClassFigures, ConnectionFigures, ConnectionQuery, ConnectionSeries, DropFigures, DropQuery,
    DropSeries, EpisodeQuery, Extent, FlowFigures, FlowQuery, ForwardedFlow, HostSeen, LimitSeries,
    LossByHost, NetworkEvent, NetworkVerdict, NodeId, PairFigures, PassageFigures, PassageQuery,
    PastVerdict, PathFigures, PathQuery, PodsOf, Record, ReportQuery, ReportedEpisode,
    SegmentFigures, SegmentOrder, Series, Span, Subject, TcpGrouping, TcpHops, TcpSums,
};

/// Why a query failed.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct HistoryError(pub String);

/// A store that can be queried.
pub trait History: Send {
    fn extent(&mut self) -> Result<Extent, HistoryError>;
    /// The hosts that were seen in the last 30 days. A store without any knows none.
    fn hosts(&mut self) -> Result<Vec<HostSeen>, HistoryError> {
        Ok(Vec::new())
    }
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
    /// The same by the names of the pods at both ends; a history that knows no pods has none.
    fn classes_by(&mut self, _by: PodsOf, _span: Span) -> Result<Vec<ClassFigures>, HistoryError> {
        Ok(Vec::new())
    }
    /// The coverage of each pair and class, most missed packets first. A store without any knows none.
    fn coverage(&mut self, _span: Span) -> Result<Vec<CoverageRow>, HistoryError> {
        Ok(Vec::new())
    }
    /// The last verdict of the span. A store without any knows none.
    fn verdict(&mut self, _span: Span) -> Result<Option<NetworkVerdict>, HistoryError> {
        Ok(None)
    }
    /// The events of the span, and the silences that last into it, oldest first. A store without any knows none.
    fn events(&mut self, _span: Span) -> Result<Vec<NetworkEvent>, HistoryError> {
        Ok(Vec::new())
    }
    /// All verdicts of the span, oldest first.
    fn past_verdicts(&mut self, _span: Span) -> Result<Vec<PastVerdict>, HistoryError> {
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
    /// Where the packets of a pair or a flow were lost; `None` if no host reports, or nothing was lost.
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
    fn hops(
        &mut self,
        _query: &PassageQuery,
        _span: Span,
    ) -> Result<Vec<ForwardedFlow>, HistoryError> {
        Ok(Vec::new())
    }
    /// The times of all packets between interfaces of hosts, most packets first; none of a flow.
    fn passages(&mut self, _: &PassageQuery, _: Span) -> Result<Vec<PassageFigures>, HistoryError> {
        Ok(Vec::new())
    }

    /// Episodes of hosts' queues. A store without any knows none.
    fn queues(
        &mut self,
        _query: &EpisodeQuery,
        _span: Span,
    ) -> Result<Vec<ReportedEpisode>, HistoryError> {
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
