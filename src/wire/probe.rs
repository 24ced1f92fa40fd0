//! Probes: a sink's question to a collector at its report port, and the answer, which has the same length.

use super::cursor::Cursor;
use super::error::DecodeError;
use crate::model::NodeId;

/// The first four bytes of a message. No telemetry report starts with them: its first four bits are its version, and 15
/// is the last possible version.
pub const MAGIC: u32 = 0xf069_6e74;
/// Version of the format.
pub const VERSION: u8 = 1;
/// Bytes of a probe and of an answer: equal, so that a collector cannot be used to amplify traffic.
pub const MESSAGE_LEN: usize = 32;

const QUESTION: u8 = 1;
const ANSWER: u8 = 2;

/// A sink's question.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Probe {
    /// Unpredictable, so that only a host that received the probe can answer it.
    pub nonce: u64,
    /// The node that asks.
    pub node: NodeId,
}

/// A collector's answer.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct ProbeAnswer {
    /// The probe that is answered.
    pub probe: Probe,
    /// Fill level of the queue to the collector's decoder, in percent.
    pub queue_percent: u8,
    /// A number that changes with each start of the collector.
    pub run: u64,
}

pub fn encode(probe: &Probe) -> [u8; MESSAGE_LEN] {
    write(QUESTION, probe, 0, 0)
}

pub fn encode_answer(answer: &ProbeAnswer) -> [u8; MESSAGE_LEN] {
    write(ANSWER, &answer.probe, answer.queue_percent, answer.run)
}

/// Reads a datagram from any sender that may be a probe.
pub fn decode(bytes: &[u8]) -> Result<Probe, DecodeError> {
    read(QUESTION, bytes).map(|message| message.probe)
}

/// Reads a datagram from any sender that may be an answer.
pub fn decode_answer(bytes: &[u8]) -> Result<ProbeAnswer, DecodeError> {
    read(ANSWER, bytes)
}

fn write(kind: u8, probe: &Probe, queue_percent: u8, run: u64) -> [u8; MESSAGE_LEN] {
    let mut message = [0; MESSAGE_LEN];
    message[..4].copy_from_slice(&MAGIC.to_be_bytes());
    message[4..7].copy_from_slice(&[VERSION, kind, queue_percent]);
    message[8..16].copy_from_slice(&probe.nonce.to_be_bytes());
    message[16..20].copy_from_slice(&probe.node.0.to_be_bytes());
    message[24..].copy_from_slice(&run.to_be_bytes());
    message
}

/// Reads a message and ignores its reserved bytes.
fn read(kind: u8, bytes: &[u8]) -> Result<ProbeAnswer, DecodeError> {
    let mut cursor = Cursor::new(bytes);
    let magic = cursor.u32("probe magic")?;
    cursor.check("probe magic", 4, magic, MAGIC)?;
    cursor.expect_u8("probe version", VERSION)?;
    cursor.expect_u8("probe kind", kind)?;
    let queue_percent = cursor.u8("queue fill")?;
    let _reserved = cursor.u8("reserved byte")?;
    let nonce = cursor.u64("probe nonce")?;
    let node = NodeId(cursor.u32("node id")?);
    let _reserved = cursor.u32("reserved bytes")?;
    let run = cursor.u64("collector's run")?;
    if !cursor.rest().is_empty() {
        return Err(DecodeError::Length {
            what: "probe",
            found: bytes.len(),
            expected: "32",
        });
    }
    Ok(ProbeAnswer {
        probe: Probe { nonce, node },
        queue_percent,
        run,
    })
}
