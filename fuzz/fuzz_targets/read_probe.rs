//! Any datagram is refused, or is a probe or an answer, never both, which is written as it was but for reserved bytes.
#![no_main]

use hostint::collector::decode;
use hostint::wire::probe;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|datagram: &[u8]| {
    let (question, answer) = (probe::decode(datagram), probe::decode_answer(datagram));
    let written = match (question, answer) {
        (Ok(question), Err(_)) => {
            assert_eq!(probe::decode(&probe::encode(&question)), Ok(question));
            probe::encode(&question)
        }
        (Err(_), Ok(answer)) => {
            let written = probe::encode_answer(&answer);
            assert_eq!(probe::decode_answer(&written), Ok(answer));
            written
        }
        (Err(one), Err(other)) => {
            let _ = (one.to_string(), other.to_string());
            return;
        }
        (Ok(_), Ok(_)) => panic!("a probe that is an answer"),
    };
    assert_eq!(written.len(), datagram.len());
    assert_eq!(written[..6], datagram[..6]);
    assert_eq!(written[8..20], datagram[8..20]);
    // A report of the versions that there are is never taken for one.
    assert!(decode(datagram).is_err());
});
