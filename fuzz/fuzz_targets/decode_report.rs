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
    // An extended drop-summary (6) of a flow that Host-INT's (3) can name is sent as Host-INT's.
    match (datagram[0] & 0x0f, emitted[0] & 0x0f) {
        (6, 3) => {}
        (read, written) => {
            assert_eq!(written, read);
            assert_eq!(emitted.len(), datagram.len());
        }
    }
    assert_eq!(decode(&emitted).as_ref(), Ok(&report));
});
