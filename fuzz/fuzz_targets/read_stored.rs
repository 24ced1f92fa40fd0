//! Any key of a flow and any address in a store is read or refused; one that is read stays the same when it is written.
#![no_main]

use hostint::store::{exporter_bytes, exporter_of, name_bytes, name_of};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    if let Some(name) = name_of(bytes) {
        let written = name_bytes(&name);
        // Of the first byte only two bits say something.
        assert_eq!(written.get(1..), bytes.get(1..));
        assert_eq!(name_of(&written), Some(name));
    }
    if let Some(exporter) = exporter_of(bytes) {
        assert_eq!(exporter_bytes(exporter), bytes);
    }
});
