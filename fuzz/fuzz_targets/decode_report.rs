//! Any datagram is refused, or is a report that survives the way out and in again.
#![no_main]

use hostint::collector::decode;
use hostint::wire::report_v05;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|datagram: &[u8]| {
    let Ok(report) = decode(datagram) else {
        return;
    };
    let mut emitted = Vec::new();
    report_v05::emit(&report, &mut emitted);
    assert_eq!(emitted.len(), datagram.len());
    assert_eq!(decode(&emitted).as_ref(), Ok(&report));
});
