//! The parameters of a query string, checked.

use std::collections::BTreeMap;
use std::str::FromStr;

use axum::extract::Query;
use axum::http::{StatusCode, Uri};

use super::responses::HttpRefusal;
use crate::model::{
    ConnectionOrder, ConnectionQuery, DropGrouping, DropQuery, EpisodeOrder, EpisodeQuery,
    FlowOrder, FlowQuery, HopOrder, HopQuery, Limit, NodeId, PathQuery, ReportQuery, SegmentOrder,
    Span, Subject, TcpGrouping,
};

/// Greatest number of characters in a text parameter.
const LONGEST_TEXT: usize = 200;

const MOST_ROWS: usize = 1000;
const MOST_POINTS: usize = 2000;
const HOUR_NS: u64 = 3_600_000_000_000;

/// Parameters that have not been taken yet.
pub(super) struct Parameters(BTreeMap<String, String>);

type Parameter<T> = Result<T, HttpRefusal>;

impl Parameters {
    pub(super) fn of(uri: &Uri) -> Parameter<Self> {
        let Query(given) = Query::<Vec<(String, String)>>::try_from_uri(uri)
            .map_err(|_| bad("the parameters are not of the form name=value&name=value"))?;
        let mut parameters = BTreeMap::new();
        for (name, value) in given {
            if value.chars().count() > LONGEST_TEXT {
                return Err(bad(&format!(
                    "{name} is longer than {LONGEST_TEXT} characters"
                )));
            }
            if parameters.insert(name.clone(), value).is_some() {
                return Err(bad(&format!("{name} is given twice")));
            }
        }
        Ok(Self(parameters))
    }

    fn text(&mut self, name: &str) -> Option<String> {
        self.0.remove(name).filter(|text| !text.is_empty())
    }

    fn number<T: FromStr>(&mut self, name: &str, what: &str) -> Parameter<Option<T>> {
        let Some(text) = self.text(name) else {
            return Ok(None);
        };
        let number = text.parse();
        number
            .map(Some)
            .map_err(|_| bad(&format!("{name} is {text:?}, expected {what}")))
    }

    fn at_most(&mut self, name: &str, default: usize, most: usize) -> Parameter<usize> {
        let expected = format!("a whole number from 1 to {most}");
        let number = self.number(name, &expected)?.unwrap_or(default);
        if !(1..=most).contains(&number) {
            return Err(bad(&format!("{name} is {number}, expected {expected}")));
        }
        Ok(number)
    }

    /// The given span, or the last hour.
    pub(super) fn span(&mut self, now_ns: u64) -> Parameter<Span> {
        let what = "ns since the Unix epoch, a whole number";
        let until_ns = self.number("until", what)?.unwrap_or(now_ns);
        let since_ns = self.number("since", what)?;
        let since_ns = since_ns.unwrap_or_else(|| until_ns.saturating_sub(HOUR_NS));
        // Stores keep times in signed 64-bit integers.
        if since_ns >= until_ns || i64::try_from(until_ns).is_err() {
            return Err(bad(&format!(
                "the time from since={since_ns} to until={until_ns} is empty or out of range"
            )));
        }
        Ok(Span { since_ns, until_ns })
    }

    fn node(&mut self, name: &str) -> Parameter<Option<NodeId>> {
        self.number(name, "a node ID, 0 to 4294967295")
    }

    /// Both ends of a pair, or neither.
    fn pair(&mut self) -> Parameter<Option<(NodeId, NodeId)>> {
        match (self.node("source")?, self.node("sink")?) {
            (Some(source), Some(sink)) => Ok(Some((source, sink))),
            (None, None) => Ok(None),
            (Some(_), None) => Err(bad("source needs sink too")),
            (None, Some(_)) => Err(bad("sink needs source too")),
        }
    }

    pub(super) fn ends(&mut self) -> Parameter<(Option<NodeId>, Option<NodeId>)> {
        Ok((self.node("source")?, self.node("sink")?))
    }

    fn subject(&mut self) -> Parameter<Subject> {
        let flow = self.flow()?;
        match (self.pair()?, flow, self.text("class")) {
            (None, None, None) => Ok(Subject::All),
            (Some((source, sink)), None, None) => Ok(Subject::Pair { source, sink }),
            (None, Some(id), None) => Ok(Subject::Flow(id)),
            (None, None, Some(class)) => Ok(Subject::Class(class)),
            _ => Err(bad("flow, class and source with sink exclude each other")),
        }
    }

    pub(super) fn series(&mut self) -> Parameter<(Subject, usize)> {
        Ok((self.subject()?, self.at_most("points", 300, MOST_POINTS)?))
    }

    pub(super) fn reports(&mut self) -> Parameter<ReportQuery> {
        Ok(ReportQuery {
            subject: self.subject()?,
            limit: self.at_most("limit", 100, MOST_ROWS)?,
        })
    }

    pub(super) fn drops(&mut self) -> Parameter<(DropQuery, usize)> {
        let by = match self.text("by").as_deref() {
            None | Some("reason") => DropGrouping::Reason,
            Some("place") => DropGrouping::Place,
            Some("node") => DropGrouping::Node,
            Some("flow") => DropGrouping::Flow,
            Some("pod") => DropGrouping::Pod,
            Some(other) => {
                return Err(bad(&format!(
                    "by is {other:?}, expected reason, place, node, flow or pod"
                )));
            }
        };
        let query = DropQuery {
            by,
            node: self.node("node")?,
            limit: self.at_most("limit", 100, MOST_ROWS)?,
        };
        Ok((query, self.at_most("points", 120, MOST_POINTS)?))
    }

    pub(super) fn hops(&mut self) -> Parameter<HopQuery> {
        let order = match self.text("order").as_deref() {
            None | Some("mean") => HopOrder::Mean,
            Some("max") => HopOrder::Max,
            Some("packets") => HopOrder::Packets,
            Some("newest") => HopOrder::Newest,
            Some(other) => {
                return Err(bad(&format!(
                    "order is {other:?}, expected mean, max, packets or newest"
                )));
            }
        };
        Ok(HopQuery {
            node: self.node("node")?,
            flow: self.flow()?,
            order,
            limit: self.at_most("limit", 100, MOST_ROWS)?,
        })
    }

    pub(super) fn queues(&mut self) -> Parameter<EpisodeQuery> {
        let order = match self.text("order").as_deref() {
            None | Some("newest") => EpisodeOrder::Newest,
            Some("length") => EpisodeOrder::Length,
            Some("wait") => EpisodeOrder::Wait,
            Some("bytes") => EpisodeOrder::Bytes,
            Some("packets") => EpisodeOrder::Packets,
            Some(other) => {
                return Err(bad(&format!(
                    "order is {other:?}, expected newest, length, wait, bytes or packets"
                )));
            }
        };
        Ok(EpisodeQuery {
            node: self.node("node")?,
            order,
            limit: self.at_most("limit", 100, MOST_ROWS)?,
        })
    }

    pub(super) fn tcp(&mut self) -> Parameter<(ConnectionQuery, TcpGrouping, usize)> {
        let by = match self.text("by").as_deref() {
            None | Some("limit") => TcpGrouping::Limit,
            Some("pair") => TcpGrouping::Pair,
            Some(other) => return Err(bad(&format!("by is {other:?}, expected limit or pair"))),
        };
        let order = match self.text("order").as_deref() {
            None | Some("retransmitted") => ConnectionOrder::Retransmitted,
            Some("bytes") => ConnectionOrder::Bytes,
            Some("rtt") => ConnectionOrder::Rtt,
            Some("newest") => ConnectionOrder::Newest,
            Some(other) => {
                return Err(bad(&format!(
                    "order is {other:?}, expected retransmitted, bytes, rtt or newest"
                )));
            }
        };
        let query = ConnectionQuery {
            node: self.node("node")?,
            limited: self.limited()?,
            flow: self.flow()?,
            order,
            limit: self.at_most("limit", 100, MOST_ROWS)?,
        };
        Ok((query, by, self.at_most("points", 120, MOST_POINTS)?))
    }

    fn limited(&mut self) -> Parameter<Option<Limit>> {
        let Some(asked) = self.text("limited") else {
            return Ok(None);
        };
        let named = Limit::ALL.into_iter().find(|limit| limit.name() == asked);
        let names = Limit::ALL.map(Limit::name).join(", ");
        named
            .map(Some)
            .ok_or_else(|| bad(&format!("limited is {asked:?}, expected one of {names}")))
    }

    /// The flow, for a request about one flow alone.
    pub(super) fn flow(&mut self) -> Parameter<Option<i64>> {
        self.number("flow", "a flow's id")
    }

    pub(super) fn flows(&mut self) -> Parameter<FlowQuery> {
        let (source, sink) = self.ends()?;
        let order = match self.text("order").as_deref() {
            None | Some("loss") => FlowOrder::Loss,
            Some("latency") => FlowOrder::Latency,
            Some("jitter") => FlowOrder::Jitter,
            Some("packets") => FlowOrder::Packets,
            Some(other) => {
                return Err(bad(&format!(
                    "order is {other:?}, expected loss, latency, jitter or packets"
                )));
            }
        };
        Ok(FlowQuery {
            source,
            sink,
            class: self.text("class"),
            search: self.text("search"),
            order,
            limit: self.at_most("limit", 100, MOST_ROWS)?,
        })
    }

    /// The pair or the flow whose paths are asked for.
    pub(super) fn paths(&mut self) -> Parameter<PathQuery> {
        match (self.pair()?, self.flow()?) {
            (Some((source, sink)), None) => Ok(PathQuery::Pair { source, sink }),
            (None, Some(id)) => Ok(PathQuery::Flow(id)),
            _ => Err(bad("expected source and sink, or flow")),
        }
    }

    /// The hash of one path.
    pub(super) fn hash(&mut self) -> Parameter<String> {
        self.text("hash").ok_or_else(|| {
            bad("hash is missing, expected a path's hash, as /api/paths gives it in path_hash")
        })
    }

    pub(super) fn segments(&mut self) -> Parameter<(SegmentOrder, usize)> {
        let order = match self.text("sort").as_deref() {
            None | Some("p99") => SegmentOrder::P99,
            Some("share") => SegmentOrder::Share,
            Some("lost") => SegmentOrder::Lost,
            Some(other) => {
                return Err(bad(&format!(
                    "sort is {other:?}, expected p99, share or lost"
                )));
            }
        };
        Ok((order, self.at_most("limit", 100, MOST_ROWS)?))
    }

    /// Refuses parameters that nothing has taken.
    pub(super) fn end(self) -> Parameter<()> {
        match self.0.into_keys().next() {
            Some(name) => Err(bad(&format!("{name:?} is not a parameter of this path"))),
            None => Ok(()),
        }
    }
}

fn bad(text: &str) -> HttpRefusal {
    HttpRefusal::new(StatusCode::BAD_REQUEST, text)
}
