//! Lease messages: a full one and a short one, of different length.

use std::net::IpAddr;

use super::{
    LeaseError, MAGIC, TAG_LEN, address_bytes, decode_head, end_answer, end_question, is_answered,
};
use crate::model::{
    Capabilities, ClockState, ClockSteering, FullAnswer, FullEcho, FullQuestion, LeaseKey,
    LeaseWitness, Marks, NodeId, ProbeForm, ShortEcho, ShortQuestion,
};
use crate::wire::DecodeError;
use crate::wire::cursor::Cursor;

/// Version of the format.
pub const VERSION: u32 = 2;
/// Bytes of a full message.
pub const FULL_LEN: usize = 200;
/// Bytes of a short message.
pub const SHORT_LEN: usize = 64;

const FULL_QUESTION_LEN: usize = 56;
const FULL_ANSWER_AT: usize = FULL_QUESTION_LEN + TAG_LEN;
const SHORT_QUESTION_LEN: usize = 16;
const SHORT_ANSWER_AT: usize = SHORT_QUESTION_LEN + TAG_LEN;

/// Forms of probes with a place of their own in an answer. Those of INT-MD are behind the stray packets in their place.
const FORMS: usize = 4;
const STRAY: usize = 3;
const INT_MD: usize = 4;
const INT_MD_AT: u32 = 32;

const FLAG_ASTRAY: u32 = 1;
const FLAG_UNTOLD: u32 = 2;
const SHARE_AT: u32 = 24;
const SHARE_MASK: u32 = 31;

/// An echo reply to a lease question.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum LeaseEcho {
    Full(FullEcho),
    Short(ShortEcho),
}

/// A full question to the sink in front of `dest`.
pub fn encode_full_question(
    question: &FullQuestion,
    dest: IpAddr,
    key: LeaseKey,
) -> [u8; FULL_LEN] {
    let mut bytes = Vec::with_capacity(FULL_QUESTION_LEN);
    bytes.extend(MAGIC.to_be_bytes());
    bytes.extend(VERSION.to_be_bytes());
    bytes.extend(question.nonce.to_be_bytes());
    bytes.extend(address_bytes(question.flow_source));
    bytes.extend(question.asked_ns.to_be_bytes());
    bytes.extend(question.source_node.0.to_be_bytes());
    bytes.extend(question.capabilities.bits().to_be_bytes());
    bytes.extend(question.round.to_be_bytes());
    end_question(bytes, question.origin, dest, key)
}

/// A short question to the sink in front of `dest`.
pub fn encode_short_question(
    question: &ShortQuestion,
    dest: IpAddr,
    key: LeaseKey,
) -> [u8; SHORT_LEN] {
    let mut bytes = Vec::with_capacity(SHORT_QUESTION_LEN);
    bytes.extend(MAGIC.to_be_bytes());
    bytes.extend(VERSION.to_be_bytes());
    bytes.extend(question.nonce.to_be_bytes());
    end_question(bytes, question.origin, dest, key)
}

/// Reads the echo of a full or of a short question.
pub fn decode_echo(bytes: &[u8], key: LeaseKey) -> Result<LeaseEcho, LeaseError> {
    let mut cursor = Cursor::new(bytes);
    let nonce = decode_head(&mut cursor, VERSION)?;
    match bytes.len() {
        FULL_LEN => {
            let _flow_source: [u8; 16] = cursor.array("flow source")?;
            let asked_ns = cursor.u64("time of the question")?;
            let answered = is_answered(bytes, FULL_ANSWER_AT, nonce, key)?;
            let answer = answered.then(|| decode_full_answer(bytes)).transpose()?;
            Ok(LeaseEcho::Full(FullEcho {
                nonce,
                asked_ns,
                answer,
            }))
        }
        SHORT_LEN => {
            let answered = is_answered(bytes, SHORT_ANSWER_AT, nonce, key)?;
            let answer = answered.then(|| decode_short_answer(bytes)).transpose()?;
            Ok(LeaseEcho::Short(ShortEcho { nonce, answer }))
        }
        found => Err(LeaseError::Format(DecodeError::Length {
            what: "lease message",
            found,
            expected: "64 or 200",
        })),
    }
}

fn decode_full_answer(bytes: &[u8]) -> Result<FullAnswer, DecodeError> {
    let mut cursor = Cursor::behind(bytes, FULL_ANSWER_AT);
    let instance = cursor.u64("instance")?;
    let node = NodeId(cursor.u32("sink node id")?);
    let capabilities = Capabilities::from_bits(cursor.u32("capabilities")?);
    let flags = cursor.u32("flags")?;
    let digest = cursor.u32("digest")?;
    let tos_value = cursor.u8("mark")?;
    let tos_mask = cursor.u8("mark mask")?;
    let clock = ClockState::from_bits(cursor.u8("clock")?);
    let clock_steering = ClockSteering::from_bits(cursor.u8("steering of the clock")?);
    let extension_port = cursor.u16("extension port")?;
    let mtu = cursor.u16("MTU")?;
    let tai_offset_s = cursor.u16("TAI offset")?.cast_signed();
    let [major, minor] = cursor.array("software version")?;
    let [over, extension, gpe, stray] = cursor.array("changes of the ToS byte")?;
    let answered_ns = cursor.u64("time of the answer")?;
    let stripped = decode_stripped(&mut cursor)?;
    let lost = cursor.u32("lost packets")?;
    let mut arrived = [0; ProbeForm::PLACES];
    for form in arrived.iter_mut().take(FORMS) {
        let low = u128::from(cursor.u64("probes that arrived")?);
        let high = u128::from(cursor.u64("probes that arrived")?);
        *form = high << 64 | low;
    }
    arrived[INT_MD] = arrived[STRAY] >> INT_MD_AT;
    arrived[STRAY] &= (1 << INT_MD_AT) - 1;
    Ok(FullAnswer {
        witness: LeaseWitness {
            astray: flags & FLAG_ASTRAY != 0,
            untold: flags & FLAG_UNTOLD != 0,
            asked_shift: asked_shift(flags),
            digest,
            stripped,
            lost,
            answered_ns,
        },
        instance,
        node,
        capabilities,
        marks: Marks {
            tos_value,
            tos_mask,
            extension_port,
        },
        clock,
        clock_steering,
        mtu,
        tai_offset_s,
        software: (major, minor),
        arrived,
        tos_changed: [over, extension, gpe, stray, 0],
    })
}

fn decode_stripped(cursor: &mut Cursor<'_>) -> Result<[u32; 3], DecodeError> {
    let mut stripped = [0; 3];
    for packets in &mut stripped {
        *packets = cursor.u32("stripped packets")?;
    }
    Ok(stripped)
}

fn decode_short_answer(bytes: &[u8]) -> Result<LeaseWitness, DecodeError> {
    let mut cursor = Cursor::behind(bytes, SHORT_ANSWER_AT);
    let flags = cursor.u32("flags")?;
    Ok(LeaseWitness {
        astray: flags & FLAG_ASTRAY != 0,
        untold: flags & FLAG_UNTOLD != 0,
        asked_shift: asked_shift(flags),
        digest: cursor.u32("digest")?,
        stripped: decode_stripped(&mut cursor)?,
        lost: cursor.u32("lost packets")?,
        answered_ns: cursor.u64("time of the answer")?,
    })
}

fn flags(witness: &LeaseWitness) -> u32 {
    let astray = if witness.astray { FLAG_ASTRAY } else { 0 };
    let untold = if witness.untold { FLAG_UNTOLD } else { 0 };
    astray | untold | (u32::from(witness.asked_shift) & SHARE_MASK) << SHARE_AT
}

fn asked_shift(flags: u32) -> u8 {
    (flags >> SHARE_AT & SHARE_MASK) as u8
}

/// A full question with its answer, as a sink writes it: for tests and tools.
pub fn encode_full_answer(
    question: &[u8; FULL_LEN],
    answer: &FullAnswer,
    key: LeaseKey,
) -> [u8; FULL_LEN] {
    let witness = &answer.witness;
    let mut bytes = question[..FULL_ANSWER_AT].to_vec();
    bytes.extend(answer.instance.to_be_bytes());
    bytes.extend(answer.node.0.to_be_bytes());
    bytes.extend(answer.capabilities.bits().to_be_bytes());
    bytes.extend(flags(witness).to_be_bytes());
    bytes.extend(witness.digest.to_be_bytes());
    bytes.extend([answer.marks.tos_value, answer.marks.tos_mask]);
    bytes.extend([answer.clock.bits(), answer.clock_steering.bits()]);
    bytes.extend(answer.marks.extension_port.to_be_bytes());
    bytes.extend(answer.mtu.to_be_bytes());
    bytes.extend(answer.tai_offset_s.to_be_bytes());
    bytes.extend([answer.software.0, answer.software.1]);
    bytes.extend(&answer.tos_changed[..FORMS]);
    bytes.extend(witness.answered_ns.to_be_bytes());
    bytes.extend(witness.stripped.into_iter().flat_map(u32::to_be_bytes));
    bytes.extend(witness.lost.to_be_bytes());
    let mut reported = answer.arrived;
    reported[STRAY] |= reported[INT_MD] << INT_MD_AT;
    for arrived in reported.into_iter().take(FORMS) {
        bytes.extend((arrived as u64).to_be_bytes());
        bytes.extend(((arrived >> 64) as u64).to_be_bytes());
    }
    end_answer(bytes, key)
}

/// A short question with its answer, as a sink writes it: for tests and tools.
pub fn encode_short_answer(
    question: &[u8; SHORT_LEN],
    answer: &LeaseWitness,
    key: LeaseKey,
) -> [u8; SHORT_LEN] {
    let mut bytes = question[..SHORT_ANSWER_AT].to_vec();
    bytes.extend(flags(answer).to_be_bytes());
    bytes.extend(answer.digest.to_be_bytes());
    bytes.extend(answer.stripped.into_iter().flat_map(u32::to_be_bytes));
    bytes.extend(answer.lost.to_be_bytes());
    bytes.extend(answer.answered_ns.to_be_bytes());
    end_answer(bytes, key)
}
