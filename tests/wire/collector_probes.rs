//! The probes of collectors, and their answers, byte by byte.

use hostint::model::NodeId;
use hostint::wire::probe::{
    MESSAGE_LEN, Probe, ProbeAnswer, decode, decode_answer, encode, encode_answer,
};
use hostint::wire::{DecodeError, report};

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
