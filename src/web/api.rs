//! The paths below /api, and the page that uses them.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use axum::Router;
use axum::extract::State;
use axum::http::{StatusCode, Uri};
use axum::routing::get;
use tokio::sync::Semaphore;

use super::parameters::Parameters;
use super::queries::Histories;
use super::responses::{self, HttpRefusal, Json, PlacedJson};
use super::tcp_responses;
use super::{assets, guard, news};
use crate::model::{CollectStatus, History};

/// A status younger than this is answered again, without asking the collector.
const FRESH: Duration = Duration::from_millis(500);

/// The sources of everything that the page shows.
pub struct PageSources {
    /// Each answers one query at a time; empty if the collector keeps no history.
    pub histories: Vec<Box<dyn History>>,
    pub status: Box<dyn Fn() -> CollectStatus + Send + Sync>,
    /// The time, in ns since the Unix epoch.
    pub now_ns: fn() -> u64,
    /// The address that the page is served on. If it is a loopback address, requests for other host names are refused.
    pub bound: SocketAddr,
    /// The addresses at which the collector receives reports, shown while there are none.
    pub collects_on: Vec<SocketAddr>,
}

/// The state from which all responses are made.
pub(super) struct Api {
    histories: Histories,
    ask_status: Box<dyn Fn() -> CollectStatus + Send + Sync>,
    last_status: Mutex<Option<(Instant, Arc<CollectStatus>)>>,
    now_ns: fn() -> u64,
    collects_on: Vec<String>,
    pub(super) live: Arc<Semaphore>,
}

impl Api {
    /// The counts of now or of a moment ago, because many pages may ask.
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

/// The routes of the page and of its API.
pub fn page(page: PageSources) -> Router {
    let bound = page.bound;
    let api = Arc::new(Api {
        histories: Histories::new(page.histories),
        ask_status: page.status,
        last_status: Mutex::new(None),
        now_ns: page.now_ns,
        collects_on: page.collects_on.iter().map(ToString::to_string).collect(),
        live: news::places(),
    });
    let routes = Router::new()
        .route("/api/status", get(status))
        .route("/api/extent", get(extent))
        .route("/api/pairs", get(pairs))
        .route("/api/flows", get(flows))
        .route("/api/series", get(series))
        .route("/api/reports", get(reports))
        .route("/api/paths", get(paths))
        .route("/api/path", get(path))
        .route("/api/segments", get(segments))
        .route("/api/drops", get(drops))
        .route("/api/hops", get(hops))
        .route("/api/queues", get(queues))
        .route("/api/tcp", get(tcp))
        .route("/api/live", get(news::live))
        .with_state(api)
        .merge(assets::routes());
    guard::around(routes, bound)
}

type ApiResult = Result<PlacedJson, HttpRefusal>;

async fn status(State(api): State<Arc<Api>>, uri: Uri) -> Result<Json, HttpRefusal> {
    Parameters::of(&uri)?.end()?;
    let kept = api.histories.are_kept();
    let status = responses::status((api.now_ns)(), &api.collects_on, kept, &api.status());
    let internal = StatusCode::INTERNAL_SERVER_ERROR;
    status
        .map(Json)
        .map_err(|err| HttpRefusal::new(internal, &err.to_string()))
}

async fn extent(State(api): State<Arc<Api>>, uri: Uri) -> ApiResult {
    Parameters::of(&uri)?.end()?;
    let answer = api
        .histories
        .ask(|history| responses::extent(history.extent()?));
    answer.await
}

async fn pairs(State(api): State<Arc<Api>>, uri: Uri) -> ApiResult {
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
        responses::pairs(span, pairs)
    });
    answer.await
}

async fn flows(State(api): State<Arc<Api>>, uri: Uri) -> ApiResult {
    let mut asked = Parameters::of(&uri)?;
    let span = asked.span((api.now_ns)())?;
    let (flow, query) = (asked.flow()?, asked.flows()?);
    asked.end()?;
    let answer = api.histories.ask(move |history| {
        let flows = match flow {
            Some(id) => history.flow(id, span)?.into_iter().collect(),
            None => history.flows(&query, span)?,
        };
        responses::flows(span, flows)
    });
    answer.await
}

async fn series(State(api): State<Arc<Api>>, uri: Uri) -> ApiResult {
    let mut asked = Parameters::of(&uri)?;
    let span = asked.span((api.now_ns)())?;
    let (subject, points) = asked.series()?;
    asked.end()?;
    let answer = api
        .histories
        .ask(move |history| responses::series(span, history.series(&subject, span, points)?));
    answer.await
}

async fn reports(State(api): State<Arc<Api>>, uri: Uri) -> ApiResult {
    let mut asked = Parameters::of(&uri)?;
    let span = asked.span((api.now_ns)())?;
    let query = asked.reports()?;
    asked.end()?;
    let answer = api
        .histories
        .ask(move |history| responses::reports(span, history.reports(&query, span)?));
    answer.await
}

/// The paths of a pair or a flow.
async fn paths(State(api): State<Arc<Api>>, uri: Uri) -> ApiResult {
    let mut asked = Parameters::of(&uri)?;
    let span = asked.span((api.now_ns)())?;
    let query = asked.paths()?;
    asked.end()?;
    let answer = api.histories.ask(move |history| {
        let paths = history.paths(query, span)?;
        responses::paths(span, &paths, history.loss(query, span)?)
    });
    answer.await
}

/// One path of a pair or a flow, by its hash.
async fn path(State(api): State<Arc<Api>>, uri: Uri) -> ApiResult {
    let mut asked = Parameters::of(&uri)?;
    let span = asked.span((api.now_ns)())?;
    let (query, hash) = (asked.paths()?, asked.hash()?);
    asked.end()?;
    let answer = api.histories.ask(move |history| {
        let mut paths = history.paths(query, span)?;
        paths.retain(|path| path.path.hash_text() == hash);
        responses::paths(span, &paths, history.loss(query, span)?)
    });
    answer.await
}

async fn segments(State(api): State<Arc<Api>>, uri: Uri) -> ApiResult {
    let mut asked = Parameters::of(&uri)?;
    let span = asked.span((api.now_ns)())?;
    let (order, limit) = asked.segments()?;
    asked.end()?;
    let answer = api
        .histories
        .ask(move |history| responses::segments(span, &history.segments(order, span, limit)?));
    answer.await
}

async fn drops(State(api): State<Arc<Api>>, uri: Uri) -> ApiResult {
    let mut asked = Parameters::of(&uri)?;
    let span = asked.span((api.now_ns)())?;
    let (query, points) = asked.drops()?;
    asked.end()?;
    let answer = api.histories.ask(move |history| {
        let drops = history.drops(&query, span)?;
        responses::drops(span, drops, history.drop_series(span, points)?)
    });
    answer.await
}

/// The flows that hosts forwarded, and without a flow all packets between interfaces.
async fn hops(State(api): State<Arc<Api>>, uri: Uri) -> ApiResult {
    let mut asked = Parameters::of(&uri)?;
    let span = asked.span((api.now_ns)())?;
    let query = asked.hops()?;
    asked.end()?;
    let answer = api.histories.ask(move |history| {
        let hops = history.hops(&query, span)?;
        responses::hops(span, hops, history.passages(&query, span)?)
    });
    answer.await
}

/// The episodes of hosts' queues.
async fn queues(State(api): State<Arc<Api>>, uri: Uri) -> ApiResult {
    let mut asked = Parameters::of(&uri)?;
    let span = asked.span((api.now_ns)())?;
    let query = asked.queues()?;
    asked.end()?;
    let answer = api
        .histories
        .ask(move |history| responses::queues(span, history.queues(&query, span)?));
    answer.await
}

/// Connections and their sums, or those of one flow with their states over time.
async fn tcp(State(api): State<Arc<Api>>, uri: Uri) -> ApiResult {
    let mut asked = Parameters::of(&uri)?;
    let span = asked.span((api.now_ns)())?;
    let (query, by, points) = asked.tcp()?;
    asked.end()?;
    let answer = api.histories.ask(move |history| {
        let connections = history.connections(&query, span)?;
        match query.flow {
            Some(flow) => {
                let series = history.connection_series(flow, span, points)?;
                tcp_responses::of_flow(span, connections, series)
            }
            None => {
                let sums = history.tcp_sums(by, query.node, span)?;
                let series = history.limit_series(query.node, span, points)?;
                let hops = history.tcp_hops(query.node, span)?;
                tcp_responses::of_all(span, connections, sums, series, hops)
            }
        }
    });
    answer.await
}
