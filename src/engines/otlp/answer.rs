//! The answers of an OTLP receiver.

use prost::Message;

use super::messages::Response;
use crate::engines::http::HttpAnswer;
use crate::engines::{Accepted, Trouble};

/// Judges an answer. According to the specification, requests are tried again after 429, 502, 503 and 504, and a
/// success may be partial.
pub(super) fn accepted(answer: HttpAnswer) -> Result<Accepted, Trouble> {
    match answer.status {
        200..=299 => {}
        429 | 502..=504 => return Err(Trouble::Later(answer.said())),
        _ => return Err(Trouble::Refused(answer.said())),
    }
    // An empty or unreadable body means that nothing was refused.
    let response = Response::decode(answer.body.as_slice()).unwrap_or_default();
    let Some(partial) = response.partial_success.filter(|some| some.rejected > 0) else {
        return Ok(Accepted::default());
    };
    Ok(Accepted {
        refused: usize::try_from(partial.rejected).unwrap_or(usize::MAX),
        why: Some(partial.error_message),
    })
}
