//! Responses of the API as JSON; times and durations are integers of nanoseconds.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};

use axum::body::{Body, Bytes};
use axum::http::{HeaderName, StatusCode, header};
use axum::response::{IntoResponse, Response};
use futures_core::Stream;
use serde::{Serialize, Serializer};
use tokio::sync::OwnedSemaphorePermit;

use super::compression::{HttpBody, VARIES};
use crate::model::{
    Answer, BesideUsual, CollectStatus, DropFigures, DropSeries, FlowFigures, HistoryError,
    HistoryReply, LatencyFigures, LossByHost, LossSplit, NodeId, PairFigures, PairUsuals,
    PathFigures, Span,
};

/// The schema of the page's API. `hostint history` has its own.
const SCHEMA: &str = "hostint.api/1";

/// Bytes that are handed to the connection at once.
const CHUNK: usize = 64 << 10;

/// More is unusual for the page where it is not known what is usual.
const UNUSUAL_LOSS: f64 = 0.001;

/// Most pairs in one response.
const MOST_PAIRS: usize = 65_536;

/// A response that says why a request was refused or failed.
#[derive(Debug)]
pub(super) struct HttpRefusal {
    code: StatusCode,
    error: String,
}

impl HttpRefusal {
    pub(super) fn new(code: StatusCode, error: &str) -> Self {
        Self {
            code,
            error: error.to_owned(),
        }
    }
}

impl IntoResponse for HttpRefusal {
    fn into_response(self) -> Response {
        #[derive(Serialize)]
        struct ErrorBody {
            error: String,
        }
        let body = ErrorBody { error: self.error };
        let body = HttpBody::plain(json(&body).unwrap_or_default());
        (self.code, Json(body)).into_response()
    }
}

/// Bytes that are JSON.
pub(super) struct Json(pub(super) HttpBody);

const JSON: [(HeaderName, &str); 1] = [(header::CONTENT_TYPE, "application/json")];

impl IntoResponse for Json {
    fn into_response(self) -> Response {
        let Self(body) = self;
        (JSON, [VARIES], body.header(), body.bytes).into_response()
    }
}

/// JSON that occupies one of the places for responses until it is sent.
pub(super) struct PlacedJson {
    pub(super) json: HttpBody,
    pub(super) place: OwnedSemaphorePermit,
}

impl IntoResponse for PlacedJson {
    fn into_response(self) -> Response {
        let Self { json, place } = self;
        let length = [(header::CONTENT_LENGTH, json.bytes.len())];
        let encoding = json.header();
        let sending = BodyStream {
            rest: json.bytes.into(),
            _place: place,
        };
        let body = Body::from_stream(sending);
        (JSON, [VARIES], encoding, length, body).into_response()
    }
}

/// The rest of a body that is being sent.
struct BodyStream {
    rest: Bytes,
    _place: OwnedSemaphorePermit,
}

impl Stream for BodyStream {
    type Item = Result<Bytes, Infallible>;

    fn poll_next(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let next = self.rest.len().min(CHUNK);
        Poll::Ready((next > 0).then(|| Ok(self.rest.split_to(next))))
    }
}

/// The common form of responses about the history.
#[derive(Serialize)]
struct HistoryResponse<T> {
    schema: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    span: Option<Span>,
    #[serde(flatten)]
    answer: T,
}

fn of_span<T: Serialize>(span: Option<Span>, answer: T) -> Result<Vec<u8>, HistoryError> {
    json(&HistoryResponse {
        schema: SCHEMA,
        span,
        answer,
    })
}

fn json(value: &impl Serialize) -> Result<Vec<u8>, HistoryError> {
    serde_json::to_vec(value).map_err(|err| HistoryError(err.to_string()))
}

/// The answer of the API: that of `hostint history --json`, but for those whose form is another one here.
pub(super) fn answer(
    span: Option<Span>,
    answer: Option<Answer>,
    usual: &PairUsuals,
) -> Result<Vec<u8>, HistoryError> {
    #[derive(Serialize)]
    struct PathsBody {
        paths: Vec<PathFigures>,
        loss: Option<LossByHost>,
    }
    #[derive(Serialize)]
    struct Drops {
        drops: Vec<DropFigures>,
        series: DropSeries,
    }
    match answer {
        Some(Answer::Extent { info }) => of_span(span, info),
        Some(Answer::Series { series }) => of_span(span, series),
        Some(Answer::Pairs { pairs, .. }) => self::pairs(span, pairs, usual),
        Some(Answer::Flows { flows }) => self::flows(span, flows),
        Some(Answer::Paths { paths, loss, .. }) => of_span(span, PathsBody { paths, loss }),
        Some(Answer::Drops {
            drops, drop_series, ..
        }) => {
            let series = drop_series;
            of_span(span, Drops { drops, series })
        }
        other => of_span(span, other),
    }
}

fn flows(span: Option<Span>, flows: Vec<FlowFigures>) -> Result<Vec<u8>, HistoryError> {
    #[derive(Serialize)]
    struct Named {
        name: String,
        #[serde(flatten)]
        flow: FlowFigures,
    }
    #[derive(Serialize)]
    struct FlowsBody {
        flows: Vec<Named>,
    }
    let named = |flow: FlowFigures| Named {
        name: flow.flow.to_string(),
        flow,
    };
    let flows = flows.into_iter().map(named).collect();
    of_span(span, FlowsBody { flows })
}

/// Values, or an empty array.
struct ValuesOrNone<const N: usize>(Option<[Option<i64>; N]>);

impl<const N: usize> Serialize for ValuesOrNone<N> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let values = self.0.as_ref().map_or(&[][..], |values| values);
        values.serialize(serializer)
    }
}

/// One pair as a row, because 200 nodes have 40,000 pairs.
#[derive(Serialize)]
#[serde(untagged)]
enum PairRow {
    Measured(
        NodeId,
        NodeId,
        [Option<u64>; 5],
        ValuesOrNone<5>,
        [u64; 7],
        Box<ValuesOrNone<7>>,
        #[serde(skip_serializing_if = "Option::is_none")] Option<[i64; 5]>,
    ),
    OfReports(
        NodeId,
        NodeId,
        [Option<u64>; 5],
        #[serde(skip_serializing_if = "Option::is_none")] Option<[Option<i64>; 5]>,
    ),
}

impl From<&PairFigures> for PairRow {
    fn from(pair: &PairFigures) -> Self {
        let figures = &pair.figures;
        let counts = [
            Some(pair.flows),
            Some(figures.reports),
            Some(figures.packets),
            Some(figures.lost),
            figures.reordered,
        ];
        let whole = |number: u64| i64::try_from(number).unwrap_or(i64::MAX);
        let samples = |of: &LatencyFigures| Some(whole(of.samples));
        let latency = figures.latency.map(|of| {
            let max_ns = Some(of.max_ns);
            [samples(&of), of.p50_ns, of.p90_ns, of.p99_ns, max_ns]
        });
        let Some(of) = figures.measured else {
            return Self::OfReports(pair.source, pair.sink, counts, latency);
        };
        let measured = [
            of.packets,
            of.bytes,
            of.lost,
            of.recovered,
            of.reordered,
            of.duplicates,
            of.steps.into(),
        ];
        let of_all = of.latency.map(|of| {
            [
                samples(&of),
                Some(of.min_ns),
                Some(of.mean_ns),
                of.p50_ns,
                of.p90_ns,
                of.p99_ns,
                Some(of.max_ns),
            ]
        });
        let corrected = of.corrected.map(|of| {
            let [low_ns, high_ns] = of.bound_ns;
            let packets = whole(of.packets);
            [packets, of.mean_ns, whole(of.error_ns), low_ns, high_ns]
        });
        Self::Measured(
            pair.source,
            pair.sink,
            counts,
            ValuesOrNone(latency),
            measured,
            Box::new(ValuesOrNone(of_all)),
            corrected,
        )
    }
}

/// The names of a pair's values in its row.
#[derive(Serialize)]
struct PairRowNames(
    &'static str,
    &'static str,
    [&'static str; 5],
    [&'static str; 5],
    [&'static str; 7],
    [&'static str; 7],
    [&'static str; 5],
);

const PAIR_ROW: PairRowNames = PairRowNames(
    "source",
    "sink",
    ["flows", "reports", "packets", "lost", "reordered"],
    ["samples", "p50_ns", "p90_ns", "p99_ns", "max_ns"],
    [
        "measured.packets",
        "measured.bytes",
        "measured.lost",
        "measured.recovered",
        "measured.reordered",
        "measured.duplicates",
        "measured.steps",
    ],
    [
        "measured.samples",
        "measured.min_ns",
        "measured.mean_ns",
        "measured.p50_ns",
        "measured.p90_ns",
        "measured.p99_ns",
        "measured.max_ns",
    ],
    [
        "corrected.packets",
        "corrected.mean_ns",
        "corrected.error_ns",
        "corrected.low_ns",
        "corrected.high_ns",
    ],
);

/// Of too many pairs, those with the most reports are kept.
fn pairs(
    span: Option<Span>,
    mut pairs: Vec<PairFigures>,
    usual: &PairUsuals,
) -> Result<Vec<u8>, HistoryError> {
    #[derive(Serialize)]
    struct Pairs {
        total: usize,
        row: PairRowNames,
        pairs: Vec<PairRow>,
        /// The time of the last report of each pair, in the same order.
        last_ns: Vec<Option<u64>>,
        /// The loss of pairs by the hosts that dropped the packets, by "source>sink"; of those that have it.
        #[serde(skip_serializing_if = "BTreeMap::is_empty")]
        loss_splits: BTreeMap<String, LossSplit>,
        /// What is usual of pairs that exceed it, or would seem to.
        #[serde(skip_serializing_if = "BTreeMap::is_empty")]
        usual: BTreeMap<String, BesideUsual>,
    }
    let beside = |pair: &PairFigures| {
        let beside = usual
            .get(&(pair.source, pair.sink))?
            .compare(&pair.figures)?;
        let shown = pair.figures.shown();
        let seems = shown.lost as f64 > UNUSUAL_LOSS * shown.packets as f64;
        (beside.more_lost || beside.slower || seems).then_some(beside)
    };
    let key = |pair: &PairFigures| format!("{}>{}", pair.source, pair.sink);
    let total = pairs.len();
    if total > MOST_PAIRS {
        pairs.sort_unstable_by_key(|pair| std::cmp::Reverse(pair.figures.reports));
        pairs.truncate(MOST_PAIRS);
    }
    let pairs = Pairs {
        total,
        row: PAIR_ROW,
        pairs: pairs.iter().map(PairRow::from).collect(),
        last_ns: pairs.iter().map(|pair| pair.last_ns).collect(),
        loss_splits: pairs
            .iter()
            .filter_map(|pair| Some((key(pair), pair.loss_split?)))
            .collect(),
        usual: pairs
            .iter()
            .filter_map(|pair| Some((key(pair), beside(pair)?)))
            .collect(),
    };
    of_span(span, pairs)
}

/// What a command line of `hostint history` prints.
pub(super) fn reply(reply: &HistoryReply) -> Result<Vec<u8>, HistoryError> {
    of_span(None, reply)
}

/// A collector's counts, its clock, and its addresses for reports.
pub(super) fn status(
    now_ns: u64,
    collects_on: &[String],
    keeps_history: bool,
    status: &CollectStatus,
) -> Result<Vec<u8>, HistoryError> {
    #[derive(Serialize)]
    struct Status<'a> {
        now_ns: u64,
        collects_on: &'a [String],
        keeps_history: bool,
        #[serde(flatten)]
        status: &'a CollectStatus,
    }
    json(&Status {
        now_ns,
        collects_on,
        keeps_history,
        status,
    })
}
