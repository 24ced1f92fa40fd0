//! The meaning of the client's errors: the reason, what to try, and whether to try again.

use std::error::Error as StdError;

use rskafka::client::error::{Error, ProtocolError};

/// The reason why a request was not taken.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum SendFailure {
    /// The request may be taken later.
    Later(String),
    /// Some of its messages will never be taken.
    Refused(String),
}

impl SendFailure {
    pub fn of(error: &Error) -> Self {
        let Some(answer) = answer(error) else {
            return Self::Later(text(error));
        };
        match answer {
            ProtocolError::MessageTooLarge
            | ProtocolError::RecordListTooLarge
            | ProtocolError::InvalidTimestamp
            | ProtocolError::InvalidRecord
            | ProtocolError::PolicyViolation => Self::Refused(answered(answer)),
            _ => Self::Later(answered(answer)),
        }
    }
}

/// Describes an error in one line.
pub fn text(error: &Error) -> String {
    if let Some(answer) = answer(error) {
        return answered(answer);
    }
    let mut inner: &(dyn StdError + 'static) = error;
    while let Some(source) = inner.source() {
        inner = source;
    }
    let words = inner.to_string();
    let words: Vec<_> = words.split_whitespace().collect();
    format!(
        "{} (see whether a broker runs there, and whether it wants TLS or a user)",
        words.join(" ")
    )
}

/// Returns the broker's answer, which may be the cause of other errors of the client.
fn answer(error: &Error) -> Option<ProtocolError> {
    let mut inner: Option<&(dyn StdError + 'static)> = Some(error);
    while let Some(one) = inner {
        if let Some(Error::ServerError { protocol_error, .. }) = one.downcast_ref() {
            return Some(*protocol_error);
        }
        inner = one.source();
    }
    None
}

fn answered(answer: ProtocolError) -> String {
    let hint = match answer {
        ProtocolError::MessageTooLarge | ProtocolError::RecordListTooLarge => {
            "see the topic's max.message.bytes"
        }
        ProtocolError::InvalidTimestamp => "see the topic's limits of timestamps",
        ProtocolError::InvalidRecord | ProtocolError::PolicyViolation => {
            "see what the topic demands of its messages"
        }
        ProtocolError::TopicAuthorizationFailed | ProtocolError::ClusterAuthorizationFailed => {
            "let the user write to the topic"
        }
        ProtocolError::UnsupportedCompressionType => "try another --kafka-compression",
        ProtocolError::NotEnoughReplicas | ProtocolError::NotEnoughReplicasAfterAppend => {
            "see which brokers of the topic are down"
        }
        _ => "see the log of the brokers",
    };
    format!("the broker answers {answer:?} ({hint})")
}
