//! Reverse probes: the payload of a ping by which the host of a sink shows to a source which address its packets arrive from.

use std::net::IpAddr;

use super::v2::{self, FULL_LEN, Lease2Echo};
use super::{LeaseError, address_bytes, tag};
use crate::model::LeaseKey;
use crate::wire::cursor::Cursor;

/// The first four bytes of a reverse probe.
pub const MAGIC: u32 = 0x6869_6e72;
/// Bytes of a reverse probe.
pub const REVERSE_LEN: usize = 24;

const VERSION: u32 = 2;
const TAG_AT: usize = 16;
/// Places of the packets' source address and of the round in a full question.
const PROBER_AT: usize = 16;
const ROUND_AT: usize = 48;

fn tag_of(fields: &[u8], from: IpAddr, to: IpAddr, key: LeaseKey) -> [u8; 8] {
    tag(key, &[fields, &address_bytes(from), &address_bytes(to)])
}

/// The reverse probe of a round, in a packet that is sent with these addresses.
pub fn encode(round: u64, from: IpAddr, to: IpAddr, key: LeaseKey) -> [u8; REVERSE_LEN] {
    let mut bytes = [0; REVERSE_LEN];
    bytes[..4].copy_from_slice(&MAGIC.to_be_bytes());
    bytes[4..8].copy_from_slice(&VERSION.to_be_bytes());
    bytes[8..TAG_AT].copy_from_slice(&round.to_be_bytes());
    let tag = tag_of(&bytes[..TAG_AT], from, to, key);
    bytes[TAG_AT..].copy_from_slice(&tag);
    bytes
}

/// Reads the round that a reverse probe names, whoever sent it.
pub fn decode_round(bytes: &[u8]) -> Result<u64, LeaseError> {
    let mut cursor = Cursor::new(bytes);
    let magic = cursor.u32("magic of the reverse probe")?;
    cursor.check("magic of the reverse probe", 4, magic, MAGIC)?;
    let version = cursor.u32("version of the reverse probe")?;
    if version != VERSION {
        return Err(LeaseError::Version(version));
    }
    Ok(cursor.u64("round of the reverse probe")?)
}

/// True if it was sent with these addresses, by a host with the key.
pub fn was_sent_with(bytes: &[u8], from: IpAddr, to: IpAddr, key: LeaseKey) -> bool {
    let Some((fields, found)) = bytes.split_at_checked(TAG_AT) else {
        return false;
    };
    found == tag_of(fields, from, to, key)
}

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
    let Ok(Lease2Echo::Full(echo)) = v2::decode_echo(bytes, key) else {
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
