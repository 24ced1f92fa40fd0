//! Events that are posted: by whom, how long, and how many a second.

use std::sync::Arc;

use axum::body::to_bytes;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, StatusCode, header};

use super::compression::HttpBody;
use super::event_entry::MOST_OF_A_SECOND;
use super::responses::{HttpRefusal, Json};
use super::state::Api;
use crate::model::{EventRefusal, NetworkEvent};

/// The longest body.
const MOST_BYTES: usize = 4096;

/// `POST /api/events`
pub(super) async fn post(
    State(api): State<Arc<Api>>,
    request: Request,
) -> Result<(StatusCode, Json), HttpRefusal> {
    let now_ns = (api.now_ns)();
    let event = match read(&api, request, now_ns).await {
        Ok(event) => event,
        Err((refusal, code, sentence)) => {
            (api.events.take)(Err(refusal));
            return Err(HttpRefusal::new(code, &sentence));
        }
    };
    let answer = serde_json::to_vec(&event).unwrap_or_default();
    match (api.events.take)(Ok(event)) {
        true => Ok((StatusCode::CREATED, Json(HttpBody::plain(answer)))),
        false => {
            (api.events.take)(Err(EventRefusal::TooMany));
            let sentence = "the store does not keep up with events (try again later)";
            Err(HttpRefusal::new(StatusCode::SERVICE_UNAVAILABLE, sentence))
        }
    }
}

type Refused = (EventRefusal, StatusCode, String);

async fn read(api: &Api, request: Request, now_ns: u64) -> Result<NetworkEvent, Refused> {
    let token = api.events.token.as_deref().ok_or_else(|| {
        let why = "this collector takes no events (its key events-token-file names the token)";
        (
            EventRefusal::NoTokenFile,
            StatusCode::FORBIDDEN,
            why.to_owned(),
        )
    })?;
    check_token(token, request.headers())?;
    if !api.event_rate.has_room() {
        let why = format!("more than {MOST_OF_A_SECOND} events in a second (try again later)");
        return Err((EventRefusal::TooMany, StatusCode::TOO_MANY_REQUESTS, why));
    }
    let body = to_bytes(request.into_body(), MOST_BYTES)
        .await
        .map_err(|_| {
            let why = format!("an event is at most {MOST_BYTES} bytes");
            (EventRefusal::TooLong, StatusCode::PAYLOAD_TOO_LARGE, why)
        })?;
    let malformed = |why: String| {
        let why = format!("{why} (try {{\"kind\": \"deploy\", \"text\": \"web 1.2.3\"}})");
        (EventRefusal::Malformed, StatusCode::BAD_REQUEST, why)
    };
    let event: NetworkEvent =
        serde_json::from_slice(&body).map_err(|err| malformed(format!("not an event: {err}")))?;
    event.checked(now_ns).map_err(malformed)
}

fn check_token(token: &str, headers: &HeaderMap) -> Result<(), Refused> {
    let given = headers.get(header::AUTHORIZATION);
    let given = given.and_then(|value| value.to_str().ok());
    let Some(given) = given.and_then(|value| value.strip_prefix("Bearer ")) else {
        let why = "the header Authorization: Bearer TOKEN is missing".to_owned();
        return Err((EventRefusal::WrongToken, StatusCode::UNAUTHORIZED, why));
    };
    // The time that this takes says nothing of the token.
    let pairs = given.bytes().zip(token.bytes());
    let differences = pairs.fold(0, |sum, (one, other)| sum | (one ^ other));
    if differences != 0 || given.len() != token.len() {
        let why = "this is not the token of events-token-file".to_owned();
        return Err((EventRefusal::WrongToken, StatusCode::FORBIDDEN, why));
    }
    Ok(())
}
