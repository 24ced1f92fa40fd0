//! The common form of responses about the history, as JSON.

use serde::Serialize;

use crate::model::{HistoryError, Span};

/// The schema of the page's API. `hostint history` has its own.
const SCHEMA: &str = "hostint.api/1";

#[derive(Serialize)]
struct HistoryResponse<T> {
    schema: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    span: Option<Span>,
    #[serde(flatten)]
    answer: T,
}

pub(super) fn of_span<T: Serialize>(
    span: Option<Span>,
    answer: T,
) -> Result<Vec<u8>, HistoryError> {
    json(&HistoryResponse {
        schema: SCHEMA,
        span,
        answer,
    })
}

pub(super) fn json(value: &impl Serialize) -> Result<Vec<u8>, HistoryError> {
    serde_json::to_vec(value).map_err(|err| HistoryError(err.to_string()))
}
