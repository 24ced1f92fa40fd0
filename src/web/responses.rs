//! Responses of the API as JSON; times and durations are integers of nanoseconds.

use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};

use axum::body::{Body, Bytes};
use axum::http::{HeaderName, StatusCode, header};
use axum::response::{IntoResponse, Response};
use futures_core::Stream;
use serde::Serialize;
use tokio::sync::OwnedSemaphorePermit;

use super::compression::{HttpBody, VARIES};
use super::form::AnswerForm;
use super::groups::HostGroups;
use super::history_response::{json, of_span};
use super::{pairs, series};
use crate::model::{
    Answer, DropFigures, DropSeries, FlowFigures, HistoryError, HistoryReply, LossByHost,
    PairUsuals, PathFigures, Span,
};

/// Bytes that are handed to the connection at once.
const CHUNK: usize = 64 << 10;

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

/// The answer of the API: that of `hostint history --json`, but for those whose form is another one here.
pub(super) fn answer(
    span: Option<Span>,
    answer: Option<Answer>,
    usual: &PairUsuals,
    (form, groups): (AnswerForm, Option<&HostGroups>),
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
        Some(Answer::Series { series }) => series::answer(span, series, form),
        Some(Answer::Pairs {
            pairs,
            shown,
            limit,
        }) => pairs::answer(span, pairs, usual, (shown, limit, groups)),
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

/// What a command line of `hostint history` prints.
pub(super) fn reply(reply: &HistoryReply) -> Result<Vec<u8>, HistoryError> {
    of_span(None, reply)
}

/// A collector's counts, or a part of them, its clock, and its addresses for reports.
pub(super) fn status(
    now_ns: u64,
    collects_on: &[String],
    keeps_history: bool,
    status: impl Serialize,
) -> Result<Vec<u8>, HistoryError> {
    #[derive(Serialize)]
    struct Status<'a, T> {
        now_ns: u64,
        collects_on: &'a [String],
        keeps_history: bool,
        #[serde(flatten)]
        status: T,
    }
    json(&Status {
        now_ns,
        collects_on,
        keeps_history,
        status,
    })
}
