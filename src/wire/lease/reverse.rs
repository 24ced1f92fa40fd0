//! The rounds of probes that questions name, for the host of a sink: it sends strays back in them.

use std::net::IpAddr;

use super::message::{self, FULL_LEN, LeaseEcho};
use crate::model::LeaseKey;

/// Places of the packets' source address and of the round in a full question.
const PROBER_AT: usize = 16;
const ROUND_AT: usize = 48;

/// A round of probes, as a full question named it that a sink has answered.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct AnsweredRound {
    pub round: u64,
    /// The address that the probes come from.
    pub prober: IpAddr,
    /// The number of probes that had arrived, by the answer.
    pub arrived: u32,
}

/// Reads the round that a full question names, if a sink with the key has written its answer into the question, and has
/// not withheld its counts.
pub fn answered_round(bytes: &[u8], key: LeaseKey) -> Option<AnsweredRound> {
    if bytes.len() != FULL_LEN {
        return None;
    }
    let Ok(LeaseEcho::Full(echo)) = message::decode_echo(bytes, key) else {
        return None;
    };
    let answer = echo.answer.filter(|answer| !answer.witness.untold)?;
    let prober: [u8; 16] = bytes.get(PROBER_AT..)?.first_chunk().copied()?;
    let round: [u8; 8] = bytes.get(ROUND_AT..)?.first_chunk().copied()?;
    let round = Some(u64::from_be_bytes(round)).filter(|round| *round != 0)?;
    Some(AnsweredRound {
        round,
        prober: IpAddr::from(prober).to_canonical(),
        arrived: answer.arrived.into_iter().map(u128::count_ones).sum(),
    })
}
