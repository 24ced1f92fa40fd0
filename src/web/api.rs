//! Paths under /api, and the page that asks them.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use axum::Router;
use axum::extract::State;
use axum::http::{StatusCode, Uri};
use axum::routing::get;
use tokio::sync::Semaphore;

use super::answers::{self, Json, Placed, Refusal};
use super::ask::Histories;
use super::parameters::Parameters;
use super::{assets, guard, live};
use crate::model::{CollectStatus, History};

/// So long a status is good for who asks next.
const FRESH: Duration = Duration::from_millis(500);

/// What the page shows.
pub struct Page {
    /// Each answers one question at a time; none if nothing is kept.
    pub histories: Vec<Box<dyn History>>,
    pub status: Box<dyn Fn() -> CollectStatus + Send + Sync>,
    /// ns since the Unix epoch
    pub now_ns: fn() -> u64,
    /// Where it is served: on an address of this host alone, it is for this host alone.
    pub bound: SocketAddr,
    /// Where reports are received, for who has none yet.
    pub collects_on: Vec<SocketAddr>,
}

/// What all answers are made from.
pub(super) struct Api {
    histories: Histories,
    ask_status: Box<dyn Fn() -> CollectStatus + Send + Sync>,
    last_status: Mutex<Option<(Instant, Arc<CollectStatus>)>>,
    now_ns: fn() -> u64,
    collects_on: Vec<String>,
    pub(super) live: Arc<Semaphore>,
}

impl Api {
    /// Counts of now, or of a moment ago: many may ask.
    pub(super) fn status(&self) -> Arc<CollectStatus> {
        let mut last = self
            .last_status
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        match last.as_ref() {
            Some((at, status)) if at.elapsed() < FRESH => Arc::clone(status),
            _ => {
                let status = Arc::new((self.ask_status)());
                *last = Some((Instant::now(), Arc::clone(&status)));
                status
            }
        }
    }
}

/// Routes of the page and of what it asks.
pub fn page(page: Page) -> Router {
    let bound = page.bound;
    let api = Arc::new(Api {
        histories: Histories::new(page.histories),
        ask_status: page.status,
        last_status: Mutex::new(None),
        now_ns: page.now_ns,
        collects_on: page.collects_on.iter().map(ToString::to_string).collect(),
        live: live::places(),
    });
    let routes = Router::new()
        .route("/api/status", get(status))
        .route("/api/extent", get(extent))
        .route("/api/pairs", get(pairs))
        .route("/api/flows", get(flows))
        .route("/api/series", get(series))
        .route("/api/reports", get(reports))
        .route("/api/live", get(live::live))
        .with_state(api)
        .merge(assets::routes());
    guard::around(routes, bound)
}

type Answer = Result<Placed, Refusal>;

async fn status(State(api): State<Arc<Api>>, uri: Uri) -> Result<Json, Refusal> {
    Parameters::of(&uri)?.end()?;
    let kept = api.histories.are_kept();
    let status = answers::status((api.now_ns)(), &api.collects_on, kept, &api.status());
    let internal = StatusCode::INTERNAL_SERVER_ERROR;
    status
        .map(Json)
        .map_err(|err| Refusal::new(internal, &err.to_string()))
}

async fn extent(State(api): State<Arc<Api>>, uri: Uri) -> Answer {
    Parameters::of(&uri)?.end()?;
    let answer = api
        .histories
        .ask(|history| answers::extent(history.extent()?));
    answer.await
}

async fn pairs(State(api): State<Arc<Api>>, uri: Uri) -> Answer {
    let mut asked = Parameters::of(&uri)?;
    let span = asked.span((api.now_ns)())?;
    let (source, sink) = asked.ends()?;
    asked.end()?;
    let answer = api.histories.ask(move |history| {
        let pairs = match (source, sink) {
            (Some(source), Some(sink)) => {
                let pair = history.pair(source, sink, span)?;
                pair.into_iter().collect()
            }
            _ => {
                let mut pairs = history.pairs(span)?;
                pairs.retain(|pair| {
                    source.is_none_or(|source| source == pair.source)
                        && sink.is_none_or(|sink| sink == pair.sink)
                });
                pairs
            }
        };
        answers::pairs(span, pairs)
    });
    answer.await
}

async fn flows(State(api): State<Arc<Api>>, uri: Uri) -> Answer {
    let mut asked = Parameters::of(&uri)?;
    let span = asked.span((api.now_ns)())?;
    let (flow, query) = (asked.flow()?, asked.flows()?);
    asked.end()?;
    let answer = api.histories.ask(move |history| {
        let flows = match flow {
            Some(id) => history.flow(id, span)?.into_iter().collect(),
            None => history.flows(&query, span)?,
        };
        answers::flows(span, flows)
    });
    answer.await
}

async fn series(State(api): State<Arc<Api>>, uri: Uri) -> Answer {
    let mut asked = Parameters::of(&uri)?;
    let span = asked.span((api.now_ns)())?;
    let (subject, points) = asked.series()?;
    asked.end()?;
    let answer = api
        .histories
        .ask(move |history| answers::series(span, history.series(&subject, span, points)?));
    answer.await
}

async fn reports(State(api): State<Arc<Api>>, uri: Uri) -> Answer {
    let mut asked = Parameters::of(&uri)?;
    let span = asked.span((api.now_ns)())?;
    let query = asked.reports()?;
    asked.end()?;
    let answer = api
        .histories
        .ask(move |history| answers::reports(span, history.reports(&query, span)?));
    answer.await
}
