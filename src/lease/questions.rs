//! Questions, and the replies to them.

use std::net::IpAddr;

use super::verdict::OwnTagging;
use crate::model::{
    AddressPair, Capabilities, Encapsulation, Encapsulations, FullEcho, FullQuestion, LeaseKey,
    ShortEcho, ShortQuestion,
};
use crate::wire::lease::LeaseError;
use crate::wire::lease::message::{self, LeaseEcho};

/// The message that a question is asked in.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum QuestionKind {
    Full,
    Short,
}

/// The time when a question is asked, by the clock that answers are stamped by, and by the raw clock, which was read
/// first.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct AskingTime {
    pub realtime_ns: u64,
    pub raw_ns: u64,
}

/// An unanswered question.
#[derive(Clone, Copy, Debug)]
pub(super) struct Asked {
    pub(super) nonce: u64,
    pub(super) kind: QuestionKind,
    pub(super) asked_ns: u64,
    /// The same time by other clocks.
    pub(super) at: AskingTime,
    /// The round of probes that a full question names.
    pub(super) round: u64,
}

impl Asked {
    /// The message to the sink in front of the pair's destination.
    pub(super) fn encode(
        &self,
        pair: &AddressPair,
        origin: IpAddr,
        ours: &OwnTagging,
        key: LeaseKey,
    ) -> Vec<u8> {
        let all = Encapsulation::ALL
            .into_iter()
            .fold(Encapsulations::default(), Encapsulations::with);
        match self.kind {
            QuestionKind::Full => {
                let question = FullQuestion {
                    nonce: self.nonce,
                    flow_source: pair.source,
                    origin,
                    asked_ns: self.at.realtime_ns,
                    source_node: ours.node,
                    capabilities: Capabilities::from(all),
                    round: self.round,
                };
                message::encode_full_question(&question, pair.dest, key).to_vec()
            }
            QuestionKind::Short => {
                let question = ShortQuestion {
                    nonce: self.nonce,
                    origin,
                };
                message::encode_short_question(&question, pair.dest, key).to_vec()
            }
        }
    }
}

/// An echo reply.
#[derive(Clone, Copy, Debug)]
pub(super) enum Reply {
    Full(FullEcho),
    Short(ShortEcho),
    /// The answer's tag is wrong.
    Forged {
        nonce: u64,
    },
}

impl Reply {
    pub(super) fn read(payload: &[u8], key: LeaseKey) -> Option<Self> {
        match message::decode_echo(payload, key) {
            Ok(LeaseEcho::Full(echo)) => Some(Self::Full(echo)),
            Ok(LeaseEcho::Short(echo)) => Some(Self::Short(echo)),
            Err(LeaseError::Forged { nonce }) => Some(Self::Forged { nonce }),
            Err(LeaseError::Version(_) | LeaseError::Format(_)) => None,
        }
    }

    pub(super) fn nonce(&self) -> u64 {
        match self {
            Self::Full(echo) => echo.nonce,
            Self::Short(echo) => echo.nonce,
            Self::Forged { nonce } => *nonce,
        }
    }

    /// True if it may be the reply to this kind of question.
    pub(super) fn answers(&self, kind: QuestionKind) -> bool {
        match self {
            Self::Full(_) => kind == QuestionKind::Full,
            Self::Short(_) => kind == QuestionKind::Short,
            Self::Forged { .. } => true,
        }
    }
}
