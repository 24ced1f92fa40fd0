//! Probes: a sink's question to a collector at its report port, and the answer, which has the same length.

use super::DecodeError;
use super::cursor::Cursor;
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::report;

    const PROBE: Probe = Probe {
        nonce: 0x0102_0304_0506_0708,
        node: NodeId(0x1122_3344),
    };
    const REPLY: ProbeAnswer = ProbeAnswer {
        probe: PROBE,
        queue_percent: 42,
        run: 0xa1a2_a3a4_a5a6_a7a8,
    };

    struct Case {
        name: &'static str,
        bytes: [u8; MESSAGE_LEN],
        golden: &'static str,
        reads: fn(&[u8]) -> Result<ProbeAnswer, DecodeError>,
        message: ProbeAnswer,
    }

    fn cases() -> [Case; 2] {
        [
            Case {
                name: "a probe",
                bytes: encode(&PROBE),
                golden: "f0696e74 01010000 0102030405060708 11223344 00000000 0000000000000000",
                reads: |bytes| {
                    decode(bytes).map(|probe| ProbeAnswer {
                        probe,
                        queue_percent: 0,
                        run: 0,
                    })
                },
                message: ProbeAnswer {
                    probe: PROBE,
                    queue_percent: 0,
                    run: 0,
                },
            },
            Case {
                name: "an answer",
                bytes: encode_answer(&REPLY),
                golden: "f0696e74 01022a00 0102030405060708 11223344 00000000 a1a2a3a4a5a6a7a8",
                reads: decode_answer,
                message: REPLY,
            },
        ]
    }

    #[test]
    fn messages_are_these_bytes_and_no_others() {
        for case in cases() {
            let hex: String = case
                .bytes
                .iter()
                .map(|byte| format!("{byte:02x}"))
                .collect();
            assert_eq!(hex, case.golden.replace(' ', ""), "{}", case.name);
            assert_eq!((case.reads)(&case.bytes), Ok(case.message), "{}", case.name);
            for length in 0..case.bytes.len() {
                let prefix = (case.reads)(&case.bytes[..length]);
                assert!(prefix.is_err(), "{}: {length} bytes of it", case.name);
            }
            let longer = [&case.bytes[..], &[0]].concat();
            assert!((case.reads)(&longer).is_err(), "{}: one more", case.name);
        }
        let [probe, answer] = cases();
        assert!(
            (answer.reads)(&probe.bytes).is_err(),
            "a probe is not an answer"
        );
        assert!((probe.reads)(&answer.bytes).is_err(), "nor the reverse");
    }

    #[test]
    fn a_changed_message_is_refused_or_another_one() {
        const RESERVED: [usize; 5] = [7, 20, 21, 22, 23];
        /// Bytes that the reader of a probe does not return.
        const OF_ANSWERS: [usize; 9] = [6, 24, 25, 26, 27, 28, 29, 30, 31];
        for case in cases() {
            for (at, bit) in (0..MESSAGE_LEN).flat_map(|at| (0..8).map(move |bit| (at, bit))) {
                let mut changed = case.bytes;
                changed[at] ^= 1 << bit;
                let read = (case.reads)(&changed);
                let name = format!("{}: bit {bit} of byte {at}", case.name);
                let unseen =
                    RESERVED.contains(&at) || case.name == "a probe" && OF_ANSWERS.contains(&at);
                match at {
                    0..=5 => assert!(read.is_err(), "{name}"),
                    _ => assert_eq!(read == Ok(case.message), unseen, "{name}"),
                }
            }
        }
    }

    #[test]
    fn no_reader_of_reports_takes_a_message_for_one() {
        for case in cases() {
            let read = report::decode(&case.bytes);
            let expected = DecodeError::Version { found: 15 };
            assert_eq!(read.unwrap_err(), expected, "{}", case.name);
        }
    }
}
