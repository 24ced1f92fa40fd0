//! The paths below /api, and the page that uses them.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use axum::Router;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, Uri};
use axum::routing::{get, post};

use super::compression::{self, HttpBody};
use super::event_entry::{EventEntry, EventRate};
use super::form::AnswerForm;
use super::groups::HostGroups;
use super::parameters::Parameters;
use super::queries::{AnswerCall, Histories};
use super::responses::{self, HttpRefusal, Json, PlacedJson};
use super::short_status::ShortStatus;
use super::state::Api;
use super::{assets, events, guard, news};
use crate::model::{CollectStatus, History, Question, Span};

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
    pub events: EventEntry,
    /// Answers what `hostint history` asks.
    pub answer_call: AnswerCall,
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
        events: page.events,
        event_rate: EventRate::default(),
        answer_call: page.answer_call,
    });
    let mut routes = Router::new()
        .route("/api/status", get(status))
        .route("/api/live", get(news::live))
        .route("/api/history", get(history))
        .route("/api/events", post(events::post));
    for (path, question) in QUESTIONS {
        let answer = move |State(api): State<Arc<Api>>, uri: Uri, headers: HeaderMap| {
            ask(api, uri, compression::accepts(&headers), question)
        };
        routes = routes.route(path, get(answer));
    }
    guard::around(routes.with_state(api).merge(assets::routes()), bound)
}

/// The question of a request.
type Asked = fn(&mut Parameters) -> Result<Question, HttpRefusal>;

/// What is asked of the history, by path.
const QUESTIONS: [(&str, Asked); 14] = [
    ("/api/extent", |_| Ok(Question::Extent)),
    ("/api/verdict", |_| Ok(Question::Verdict)),
    ("/api/pairs", Parameters::pairs),
    ("/api/classes", Parameters::classes),
    ("/api/flows", Parameters::flows),
    ("/api/series", Parameters::series),
    ("/api/reports", Parameters::reports),
    ("/api/paths", |asked| asked.paths(None)),
    ("/api/path", Parameters::path),
    ("/api/segments", Parameters::segments),
    ("/api/drops", Parameters::drops),
    ("/api/hops", Parameters::hops),
    ("/api/queues", Parameters::queues),
    ("/api/tcp", Parameters::tcp),
];

/// Answers a question to the history.
async fn ask(
    api: Arc<Api>,
    uri: Uri,
    accepts_gzip: bool,
    question: Asked,
) -> Result<PlacedJson, HttpRefusal> {
    let mut asked = Parameters::of(&uri)?;
    let question = question(&mut asked)?;
    let (groups, form) = match question {
        Question::Pairs { .. } => (asked.grouping()?, AnswerForm::Whole),
        Question::Series { .. } => (None, asked.form()?),
        _ => (None, AnswerForm::Whole),
    };
    let span = match question {
        Question::Extent => None,
        _ => Some(asked.span((api.now_ns)())?),
    };
    asked.end()?;
    let usual = api.usual(span);
    let groups = groups.map(|by| HostGroups::new(by, &api.status()));
    let answer = api.histories.ask(move |history| {
        let answer = question.ask(history, span.unwrap_or(Span::EVER))?;
        let answer = responses::answer(span, answer, &usual, (form, groups.as_ref()))?;
        Ok(HttpBody::answer(answer, accepts_gzip))
    });
    answer.await
}

/// Answers a command line of `hostint history`, as it prints it.
async fn history(
    State(api): State<Arc<Api>>,
    uri: Uri,
    headers: HeaderMap,
) -> Result<PlacedJson, HttpRefusal> {
    let mut asked = Parameters::of_call(&uri)?;
    let call = asked.call()?;
    asked.end()?;
    let (answer_call, accepts_gzip) = (api.answer_call, compression::accepts(&headers));
    let answer = api.histories.ask(move |history| {
        let reply = responses::reply(&answer_call(&call, history))?;
        Ok(HttpBody::answer(reply, accepts_gzip))
    });
    answer.await
}

async fn status(
    State(api): State<Arc<Api>>,
    uri: Uri,
    headers: HeaderMap,
) -> Result<Json, HttpRefusal> {
    let mut asked = Parameters::of(&uri)?;
    let form = asked.form()?;
    asked.end()?;
    let kept = api.histories.are_kept();
    let (status, now_ns, at) = (api.status(), (api.now_ns)(), &api.collects_on);
    let status = match form {
        AnswerForm::Whole => responses::status(now_ns, at, kept, &*status),
        AnswerForm::Short => responses::status(now_ns, at, kept, ShortStatus::from(&*status)),
    };
    let internal = StatusCode::INTERNAL_SERVER_ERROR;
    let accepts = compression::accepts(&headers);
    status
        .map(|status| Json(HttpBody::answer(status, accepts)))
        .map_err(|err| HttpRefusal::new(internal, &err.to_string()))
}
