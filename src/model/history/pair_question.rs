//! Why a pair is as it is: its figures, those of the way back and of the day before, and which others share them.

use serde::Serialize;

use crate::model::{
    AnswerTimes, FlowFigures, FlowQuery, History, HistoryError, LossByHost, NetworkVerdict, NodeId,
    PairFigures, PathQuery, SegmentOrder, Span,
};

/// The time before a span that its figures are compared with: a day.
const BEFORE_NS: u64 = 86_400_000_000_000;

/// Others of which more than this share of the pair's own is lost share its loss.
const SHARE: f64 = 0.5;

/// How many others lose packets, too, of those that there are.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq, Serialize)]
pub struct OthersToo {
    pub lossy: u64,
    pub all: u64,
}

/// The most flows that are counted as alike.
const MOST_ALIKE: usize = 1000;

/// What is known of a pair in a span.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PairAnswer {
    pub source: NodeId,
    pub sink: NodeId,
    /// The flow that was asked for, with most loss of those that have its words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub flow: Option<Box<FlowFigures>>,
    /// The number of other flows that have its words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub others_alike: Option<usize>,
    /// `None`: no sink reported packets of it.
    pub there: Option<PairFigures>,
    pub back: Option<PairFigures>,
    /// The pair on the day before the span.
    pub before: Option<PairFigures>,
    /// Other sources of the sink, and other sinks of the source.
    pub other_sources: OthersToo,
    pub other_sinks: OthersToo,
    /// Where packets were lost.
    pub loss: Option<LossByHost>,
    /// Transit hops on the way with most packets, and the number of ways; `None`: none pushes its entry.
    pub hops: Option<Vec<NodeId>>,
    pub ways: usize,
    /// How long applications of the sink's host take to answer, if that sink reports the times of its host.
    pub answers: Option<AnswerTimes>,
    /// The last verdict of the span.
    pub verdict: Option<Box<NetworkVerdict>>,
}

fn share(pair: &PairFigures) -> f64 {
    let shown = pair.figures.shown();
    shown.lost as f64 / shown.packets.max(1) as f64
}

impl PairAnswer {
    /// Why a flow's pair is as it is; `None` if no flow between two known nodes has these words.
    ///
    /// # Errors
    /// If the history cannot be read.
    pub fn of_flow(
        words: &str,
        history: &mut dyn History,
        span: Span,
    ) -> Result<Option<Self>, HistoryError> {
        let query = FlowQuery {
            search: Some(words.to_owned()),
            limit: MOST_ALIKE,
            ..FlowQuery::default()
        };
        let mut flows = history.flows(&query, span)?.into_iter();
        let count = flows.len();
        let flow = flows.find_map(|flow| Some((flow.source?, flow.sink?, flow)));
        let Some((source, sink, flow)) = flow else {
            return Ok(None);
        };
        let mut answer = Self::ask((source, sink), history, span)?;
        // Where its packets were lost is known of one flow that is asked for.
        let flow = history.flow(flow.id, span)?.unwrap_or(flow);
        answer.flow = Some(Box::new(flow));
        answer.others_alike = Some(count - 1);
        Ok(Some(answer))
    }

    /// # Errors
    /// If the history cannot be read.
    pub fn ask(
        (source, sink): (NodeId, NodeId),
        history: &mut dyn History,
        span: Span,
    ) -> Result<Self, HistoryError> {
        let there = history.pair(source, sink, span)?;
        let before = Span {
            since_ns: span.since_ns.saturating_sub(BEFORE_NS),
            until_ns: span.since_ns,
        };
        let own = there.as_ref().map_or(0.0, share);
        let (mut other_sources, mut other_sinks) = (OthersToo::default(), OthersToo::default());
        for pair in history.pairs(span)? {
            let others = match (pair.source == source, pair.sink == sink) {
                (false, true) => &mut other_sources,
                (true, false) => &mut other_sinks,
                _ => continue,
            };
            others.all += 1;
            others.lossy += u64::from(own > 0.0 && share(&pair) > SHARE * own);
        }
        let of = PathQuery::Pair { source, sink };
        let segments = history.segments(SegmentOrder::default(), span, usize::MAX)?;
        let paths = history.paths(of, span)?;
        let hops = paths.first().map(|path| {
            let hops = path.path.hops.iter();
            hops.map(|hop| hop.node).collect()
        });
        Ok(Self {
            source,
            sink,
            flow: None,
            others_alike: None,
            back: history.pair(sink, source, span)?,
            before: history.pair(source, sink, before)?,
            other_sources,
            other_sinks,
            loss: history.loss(of, span)?,
            hops,
            ways: paths.len(),
            answers: AnswerTimes::of(sink, &segments),
            verdict: history.verdict(span)?.map(Box::new),
            there,
        })
    }
}
