//! What a receiver of OTLP answers.

use prost::Message;

use super::messages::Response;
use crate::engines::http::Answer;
use crate::engines::{Accepted, Trouble};

/// The specification names what may go better later: 429, 502, 503, 504. Success may be a partial one.
pub(super) fn accepted(answer: Answer) -> Result<Accepted, Trouble> {
    match answer.status {
        200..=299 => {}
        429 | 502..=504 => return Err(Trouble::Later(answer.said())),
        _ => return Err(Trouble::Refused(answer.said())),
    }
    // Nothing, or what is no such message, refuses nothing.
    let response = Response::decode(answer.body.as_slice()).unwrap_or_default();
    let Some(partial) = response.partial_success.filter(|some| some.rejected > 0) else {
        return Ok(Accepted::default());
    };
    Ok(Accepted {
        refused: usize::try_from(partial.rejected).unwrap_or(usize::MAX),
        why: Some(partial.error_message),
    })
}
