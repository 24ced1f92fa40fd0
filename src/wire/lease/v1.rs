//! Lease messages of version 1: a question with room for the answer.

use std::net::IpAddr;

use super::{LeaseError, MAGIC, address_bytes, decode_head, end_answer, end_question, is_answered};
use crate::model::{
    ClockState, Encapsulations, LeaseAnswer, LeaseEcho, LeaseKey, LeaseQuestion, Marks, NodeId,
};
use crate::wire::DecodeError;
use crate::wire::cursor::Cursor;

/// Version of the format.
pub const VERSION: u32 = 1;
/// Bytes of a message.
pub const MESSAGE_LEN: usize = 96;

const QUESTION_LEN: usize = 48;
const ANSWER_AT: usize = 56;

/// A question to the sink in front of `dest`.
pub fn encode_question(question: &LeaseQuestion, dest: IpAddr, key: LeaseKey) -> [u8; MESSAGE_LEN] {
    let mut bytes = Vec::with_capacity(MESSAGE_LEN);
    bytes.extend(MAGIC.to_be_bytes());
    bytes.extend(VERSION.to_be_bytes());
    bytes.extend(question.nonce.to_be_bytes());
    bytes.extend(address_bytes(question.flow_source));
    bytes.extend(question.asked_ns.to_be_bytes());
    bytes.extend(question.source_node.0.to_be_bytes());
    bytes.extend([0; 4]);
    end_question(bytes, question.origin, dest, key)
}

/// Reads the echo of a question.
pub fn decode_echo(bytes: &[u8], key: LeaseKey) -> Result<LeaseEcho, LeaseError> {
    let mut cursor = Cursor::new(bytes);
    let nonce = decode_head(&mut cursor, VERSION)?;
    let _flow_source: [u8; 16] = cursor.array("flow source")?;
    let asked_ns = cursor
        .array("time of the question")
        .map(u64::from_be_bytes)?;
    let _rest_of_question: [u8; ANSWER_AT - QUESTION_LEN + 8] = cursor.array("question")?;
    let answer = decode_answer(&mut cursor)?;
    let _answer_tag: [u8; 8] = cursor.array("answer tag")?;
    if !cursor.rest().is_empty() {
        return Err(LeaseError::Format(DecodeError::Length {
            what: "lease message",
            found: bytes.len(),
            expected: "96",
        }));
    }
    let answered = is_answered(bytes, ANSWER_AT, nonce, key)?;
    Ok(LeaseEcho {
        nonce,
        asked_ns,
        answer: answered.then_some(answer),
    })
}

fn decode_answer(cursor: &mut Cursor<'_>) -> Result<LeaseAnswer, DecodeError> {
    let instance = cursor.array("instance").map(u64::from_be_bytes)?;
    let node = NodeId(cursor.u32("sink node id")?);
    let encapsulations = Encapsulations::from_bits(cursor.u8("encapsulations")?);
    let tos_value = cursor.u8("mark")?;
    let tos_mask = cursor.u8("mark mask")?;
    let clock = cursor.u8("clock")?;
    let extension_port = cursor.u16("extension port")?;
    let mtu = cursor.u16("MTU")?;
    let tai_offset_s = cursor.u16("TAI offset")?.cast_signed();
    let [major, minor] = cursor.array("software version")?;
    let answered_ns = cursor.array("time of the answer").map(u64::from_be_bytes)?;
    Ok(LeaseAnswer {
        instance,
        node,
        encapsulations,
        marks: Marks {
            tos_value,
            tos_mask,
            extension_port,
        },
        clock: ClockState::from_bits(clock),
        mtu,
        tai_offset_s,
        software: (major, minor),
        answered_ns,
    })
}

/// A question with its answer, as a sink writes it: for tests and tools.
pub fn encode_answer(
    question: &[u8; MESSAGE_LEN],
    answer: &LeaseAnswer,
    key: LeaseKey,
) -> [u8; MESSAGE_LEN] {
    let mut bytes = question[..ANSWER_AT].to_vec();
    bytes.extend(answer.instance.to_be_bytes());
    bytes.extend(answer.node.0.to_be_bytes());
    bytes.extend([
        answer.encapsulations.bits(),
        answer.marks.tos_value,
        answer.marks.tos_mask,
    ]);
    bytes.push(answer.clock.bits());
    bytes.extend(answer.marks.extension_port.to_be_bytes());
    bytes.extend(answer.mtu.to_be_bytes());
    bytes.extend(answer.tai_offset_s.to_be_bytes());
    bytes.extend([answer.software.0, answer.software.1]);
    bytes.extend(answer.answered_ns.to_be_bytes());
    end_answer(bytes, key)
}
